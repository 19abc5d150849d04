//! Detection of a file's format by its content. It is used if neither the file name nor an option
//! states the format.

use super::Format;
use super::digits::prefix;
use super::encoding::text_begins;
use super::npy::MAGIC;

/// The largest number of bytes inspected at the beginning of a file.
pub(crate) const LOOKED_AT: u64 = 1 << 20;

/// The format of a file is in doubt if some of its lines, but fewer than 1 in `FEW`, have a
/// hexadecimal letter or 0x. The file may then be a decimal file with typing errors. In a
/// hexadecimal file of random numbers, or of the numbers 1, 2, 3, …, at least about 6 of 16 lines
/// have a letter.
const FEW: usize = 16;

/// Detects the format of a file that begins with the bytes `begin`. If `begin` has fewer than
/// [`LOOKED_AT`] bytes, it is the whole file.
///
/// A NumPy file is recognised by its magic number. A text in UTF-16, or with lines that end in CR
/// alone, counts as decimal; it is refused later, when it is read. Any other file with bytes that
/// are not text is raw. A file is hexadecimal if its lines are hexadecimal digits and some of them
/// have 0x or letters. Any other file is decimal.
///
/// # Errors
/// Returns a message for the user if the lines may be hexadecimal or decimal. The message names a
/// line with 0x or a hexadecimal letter.
pub(crate) fn detect(begin: &[u8]) -> Result<Format, String> {
    if begin.starts_with(MAGIC) {
        return Ok(Format::Npy);
    }
    let text = match text_begins(&mut &*begin).ok().and_then(Result::ok) {
        // A wrong encoding is reported when the file is read. Texts in UTF-16 have no two
        // consecutive zeros.
        None if memchr::memmem::find(begin, b"\0\0").is_none() => return Ok(Format::Decimal),
        from => &begin[from.unwrap_or(0) as usize..],
    };
    let is_text = |&c: &u8| c.is_ascii_graphic() || c.is_ascii_whitespace() || !c.is_ascii();
    if !text.iter().all(is_text) || (!text.is_ascii() && str::from_utf8(cut(text)).is_err()) {
        return Ok(Format::Raw);
    }
    let (mut all, mut marked, mut lettered) = (0, 0, 0);
    let mut first = None;
    for (i, line) in cut(text).split(|&c| c == b'\n').map(<[u8]>::trim_ascii).enumerate() {
        let digits = &line[prefix(line)..];
        if digits.is_empty() || !digits.iter().all(u8::is_ascii_hexdigit) {
            // Blank, `none`, or not a number in any format.
            continue;
        }
        let is_marked = prefix(line) > 0;
        let is_lettered = digits.iter().any(u8::is_ascii_alphabetic);
        all += 1;
        marked += usize::from(is_marked);
        lettered += usize::from(!is_marked && is_lettered);
        if first.is_none() && (is_marked || is_lettered) {
            first = Some(i + 1);
        }
    }
    let Some(line) = first else { return Ok(Format::Decimal) };
    // Lines without 0x may be decimal, unless they have letters.
    let is_mixed = marked > 0 && marked < all && lettered == 0;
    let is_rare = (marked + lettered) * FEW < all;
    if is_mixed || is_rare {
        let which = if marked > 0 { "0x" } else { "a hexadecimal letter" };
        return Err(format!(
            "{} of {all} lines have {which}, such as line {line}: give --format hex or --format dec",
            marked + lettered
        ));
    }
    Ok(Format::Hex)
}

/// Removes the last line of a text if this line may continue after the inspected bytes.
fn cut(text: &[u8]) -> &[u8] {
    let is_part = text.len() as u64 >= LOOKED_AT - 3;
    let end = if is_part { memchr::memrchr(b'\n', text) } else { None };
    &text[..end.unwrap_or(text.len())]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_told_by_content() {
        let many = "1\n2\n3\n4\n5\n6\n7\n8\n9\n".repeat(2);
        for (file, format) in [
            (&b""[..], Format::Decimal),
            (b"12\n34\n", Format::Decimal),
            (b" 12 \r\n\r\nnone\r\n34", Format::Decimal),
            (b"\xef\xbb\xbf12\n", Format::Decimal),
            (b"1\nx\n-3\n", Format::Decimal),
            (b"0x12\n0X34\n", Format::Hex),
            (b"\xef\xbb\xbf0x12\n", Format::Hex),
            (b"none\n12\nfF\n", Format::Hex),
            (b"0x12\nff\n9\n", Format::Hex),
            (b"\x93NUMPY\x01\0", Format::Npy),
            (b"\0\0\0\0", Format::Raw),
            (b"\x05\0\0\0", Format::Raw),
            (b"5\0\0\0", Format::Raw),
            (b"1234\xff\xff\xff\xff", Format::Raw),
            ("1٣\n".as_bytes(), Format::Decimal),
            // Reported when the file is read.
            (b"\xff\xfe1\0\n\0", Format::Decimal),
            (b"1\r2\r", Format::Decimal),
            (many.as_bytes(), Format::Decimal),
        ] {
            assert_eq!(detect(file), Ok(format), "{}", file.escape_ascii());
        }
        let says = detect(format!("{many}12a\n").as_bytes()).unwrap_err();
        assert_eq!(
            says,
            "1 of 19 lines have a hexadecimal letter, such as line 19: give --format hex or --format dec"
        );
        let says = detect(b"1\n0x2\n").unwrap_err();
        assert!(says.starts_with("1 of 2 lines have 0x, such as line 2: "), "{says}");
    }

    #[test]
    fn a_line_that_was_cut_does_not_count() {
        let mut file = "9".repeat(1000) + "\n";
        file = file.repeat(2000);
        file.truncate(LOOKED_AT as usize - 1);
        file.push('a');
        assert_eq!(detect(file.as_bytes()), Ok(Format::Decimal));
    }
}
