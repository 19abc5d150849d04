//! Decimal digits of long numbers by fractions, and long numbers from decimal digits.
//!
//! Let β = 2^64. D = 19·g·2^L digits are 2^L *leaves* of g ≤ 64 groups of 19 digits ([`Leaves`]). The
//! powers 10^(D/2^l) are computed by squares.
//!
//! # To digits
//! Let x < 10^(D − 1). The digits of f = x/10^D are found by halves (Bernstein 2008, *Fast multiplication and
//! its applications*, §12, with fractions instead of remainders): the upper half of the digits of a fraction
//! f are those of f, truncated, and the lower half those of the fractional part of f·10^(D/2). On level l
//! there are 2^l fractions with D_l = D/2^l digits. All have W_l limbs, where W_l exceeds the limbs of
//! 10^(D_l) by 1: β^W_l > 10^(D_l)·β. A lower half is a window of the product by a power that all fractions
//! of the level share. At a leaf, a product by 10^19 has the next group above the point, g times.
//!
//! *Long runs of digits 0 or 9.* A fraction with an error cannot be truncated if it is next to a multiple of
//! 10^(−D_l). So (x + c)/10^D with c = 555…5 5/9 is converted instead, that is f + 5/9, and 555…5 is
//! subtracted from the groups. If what is left of a leaf is still within 2^12/β of 0 or 1, there is no
//! result; for random digits and 2^L leaves the probability is 2^(L − 51).
//!
//! *The error.* Let e_l be the largest error of a fraction of level l. Those of x/10^D and of 5/9 are below
//! β^(−W_0), so e_0 ≤ 2·β^(−W_0), modulo 1. An upper half is truncated by less than β^(−W_(l + 1)). A lower
//! half has 10^(D_(l + 1)) times the error of its fraction, and that
//! of a window, at most 2·β^(−W_(l + 1)) ([`Multiplier::windows`]):
//!
//! e_l ≤ (2 + 2·l)·10^(−D_l)/β
//!
//! by induction, because β^(−W_l) < 10^(−D_l)/β. In a leaf of which r groups are left, the limbs beyond
//! those of 10^(19·r) and one more are dropped. This adds less than 10^(−19·r)/β for each r < g. After the
//! digits of a leaf, the error is at most (2 + 2·L + g)/β, which is less than 2^12/β. If the fraction left is
//! not that near to 0 or 1, all digits of the leaf are right.
//!
//! An error may move a fraction across 0 or 1. Then its true value is within e_l of an integer. This
//! value is, modulo 1, what is left of the leaf before it. So that leaf is within (4 + 4·L + g)/β of 0
//! or 1, and there is no result. The first leaf has no leaf before it, and its fraction is between 5/9
//! and 2/3.
//!
//! # From digits
//! Leaves are computed by Horner's rule in 10^19. Pairs are combined: high·10^(D_l) + low.
//!
//! # Order
//! The two halves of fraction i of 2^l are at i and i + 2^l, so a leaf is at the index whose bits are
//! those of its position in reverse.

use rayon::prelude::*;

use super::groups::{GROUP, Leaves, TEN_19, digits_of, limbs_of, subtract_fives};
use crate::division::div_rem_by;
use crate::limbs::{add_assign, mul_small_assign, trim};
use crate::product::{Multiplier, Windows};

/// The limbs of a leaf are at most `limbs_of(64·19)` + 1.
const MOST_LIMBS: usize = 66;

/// The number of leaves that a thread converts at a time.
const LEAVES: usize = 16;

/// What is left of a leaf must differ from 0 and 1 by more than this number of units of β^−1.
const UNCLEAR: u64 = 1 << 12;

/// Returns the powers 10^(19·g·2^j) for 0 ≤ j < `count`, without leading zero limbs.
fn powers(multiplier: &dyn Multiplier, leaves: Leaves, count: usize) -> Vec<Vec<u64>> {
    let mut powers: Vec<Vec<u64>> = Vec::with_capacity(count);
    for _ in 0..count {
        let next = match powers.last() {
            Some(last) => {
                let mut square = multiplier.mul(last, last);
                trim(&mut square);
                square
            }
            None => {
                let mut power = vec![1];
                for _ in 0..leaves.groups {
                    let carry = mul_small_assign(&mut power, TEN_19);
                    power.push(carry);
                }
                trim(&mut power);
                power
            }
        };
        powers.push(next);
    }
    powers
}

/// Returns the index of leaf i, counted from the highest digits, among 2^levels.
fn reversed(i: usize, levels: usize) -> usize {
    if levels == 0 { 0 } else { i.reverse_bits() >> (usize::BITS as usize - levels) }
}

/// Returns the groups of 19 digits of a number without leading zero limbs, the highest first, with leading
/// zeros. Returns `None` if the error bound does not determine the digits, which happens for hardly any
/// number that is not made for it.
///
/// Cost: about 4.5 products of numbers as long as x for the powers and the first fraction, and two transforms of
/// numbers as long as x for each of the L levels. The memory is about five times that of x, and that of a
/// division.
pub(super) fn format(multiplier: &dyn Multiplier, x: &[u64]) -> Option<Vec<u64>> {
    let leaves = Leaves::of(digits_of(x.len()));
    let mut powers = powers(multiplier, leaves, leaves.levels + 1);
    let mut fractions = first_fraction(multiplier, x, &powers.pop()?);
    let mut limbs = fractions.len();
    while let Some(power) = powers.pop() {
        let next = power.len() + 1;
        let count = fractions.len() / limbs;
        let mut halves = vec![0; 2 * count * next];
        let (upper, lower) = halves.split_at_mut(count * next);
        let uppers = upper.par_chunks_exact_mut(next).zip(fractions.par_chunks_exact(limbs));
        uppers.for_each(|(upper, f)| upper.copy_from_slice(&f[limbs - next..]));
        let windows = Windows { factor: &power, len: limbs, window: limbs - next..limbs };
        multiplier.windows(&windows, &fractions, lower);
        (fractions, limbs) = (halves, next);
    }
    let mut groups = vec![0; leaves.all_groups()];
    let parts = groups.par_chunks_mut(LEAVES * leaves.groups).enumerate();
    let are_clear = parts.map(|(part, groups)| {
        groups.chunks_exact_mut(leaves.groups).enumerate().all(|(i, groups)| {
            let at = reversed(LEAVES * part + i, leaves.levels);
            format_leaf(&fractions[at * limbs..][..limbs], groups)
        })
    });
    // All parts, though one may be unclear.
    if !are_clear.reduce(|| true, |a, b| a && b) {
        return None;
    }
    // A borrow is impossible: the digits are those of a sum with 555…5.
    (subtract_fives(&mut groups) == 0).then_some(groups)
}

/// Returns x/10^D + 5/9 in W_0 limbs, where `power` = 10^D.
fn first_fraction(multiplier: &dyn Multiplier, x: &[u64], power: &[u64]) -> Vec<u64> {
    let limbs = power.len() + 1;
    let mut shifted = vec![0; limbs + x.len()];
    shifted[limbs..].copy_from_slice(x);
    let (mut fraction, _) = div_rem_by(multiplier, &shifted, power);
    fraction.resize(limbs, 0);
    // The limbs of 5/9, from the highest.
    let mut rest = 5u128;
    let mut fives: Vec<u64> = (0..limbs)
        .map(|_| {
            let limb = (rest << 64) / 9;
            rest = (rest << 64) % 9;
            limb as u64
        })
        .collect();
    fives.reverse();
    // Below 1/10 + 5/9.
    add_assign(&mut fraction, &fives);
    fraction
}

/// Writes the groups of a leaf. Returns whether they are certain.
fn format_leaf(fraction: &[u64], groups: &mut [u64]) -> bool {
    let mut limbs = [0; MOST_LIMBS];
    let limbs = &mut limbs[..fraction.len()];
    limbs.copy_from_slice(fraction);
    let mut left = groups.len();
    for group in groups {
        let kept = (limbs_of(GROUP * left) + 1).min(limbs.len());
        let from = limbs.len() - kept;
        *group = mul_small_assign(&mut limbs[from..], TEN_19);
        left -= 1;
    }
    limbs.last().is_some_and(|&top| top > UNCLEAR && top < u64::MAX - UNCLEAR)
}

/// Returns the number with the given groups of 19 digits, the highest first, without leading zero limbs.
///
/// Cost: two transforms of numbers as long as the result for each level, and a product for the powers.
/// The memory is about four times that of the result.
pub(super) fn parse(multiplier: &dyn Multiplier, groups: &[u64]) -> Vec<u64> {
    let leaves = Leaves::of(GROUP * groups.len());
    let zeros = leaves.all_groups() - groups.len();
    let mut limbs = leaves.limbs(0);
    let mut numbers = vec![0; leaves.count() * limbs];
    numbers.par_chunks_exact_mut(limbs).enumerate().for_each(|(at, number)| {
        let begin = reversed(at, leaves.levels) * leaves.groups;
        let end = (begin + leaves.groups).saturating_sub(zeros);
        let mut used = 0;
        for &group in &groups[begin.saturating_sub(zeros)..end] {
            let carry = mul_small_add(&mut number[..used], TEN_19, group);
            if carry > 0 {
                number[used] = carry;
                used += 1;
            }
        }
    });
    for power in powers(multiplier, leaves, leaves.levels) {
        let level = (numbers.len() / limbs).ilog2() as usize;
        let next = leaves.limbs(leaves.levels + 1 - level).min(limbs + power.len());
        let (high, low) = numbers.split_at(numbers.len() / 2);
        let mut sums = vec![0; high.len() / limbs * next];
        multiplier.windows(
            &Windows { factor: &power, len: limbs, window: 0..next },
            high,
            &mut sums,
        );
        sums.par_chunks_exact_mut(next).zip(low.par_chunks_exact(limbs)).for_each(|(sum, low)| {
            // A sum is below 10^(2·D_l), and so fits.
            add_assign(sum, low);
        });
        (numbers, limbs) = (sums, next);
    }
    trim(&mut numbers);
    numbers
}

/// Computes x ← m·x + a, and returns the carry.
fn mul_small_add(x: &mut [u64], m: u64, a: u64) -> u64 {
    x.iter_mut().fold(a, |carry, limb| {
        // Below 2^128.
        let t = u128::from(*limb) * u128::from(m) + u128::from(carry);
        *limb = t as u64;
        (t >> 64) as u64
    })
}

#[cfg(test)]
mod tests {
    use super::super::decimal::{self, Powers};
    use super::super::groups::{digits_of_groups, groups_of_digits};
    use super::*;
    use crate::limbs::{sub_assign, trimmed};
    use crate::product::{FastProducts, TransformMultiplier};
    use crate::sample::Sample;

    /// Returns 10^k.
    fn power_of_ten(k: usize) -> Vec<u64> {
        let digits = [b"1".to_vec(), vec![b'0'; k]].concat();
        let mut power = decimal::parse(&digits, &Powers::new(digits.len()));
        trim(&mut power);
        power
    }

    /// Compares with halves by division: random numbers, numbers of ones, and powers of ten and the numbers
    /// before and after them, of one to many leaves.
    #[test]
    fn digits_are_those_by_division() {
        let mut sample = Sample::new(41);
        let multipliers = [1, 2, 3].map(TransformMultiplier::new);
        for limbs in [1, 2, 3, 62, 63, 64, 65, 126, 127, 128, 129, 500, 1_009, 3_000, 8_077, 20_000]
        {
            let power = power_of_ten(GROUP * limbs);
            let [mut less, mut more] = [power.clone(), power.clone()];
            sub_assign(&mut less, &[1]);
            add_assign(&mut more, &[1]);
            let numbers = [sample.number(limbs), vec![u64::MAX; limbs], power, less, more];
            for number in numbers {
                let number = trimmed(&number);
                let want = decimal::format(number, &Powers::new(20 * limbs)).into_bytes();
                for multiplier in &multipliers {
                    let groups = format(multiplier, number).unwrap();
                    assert!(groups.iter().all(|&group| group < TEN_19));
                    assert!(digits_of_groups(&groups) == want, "{limbs} limbs");
                    assert!(parse(multiplier, &groups_of_digits(&want)) == number, "{limbs} limbs");
                }
            }
        }
    }

    /// The sum with digits 5 is a long run of digits 9 or 0 here, so the digits are not certain.
    #[test]
    fn runs_that_no_bound_determines() {
        for groups in [100, 4_200, 8_000] {
            for last in [b'4', b'5'] {
                // 444…4, and 444…45.
                let mut digits = vec![b'4'; GROUP * groups];
                digits[GROUP * groups - 1] = last;
                let number = decimal::parse(&digits, &Powers::new(digits.len()));
                assert_eq!(format(&FastProducts, trimmed(&number)), None);
                // By divisions.
                assert!(decimal::format_by(&FastProducts, trimmed(&number)) == digits);
            }
        }
        // A run that does not reach the end of a leaf.
        let mut digits = vec![b'4'; GROUP * 200];
        for group in digits.chunks_mut(GROUP) {
            group[GROUP / 2] = b'7';
        }
        let number = decimal::parse(&digits, &Powers::new(digits.len()));
        let groups = format(&FastProducts, trimmed(&number)).unwrap();
        assert!(groups.len() > Leaves::MOST_GROUPS && digits_of_groups(&groups) == digits);
    }

    #[test]
    fn leaves_in_reverse() {
        let three: Vec<usize> = (0..8).map(|i| reversed(i, 3)).collect();
        assert_eq!(three, [0, 4, 2, 6, 1, 5, 3, 7]);
        assert_eq!(reversed(0, 0), 0);
    }

    /// Prints the times of conversions, and of a product of the same length.
    #[test]
    #[ignore = "a measurement"]
    fn times() {
        let mut sample = Sample::new(1);
        let ms = |work: &mut dyn FnMut()| {
            let run = |work: &mut dyn FnMut()| {
                let begin = std::time::Instant::now();
                work();
                begin.elapsed().as_secs_f64() * 1e3
            };
            (0..3).map(|_| run(work)).fold(f64::INFINITY, f64::min)
        };
        println!("limbs: product, by fractions, by division, by pairs, by halves (ms)");
        for threads in [1, 2] {
            let multiplier = TransformMultiplier::new(threads);
            for log2 in 10..=18 {
                for limbs in [1usize << log2, 3 << (log2 - 1)] {
                    let (x, y) = (sample.number(limbs), sample.number(limbs));
                    let groups = format(&multiplier, &x).unwrap();
                    let digits = digits_of_groups(&groups);
                    multiplier.pool().run(|| {
                        println!(
                            "{limbs:8}: {:10.4} {:10.4} {:10.4} {:10.4} {:10.4}",
                            ms(&mut || drop(multiplier.mul(&x, &y))),
                            ms(&mut || drop(digits_of_groups(&format(&multiplier, &x).unwrap()))),
                            ms(&mut || drop(decimal::format_by_division(&multiplier, &x))),
                            ms(&mut || drop(parse(&multiplier, &groups_of_digits(&digits)))),
                            ms(&mut || drop(decimal::parse(&digits, &Powers::new(digits.len())))),
                        );
                    });
                }
            }
        }
    }
}
