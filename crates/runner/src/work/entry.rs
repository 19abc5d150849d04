//! The entries of a list: its lines, with the meaning that headers give them.

use warpint_gimps::{Assignment, LONGEST_LINE, Line, Malformed, NumberedLine, Shown};
use warpint_mersenne::Number;

use super::header::{Header, candidate, candidate_of_four};
use crate::Candidate;

/// The meaning of a line of a list.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Entry {
    /// Nothing to do: a blank line, a comment, or a header.
    Nothing,
    /// An assignment of GIMPS.
    Assignment(Assignment),
    /// A candidate: `k*b^n+1` or `k*b^n-1`, or a line of integers.
    Candidate(Candidate),
    /// Work that only other programs can do, with the reason.
    Foreign(String),
    /// A line without a meaning, with the reason.
    Malformed(String),
    /// A line of integers below a header without a meaning.
    BelowMalformed,
}

/// Finds a line again after other lines were added or removed: equal lines have different numbers if
/// they are below different headers.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Key {
    bytes: Vec<u8>,
    candidate: Option<Number>,
}

impl Key {
    pub(super) fn new(line: &NumberedLine, entry: &Entry) -> Self {
        let candidate = match entry {
            Entry::Candidate(candidate) => Some(candidate.number()),
            _ => None,
        };
        Self { bytes: line.bytes.clone(), candidate }
    }
}

/// Returns the entries of the lines of a list.
pub(super) fn entries(lines: &[NumberedLine]) -> impl Iterator<Item = Entry> {
    let mut above = Above::Nothing;
    lines.iter().map(move |line| above.entry(line))
}

/// Returns the position of the first line that `key` finds.
pub(super) fn position(lines: &[NumberedLine], key: &Key) -> Option<usize> {
    let is_found = |(line, entry): (&NumberedLine, Entry)| {
        line.bytes == key.bytes && Key::new(line, &entry) == *key
    };
    lines.iter().zip(entries(lines)).position(is_found)
}

/// Returns whether the meaning of a line depends on the lines above it, or the line may be a header.
pub(super) fn depends_on_others(line: &[u8]) -> bool {
    if matches!(Line::parse(line), Line::Malformed(_)) {
        return may_be_header(line) || text_of(line).is_some_and(|text| integers(text).is_some());
    }
    false
}

/// Returns whether a line that is neither blank, nor a comment, nor an assignment may be meant as a header.
/// Lines of integers below it must not be done with the header before. Broken lines of integers, such as
/// `3 x`, and broken numbers, such as `3x2^189+1`, are no headers.
fn may_be_header(line: &[u8]) -> bool {
    let Some(text) = text_of(line) else {
        let begin = line.trim_ascii_start();
        return !begin.starts_with(b"#") && !begin.starts_with(b"//");
    };
    let begins_with_integer = text.starts_with(|c: char| c.is_ascii_digit() || "+-".contains(c));
    Header::is_meant(text)
        || text.contains(['$', ':'])
        || !text.contains('=') && !begins_with_integer
}

/// The last header above a line.
enum Above {
    /// There is no header.
    Nothing,
    Header(Header),
    /// The header has no meaning.
    Malformed,
}

impl Above {
    fn entry(&mut self, line: &NumberedLine) -> Entry {
        let why = match &line.line {
            Line::Blank | Line::Comment => return Entry::Nothing,
            Line::Work(assignment) => return Entry::Assignment(assignment.clone()),
            Line::Foreign(why) => return Entry::Foreign(why.to_string()),
            Line::Malformed(why) => why,
        };
        match (text_of(&line.bytes), why) {
            (None, _) | (_, Malformed::TooLong { .. } | Malformed::NotText) => {
                self.malformed(&line.bytes, why.to_string())
            }
            (Some(text), _) => self.of_text(text, why),
        }
    }

    /// Returns the entry of a line without a meaning. Below a line that may be a header, lines of integers
    /// have no meaning either.
    fn malformed(&mut self, line: &[u8], reason: String) -> Entry {
        if !may_be_header(line) {
            return Entry::Malformed(reason);
        }
        *self = Self::Malformed;
        Entry::Malformed(format!("{reason}; lines of integers below it are not done"))
    }

    /// Returns the entry of a line that is not an assignment of GIMPS for the reason `why`.
    fn of_text(&mut self, text: &str, why: &Malformed) -> Entry {
        if Header::is_meant(text) {
            return match Header::parse(text) {
                Ok(header) => {
                    *self = Self::Header(header);
                    Entry::Nothing
                }
                Err(reason) => self.malformed(text.as_bytes(), reason),
            };
        }
        let found = match (integers(text), &*self) {
            (Some(_), Self::Malformed) => return Entry::BelowMalformed,
            (Some(integers), Self::Header(header)) => header.candidate(&integers),
            (Some(integers), Self::Nothing) => candidate_of_four(&integers),
            (None, _) => match candidate(text) {
                Err(_) if text.contains('=') => Err(why.to_string()),
                Err(_) if !text.contains('^') => Err(format!(
                    "{} is not an assignment, k*b^n+1, k*b^n-1 or a line of integers",
                    Shown::new(text)
                )),
                found => found,
            },
        };
        match found {
            Ok(candidate) => Entry::Candidate(candidate),
            Err(reason) => self.malformed(text.as_bytes(), reason),
        }
    }
}

/// Returns the text of a line without white space at its ends; `None` if it is not UTF-8 or too long.
fn text_of(line: &[u8]) -> Option<&str> {
    let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
    if line.len() > LONGEST_LINE {
        return None;
    }
    std::str::from_utf8(line).ok().map(str::trim_ascii)
}

/// Splits a line into integers; `None` if it has any other word.
fn integers(text: &str) -> Option<Vec<&str>> {
    let words = || text.split_ascii_whitespace();
    (words().all(is_integer) && !text.is_empty()).then(|| words().collect())
}

fn is_integer(word: &str) -> bool {
    let digits = word.strip_prefix(['+', '-']).unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lines(text: &[u8]) -> Vec<NumberedLine> {
        let lines =
            text.split(|&b| b == b'\n').map(|line| line.strip_suffix(b"\r").unwrap_or(line));
        let numbered = |(i, bytes): (usize, &[u8])| NumberedLine {
            number: i + 1,
            line: Line::parse(bytes),
            bytes: bytes.to_vec(),
        };
        lines.enumerate().map(numbered).collect()
    }

    #[test]
    fn each_line_has_the_meaning_of_the_header_above_it() {
        let list = lines(
            b"3 2 189 1\r\n3*2^190-1\r\nPRP=127\r\nABC $a*2^$b+1\r\n3 189\r\n# 3 189\r\n\r\n\
              1:M:1:5:258\r\n3 189\r\nPRP=3,2,1277,-1\r\nABC2 x\r\n3 189\r\nM127\r\nABC $a^$b+1\r\n46 512",
        );
        let said = |entry| match entry {
            Entry::Nothing => "-".into(),
            Entry::Assignment(assignment) => assignment.work.keyword().into(),
            Entry::Candidate(candidate) => candidate.name().to_owned(),
            Entry::Foreign(_) => "foreign".into(),
            Entry::Malformed(_) => "malformed".into(),
            Entry::BelowMalformed => "below".into(),
        };
        let found: Vec<String> = entries(&list).map(said).collect();
        assert_eq!(
            found.join(" "),
            "3*2^189+1 3*2^190-1 PRP - 3*2^189+1 - - - 3*5^189-1 foreign malformed below M127 - 46^512+1"
        );
        // Equal lines below different headers are different lines.
        let entries: Vec<_> = entries(&list).collect();
        for index in [4, 8, 11] {
            let key = Key::new(&list[index], &entries[index]);
            assert_eq!(position(&list, &key), Some(index));
        }
    }

    #[test]
    fn broken_lines_say_what_is_wrong() {
        for (text, says) in [
            ("3 2 189", "has 3 of the 4 integers k b n c, and there is no header above it"),
            ("127", "has 1 of the 4 integers"),
            ("3 2 189 2", "'3*2^189+2': only numbers k*b^n+1 and k*b^n-1 can be tested, not +2"),
            ("3 2 3000000000 1", "too large"),
            ("3*2^189+3", "not +3"),
            ("3x2^189+1", "'3x2^189+1' is not of the form"),
            ("PRP=3*2^189+1", "is '3*2^189+1'"),
            ("nonsense", "nonsense is not an assignment"),
        ] {
            let found = entries(&lines(text.as_bytes())).next();
            assert!(
                matches!(&found, Some(Entry::Malformed(why)) if why.contains(says)),
                "{text}: {found:?}"
            );
        }
        let long = format!("3*2^{}+1", "9".repeat(60_000));
        let found = entries(&lines(long.as_bytes())).next();
        assert!(matches!(found, Some(Entry::Malformed(why)) if why.len() < 200));
    }

    #[test]
    fn only_lines_that_stand_alone_may_be_moved() {
        for (line, depends) in [
            ("3 2 189 1", true),
            ("ABC $a*2^$b+1", true),
            ("1:P:1:2:257", true),
            ("3*2^189+1", false),
            ("PRP=127", false),
            ("3x2^189+1", false),
            ("abc $a*2^$b-1", true),
            ("nonsense", true),
            ("# 3 189", false),
            ("", false),
        ] {
            assert_eq!(depends_on_others(line.as_bytes()), depends, "{line}");
        }
    }

    /// Otherwise lines of integers would name other numbers than the user means.
    #[test]
    fn what_may_be_a_header_ends_the_one_above() {
        let long = format!("ABC $a*2^$b-1 // {}", "x".repeat(LONGEST_LINE));
        for header in [
            b"ABC $a*2^$b-1 // J\xfcrgen".as_slice(),
            b"ABC $a*2^$b-1 // \x01",
            b"abc $a*2^$b-1",
            b"$a*2^$b-1",
            b"\"ABC $a*2^$b-1\"",
            "\u{200b}ABC $a*2^$b-1".as_bytes(),
            "\u{a0}ABC $a*2^$b-1".as_bytes(),
            b"1: M:1:2:258",
            b"1000 :M:1:2:258",
            b"1.5e12:M:1:2:258",
            b"NewPGen 1000:M:1:2:258",
            b"1000:M",
            b"DOMAIN $a*2^$b-1",
            b"ABC2 $a*2^$b-1",
            b"sieved to 10^12",
            long.as_bytes(),
        ] {
            let text = [b"ABC $a*2^$b+1\n3 189\n", header, b"\n3 324\n# 3 324\n5 904"].concat();
            let found: Vec<_> = entries(&lines(&text)).collect();
            let what = String::from_utf8_lossy(&header[..header.len().min(40)]).into_owned();
            assert!(matches!(found[1], Entry::Candidate(_)), "{what}");
            assert!(
                matches!(&found[2], Entry::Malformed(why) if why.contains("below it are not done")),
                "{what}: {:?}",
                found[2]
            );
            assert_eq!(found[3..], [Entry::BelowMalformed, Entry::Nothing, Entry::BelowMalformed]);
        }
        for line in
            [b"# J\xfcrgen".as_slice(), b"// J\xfcrgen", b"3 x", b"3x2^189+1", b"3 2 189 1 # x"]
        {
            let text = [b"ABC $a*2^$b+1\n", line, b"\n3 324"].concat();
            let found: Vec<_> = entries(&lines(&text)).collect();
            assert!(matches!(found[2], Entry::Candidate(_)), "{line:?}: {found:?}");
        }
    }

    proptest! {
        #[test]
        fn fuzz_lists(
            words in prop::collection::vec(
                prop_oneof![
                    2 => prop::sample::select(vec![
                        "ABC ", "$a", "$b", "*", "^", "+1", "-1", "3", "2", "189", ":", "P", "M", "\n",
                        " ", "//", "257", "9999999999999999999999", "PRP=", "M127",
                    ]).prop_map(|word| word.as_bytes().to_vec()),
                    1 => prop::collection::vec(any::<u8>(), 0..4),
                ],
                0..60,
            ),
        ) {
            let list = lines(&words.concat());
            let found: Vec<_> = entries(&list).collect();
            prop_assert_eq!(found.len(), list.len());
            for (line, entry) in list.iter().zip(&found) {
                let at = position(&list, &Key::new(line, entry));
                prop_assert!(at.is_some_and(|at| list[at].bytes == line.bytes));
                if let Entry::Candidate(candidate) = entry {
                    // The name stands for the number.
                    prop_assert_eq!(candidate.name().parse(), Ok(candidate.number()));
                }
            }
        }
    }
}
