//! Groups of 19 decimal digits, and how the digits of a long number are divided.

use rayon::prelude::*;

/// The number of digits of a group. It is the largest exponent for which a power of ten fits in a
/// limb of 64 bits.
pub const GROUP: usize = 19;
/// 10^19, the base in which a group is one digit. It is above 2^63.
pub const TEN_19: u64 = 10_000_000_000_000_000_000;
/// Nineteen digits 5.
const FIVES: u64 = 5_555_555_555_555_555_555;
/// The number of groups that a thread processes at a time.
const PIECE: usize = 1 << 14;

/// Returns an upper bound of the number of decimal digits of a number of `limbs` limbs, and 1.
#[must_use]
pub fn digits_of(limbs: usize) -> usize {
    // log10(2) < 0.30103.
    (limbs as u128 * 64 * 30_103 / 100_000) as usize + 3
}

/// Returns an upper bound of the number of limbs of a number of `digits` decimal digits.
#[must_use]
pub fn limbs_of(digits: usize) -> usize {
    // log2(10) < 3.3219281.
    (digits as u128 * 33_219_281 / 10_000_000 + 1).div_ceil(64) as usize
}

/// The division of digits into 2^levels *leaves* of `groups` ≤ 64 groups of 19 digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Leaves {
    /// The number of groups of a leaf.
    pub groups: usize,
    /// The number of times that the digits are halved.
    pub levels: usize,
}

impl Leaves {
    /// The largest number of groups of a leaf.
    pub const MOST_GROUPS: usize = 64;

    /// Returns the leaves for at least `digits` digits, with the fewest levels.
    #[must_use]
    pub fn of(digits: usize) -> Self {
        let groups = digits.div_ceil(GROUP).max(1);
        let levels = groups.div_ceil(Self::MOST_GROUPS).next_power_of_two().ilog2() as usize;
        Self { groups: groups.div_ceil(1 << levels), levels }
    }

    /// Returns the number of leaves.
    #[must_use]
    pub fn count(self) -> usize {
        1 << self.levels
    }

    /// Returns the number of groups of all leaves.
    #[must_use]
    pub fn all_groups(self) -> usize {
        self.groups << self.levels
    }

    /// Returns an upper bound of the number of limbs of 10^(19·g·2^j), g = `groups`.
    #[must_use]
    pub fn limbs(self, j: usize) -> usize {
        limbs_of((GROUP * self.groups) << j)
    }
}

/// Subtracts nineteen digits 5 from each group, all below 10^19; returns the borrow.
pub fn subtract_fives(groups: &mut [u64]) -> u64 {
    let of_piece = |piece: &mut [u64]| {
        piece.iter_mut().rev().fold(0, |borrow, group| {
            let less = u64::from(*group < FIVES + borrow);
            *group = if less == 1 {
                *group + (TEN_19 - FIVES) - borrow
            } else {
                *group - FIVES - borrow
            };
            less
        })
    };
    let borrows: Vec<u64> = groups.par_chunks_mut(PIECE).map(of_piece).collect();
    // The borrows between pieces.
    let mut borrow = 0;
    for (piece, own) in groups.chunks_mut(PIECE).zip(borrows).rev() {
        for group in piece.iter_mut().rev() {
            if borrow == 0 {
                break;
            }
            (*group, borrow) = if *group == 0 { (TEN_19 - 1, 1) } else { (*group - 1, 0) };
        }
        borrow += own;
    }
    borrow
}

/// Returns the digits of groups below 10^19, without leading zeros.
#[must_use]
pub fn digits_of_groups(groups: &[u64]) -> Vec<u8> {
    let Some(last) = groups.len().checked_sub(1) else { return vec![] };
    let zeros = groups.iter().take(last).take_while(|&&group| group == 0).count();
    let (first, others) = (digits_of_group(groups[zeros]), &groups[zeros + 1..]);
    let zeros = first.iter().take(GROUP - 1).take_while(|&&digit| digit == b'0').count();
    let first = &first[zeros..];
    // Zeros, so that the system gives the memory to the threads that write it.
    let mut digits = vec![0; first.len() + GROUP * others.len()];
    let (top, rest) = digits.split_at_mut(first.len());
    top.copy_from_slice(first);
    let pieces = rest.par_chunks_mut(GROUP * PIECE).zip(others.par_chunks(PIECE));
    pieces.for_each(|(digits, groups)| {
        for (digits, &group) in digits.chunks_exact_mut(GROUP).zip(groups) {
            digits.copy_from_slice(&digits_of_group(group));
        }
    });
    digits
}

/// Returns the digits of a group as ASCII characters.
fn digits_of_group(group: u64) -> [u8; GROUP] {
    // Parts of 3, 8 and 8 digits.
    let (high, low) = (group / EIGHT_DIGITS, group % EIGHT_DIGITS);
    let (top, middle) = (high / EIGHT_DIGITS, high % EIGHT_DIGITS);
    let mut digits = [0; GROUP];
    digits[..3].copy_from_slice(&eight_digits(top as u32)[5..]);
    digits[3..11].copy_from_slice(&eight_digits(middle as u32));
    digits[11..].copy_from_slice(&eight_digits(low as u32));
    digits
}

/// 10^8.
const EIGHT_DIGITS: u64 = 100_000_000;

/// Returns the eight decimal digits of a number below 10^8 as ASCII characters, by arithmetic on all parts of
/// a word together.
fn eight_digits(number: u32) -> [u8; 8] {
    // Two parts of four digits: ⌊x/100⌋ = ⌊10486·x/2^20⌋ for x < 10^4.
    let fours = u64::from(number / 10_000) | u64::from(number % 10_000) << 32;
    let hundreds = ((fours * 10_486) >> 20) & 0x7f_0000_007f;
    // Four parts of two digits: ⌊x/10⌋ = ⌊103·x/2^10⌋ for x < 100.
    let twos = hundreds | (fours - 100 * hundreds) << 16;
    let tens = ((twos * 103) >> 10) & 0x000f_000f_000f_000f;
    let ones = tens | (twos - 10 * tens) << 8;
    (ones + 0x3030_3030_3030_3030).to_le_bytes()
}

/// Returns the groups of ASCII digits; the first group may have fewer digits. Other characters give
/// wrong groups or, in debug builds, a panic.
#[must_use]
pub fn groups_of_digits(digits: &[u8]) -> Vec<u64> {
    let value = |digits: &[u8]| digits.iter().fold(0, |v, &digit| 10 * v + u64::from(digit - b'0'));
    let (first, others) = digits.split_at(digits.len() % GROUP);
    let mut groups = Vec::with_capacity(digits.len() / GROUP + 1);
    groups.push(value(first));
    groups.par_extend(others.par_chunks_exact(GROUP).map(value));
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn borrows_cross_pieces() {
        for len in [1, 2, PIECE, PIECE + 1, 3 * PIECE] {
            // x = 1, and x + 555…5 in groups.
            let mut groups = vec![FIVES; len];
            groups[len - 1] += 1;
            assert_eq!(subtract_fives(&mut groups), 0);
            assert!(groups.iter().rev().skip(1).all(|&group| group == 0), "{len}");
            assert_eq!(groups[len - 1], 1);
            // 10^(19·len) − 1 = 999…9, and 999…9 + 555…5 = 1 555…54 modulo 10^(19·len).
            let mut groups = vec![FIVES; len];
            groups[len - 1] -= 1;
            assert_eq!(subtract_fives(&mut groups), 1);
            assert!(groups.iter().all(|&group| group == TEN_19 - 1), "{len}");
        }
    }

    #[test]
    fn leaves_have_room_for_all_digits() {
        for digits in (1..5000).chain([1 << 20, 1_000_000_000]) {
            let leaves = Leaves::of(digits);
            assert!(GROUP * leaves.all_groups() >= digits && leaves.groups <= Leaves::MOST_GROUPS);
        }
        // 10^k − 1 has k digits, and 2^(64·n) − 1 has fewer than `digits_of(n)` − 1.
        for n in [1usize, 2, 100, 1 << 20] {
            assert!(digits_of(n) as f64 > 1.0 + 64.0 * n as f64 * 2f64.log10());
            assert!(limbs_of(n) as f64 * 64.0 >= n as f64 * 10f64.log2());
        }
    }

    #[test]
    fn eight_digits_at_once() {
        let some = (0..100_000_000).step_by(997);
        let ends = [1, 9, 10, 99, 100, 9_999, 10_000, 10_001, 99_999_999];
        for number in some.chain(ends).chain(0..20_000) {
            assert_eq!(&eight_digits(number)[..], format!("{number:08}").as_bytes());
        }
        // All parts of four digits, on both sides.
        for part in 0..10_000 {
            let both = part * 10_000 + (9_999 - part);
            assert_eq!(&eight_digits(both)[..], format!("{both:08}").as_bytes());
        }
    }

    #[test]
    fn digits_and_groups_are_inverse() {
        for len in [1, 18, 19, 20, 38, 1000, GROUP * PIECE + 1] {
            let digits: Vec<u8> = (0..len).map(|i| b'1' + (i % 9) as u8).collect();
            assert!(digits_of_groups(&groups_of_digits(&digits)) == digits, "{len} digits");
        }
        assert_eq!(digits_of_groups(&[0, 0, 12, 0]), b"120000000000000000000");
        assert_eq!(digits_of_groups(&[0]), b"0");
    }
}
