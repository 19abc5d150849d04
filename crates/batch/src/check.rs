//! Recomputation of results by slow and simple arithmetic.
//!
//! The recomputation starts from the operands as read, and compares its results with the results as
//! written. It uses neither the multiplication nor the conversions of batches.

use std::cmp::Ordering;

use warpint_integer::{Operation, Width};
use warpint_natural::limbs;

use crate::Format;
use crate::format::prefix;

/// The state of drawing a random sample from a sequence of numbers: `wanted` of the next `left`
/// numbers are still to be drawn. All sets of `wanted` numbers have the same probability (Knuth,
/// *The Art of Computer Programming* 2, 3.4.2, algorithm S).
#[derive(Debug)]
pub(crate) struct Sample {
    pub(crate) seed: u64,
    wanted: u64,
    left: u64,
    random: u64,
}

impl Sample {
    pub(crate) fn new(wanted: u64, of: u64, seed: u64) -> Self {
        Self { seed, wanted: wanted.min(of), left: of, random: seed }
    }

    /// Returns whether the next number of the sequence belongs to the sample.
    pub(crate) fn draw(&mut self) -> bool {
        if self.wanted == 0 {
            return false;
        }
        // SplitMix64 (Steele and others 2014).
        self.random = self.random.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.random;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^= z >> 31;
        // ⌊left·z/2^64⌋, one of 0 … left − 1.
        let drawn = (u128::from(self.left) * u128::from(z)) >> 64 < u128::from(self.wanted);
        self.left = self.left.saturating_sub(1);
        self.wanted -= u64::from(drawn);
        drawn
    }
}

/// A number in the bytes and the format of a file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Written<'a> {
    pub(crate) format: Format,
    pub(crate) bytes: &'a [u8],
}

impl Written<'_> {
    /// Returns the number in 64-bit limbs, the lowest first. Returns `None` if the text is not a
    /// number.
    fn limbs(&self) -> Option<Vec<u64>> {
        let digits = |digits: &[u8], base: u32, at_a_time: usize| {
            let mut number = vec![];
            for group in digits.chunks(at_a_time) {
                let (mut scale, mut value) = (1, 0);
                for &digit in group {
                    scale *= u64::from(base);
                    value = value * u64::from(base) + u64::from(char::from(digit).to_digit(base)?);
                }
                let carry = limbs::mul_small_assign(&mut number, scale);
                number.push(carry);
                limbs::add_assign(&mut number, &[value]);
                limbs::trim(&mut number);
            }
            (!digits.is_empty()).then_some(number)
        };
        match self.format {
            // 10^19 and 16^15 fit in a limb.
            Format::Decimal => digits(self.bytes, 10, 19),
            Format::Hex => digits(&self.bytes[prefix(self.bytes)..], 16, 15),
            Format::Npy | Format::Raw => {
                let limb = |bytes: &[u8]| {
                    bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))
                };
                Some(self.bytes.chunks(8).map(limb).collect())
            }
        }
    }
}

/// Recomputes a result from its operands. Returns `None` if all numbers in `found` are correct, and
/// otherwise a description of the first error. `found` contains the result with its width and, if a
/// remainder is written, the remainder with its width.
pub(crate) fn wrong(
    operation: Operation,
    operands: &[Written<'_>],
    found: &[(Written<'_>, Width)],
) -> Option<String> {
    let limbs_of = |i: usize| operands.get(i).map_or_else(|| Some(vec![]), Written::limbs);
    let &(result, width) = found.first()?;
    let numbers = || Some([limbs_of(0)?, limbs_of(1)?, limbs_of(2)?]);
    let Some((number, rem)) = numbers().and_then(|of| operation.expected(of, width.limbs())) else {
        return Some("there should be no result".into());
    };
    let rem_found = found.get(1).map(|&(written, _)| (written, rem));
    differs(result, &number).or_else(|| {
        let (written, rem) = rem_found?;
        differs(written, &rem).map(|says| format!("{says} (of the remainder)"))
    })
}

/// Compares a written number with the expected number. Returns `None` if they are equal, and
/// otherwise a description of the difference.
fn differs(found: Written<'_>, expected: &[u64]) -> Option<String> {
    let Some(found) = found.limbs() else { return Some("what is written is not a number".into()) };
    if limbs::compare(&found, expected) == Ordering::Equal {
        return None;
    }
    let limb = |number: &[u64], i| number.get(i).copied().unwrap_or(0);
    let differ = |&i: &usize| limb(&found, i) != limb(expected, i);
    let i = (0..found.len().max(expected.len())).find(differ).unwrap_or(0);
    let (found, expected) = (limb(&found, i), limb(expected, i));
    Some(format!("bits {} to {} are {found:016x}, not {expected:016x}", 64 * i, 64 * i + 63))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_have_their_size_and_depend_on_the_seed() {
        let draw = |wanted, of, seed| {
            let mut sample = Sample::new(wanted, of, seed);
            (0..of).filter(|_| sample.draw()).collect::<Vec<u64>>()
        };
        for (wanted, of) in [(0, 5), (1, 1), (5, 5), (9, 5), (7, 1000), (999, 1000), (3, 0)] {
            assert_eq!(draw(wanted, of, 7).len() as u64, wanted.min(of));
        }
        assert_eq!(draw(7, 1000, 1), draw(7, 1000, 1));
        assert_ne!(draw(7, 1000, 1), draw(7, 1000, 2));
        // Each of ten is drawn about 300 times of 1000 (standard deviation 14.5).
        let mut times = [0; 10];
        (0..1000).flat_map(|seed| draw(3, 10, seed)).for_each(|i| times[i as usize] += 1);
        assert!(times.iter().all(|n| (200..400).contains(n)), "{times:?}");
    }

    fn said(operation: Operation, a: &str, b: &str, found: &str) -> Option<String> {
        fn written(text: &str) -> Written<'_> {
            Written { format: Format::Decimal, bytes: text.as_bytes() }
        }
        let width = Width::new(96).unwrap();
        wrong(operation, &[written(a), written(b)], &[(written(found), width)])
    }

    #[test]
    fn a_wrong_result_is_found_and_said() {
        use Operation::{Add, Multiply, MultiplyLow, Subtract};
        let limb = u128::from(u64::MAX);
        for a in [0, 1, 12_345, limb, limb + 1, u128::from(u32::MAX) << 64] {
            for b in [0, 1, 77, u128::from(u32::MAX), limb] {
                let low = |x: u128| x & ((1 << 96) - 1);
                for (operation, r) in [
                    (Add, Some(a + b)),
                    (Subtract, a.checked_sub(b)),
                    (Multiply, a.checked_mul(b)),
                    (MultiplyLow, Some(low(a.wrapping_mul(b)))),
                ] {
                    let text = |x: u128| x.to_string();
                    let of = |r: u128| said(operation, &text(a), &text(b), &text(r));
                    match r {
                        Some(r) => {
                            assert_eq!(of(r), None, "{operation:?} {a} {b}");
                            assert!(of(r ^ 1).unwrap().starts_with("bits 0 to 63 are "));
                            assert!(of(r ^ 1 << 80).unwrap().starts_with("bits 64 to 127 are "));
                        }
                        None if operation == Subtract => {
                            assert_eq!(of(0).as_deref(), Some("there should be no result"));
                        }
                        None => {}
                    }
                }
            }
        }
        let line = said(Add, "16", "1", "18").unwrap();
        assert_eq!(line, "bits 0 to 63 are 0000000000000012, not 0000000000000011");
        assert_eq!(said(Add, "1", "1", "").as_deref(), Some("what is written is not a number"));
    }

    /// Tests that correct results pass the check, and that a changed bit in a result or in a
    /// remainder is found.
    #[test]
    fn divisions_roots_and_powers_are_checked() {
        use Operation::{Divide, Gcd, Inverse, Power, SquareRoot};
        let one = Width::new(64).unwrap();
        let said = |operation, operands: [u64; 3], found: &[u64]| {
            let bytes = operands.map(u64::to_le_bytes);
            let operands = bytes.each_ref().map(|b| Written { format: Format::Raw, bytes: b });
            let bytes: Vec<_> = found.iter().map(|r| r.to_le_bytes()).collect();
            let found = bytes.iter().map(|b| (Written { format: Format::Raw, bytes: b }, one));
            wrong(operation, &operands, &found.collect::<Vec<_>>())
        };
        for (operation, operands, results) in [
            (Divide, [1000, 7, 0], &[142, 6][..]),
            (Divide, [5, 7, 0], &[0, 5]),
            (Gcd, [84, 60, 0], &[12]),
            (Gcd, [0, 0, 0], &[0]),
            (Inverse, [3, 7, 0], &[5]),
            (SquareRoot, [1_000_000_007, 0, 0], &[31622, 49123]),
            (SquareRoot, [u64::MAX, 0, 0], &[0xffff_ffff, 0x1_ffff_fffe]),
            (Power, [3, 200, 1000], &[1]),
            (Power, [0, 0, 1], &[0]),
        ] {
            assert_eq!(said(operation, operands, results), None, "{operation:?} {operands:?}");
            for i in 0..results.len() {
                let mut changed = results.to_vec();
                changed[i] ^= 1 << 40;
                let line = said(operation, operands, &changed).unwrap();
                assert!(line.starts_with("bits 0 to 63 are "), "{line}");
                assert_eq!(line.ends_with(" (of the remainder)"), i == 1, "{line}");
            }
        }
        for (operation, operands) in
            [(Divide, [5, 0, 1]), (Inverse, [2, 4, 1]), (Inverse, [2, 0, 1]), (Power, [2, 3, 0])]
        {
            let line = said(operation, operands, &[0, 0]).unwrap();
            assert_eq!(line, "there should be no result", "{operation:?}");
        }
    }

    #[test]
    fn every_format_is_read() {
        let number = (1u128 << 80) + 17;
        let limbs = Some(vec![17, 1 << 16]);
        for (format, bytes) in [
            (Format::Decimal, number.to_string().into_bytes()),
            (Format::Decimal, format!("{number:050}").into_bytes()),
            (Format::Hex, format!("{number:x}").into_bytes()),
            (Format::Hex, format!("0X{number:040X}").into_bytes()),
            (Format::Raw, number.to_le_bytes()[..12].to_vec()),
            (Format::Npy, number.to_le_bytes().to_vec()),
        ] {
            assert_eq!(Written { format, bytes: &bytes }.limbs(), limbs, "{format:?}");
        }
    }
}
