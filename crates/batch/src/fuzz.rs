//! Tests with malformed files of numbers. No file may cause a panic, and only a number may be
//! accepted as a number.
//!
//! Each test runs 10,000 cases, or the number of cases in the environment variable
//! `PROPTEST_CASES`. Tests that write files run a tenth of this number.

use std::fs;

use num_bigint::BigUint;
use proptest::collection::vec;
use proptest::prelude::*;
use warpint_integer::{Executor, Width};
use warpint_natural::product::FastProducts;
use warpint_progress::{StopToken, Unwatched};

use crate::calculation::{Calculation, CalculationJob, CalculationRequest};
use crate::format::{Digits, LineReader, prefix, significant, text_begins};
use crate::{Format, Item, Limit, NpyHeader, Source};

fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

/// Returns a configuration with a tenth of the usual number of cases, for tests that write files.
fn cases_on_disk() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(10))
}

/// Generates a file for a test. It is either one of the valid files `sound`, with some bytes
/// changed, inserted or removed, or a file of arbitrary bytes.
fn changed(sound: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let change = (any::<usize>(), vec(any::<u8>(), 0..4), 0..3usize);
    let sound = (prop::sample::select(sound), vec(change, 0..4), any::<usize>());
    let changed = sound.prop_map(|(mut file, changes, end)| {
        for (at, bytes, gone) in changes {
            let at = at % (file.len() + 1);
            file.splice(at..(at + gone).min(file.len()), bytes);
        }
        if end % 4 == 0 {
            file.truncate(end / 4 % (file.len() + 1));
        }
        file
    });
    prop_oneof![4 => changed, 1 => vec(any::<u8>(), 0..300)]
}

fn arrays() -> Vec<Vec<u8>> {
    let mut arrays = vec![];
    for (item, count, limbs) in [(Item::U32, 2, 3), (Item::U64, 1, 1), (Item::U32, 0, 1 << 15)] {
        let mut file = NpyHeader { item, count, limbs }.to_bytes();
        let bytes = count * limbs * u64::from(item.bits() / 8);
        file.extend((0..bytes).map(|i| i as u8));
        arrays.push(file);
    }
    let later = b"\x93NUMPY\x03\x00\x3b\x00\x00\x00{'shape': (0, 1), 'fortran_order': False, 'descr': \"<u8\"}   \n";
    arrays.push(later.to_vec());
    arrays
}

fn texts() -> Vec<Vec<u8>> {
    let wide = format!("{}\n0x{}\r\n\n7", "9".repeat(400), "F".repeat(70));
    let zeros = format!("{0}\n0x{0}f\n{0}9x\r\n0x{0}\n{0}xf", "0".repeat(100));
    ["", "1\n2\n", "0\r\n\r\n18446744073709551615\r\n", "0xff\nFF\n", &wide, &zeros]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_npy_header(file in changed(arrays())) {
        let mut rest = &file[..];
        match NpyHeader::read(&mut rest).unwrap() {
            Ok(header) => {
                // What is accepted can be written, and is read back unchanged.
                prop_assert!(rest.len() < file.len());
                prop_assert_eq!(NpyHeader::read(&mut &header.to_bytes()[..]).unwrap(), Ok(header));
            }
            Err(says) => prop_assert!(!says.is_empty() && !says.contains('\n')),
        }
    }

    #[test]
    fn fuzz_lines(file in changed(texts()), hex: bool, limbs in 1u32..4, most in 1usize..5) {
        let format = if hex { Format::Hex } else { Format::Decimal };
        let digits = Digits::new(format, Limit { width: Width::new(32 * limbs).unwrap(), given: true }).unwrap();
        let mut reader = LineReader::new(&file[..], 64);
        let mut expected = file.split(|&byte| byte == b'\n').collect::<Vec<_>>();
        // The end of the last line is not followed by another line.
        if expected.last().is_some_and(|line| line.is_empty()) {
            expected.pop();
        }
        let mut expected = expected.into_iter();
        loop {
            let lines = reader.next(most, usize::MAX).unwrap();
            prop_assert!(lines.len() <= most);
            if lines.len() == 0 {
                break;
            }
            for i in 0..lines.len() {
                let whole = expected.next().unwrap();
                let Some(line) = lines.get(i) else {
                    prop_assert!(whole.len() > 64);
                    continue;
                };
                let whole = whole.trim_ascii();
                if whole.len() <= 64 {
                    prop_assert_eq!(line, whole);
                }
                prop_assert!(line.len() <= 66 && whole.ends_with(significant(&line[prefix(line)..])));
                prop_assert_eq!(lines.digits(i, &digits).is_ok(), digits.of(whole).is_ok());
                match lines.digits(i, &digits) {
                    // Library and program agree on valid numbers.
                    Ok(text) => {
                        let number = digits.numbers(&Executor::cpu(), &[text]).unwrap();
                        prop_assert_eq!(number.count(), 1);
                    }
                    Err(problem) => {
                        let text = String::from_utf8_lossy(line);
                        let refused = digits.numbers(&Executor::cpu(), &[&text]).is_err();
                        prop_assert!(refused, "{text}: {problem}");
                        prop_assert!(!problem.to_string().contains('\n'));
                    }
                }
            }
        }
        prop_assert!(expected.next().is_none());
    }
}

/// Generates files of one number over several lines.
fn single_numbers() -> Vec<Vec<u8>> {
    let lines = format!("{}\n{}\r\n", "9".repeat(70), "1".repeat(9));
    ["", "12\n34 5\n", "0x12\nfF", &lines, "\u{feff}7", "000"]
        .map(|text| text.as_bytes().to_vec())
        .to_vec()
}

proptest! {
    #![proptest_config(cases_on_disk())]

    /// A file is accepted if and only if it consists of digits and white space. The digits are then
    /// those that `todec` or `tohex` writes, or the number is the same.
    #[test]
    fn fuzz_file_of_one_number(
        file in changed(single_numbers()),
        format in prop::sample::select(vec![Format::Decimal, Format::Hex, Format::Raw]),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        fs::write(at("file"), &file).unwrap();
        let mut request =
            CalculationRequest::new(Calculation::ToHex, vec![at("file")], at("out"));
        request.in_format = Some(format);
        let computed = CalculationJob::new(request, &FastProducts).and_then(|job| {
            let Some(computed) = job.compute(&FastProducts, &Unwatched)? else { return Ok(None) };
            computed.write(&StopToken::new())
        });
        let text = file.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&file);
        let white = |byte: &u8| byte.is_ascii_whitespace() || *byte == 0x0b;
        let digits: Vec<u8> = text.iter().copied().filter(|byte| !white(byte)).collect();
        let digits = match (format, &digits[..]) {
            (Format::Hex, [b'0', b'x' | b'X', rest @ ..]) => rest,
            (_, digits) => digits,
        };
        let number = match format {
            Format::Decimal => BigUint::parse_bytes(digits, 10),
            Format::Hex => BigUint::parse_bytes(digits, 16),
            _ => (!file.is_empty()).then(|| BigUint::from_bytes_le(&file)),
        };
        // `BigUint` accepts `_` and a sign.
        let is_good = format == Format::Raw || digits.iter().all(u8::is_ascii_hexdigit);
        match (computed, number.filter(|_| is_good)) {
            (Ok(_), Some(number)) => {
                prop_assert_eq!(fs::read_to_string(at("out")).unwrap(), format!("{number:x}\n"));
            }
            (Err(error), number) => {
                // Texts in UTF-16, arrays, and lines that end in CR alone are refused as such.
                let is_refused = text_begins(&mut &file[..]).unwrap().is_err();
                prop_assert!(number.is_none() || (is_refused && format != Format::Raw), "{error}");
                prop_assert!(!error.to_string().contains('\n'), "{error}");
                prop_assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
            }
            (Ok(_), None) => prop_assert!(false, "{:?} is accepted", file.escape_ascii().to_string()),
        }
    }

    #[test]
    fn fuzz_file_of_numbers(
        file in prop_oneof![changed(arrays()), changed(texts())],
        format in prop::sample::select(vec![
            None,
            Some(Format::Decimal),
            Some(Format::Hex),
            Some(Format::Npy),
            Some(Format::Raw),
        ]),
        limbs in prop::option::of(1u32..4),
    ) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        fs::write(&path, &file).unwrap();
        let width = limbs.map(|limbs| Width::new(32 * limbs).unwrap());
        let Ok(source) = Source::new(&path, format, width) else { return Ok(()) };
        // As many numbers as were counted, and as wide as determined.
        prop_assert!(source.count <= file.len() as u64);
        let piece = source.open(0).unwrap().next(source.count as usize).unwrap();
        let (numbers, bad) = piece.numbers(&Executor::cpu()).unwrap();
        prop_assert_eq!(numbers.count() as u64, source.count);
        prop_assert_eq!(numbers.width(), source.width);
        prop_assert!(bad.len() as u64 <= source.count);
        let text = source.format.is_text();
        if width.is_none() && text && source.width.limbs() > 1 {
            let widest = numbers.bit_lengths().unwrap().into_iter().max().unwrap();
            prop_assert!(widest > source.width.bits() - 32);
        }
    }
}
