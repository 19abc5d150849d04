//! Splitting a file into lines.

use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use warpint_integer::TextProblem;

use super::digits::{Digits, LineProblem, LongLine, prefix, significant};

/// The number of bytes that are read at a time.
const BLOCK: usize = 1 << 18;

/// Consecutive lines of a file.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    text: Vec<u8>,
    /// For each line, its range in `text`. For a line that was too long to be stored, its
    /// properties.
    places: Vec<Result<Place, LongLine>>,
}

#[derive(Debug)]
struct Place {
    line: Range<usize>,
    /// The number of blanks that precede the line in the file and were removed.
    blanks: usize,
    /// The number of leading zeros that were removed from the line.
    left_out: usize,
}

impl Lines {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Returns line i without LF or CR LF and without surrounding blanks.
    ///
    /// If the line was too long to be stored with all its leading zeros, most of these zeros are
    /// missing. Returns `None` if the line was too long even without them, or if there is no line
    /// i.
    pub(crate) fn get(&self, i: usize) -> Option<&[u8]> {
        let place = self.places.get(i)?.as_ref().ok()?;
        self.text.get(place.line.clone())
    }

    /// Returns the digits of line i. The error is the reason why the line is not a valid number.
    pub(crate) fn digits(&self, i: usize, digits: &Digits) -> Result<&str, LineProblem> {
        let place = match self.places.get(i) {
            Some(Ok(place)) => place,
            Some(Err(line)) => return Err(digits.too_long(line)),
            None => return Err(LineProblem::Text(TextProblem::Empty)),
        };
        let line = self.text.get(place.line.clone()).unwrap_or_default();
        digits.of(line).map_err(|mut problem| {
            if let LineProblem::Text(TextProblem::NoDigit { position, .. }) = &mut problem {
                // Zeros were removed after 0x.
                *position += if *position >= prefix(line) { place.left_out } else { 0 };
                *position += place.blanks;
            }
            problem
        })
    }
}

/// A reader that splits a file into lines. Lines end in LF or CR LF. The last line may have no line
/// ending. Blank lines count as lines.
pub(crate) struct LineReader<R> {
    file: BufReader<R>,
    /// The length in bytes of the longest line that is stored.
    longest: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(file: R, longest: usize) -> Self {
        Self { file: BufReader::with_capacity(BLOCK, file), longest }
    }

    /// Returns the next `most` lines. Returns fewer lines if the file ends, or if the lines so far
    /// have at least `enough` bytes. If `most` and `enough` are positive, the result is empty only
    /// at the end of the file.
    pub(crate) fn next(&mut self, most: usize, enough: usize) -> io::Result<Lines> {
        let mut lines = Lines::default();
        while lines.len() < most && lines.text.len() < enough {
            let Some(place) = self.line(&mut lines.text)? else { break };
            lines.places.push(place);
        }
        Ok(lines)
    }

    /// Skips `count` lines, or all lines that are left if there are fewer.
    pub(crate) fn skip(&mut self, count: u64) -> io::Result<()> {
        for _ in 0..count {
            self.file.skip_until(b'\n')?;
        }
        Ok(())
    }

    /// Reads the next line, appends it to `text`, and returns its range in `text`. Returns `None`
    /// at the end of the file. The inner error describes a line that is too long to be stored. Such
    /// a line is read, but not appended.
    fn line(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Result<Place, LongLine>>> {
        let begin = text.len();
        let (mut blanks, mut left_out) = (0, 0);
        loop {
            // Includes CR LF at its end.
            let room = begin + self.longest + 2 - text.len();
            let read = self.file.by_ref().take(room as u64).read_until(b'\n', text)?;
            if read < room || text.ends_with(b"\n") {
                break;
            }
            let (spaces, zeros) = (leave_out_blanks(text, begin), leave_out_zeros(text, begin));
            if spaces + zeros == 0 {
                let mut long = LongLine::default();
                let line = &text[begin..];
                long.append(significant(&line[prefix(line)..]));
                text.truncate(begin);
                self.rest(&mut long)?;
                return Ok(Some(Err(long)));
            }
            blanks += spaces;
            left_out += zeros;
        }
        let line = &text[begin..];
        if line.is_empty() && blanks == 0 {
            return Ok(None);
        }
        // LF, CR LF, and preceding blanks.
        let end = line.trim_ascii_end().len();
        let spaces = end - line[..end].trim_ascii_start().len();
        let line = begin + spaces..begin + end;
        Ok(Some(Ok(Place { line, blanks: blanks + spaces, left_out })))
    }
}

impl<R: Read> LineReader<R> {
    /// Reads and discards the rest of a long line, and updates the properties `line` of this line.
    fn rest(&mut self, line: &mut LongLine) -> io::Result<()> {
        loop {
            let some = self.file.fill_buf()?;
            let end = memchr::memchr(b'\n', some);
            let length = end.unwrap_or(some.len());
            let at_end = end.is_some() || some.is_empty();
            line.append(&some[..length]);
            self.file.consume(end.map_or(length, |end| end + 1));
            if at_end {
                return Ok(());
            }
        }
    }
}

/// Removes the blanks at the beginning of the line that starts at the offset `begin`. Returns the
/// number of removed blanks.
fn leave_out_blanks(text: &mut Vec<u8>, begin: usize) -> usize {
    let line = &text[begin..];
    let blanks = line.len() - line.trim_ascii_start().len();
    text.drain(begin..begin + blanks);
    blanks
}

/// Removes all but two of the leading zeros of the number at the offset `begin`, after its prefix
/// 0x, if any. Returns the number of removed zeros. Two zeros remain, because with only one zero an
/// x after many zeros would become part of a prefix 0x.
fn leave_out_zeros(text: &mut Vec<u8>, begin: usize) -> usize {
    let begin = begin + prefix(&text[begin..]);
    let digits = &text[begin..];
    let zeros = (digits.len() - significant(digits).len()).saturating_sub(2);
    text.drain(begin..begin + zeros);
    zeros
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use warpint_integer::Width;

    use super::super::{Format, Limit};
    use super::*;

    /// A reader of a slice that returns at most a given number of bytes per call.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(to.len());
            (&mut self.0).take(some as u64).read(to)
        }
    }

    fn limit(bits: u32) -> Limit {
        Limit { width: Width::new(bits).unwrap(), given: true }
    }

    fn cut(file: &[u8], longest: usize, most: usize) -> Vec<Option<String>> {
        let mut lines = vec![];
        for at_a_time in [1, 3, 100] {
            let mut reader = LineReader::new(Slow(file, at_a_time), longest);
            let mut all = vec![];
            loop {
                let some = reader.next(most, usize::MAX).unwrap();
                if some.len() == 0 {
                    break;
                }
                all.extend(
                    (0..some.len())
                        .map(|i| some.get(i).map(|line| String::from_utf8(line.to_vec()).unwrap())),
                );
            }
            assert!(lines.is_empty() || lines == all);
            lines = all;
        }
        lines
    }

    #[test]
    fn files_are_cut_into_lines() {
        let some = |lines: &[&str]| -> Vec<_> { lines.iter().map(|&l| Some(l.into())).collect() };
        for most in [1, 2, 100] {
            for (file, lines) in [
                ("", &[][..]),
                ("1", &["1"]),
                ("1\n", &["1"]),
                ("1\r\n22\r\n", &["1", "22"]),
                ("\n", &[""]),
                ("1\n\n2\n\n", &["1", "", "2", ""]),
                ("1\n\r\n2", &["1", "", "2"]),
                (" 1\t\r\n  \n 2 3 ", &["1", "", "2 3"]),
                ("  ", &[""]),
                ("                            7    \t\r\n", &["7"]),
                ("                            \n7", &["", "7"]),
            ] {
                assert_eq!(cut(file.as_bytes(), 9, most), some(lines), "{file:?}");
            }
            let lines = cut(b"1\n123456789012\n22\n123456789012", 9, most);
            assert_eq!(lines, [Some("1".into()), None, Some("22".into()), None]);
        }
    }

    #[test]
    fn zeros_do_not_make_a_line_too_long() {
        let zeros = "0".repeat(1000);
        let file =
            format!("{zeros}7\n{zeros}123456789012\n0x{zeros}8\r\n{zeros}\n{zeros}9g\n{zeros}x7");
        let says = |long| format!("{long}; at most 32 bits are allowed by --bits");
        let [long, long_hex] = ["has 37 bits", "has 45 bits"].map(says);
        let bad =
            |what, position, kind| format!("'{what}' at position {position} is not a {kind} digit");
        let (dec, hex) = ("decimal", "hexadecimal");
        for (format, expected) in [
            (Format::Hex, ["7", &long_hex, "8", "0", &bad('g', 1001, hex), &bad('x', 1000, hex)]),
            (
                Format::Decimal,
                ["7", &long, &bad('x', 1, dec), "0", &bad('g', 1001, dec), &bad('x', 1000, dec)],
            ),
        ] {
            let digits = Digits::new(format, limit(32)).unwrap();
            let mut reader = LineReader::new(file.as_bytes(), 9);
            let lines = reader.next(100, usize::MAX).unwrap();
            assert!(lines.text.len() < 6 * 12, "{lines:?}");
            let found = (0..lines.len()).map(|i| match lines.digits(i, &digits) {
                Ok(text) => u64::from_str_radix(text, 16).unwrap().to_string(),
                Err(problem) => problem.to_string(),
            });
            assert_eq!(found.collect::<Vec<_>>(), expected);
        }
    }

    #[test]
    fn lines_one_by_one_take_about_as_long_as_all_at_once() {
        let file = "1\n".repeat(1 << 18);
        let time = |most| {
            let begin = Instant::now();
            let mut reader = LineReader::new(file.as_bytes(), 9);
            while reader.next(most, usize::MAX).unwrap().len() > 0 {}
            begin.elapsed()
        };
        let (all, each) = (time(1 << 18), time(1));
        assert!(each < 20 * all + Duration::from_millis(200), "{all:?} and {each:?}");
    }

    #[test]
    fn enough_bytes_are_enough() {
        let file = "123\n".repeat(10);
        let mut reader = LineReader::new(file.as_bytes(), 9);
        let counts: Vec<_> = (0..5).map(|_| reader.next(100, 15).unwrap().len()).collect();
        assert_eq!(counts, [4, 4, 2, 0, 0]);
    }

    #[test]
    fn positions_count_blanks_and_zeros_that_are_left_out() {
        let file = format!("  0x{}7g\n\t12x \n", "0".repeat(100));
        let mut reader = LineReader::new(file.as_bytes(), 9);
        let lines = reader.next(9, usize::MAX).unwrap();
        for (i, format, says) in [
            (0, Format::Hex, "'g' at position 105 is not a hexadecimal digit"),
            (1, Format::Decimal, "'x' at position 3 is not a decimal digit"),
        ] {
            let digits = Digits::new(format, limit(32)).unwrap();
            assert_eq!(lines.digits(i, &digits).unwrap_err().to_string(), says);
        }
    }
}
