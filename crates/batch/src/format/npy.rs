//! Headers of NumPy's array files (the .npy format, versions 1.0 to 3.0, NumPy Enhancement Proposal
//! 1). A header consists of a magic number, the version of the format, the length of the following
//! text, and a Python dictionary as text.

use std::io::{self, Read};

use warpint_integer::Width;

use crate::words;

/// The magic number, with which every npy file begins.
pub(crate) const MAGIC: &[u8] = b"\x93NUMPY";
/// The length in bytes of the longest dictionary that is accepted. NumPy writes about a hundred
/// bytes.
const LONGEST: usize = 1 << 16;
/// The alignment of the array data in bytes. In written files, the offset of the data is a multiple
/// of this number.
const ALIGNMENT: usize = 64;

/// The element type of an array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Item {
    /// Elements of 32 bits, which NumPy denotes by `<u4`.
    U32,
    /// Elements of 64 bits, which NumPy denotes by `<u8`.
    U64,
}

impl Item {
    /// Returns the number of bits of an element.
    #[must_use]
    pub fn bits(self) -> u32 {
        match self {
            Self::U32 => 32,
            Self::U64 => 64,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::U32 => "<u4",
            Self::U64 => "<u8",
        }
    }
}

/// The header of an array of `count` rows and `limbs` columns. The array is stored in row-major
/// order, and its elements are little-endian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// The type of the elements.
    pub item: Item,
    /// The number of rows.
    pub count: u64,
    /// The number of elements per row.
    pub limbs: u64,
}

impl Header {
    /// Reads a header, and nothing after it. The inner error is a message for the user that
    /// describes why the header is not accepted.
    ///
    /// # Errors
    /// Errors of reading `file`.
    pub fn read(file: &mut impl Read) -> io::Result<Result<Self, String>> {
        let mut begin = [0; 8];
        if !fill(file, &mut begin)? || !begin.starts_with(MAGIC) {
            return Ok(Err("is not an npy file".into()));
        }
        let cut = || Ok(Err("its npy header is truncated".into()));
        let length = match begin[6] {
            1 => {
                let mut bytes = [0; 2];
                if !fill(file, &mut bytes)? {
                    return cut();
                }
                usize::from(u16::from_le_bytes(bytes))
            }
            2 | 3 => {
                let mut bytes = [0; 4];
                if !fill(file, &mut bytes)? {
                    return cut();
                }
                u32::from_le_bytes(bytes) as usize
            }
            version => return Ok(Err(format!("is an npy file of the unknown version {version}"))),
        };
        if length > LONGEST {
            return Ok(Err(format!("its npy header has {length} bytes")));
        }
        let mut text = vec![0; length];
        if !fill(file, &mut text)? {
            return cut();
        }
        Ok(Self::parse(&text))
    }

    /// Returns the width of the numbers, which are the rows of the array.
    ///
    /// # Errors
    /// Returns a message for the user if the width is not supported.
    pub fn width(&self) -> Result<Width, String> {
        let (limbs, bits) = (self.limbs, u64::from(self.item.bits()));
        let width = limbs.checked_mul(bits).and_then(|bits| u32::try_from(bits).ok());
        width.and_then(|width| Width::new(width).ok()).ok_or_else(|| {
            let most = Width::MAX_BITS.ilog2();
            format!("has numbers of {limbs} limbs of {bits} bits; 32 to 2^{most} bits are allowed")
        })
    }

    /// Parses the text of the header, a Python dictionary such as
    /// `{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2), }`. The entries may be in any
    /// order.
    fn parse(text: &[u8]) -> Result<Self, String> {
        let fields = Fields::parse(text).ok_or("its npy header is not a dictionary of an array")?;
        let item = match fields.descr {
            b"<u4" => Item::U32,
            b"<u8" => Item::U64,
            other => {
                let name = String::from_utf8_lossy(other).escape_debug().to_string();
                return Err(format!("holds elements '{name}': '<u4' or '<u8' are needed"));
            }
        };
        if fields.fortran_order {
            return Err("is in Fortran order: store it with numpy.ascontiguousarray".into());
        }
        match fields.shape[..] {
            [count, limbs] => Ok(Self { item, count, limbs }),
            _ => Err(format!(
                "holds an array of {}: give one of shape (count, limbs)",
                words::count(fields.shape.len() as u64, "dimension")
            )),
        }
    }

    /// Returns the bytes of the header in version 1.0 of the format, as NumPy writes them.
    #[must_use]
    pub fn to_bytes(self) -> Vec<u8> {
        let Self { item, count, limbs } = self;
        let name = item.name();
        let mut dictionary =
            format!("{{'descr': '{name}', 'fortran_order': False, 'shape': ({count}, {limbs}), }}");
        let before = MAGIC.len() + 4;
        let whole = (before + dictionary.len() + 1).next_multiple_of(ALIGNMENT);
        while before + dictionary.len() + 1 < whole {
            dictionary.push(' ');
        }
        dictionary.push('\n');
        // At most twice the alignment.
        let length = dictionary.len() as u16;
        [MAGIC, &[1, 0], &length.to_le_bytes(), dictionary.as_bytes()].concat()
    }
}

/// Fills `bytes` from the file. Returns whether the file had enough bytes.
fn fill(file: &mut impl Read, bytes: &mut [u8]) -> io::Result<bool> {
    match file.read_exact(bytes) {
        Ok(()) => Ok(true),
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(e) => Err(e),
    }
}

/// The entries of a header's dictionary.
struct Fields<'a> {
    descr: &'a [u8],
    fortran_order: bool,
    shape: Vec<u64>,
}

impl<'a> Fields<'a> {
    fn parse(text: &'a [u8]) -> Option<Self> {
        let mut rest = Literal(text);
        let (mut descr, mut fortran_order, mut shape) = (None, None, None);
        rest.expect(b'{')?;
        while !rest.take(b'}') {
            let key = rest.string()?;
            rest.expect(b':')?;
            match key {
                b"descr" => descr = Some(rest.string()?),
                b"fortran_order" => fortran_order = Some(rest.truth()?),
                b"shape" => shape = Some(rest.tuple()?),
                _ => return None,
            }
            if !rest.take(b',') {
                rest.expect(b'}')?;
                break;
            }
        }
        rest.skip_spaces();
        rest.0.is_empty().then_some(())?;
        Some(Self { descr: descr?, fortran_order: fortran_order?, shape: shape? })
    }
}

/// A parser of Python literals. The value is the text that has not been parsed yet.
struct Literal<'a>(&'a [u8]);

impl<'a> Literal<'a> {
    fn skip_spaces(&mut self) {
        self.0 = self.0.trim_ascii_start();
    }

    /// Skips spaces, and removes the next byte if it is `byte`. Returns whether it was removed.
    fn take(&mut self, byte: u8) -> bool {
        self.skip_spaces();
        match self.0.strip_prefix(&[byte]) {
            Some(rest) => {
                self.0 = rest;
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.take(byte).then_some(())
    }

    /// Parses a string in single or double quotes, without escapes. Returns the text between the
    /// quotes.
    fn string(&mut self) -> Option<&'a [u8]> {
        let quote = if self.take(b'\'') {
            b'\''
        } else {
            self.expect(b'"')?;
            b'"'
        };
        let end = self.0.iter().position(|&b| b == quote)?;
        let (string, rest) = self.0.split_at(end);
        self.0 = &rest[1..];
        Some(string)
    }

    fn truth(&mut self) -> Option<bool> {
        self.skip_spaces();
        for (word, truth) in [(&b"True"[..], true), (b"False", false)] {
            if let Some(rest) = self.0.strip_prefix(word) {
                self.0 = rest;
                return Some(truth);
            }
        }
        None
    }

    /// Parses natural numbers in parentheses, separated by commas.
    fn tuple(&mut self) -> Option<Vec<u64>> {
        let mut numbers = vec![];
        self.expect(b'(')?;
        while !self.take(b')') {
            self.skip_spaces();
            let end = self.0.iter().position(|b| !b.is_ascii_digit())?;
            let (digits, rest) = self.0.split_at(end);
            numbers.push(str::from_utf8(digits).ok()?.parse().ok()?);
            self.0 = rest;
            if !self.take(b',') {
                self.expect(b')')?;
                break;
            }
        }
        Some(numbers)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, text: &str) -> Vec<u8> {
        let length = text.len() as u32;
        let length = &length.to_le_bytes()[..if version == 1 { 2 } else { 4 }];
        [MAGIC, &[version, 0], length, text.as_bytes()].concat()
    }

    fn read(file: &[u8]) -> Result<Header, String> {
        Header::read(&mut &file[..]).unwrap()
    }

    #[test]
    fn headers_of_every_version_are_read() {
        let text = "{'descr': '<u4', 'fortran_order': False, 'shape': (3, 2), }         \n";
        let expected = Header { item: Item::U32, count: 3, limbs: 2 };
        for version in 1..=3 {
            assert_eq!(read(&file(version, text)), Ok(expected));
        }
        let text = "{\"shape\":(0,1),\"fortran_order\":False,\"descr\":\"<u8\"}";
        assert_eq!(read(&file(1, text)), Ok(Header { item: Item::U64, count: 0, limbs: 1 }));
    }

    #[test]
    fn a_header_is_written_as_numpy_does() {
        let header = Header { item: Item::U64, count: 12, limbs: 34 };
        let bytes = header.to_bytes();
        // As numpy.save writes numpy.zeros((12, 34), numpy.uint64).
        let text = "{'descr': '<u8', 'fortran_order': False, 'shape': (12, 34), }";
        let expected = format!("{text:117}\n");
        assert_eq!(bytes, [b"\x93NUMPY\x01\x00\x76\x00", expected.as_bytes()].concat());
        assert_eq!(bytes.len() % ALIGNMENT, 0);
        let widest = Header { item: Item::U32, count: u64::MAX, limbs: u64::MAX };
        for header in [header, widest] {
            assert_eq!(read(&header.to_bytes()), Ok(header));
        }
    }

    #[test]
    fn what_cannot_be_used_is_said() {
        let array = |descr: &str, order: &str, shape: &str| {
            file(
                1,
                &format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n"),
            )
        };
        for (file, says) in [
            (vec![], "is not an npy file"),
            (b"123456789".to_vec(), "is not an npy file"),
            (file(1, "")[..9].to_vec(), "its npy header is truncated"),
            (file(1, "{}x")[..12].to_vec(), "its npy header is truncated"),
            (file(4, "{}"), "is an npy file of the unknown version 4"),
            (file(2, &" ".repeat(LONGEST + 1)), "its npy header has 65537 bytes"),
            (file(1, "{}"), "its npy header is not a dictionary of an array"),
            (file(1, "{'descr': '<u4'"), "its npy header is not a dictionary of an array"),
            (array("'>u4'", "False", "(1, 1)"), "holds elements '>u4': '<u4' or '<u8' are needed"),
            (array("'<f8'", "False", "(1, 1)"), "holds elements '<f8': '<u4' or '<u8' are needed"),
            (array("[('a', '<u4')]", "False", "(1, 1)"), "its npy header is not a dictionary"),
            (array("'<u4'", "True", "(1, 1)"), "is in Fortran order"),
            (array("'<u4'", "0", "(1, 1)"), "its npy header is not a dictionary"),
            (array("'<u4'", "False", "(7,)"), "holds an array of 1 dimension:"),
            (array("'<u4'", "False", "()"), "holds an array of 0 dimensions"),
            (array("'<u4'", "False", "(1, 2, 3)"), "holds an array of 3 dimensions"),
            (array("'<u4'", "False", "(-1, 2)"), "its npy header is not a dictionary"),
            (
                array("'<u4'", "False", "(99999999999999999999, 2)"),
                "its npy header is not a dictionary",
            ),
        ] {
            let error = read(&file).unwrap_err();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
