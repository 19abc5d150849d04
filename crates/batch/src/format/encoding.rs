//! Detection of a text's encoding and line endings by the first bytes of a file.

use std::io::{self, Read};

use super::npy::MAGIC;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";
/// The number of bytes inspected at the beginning of a file. They include the end of the first
/// line, if this line is a number of at most 2^20 bits without many leading zeros.
const LOOKED_AT: u64 = 1 << 20;

const UTF_16: &str = "seems to be UTF-16: convert it to UTF-8, by iconv -f UTF-16 -t UTF-8";

/// Returns the offset of the first line in bytes. It is 3 if the file begins with the byte order
/// mark of UTF-8, and otherwise 0. The inner error is the reason why the file cannot be split into
/// lines.
pub(crate) fn text_begins(file: &mut impl Read) -> io::Result<Result<u64, &'static str>> {
    let mut begin = vec![];
    file.take(LOOKED_AT).read_to_end(&mut begin)?;
    Ok(match begin[..] {
        [0xff, 0xfe, ..] | [0xfe, 0xff, ..] => Err(UTF_16),
        [c, 0, ..] | [0, c, ..] if c.is_ascii_graphic() || c.is_ascii_whitespace() => Err(UTF_16),
        _ if begin.starts_with(MAGIC) => Err("is an npy file: give --format npy"),
        _ if ends_in_cr(&begin) => {
            Err("its lines end in CR alone: convert them to LF, by tr '\\r' '\\n'")
        }
        _ if begin.starts_with(BYTE_ORDER_MARK) => Ok(BYTE_ORDER_MARK.len() as u64),
        _ => Ok(0),
    })
}

/// Returns whether a text contains a CR before its last byte, and no LF.
fn ends_in_cr(text: &[u8]) -> bool {
    let cr = memchr::memchr(b'\r', text);
    cr.is_some_and(|i| i + 1 < text.len()) && memchr::memchr(b'\n', text).is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kind_of_a_text_is_told_by_its_first_bytes() {
        let utf16 =
            |text: &str| -> Vec<u8> { text.encode_utf16().flat_map(u16::to_le_bytes).collect() };
        let swapped = |text| utf16(text).chunks(2).flat_map(|c| [c[1], c[0]]).collect::<Vec<u8>>();
        for (text, kind) in [
            (b"".to_vec(), Ok(0)),
            (b"1".to_vec(), Ok(0)),
            (b"1\r".to_vec(), Ok(0)),
            (b"1\r\n2\r\n".to_vec(), Ok(0)),
            (b"1\r2\n".to_vec(), Ok(0)),
            (b"\xef\xbb\xbf1\n".to_vec(), Ok(3)),
            (b"\xef\xbb\xbf".to_vec(), Ok(3)),
            (b"1\r2".to_vec(), Err("its lines end in CR alone")),
            (b"\xef\xbb\xbf1\r2\r".to_vec(), Err("its lines end in CR alone")),
            (b"\0\x01".to_vec(), Ok(0)),
            (b"\x93NUMPY\x01\0".to_vec(), Err("is an npy file")),
            (utf16("1\n2\n"), Err("seems to be UTF-16")),
            (swapped("1\n2\n"), Err("seems to be UTF-16")),
            (utf16("\u{feff}1\n"), Err("seems to be UTF-16")),
            (swapped("\u{feff}1\n"), Err("seems to be UTF-16")),
        ] {
            let found = text_begins(&mut &text[..]).unwrap();
            let found = found.map_err(|says| says.split(':').next().unwrap_or(says));
            assert_eq!(found, kind, "{text:?}");
        }
    }
}
