//! Lines of digits: cutting a file into them, and saying what is wrong with one.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read};
use std::ops::Range;

use warpint::integer::{Executor, IntegerError, TextProblem, UintBatch, Width};

use crate::args::Format;

/// Bytes that are read at a time.
const BLOCK: usize = 1 << 18;

/// The line of a result that there is none of. Read back, it is missing again, at the end of a file
/// too, where a blank line is no line.
pub(crate) const NONE: &str = "none";

/// What is wrong with a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineProblem {
    Text(TextProblem),
    /// It is [`NONE`].
    Missing,
    /// No number of the width is so long, whatever zeros it begins with.
    TooLong {
        /// Bytes after the zeros.
        most: usize,
    },
}

impl fmt::Display for LineProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(problem) => problem.fmt(f),
            Self::Missing => write!(f, "'{NONE}' stands for no number"),
            Self::TooLong { most } => write!(f, "more than {most} bytes after leading zeros"),
        }
    }
}

/// Digits of one width: what a line must be, and the numbers of such lines.
#[derive(Debug)]
pub(crate) struct Digits {
    hex: bool,
    width: Width,
    /// Of 2^width − 1.
    most: usize,
    /// The decimal digits of 2^width − 1, if they are known.
    largest: Option<Vec<u8>>,
}

impl Digits {
    pub(crate) fn new(format: Format, width: Width) -> Result<Self, IntegerError> {
        let mut digits = Self::rough(format, width);
        if !digits.hex {
            let ones = vec![u32::MAX; width.limbs()];
            let ones = UintBatch::from_vec(&Executor::cpu(), width, ones)?.to_decimal()?;
            digits.largest = ones.into_iter().next().map(String::into_bytes);
        }
        Ok(digits)
    }

    /// At once: takes decimal numbers of as many digits as 2^width − 1 for too wide.
    pub(crate) fn rough(format: Format, width: Width) -> Self {
        let hex = format == Format::Hex;
        let bits = width.bits();
        let most =
            if hex { bits / 4 } else { (f64::from(bits) * std::f64::consts::LOG10_2) as u32 + 1 };
        Self { hex, width, most: most as usize, largest: None }
    }

    /// Whether a line may be mistaken for too wide.
    pub(crate) fn may_mistake(&self, line: &[u8]) -> bool {
        !self.hex && self.largest.is_none() && line.len() >= self.most
    }

    /// The longest line that is looked at, without zeros that it begins with: twice what is needed
    /// and some more, to say what is wrong with it.
    pub(crate) fn longest_line(&self) -> usize {
        2 * self.most + (1 << 12)
    }

    /// The digits of a line, without what a hexadecimal number may begin with; a number of them
    /// is no wider than the width.
    pub(crate) fn of<'a>(&self, line: &'a [u8]) -> Result<&'a str, LineProblem> {
        let begin = if self.hex { prefix(line) } else { 0 };
        let digits = &line[begin..];
        let (is_digit, kind): (fn(&u8) -> bool, _) = if self.hex {
            (u8::is_ascii_hexdigit, "hexadecimal")
        } else {
            (u8::is_ascii_digit, "decimal")
        };
        // Not `all`, which ends early and is therefore slower.
        let good = digits.iter().fold(true, |good, digit| good & is_digit(digit));
        let (true, Ok(text)) = (good, str::from_utf8(digits)) else {
            if line == NONE.as_bytes() {
                return Err(LineProblem::Missing);
            }
            let text = String::from_utf8_lossy(digits);
            let no_digit = |c: &char| !u8::try_from(*c).is_ok_and(|byte| is_digit(&byte));
            let (i, character) =
                text.chars().enumerate().find(|(_, c)| no_digit(c)).unwrap_or_default();
            let problem = TextProblem::NoDigit { character, position: begin + i, digits: kind };
            return Err(LineProblem::Text(problem));
        };
        if text.is_empty() {
            return Err(LineProblem::Text(TextProblem::Empty));
        }
        let significant = significant(digits);
        // Of as many digits, the larger number is the larger text; hexadecimal ones all fit.
        let larger = || self.largest.as_deref().is_none_or(|largest| significant > largest);
        let length = significant.len();
        if length > self.most || (length == self.most && !self.hex && larger()) {
            return Err(LineProblem::Text(TextProblem::TooWide { width: self.width }));
        }
        Ok(text)
    }

    /// The numbers of such digits.
    pub(crate) fn numbers(
        &self,
        executor: &Executor,
        digits: &[&str],
    ) -> Result<UintBatch, IntegerError> {
        let digits = digits.iter().copied();
        if self.hex {
            UintBatch::from_hex(executor, self.width, digits)
        } else {
            UintBatch::from_decimal(executor, self.width, digits)
        }
    }
}

/// How long what a hexadecimal number may begin with is: 0x or nothing.
pub(crate) fn prefix(line: &[u8]) -> usize {
    if line.starts_with(b"0x") || line.starts_with(b"0X") { 2 } else { 0 }
}

/// Without the zeros that a number begins with.
pub(crate) fn significant(digits: &[u8]) -> &[u8] {
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    &digits[zeros..]
}

/// Some lines of a file.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    text: Vec<u8>,
    /// Where they are; `None` for one that was too long to be kept.
    places: Vec<Option<Place>>,
    longest: usize,
}

#[derive(Debug)]
struct Place {
    line: Range<usize>,
    /// So many of the zeros that it begins with are left out.
    left_out: usize,
}

impl Lines {
    pub(crate) fn len(&self) -> usize {
        self.places.len()
    }

    /// Line i without its end; of a long one, without zeros that it begins with.
    pub(crate) fn get(&self, i: usize) -> Result<&[u8], LineProblem> {
        self.place(i).map(|(line, _)| line)
    }

    /// The digits of line i.
    pub(crate) fn digits(&self, i: usize, digits: &Digits) -> Result<&str, LineProblem> {
        let (line, left_out) = self.place(i)?;
        digits.of(line).map_err(|mut problem| {
            match &mut problem {
                // They were behind 0x.
                LineProblem::Text(TextProblem::NoDigit { position, .. })
                    if *position >= prefix(line) =>
                {
                    *position += left_out;
                }
                _ => {}
            }
            problem
        })
    }

    fn place(&self, i: usize) -> Result<(&[u8], usize), LineProblem> {
        let place = self.places.get(i).and_then(Option::as_ref);
        let line =
            place.and_then(|place| Some((self.text.get(place.line.clone())?, place.left_out)));
        line.ok_or(LineProblem::TooLong { most: self.longest })
    }
}

/// Cuts a file into lines, which end in LF or CR LF; the last one may have no end. Blank lines are
/// lines.
pub(crate) struct LineReader<R> {
    file: BufReader<R>,
    /// Of lines that are kept.
    longest: usize,
}

impl<R: Read> LineReader<R> {
    pub(crate) fn new(file: R, longest: usize) -> Self {
        Self { file: BufReader::with_capacity(BLOCK, file), longest }
    }

    /// The next lines: `most` of them, or fewer at the end of the file, or as soon as they have
    /// `enough` bytes; none only at the end.
    pub(crate) fn next(&mut self, most: usize, enough: usize) -> io::Result<Lines> {
        let mut lines = Lines { longest: self.longest, ..Lines::default() };
        while lines.len() < most && lines.text.len() < enough {
            let Some(place) = self.line(&mut lines.text)? else { break };
            lines.places.push(place);
        }
        Ok(lines)
    }

    /// Appends the next line, if there is one, to the text; the inner `None` is one that is too
    /// long.
    fn line(&mut self, text: &mut Vec<u8>) -> io::Result<Option<Option<Place>>> {
        let begin = text.len();
        let mut left_out = 0;
        loop {
            // With CR LF at its end.
            let room = begin + self.longest + 2 - text.len();
            let read = self.file.by_ref().take(room as u64).read_until(b'\n', text)?;
            if read < room || text.ends_with(b"\n") {
                break;
            }
            let zeros = leave_out_zeros(text, begin);
            if zeros == 0 {
                text.truncate(begin);
                self.file.skip_until(b'\n')?;
                return Ok(Some(None));
            }
            left_out += zeros;
        }
        let line = &text[begin..];
        if line.is_empty() {
            return Ok(None);
        }
        let line = line.strip_suffix(b"\n").unwrap_or(line);
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        Ok(Some(Some(Place { line: begin..begin + line.len(), left_out })))
    }
}

/// Takes the zeros out of a text that the number at `begin` has before its digits, but for two, so
/// that none of them becomes one of 0x, and says how many.
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

    use super::*;

    /// Gives so many bytes at a time.
    struct Slow<'a>(&'a [u8], usize);

    impl Read for Slow<'_> {
        fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
            let some = self.1.min(to.len());
            (&mut self.0).take(some as u64).read(to)
        }
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
                all.extend((0..some.len()).map(|i| {
                    some.get(i).ok().map(|line| String::from_utf8(line.to_vec()).unwrap())
                }));
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
        let long = "more than 9 bytes after leading zeros";
        let bad =
            |what, position, kind| format!("'{what}' at position {position} is no {kind} digit");
        let (dec, hex) = ("decimal", "hexadecimal");
        for (format, expected) in [
            (Format::Hex, ["7", long, "8", "0", &bad('g', 1001, hex), &bad('x', 1000, hex)]),
            (
                Format::Decimal,
                ["7", long, &bad('x', 1, dec), "0", &bad('g', 1001, dec), &bad('x', 1000, dec)],
            ),
        ] {
            let digits = Digits::new(format, Width::new(32).unwrap()).unwrap();
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
    fn the_most_digits_are_those_of_all_ones() {
        for limbs in (1..40).chain([1 << 10, (1 << 15) - 1, 1 << 15]) {
            let digits = Digits::new(Format::Decimal, Width::new(32 * limbs).unwrap()).unwrap();
            let largest = digits.largest.as_deref().unwrap();
            assert_eq!(digits.most, largest.len(), "{limbs}");
            let rough = Digits::rough(Format::Decimal, digits.width);
            assert!(digits.of(largest).is_ok() && rough.of(largest).is_err());
            assert!(rough.may_mistake(largest) && rough.of(&largest[1..]).is_ok());
        }
    }

    #[test]
    fn what_is_wrong_with_a_line_is_said() {
        let width = Width::new(32).unwrap();
        let [decimal, hex] = [Format::Decimal, Format::Hex].map(|f| Digits::new(f, width).unwrap());
        for (digits, line, says) in [
            (&decimal, "4294967295", Ok("4294967295")),
            (&decimal, "0004294967295", Ok("0004294967295")),
            (&decimal, "4294967296", Err("more than 32 bits")),
            (&decimal, "10000000000", Err("more than 32 bits")),
            (&decimal, "", Err("no digits")),
            (&decimal, "0x1", Err("'x' at position 1 is no decimal digit")),
            (&decimal, "-1", Err("'-' at position 0 is no decimal digit")),
            (&decimal, "1 ", Err("' ' at position 1 is no decimal digit")),
            (&decimal, "1٣", Err("'٣' at position 1 is no decimal digit")),
            (&hex, "ffffffff", Ok("ffffffff")),
            (&hex, "0xFFFFffff", Ok("FFFFffff")),
            (&hex, "0X00", Ok("00")),
            (&hex, "100000000", Err("more than 32 bits")),
            (&hex, "0x", Err("no digits")),
            (&hex, "0x12g", Err("'g' at position 4 is no hexadecimal digit")),
            (&decimal, "none", Err("'none' stands for no number")),
            (&hex, "none", Err("'none' stands for no number")),
            (&hex, "0xnone", Err("'n' at position 2 is no hexadecimal digit")),
        ] {
            let found = digits.of(line.as_bytes()).map_err(|e| e.to_string());
            assert_eq!(found, says.map_err(str::to_owned), "{line}");
        }
        let found = decimal.of(b"1\xff").map_err(|e| e.to_string());
        assert_eq!(found, Err("'\u{fffd}' at position 1 is no decimal digit".to_owned()));
    }
}
