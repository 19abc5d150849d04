//! Conversion to and from decimal digits. Long numbers are split into two parts: x =
//! high·10^(19·2^k) + low.
//!
//! Short numbers are divided or multiplied by 10^19, one group of 19 digits at a time. The cost is
//! O(n²) for n limbs. A longer number is split as above, with the largest k for which it has more
//! than 19·2^k digits, and its parts are split in the same way. The cost is O(M(n)·log² n) to write
//! and O(M(n)·log n) to read, where M(n) is the cost of a product of n limbs.
//!
//! [`parse_by`] and [`format_by`] are for single numbers of any length. Long ones are converted by
//! fractions and by pairs (`fractions`), with the products of a multiplier. Short parts are
//! distributed over the threads of rayon's current pool.

use std::sync::OnceLock;

use rayon::prelude::*;

use crate::division::{OneLimb, Prepared, div_rem_by};
use crate::limbs::{add_assign, trim, trimmed};
use crate::product::{FastProducts, Multiplier};

use super::fractions;
use super::groups::{GROUP, TEN_19, digits_of_groups, groups_of_digits};

/// The least k for which the conversion of a number to digits divides the number by 10^(19·2^k) to
/// split it. Shorter numbers are divided by 10^19 repeatedly.
const WRITE_LEVEL: usize = 6;
/// The least k for which the conversion of digits to a number splits off the lowest 19·2^k digits,
/// and multiplies the value of the other digits by 10^(19·2^k).
const READ_LEVEL: usize = 5;
/// The least k for which the two parts of a number that is split at 10^(19·2^k) are processed in
/// parallel.
const PARALLEL_LEVEL: usize = 9;
/// The least k for which [`format_by_division`] splits numbers at 10^(19·2^k) by the caller's multiplier.
/// Parts of at most 19·2^k digits, about 16,160 limbs, are converted in parallel. The products of a division
/// of shorter numbers are too short for several threads.
const SPLIT_LEVEL: usize = 14;
/// The least number of limbs of a number that [`format_by`] converts by fractions, and the least number of
/// groups of 19 digits that [`parse_by`] converts by pairs.
pub const LONG: usize = 4_000;

/// The powers 10^(19·2^k) for k = 0, 1, …, computed once for the conversion of many numbers.
#[derive(Debug)]
pub struct Powers(Vec<Vec<u64>>);

impl Powers {
    /// Computes the powers for numbers of up to `digits` decimal digits. Cost O(M(n)), where n is
    /// the number of limbs of a number of `digits` digits, and M(n) is the cost of a product of n
    /// limbs.
    #[must_use]
    pub fn new(digits: usize) -> Self {
        Self::by(&FastProducts, digits)
    }

    /// Computes the same as [`Self::new`], with products by `multiplier`.
    #[must_use]
    pub fn by(multiplier: &dyn Multiplier, digits: usize) -> Self {
        let mut powers = vec![vec![TEN_19]];
        while GROUP << powers.len() < digits {
            let last = &powers[powers.len() - 1];
            let mut square = multiplier.mul(last, last);
            trim(&mut square);
            powers.push(square);
        }
        Self(powers)
    }
}

/// Parses ASCII digits `0` to `9`, the highest first, and returns the number, which may have
/// leading zero limbs. Other characters give a wrong result or, in debug builds, a panic. Long
/// numbers are split into parts, which are processed in parallel in rayon's current pool.
///
/// If `powers` was computed for numbers of fewer digits, the result is the same, but the conversion
/// takes longer than with powers for all digits.
#[must_use]
pub fn parse(digits: &[u8], powers: &Powers) -> Vec<u64> {
    read_halves(digits, powers)
}

/// Parses ASCII digits like [`parse`], without leading zero limbs in the result, by
/// [`Multiplier::parse_decimal`] if `multiplier` has such a method. Otherwise products of long
/// parts are computed by `multiplier`.
///
/// Cost O(M(n)·log n), where M(n) is the cost of a product of n limbs. The memory is about five
/// times that of the result, and that of a product of its length.
#[must_use]
pub fn parse_by(multiplier: &dyn Multiplier, digits: &[u8]) -> Vec<u64> {
    if let Some(number) = multiplier.parse_decimal(digits) {
        return number;
    }
    if digits.len() >= GROUP * LONG {
        return fractions::parse(multiplier, &groups_of_digits(digits));
    }
    let mut number = read_halves(digits, &Powers::new(digits.len()));
    trim(&mut number);
    number
}

/// Formats a number like [`format()`], and returns the digits as ASCII characters, by
/// [`Multiplier::format_decimal`] if `multiplier` has such a method. Otherwise products and
/// divisions of long parts are computed by `multiplier`.
///
/// Cost O(M(n)·log n), where M(n) is the cost of a product of n limbs. The memory is about six times
/// that of the number, that of its digits and that of a division of its length.
#[must_use]
pub fn format_by(multiplier: &dyn Multiplier, number: &[u64]) -> Vec<u8> {
    let number = trimmed(number);
    if let Some(digits) = multiplier.format_decimal(number) {
        return digits;
    }
    let groups = if number.len() < LONG { None } else { fractions::format(multiplier, number) };
    groups
        .map_or_else(|| format_by_division(multiplier, number), |groups| digits_of_groups(&groups))
}

/// Computes the same as [`format_by`] by divisions by powers of ten, the reciprocal of each of which is
/// computed once. All numbers of one level are processed together.
pub(super) fn format_by_division(multiplier: &dyn Multiplier, number: &[u64]) -> Vec<u8> {
    let number = number.to_vec();
    // A limb has fewer than 19.27 digits.
    let groups = (number.len() as u128 * 1927 / 1900 + 1) as usize;
    let mut digits = vec![b'0'; GROUP * groups];
    let mut powers = Powers::by(multiplier, digits.len());
    let mut parts = vec![(number, &mut digits[..])];
    while powers.0.len() > SPLIT_LEVEL {
        let Some(power) = powers.0.pop() else { break };
        let length = GROUP << powers.0.len();
        let prepared = OnceLock::new();
        let mut next = Vec::with_capacity(2 * parts.len());
        for (number, digits) in parts {
            if digits.len() <= length {
                next.push((number, digits));
                continue;
            }
            let (high_digits, low_digits) = digits.split_at_mut(digits.len() - length);
            if number.len() < power.len() {
                // The high digits stay 0.
                next.push((number, low_digits));
                continue;
            }
            let prepared = prepared.get_or_init(|| Prepared::new(multiplier, &power));
            let (high, low) = prepared.div_rem(multiplier, &number);
            drop(number);
            next.extend([(low, low_digits), (high, high_digits)]);
        }
        parts = next;
    }
    parts.into_par_iter().for_each(|(number, digits)| write_halves(number, digits, &powers));
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros.min(digits.len() - 1));
    digits
}

/// Formats a number as decimal digits, the highest first, without leading zeros. The number zero
/// becomes `0`. Long numbers are split into parts, which are processed in parallel in rayon's
/// current pool.
///
/// If `powers` was computed for numbers of fewer digits, the result is the same, but the conversion
/// takes longer than with powers for all digits.
#[must_use]
pub fn format(number: &[u64], powers: &Powers) -> String {
    let number = trimmed(number).to_vec();
    // A limb has at most 20 digits.
    let groups = (20 * number.len()).div_ceil(GROUP).max(1);
    let mut digits = vec![b'0'; GROUP * groups];
    write_halves(number, &mut digits, powers);
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros.min(digits.len() - 1));
    digits.into_iter().map(char::from).collect()
}

/// Parses decimal ASCII digits. Long sequences of digits are split into a high and a low part,
/// which are parsed separately. The result may have leading zero limbs.
fn read_halves(digits: &[u8], powers: &Powers) -> Vec<u64> {
    let split = (READ_LEVEL..powers.0.len()).rev().find(|&k| GROUP << k < digits.len());
    let Some(k) = split else { return read_groups(digits) };
    let (high, low) = digits.split_at(digits.len() - (GROUP << k));
    let (high, low) = if k >= PARALLEL_LEVEL {
        rayon::join(|| read_halves(high, powers), || read_halves(low, powers))
    } else {
        (read_halves(high, powers), read_halves(low, powers))
    };
    let mut number = FastProducts.mul(&high, &powers.0[k]);
    let low = trimmed(&low);
    number.resize(number.len().max(low.len()), 0);
    // As low < 10^(19·2^k), no carry leaves `number`.
    add_assign(&mut number, low);
    number
}

fn read_groups(digits: &[u8]) -> Vec<u64> {
    let mut number = Vec::with_capacity(digits.len() / GROUP + 1);
    let (first, groups) = digits.split_at(digits.len() % GROUP);
    for group in std::iter::once(first).chain(groups.chunks_exact(GROUP)) {
        let mut carry = group.iter().fold(0, |value, digit| 10 * value + u64::from(digit - b'0'));
        for limb in &mut number {
            // Below 2^64·10^19.
            let t = u128::from(*limb) * u128::from(TEN_19) + u128::from(carry);
            (*limb, carry) = (t as u64, (t >> 64) as u64);
        }
        if carry != 0 {
            number.push(carry);
        }
    }
    number
}

/// Writes the decimal digits of `number` to `digits` as ASCII characters, the highest first, with
/// zeros in front. The length of `digits` must be a multiple of 19 and large enough for the number.
/// All characters must be `0` initially.
fn write_halves(mut number: Vec<u64>, digits: &mut [u8], powers: &Powers) {
    let splits = |k: &usize| GROUP << k < digits.len() && powers.0[*k].len() <= number.len();
    let Some(k) = (WRITE_LEVEL..powers.0.len()).rev().find(splits) else {
        return write_groups(&mut number, digits);
    };
    let (high, low) = div_rem_by(&FastProducts, &number, &powers.0[k]);
    let (high_digits, low_digits) = digits.split_at_mut(digits.len() - (GROUP << k));
    if k >= PARALLEL_LEVEL {
        rayon::join(
            || write_halves(high, high_digits, powers),
            || write_halves(low, low_digits, powers),
        );
    } else {
        write_halves(high, high_digits, powers);
        write_halves(low, low_digits, powers);
    }
}

fn write_groups(number: &mut [u64], digits: &mut [u8]) {
    let mut limbs = number.len();
    for group in digits.rchunks_exact_mut(GROUP) {
        while limbs > 0 && number[limbs - 1] == 0 {
            limbs -= 1;
        }
        if limbs == 0 {
            return;
        }
        let mut rest = div_rem_ten_19(&mut number[..limbs]);
        for digit in group.iter_mut().rev() {
            *digit = b'0' + (rest % 10) as u8;
            rest /= 10;
        }
    }
}

/// Computes number ← ⌊number/10^19⌋ and returns the remainder.
fn div_rem_ten_19(number: &mut [u64]) -> u64 {
    const DIVISOR: OneLimb = OneLimb::new(TEN_19);
    number.iter_mut().rev().fold(0, |above, limb| {
        let (quotient, rest) = DIVISOR.div_rem(above, *limb);
        *limb = quotient;
        rest
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::product::TransformMultiplier;
    use crate::sample::Sample;

    #[test]
    fn a_reciprocal_divides_as_division_does() {
        let ends = [0, 1, 2, TEN_19 - 1, TEN_19, TEN_19 + 1, 1 << 63, u64::MAX - 1, u64::MAX];
        for high in ends {
            for low in ends {
                let x = u128::from(high) << 64 | u128::from(low);
                let mut limbs = [low, high];
                let rest = div_rem_ten_19(&mut limbs);
                assert_eq!(u128::from(rest), x % u128::from(TEN_19), "{x}");
                let quotient = u128::from(limbs[1]) << 64 | u128::from(limbs[0]);
                assert_eq!(quotient, x / u128::from(TEN_19), "{x}");
            }
        }
    }

    /// Parses decimal digits slowly: multiplies by 10 and adds one digit at a time.
    fn slowly(text: &str) -> Vec<u64> {
        let mut number = vec![];
        for digit in text.bytes() {
            let carry = limbs::mul_small_assign(&mut number, 10);
            number.extend([carry, 0]);
            add_assign(&mut number, &[u64::from(digit - b'0')]);
            trim(&mut number);
        }
        number
    }

    /// Tests that digits are unchanged after [`parse`] and [`format`]. The numbers of digits
    /// include values just below and just above the limits at which numbers are split. Each test
    /// runs twice: with powers for enough digits, and with powers for too few digits.
    #[test]
    fn digits_come_back() {
        let mut sample = Sample::new(7);
        for digits in [1, 2, 18, 19, 20, 38, 39, 607, 608, 609, 1216, 1217, 2432, 2433, 5000] {
            let mut text: String =
                (0..digits).map(|_| char::from(b'0' + (sample.word() >> 33) as u8 % 10)).collect();
            text.replace_range(..1, "9");
            for text in [text, "9".repeat(digits), format!("1{}", "0".repeat(digits))] {
                let number = slowly(&text);
                for powers in [Powers::new(text.len()), Powers::new(1)] {
                    assert_eq!(trimmed(&parse(text.as_bytes(), &powers)), number, "{text}");
                    assert_eq!(super::format(&number, &powers), text);
                }
                assert_eq!(parse_by(&FastProducts, text.as_bytes()), number, "{text}");
                assert_eq!(format_by(&FastProducts, &number), text.as_bytes());
            }
        }
        let powers = Powers::new(1);
        assert_eq!(super::format(&[0, 0], &powers), "0");
        assert!(trimmed(&parse(b"", &powers)).is_empty());
        assert_eq!(format_by(&FastProducts, &[0, 0]), b"0");
        assert!(parse_by(&FastProducts, b"").is_empty());
    }

    /// Compares conversions by a multiplier with conversions by halves, for numbers of digits around
    /// those at which numbers are split by the multiplier and divided by a reciprocal.
    #[test]
    fn digits_by_a_multiplier() {
        let mut sample = Sample::new(8);
        let multiplier = TransformMultiplier::new(2);
        let few = [1, 2, 3, 4, 7, 8].map(|parts| parts * (GROUP << 10));
        let many = [1, 2].map(|parts| parts * (GROUP << SPLIT_LEVEL));
        for end in few.into_iter().chain(many) {
            for length in [end - 1, end, end + 1] {
                let mut digits: Vec<u8> =
                    (0..length).map(|_| b'0' + (sample.word() >> 33) as u8 % 10).collect();
                digits[0] = b'7';
                let mut power = vec![b'0'; length];
                power[0] = b'1';
                for digits in [digits, power, vec![b'9'; length]] {
                    let number = parse_by(&multiplier, &digits);
                    let powers = Powers::new(length);
                    assert!(number == trimmed(&parse(&digits, &powers)), "{length} digits");
                    assert!(format_by(&multiplier, &number) == digits, "{length} digits");
                    assert!(super::format(&number, &powers).as_bytes() == digits);
                }
            }
        }
        // Limbs without zero bits: the largest number of digits for this number of limbs.
        for limbs in [1_000, 1_010, 2_021, 16_160, 32_325, 50_000] {
            let ones = vec![u64::MAX; limbs];
            let digits = format_by(&multiplier, &ones);
            assert!(parse_by(&FastProducts, &digits) == ones, "{limbs} limbs");
        }
    }
}
