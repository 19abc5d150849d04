//! Operands: numbers of any length in files, pipes and on the command line.

use std::io::{self, Read, Seek, SeekFrom};

use warpint_integer::huge::{Residues, from_decimal, from_hex};
use warpint_natural::limbs::trim;
use warpint_natural::product::Multiplier;

use super::OperandInfo;
use crate::format::{LOOKED_AT, prefix, text_begins};
use crate::operand::Operand;
use crate::{BatchError, Format};

/// The number of bytes that are read at a time.
const BLOCK: usize = 1 << 20;

/// The largest size in bytes of an operand that must be below 2^64. Leading zeros and blanks count.
const MOST_SMALL: u64 = 1 << 12;

/// The largest size in bytes of a base whose exact number of bits determines the memory of a power.
/// For longer ones, the number of digits is accurate enough.
const MOST_EXACT: u64 = 1 << 16;

/// An operand, with its format.
#[derive(Debug)]
pub(super) struct Input {
    operand: Operand,
    format: Format,
    is_detected: bool,
}

/// The content of an operand, before its conversion to limbs.
pub(super) enum Content {
    /// Decimal or hexadecimal digits without blanks and prefix, the highest first.
    Digits(Vec<u8>, Format),
    Limbs(Vec<u64>),
}

impl Input {
    /// Determines the format of an operand.
    pub(super) fn look(operand: Operand, format: Option<Format>) -> Result<Self, BatchError> {
        let of_name = || Format::of_name(operand.path()?);
        let known = if operand.is_number() { Some(Format::Hex) } else { format.or_else(of_name) };
        let format = match known {
            Some(format) => format,
            None => {
                let mut begin = vec![];
                let file = operand.open().map_err(|source| unreadable(&operand, source))?;
                let read = file.take(LOOKED_AT).read_to_end(&mut begin);
                read.map_err(|source| unreadable(&operand, source))?;
                detect(&begin)
            }
        };
        let input = Self { operand, format, is_detected: known.is_none() };
        if format == Format::Npy {
            let reason = "npy files hold batches: give a decimal, hexadecimal or raw file";
            return Err(input.refused(reason));
        }
        Ok(input)
    }

    pub(super) fn info(&self) -> OperandInfo {
        OperandInfo {
            name: self.operand.name.clone(),
            kind: self.operand.kind(),
            format: (!self.operand.is_number()).then_some(self.format),
            is_detected: self.is_detected,
            bytes: self.operand.bytes,
        }
    }

    pub(super) fn hidden_number(&self) -> Option<&str> {
        self.operand.hides_number.then_some(&*self.operand.name)
    }

    pub(super) fn name(&self) -> &str {
        &self.operand.name
    }

    pub(super) fn format(&self) -> Format {
        self.format
    }

    /// Returns whether the operand is a number in place of a path.
    pub(super) fn is_number(&self) -> bool {
        self.operand.is_number()
    }

    /// Returns the size in bytes.
    pub(super) fn bytes(&self) -> u64 {
        self.operand.bytes
    }

    /// Returns an upper bound of the number's bits. It is exact for short operands, which are read for
    /// this.
    pub(super) fn bits(&self) -> Result<u64, BatchError> {
        if let Some(number) = self.short()? {
            return Ok(warpint_natural::limbs::bit_length(&number));
        }
        Ok(match self.format {
            // log2(10) < 3.3219281.
            Format::Decimal => (u128::from(self.bytes()) * 33_219_281 / 10_000_000 + 1) as u64,
            Format::Hex => 4 * self.bytes(),
            Format::Npy | Format::Raw => 8 * self.bytes(),
        })
    }

    /// Reads the number if it is short, to determine the memory of a calculation.
    pub(super) fn short(&self) -> Result<Option<Vec<u64>>, BatchError> {
        let is_short = self.bytes() <= MOST_EXACT;
        is_short.then(|| Ok(self.read()?.by_halves())).transpose()
    }

    /// Reads a number below 2^64.
    pub(super) fn read_small(&self, role: &str) -> Result<u64, BatchError> {
        let too_large = || self.refused(&format!("{role} must be below 2^64"));
        if self.bytes() > MOST_SMALL {
            return Err(too_large());
        }
        match self.read()?.by_halves()[..] {
            [] => Ok(0),
            [small] => Ok(small),
            _ => Err(too_large()),
        }
    }

    /// Reads the operand and checks its digits.
    ///
    /// # Errors
    /// Returns an error if a character is neither a digit nor white space, if there is no digit, if
    /// the operand cannot be read, or if memory is insufficient.
    pub(super) fn read(&self) -> Result<Content, BatchError> {
        let failed = |source| BatchError::Read { name: self.operand.name.clone(), source };
        let mut file = self.operand.open().map_err(failed)?;
        let size = usize::try_from(self.bytes()).unwrap_or(usize::MAX);
        let out_of_memory = |_| failed(io::ErrorKind::OutOfMemory.into());
        if self.format == Format::Raw {
            let mut limbs: Vec<u64> = vec![];
            limbs.try_reserve_exact(size.div_ceil(8)).map_err(out_of_memory)?;
            let mut block = vec![];
            loop {
                block.clear();
                let read =
                    (&mut file).take(BLOCK as u64).read_to_end(&mut block).map_err(failed)?;
                if read == 0 {
                    break;
                }
                limbs.extend(block.chunks(8).map(|bytes| {
                    let mut limb = [0; 8];
                    limb[..bytes.len()].copy_from_slice(bytes);
                    u64::from_le_bytes(limb)
                }));
            }
            if limbs.is_empty() {
                return Err(self.refused("is empty"));
            }
            trim(&mut limbs);
            return Ok(Content::Limbs(limbs));
        }
        let offset = text_begins(&mut file).map_err(failed)?.map_err(|e| self.refused(e))?;
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        let mut digits = Digits::new(self.format == Format::Hex);
        digits.digits.try_reserve_exact(size).map_err(out_of_memory)?;
        let mut block = vec![0; BLOCK];
        let mut kept = 0;
        loop {
            // A block is filled, so that only the last one is shorter.
            let some = match file.read(&mut block[kept..]) {
                Ok(some) => some,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
                Err(e) => return Err(failed(e)),
            };
            kept += some;
            if kept == BLOCK || some == 0 {
                digits.take(&block[..kept]).map_err(|e| self.refused(&e))?;
                kept = 0;
            }
            if some == 0 {
                break;
            }
        }
        if digits.digits.is_empty() {
            return Err(self.refused("has no digits"));
        }
        Ok(Content::Digits(digits.digits, self.format))
    }

    fn refused(&self, reason: &str) -> BatchError {
        BatchError::Operand { name: self.operand.name.clone(), reason: reason.to_owned() }
    }
}

fn unreadable(operand: &Operand, source: io::Error) -> BatchError {
    BatchError::Unreadable { name: operand.name.clone(), source }
}

impl Content {
    /// Returns the residues of the number. Those of decimal digits are computed from the digits.
    /// Those of hexadecimal digits and of bytes are computed from the limbs, by `None` here.
    pub(super) fn residues(&self) -> Option<Residues> {
        match self {
            Self::Digits(digits, Format::Decimal) => Some(Residues::of_decimal(digits)),
            Self::Digits(..) | Self::Limbs(_) => None,
        }
    }

    /// Converts the operand to limbs, without leading zero limbs.
    pub(super) fn number(self, multiplier: &dyn Multiplier) -> Vec<u64> {
        match self {
            Self::Digits(digits, Format::Decimal) => from_decimal(multiplier, &digits),
            Self::Digits(digits, _) => from_hex(&digits),
            Self::Limbs(limbs) => limbs,
        }
    }

    /// Converts a short operand to limbs.
    fn by_halves(self) -> Vec<u64> {
        self.number(&warpint_natural::product::FastProducts)
    }
}

/// Digits collected from a text, with the position in the text.
struct Digits {
    digits: Vec<u8>,
    is_hex: bool,
    /// Whether a prefix 0x is allowed: once, in hexadecimal digits.
    may_have_prefix: bool,
    line: u64,
    column: u64,
}

impl Digits {
    fn new(is_hex: bool) -> Self {
        Self { digits: vec![], is_hex, may_have_prefix: is_hex, line: 1, column: 1 }
    }

    /// Appends the digits of the next block of the text. White space is left out, and so is a prefix 0x
    /// of hexadecimal digits. The error is a message for the user.
    fn take(&mut self, mut block: &[u8]) -> Result<(), String> {
        let is_digit = if self.is_hex { u8::is_ascii_hexdigit } else { u8::is_ascii_digit };
        while !block.is_empty() {
            // Not `all`: it ends early and is therefore slower.
            let run = block.len().min(4096);
            if block[..run].iter().fold(true, |good, digit| good & is_digit(digit)) {
                self.digits.extend_from_slice(&block[..run]);
                self.column += run as u64;
                block = &block[run..];
                continue;
            }
            let run = block.iter().position(|byte| !is_digit(byte)).unwrap_or(block.len());
            self.digits.extend_from_slice(&block[..run]);
            self.column += run as u64;
            block = &block[run..];
            match block {
                [b'\n', ..] => (self.line, self.column) = (self.line + 1, 1),
                [byte, ..] if byte.is_ascii_whitespace() || *byte == 0x0b => self.column += 1,
                [b'x' | b'X', ..] if self.may_have_prefix && self.digits == b"0" => {
                    self.may_have_prefix = false;
                    self.digits.clear();
                    self.column += 1;
                }
                block => return Err(self.no_digit(block)),
            }
            block = &block[1..];
        }
        Ok(())
    }

    fn no_digit(&self, block: &[u8]) -> String {
        let kind = if self.is_hex { "hexadecimal" } else { "decimal" };
        let text = String::from_utf8_lossy(&block[..block.len().min(4)]);
        let character = text.chars().next().unwrap_or_default();
        let (line, column) = (self.line, self.column);
        format!("line {line}, column {column}: {character:?} is not a {kind} digit")
    }
}

/// Detects the format of a file with a single number that begins with the bytes `begin`.
///
/// Bytes that are not text are raw. A text that begins with 0x is hexadecimal, and so is a text of
/// hexadecimal digits and white space with a letter. Any other text is decimal.
fn detect(begin: &[u8]) -> Format {
    let text = match text_begins(&mut &*begin) {
        Ok(Ok(offset)) => &begin[offset as usize..],
        // It is reported when the file is read.
        Ok(Err(_)) if !begin.windows(2).any(|pair| pair == [0, 0]) => return Format::Decimal,
        _ => begin,
    };
    let is_text = |&c: &u8| c.is_ascii_graphic() || c.is_ascii_whitespace() || !c.is_ascii();
    // The last character may be cut.
    let is_utf8 = match str::from_utf8(text) {
        Ok(_) => true,
        Err(e) => e.error_len().is_none() && begin.len() as u64 >= LOOKED_AT,
    };
    if !is_utf8 || !text.iter().all(is_text) {
        return Format::Raw;
    }
    let text = text.trim_ascii_start();
    let is_hex = |c: &u8| c.is_ascii_hexdigit() || c.is_ascii_whitespace();
    if prefix(text) > 0 || (text.iter().all(is_hex) && text.iter().any(u8::is_ascii_alphabetic)) {
        return Format::Hex;
    }
    Format::Decimal
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits_of(blocks: &[&str], is_hex: bool) -> Result<String, String> {
        let mut digits = Digits::new(is_hex);
        for block in blocks {
            digits.take(block.as_bytes())?;
        }
        Ok(String::from_utf8(digits.digits).unwrap())
    }

    #[test]
    fn digits_over_lines_and_blocks() {
        for (text, is_hex, want) in [
            ("12\n34 5\t6\r\n", false, Ok("123456")),
            (" \n\n 0 \n", false, Ok("0")),
            ("0x12\nfF", true, Ok("12fF")),
            (" 0X\n12", true, Ok("12")),
            ("12_3", false, Err("line 1, column 3: '_' is not a decimal digit")),
            ("12\n 3-", false, Err("line 2, column 3: '-' is not a decimal digit")),
            ("12\r\n\n5\u{663}", false, Err("line 3, column 2: '٣' is not a decimal digit")),
            ("1x2", true, Err("line 1, column 2: 'x' is not a hexadecimal digit")),
            ("0x0x2", true, Err("line 1, column 4: 'x' is not a hexadecimal digit")),
            ("00x2", true, Err("line 1, column 3: 'x' is not a hexadecimal digit")),
            ("0x2", false, Err("line 1, column 2: 'x' is not a decimal digit")),
            ("fg", true, Err("line 1, column 2: 'g' is not a hexadecimal digit")),
        ] {
            let want = want.map(str::to_owned).map_err(str::to_owned);
            assert_eq!(digits_of(&[text], is_hex), want, "{text:?}");
            for cut in (0..text.len()).filter(|&cut| text.is_char_boundary(cut)) {
                let (first, second) = text.split_at(cut);
                assert_eq!(digits_of(&[first, second], is_hex), want, "{text:?} at {cut}");
            }
        }
        let long = "1234567890".repeat(5000);
        let lines = format!("{}\n{}", &long[..40_000], &long[40_000..]);
        assert_eq!(digits_of(&[&lines], false), Ok(long.clone()));
        let error = digits_of(&[&long, &lines, "!"], false).unwrap_err();
        assert_eq!(error, "line 2, column 10001: '!' is not a decimal digit");
    }

    #[test]
    fn formats_of_single_numbers() {
        for (file, format) in [
            (&b""[..], Format::Decimal),
            (b"12 34\n56", Format::Decimal),
            (b"\xef\xbb\xbf12", Format::Decimal),
            (b"12x", Format::Decimal),
            (b"hello", Format::Decimal),
            (b"0x12", Format::Hex),
            (b" 0X12", Format::Hex),
            (b"12 3a\n", Format::Hex),
            (b"\x01\x02", Format::Raw),
            (b"1234\xff", Format::Raw),
            (b"\0\0", Format::Raw),
            (b"\xff\xfe1\0\n\0", Format::Decimal),
        ] {
            assert_eq!(detect(file), format, "{}", file.escape_ascii());
        }
    }
}
