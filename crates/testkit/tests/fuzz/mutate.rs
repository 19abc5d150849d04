//! Makes malformed files by changing valid ones.

use proptest::collection::vec;
use proptest::prelude::*;

/// A change of a file. Positions and indices are taken modulo the number of possible values.
#[derive(Debug, Clone)]
enum Change {
    /// Flips a bit. The fields are the position of the byte, and the index of the bit in the byte.
    Flip(usize, u8),
    /// Cuts off the end of the file, beginning at a position.
    Cut(usize),
    /// Inserts bytes at a position.
    Insert(usize, Vec<u8>),
    /// Inserts a copy of a range of the file at a position. The fields are the two ends of the
    /// range, in any order, and the position.
    Splice(usize, usize, usize),
    /// Replaces the decimal number with this index by another text.
    Number(usize, &'static str),
    /// Removes the text of the non-empty line with this index, but not the end of the line.
    Line(usize),
}

/// Texts that replace a number: values at and beyond the limits of the integer types, and texts
/// that are not numbers.
const NUMBERS: [&str; 16] = [
    "",
    "0",
    "1",
    "-1",
    "+1",
    "127",
    "4294967295",
    "4294967296",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "340282366920938463463374607431768211456",
    "1e400",
    "0x10",
    "NaN",
    "٣",
];

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        (any::<usize>(), 0u8..8).prop_map(|(at, bit)| Change::Flip(at, bit)),
        any::<usize>().prop_map(Change::Cut),
        (any::<usize>(), vec(any::<u8>(), 0..40)).prop_map(|(at, x)| Change::Insert(at, x)),
        any::<(usize, usize, usize)>().prop_map(|(from, to, at)| Change::Splice(from, to, at)),
        (any::<usize>(), prop::sample::select(&NUMBERS[..]))
            .prop_map(|(at, number)| Change::Number(at, number)),
        any::<usize>().prop_map(Change::Line),
    ]
}

/// Returns a strategy for files that are made from one of `files` by one to four changes.
pub(crate) fn mutated(files: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (prop::sample::select(files), vec(change(), 1..=4))
        .prop_map(|(file, changes)| changes.iter().fold(file, apply))
}

fn apply(mut file: Vec<u8>, change: &Change) -> Vec<u8> {
    if file.is_empty() {
        return file;
    }
    let n = file.len();
    match change {
        Change::Flip(at, bit) => file[at % n] ^= 1 << bit,
        Change::Cut(at) => file.truncate(at % n),
        Change::Insert(at, bytes) => {
            let at = at % n;
            file.splice(at..at, bytes.iter().copied());
        }
        Change::Splice(from, to, at) => {
            let (from, to) = (from % n, to % n);
            let piece = file[from.min(to)..from.max(to)].to_vec();
            let at = at % n;
            file.splice(at..at, piece);
        }
        Change::Number(which, number) => {
            let runs = runs(&file, |b| b.is_ascii_digit());
            if !runs.is_empty() {
                file.splice(runs[which % runs.len()].clone(), number.bytes());
            }
        }
        Change::Line(which) => {
            let lines = runs(&file, |b| b != b'\n');
            if !lines.is_empty() {
                file.drain(lines[which % lines.len()].clone());
            }
        }
    }
    file
}

/// Returns the ranges of all maximal runs of bytes for which `of` returns true.
fn runs(file: &[u8], of: impl Fn(u8) -> bool) -> Vec<std::ops::Range<usize>> {
    let mut runs: Vec<std::ops::Range<usize>> = vec![];
    for (i, _) in file.iter().enumerate().filter(|(_, b)| of(**b)) {
        match runs.last_mut() {
            Some(last) if last.end == i => last.end = i + 1,
            _ => runs.push(i..i + 1),
        }
    }
    runs
}

#[test]
fn fuzz_changes_do_what_they_say() {
    let file = b"a: 17\nb: 2".to_vec();
    assert_eq!(runs(&file, |b| b.is_ascii_digit()), [3..5, 9..10]);
    assert_eq!(apply(file.clone(), &Change::Number(0, "-1")), b"a: -1\nb: 2");
    assert_eq!(apply(file.clone(), &Change::Line(1)), b"a: 17\n");
    assert_eq!(apply(file.clone(), &Change::Cut(3)), b"a: ");
    assert_eq!(apply(file.clone(), &Change::Flip(0, 1)), b"c: 17\nb: 2");
    let splice = Change::Splice(15, 3, 0);
    assert_eq!(apply(file, &splice), b"17a: 17\nb: 2");
}
