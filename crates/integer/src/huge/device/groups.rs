//! Groups of 19 decimal digits on the host.

use rayon::prelude::*;

/// The number of digits of a group.
pub(super) const GROUP: usize = 19;
/// 10^19.
pub(super) const TEN_19: u64 = 10_000_000_000_000_000_000;
/// Nineteen digits 5.
const FIVES: u64 = 5_555_555_555_555_555_555;
/// The number of groups that the host processes at a time.
const PIECE: usize = 1 << 14;

/// Subtracts nineteen digits 5 from each group; returns the borrow.
pub(super) fn subtract_fives(groups: &mut [u64]) -> u64 {
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

/// Returns the digits of groups, without leading zeros.
pub(super) fn digits_of_groups(groups: &[u64]) -> Vec<u8> {
    let mut digits = vec![b'0'; GROUP * groups.len()];
    let pieces = digits.par_chunks_mut(GROUP * PIECE).zip(groups.par_chunks(PIECE));
    pieces.for_each(|(digits, groups)| {
        for (digits, &group) in digits.chunks_exact_mut(GROUP).zip(groups) {
            let mut rest = group;
            for digit in digits.iter_mut().rev() {
                *digit = b'0' + (rest % 10) as u8;
                rest /= 10;
            }
        }
    });
    let zeros = digits.iter().take_while(|&&digit| digit == b'0').count();
    digits.drain(..zeros.min(digits.len().saturating_sub(1)));
    digits
}

/// Returns the groups of digits; the first group may have fewer digits.
pub(super) fn groups_of_digits(digits: &[u8]) -> Vec<u64> {
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
    fn digits_and_groups_are_inverse() {
        for len in [1, 18, 19, 20, 38, 1000, GROUP * PIECE + 1] {
            let digits: Vec<u8> = (0..len).map(|i| b'1' + (i % 9) as u8).collect();
            assert!(digits_of_groups(&groups_of_digits(&digits)) == digits, "{len} digits");
        }
        assert_eq!(digits_of_groups(&[0, 0, 12, 0]), b"120000000000000000000");
        assert_eq!(digits_of_groups(&[0]), b"0");
    }
}
