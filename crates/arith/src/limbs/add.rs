//! Addition, subtraction and comparison of numbers, and removal of zero limbs at the high end.

use core::cmp::Ordering;

/// The number of limbs that a loop processes per iteration. Within an iteration, compilers keep the
/// carry in the flag of the processor.
const UNROLLED: usize = 8;

/// Returns x + y + carry mod 2^64, and whether the sum is 2^64 or more.
#[inline(always)]
fn add_limbs(x: u64, y: u64, carry: bool) -> (u64, bool) {
    let (s, c1) = x.overflowing_add(y);
    let (s, c2) = s.overflowing_add(u64::from(carry));
    (s, c1 | c2)
}

/// Returns x − y − borrow mod 2^64, and whether the difference is negative.
#[inline(always)]
fn sub_limbs(x: u64, y: u64, borrow: bool) -> (u64, bool) {
    let (d, b1) = x.overflowing_sub(y);
    let (d, b2) = d.overflowing_sub(u64::from(borrow));
    (d, b1 | b2)
}

/// Computes a_i ← limb(a_i, b_i, carry) for all i, with the carry of each limb passed to the next
/// one. Returns the last carry. Both numbers have the same length.
#[inline(always)]
fn chain(a: &mut [u64], b: &[u64], limb: impl Fn(u64, u64, bool) -> (u64, bool)) -> bool {
    let mut carry = false;
    let (mut a, mut b) = (a.chunks_exact_mut(UNROLLED), b.chunks_exact(UNROLLED));
    for (a, b) in (&mut a).zip(&mut b) {
        for (x, &y) in a.iter_mut().zip(b) {
            (*x, carry) = limb(*x, y, carry);
        }
    }
    for (x, &y) in a.into_remainder().iter_mut().zip(b.remainder()) {
        (*x, carry) = limb(*x, y, carry);
    }
    carry
}

/// Computes a ← a + b mod 2^(64·n), where n = `a.len()`. Returns the carry out.
///
/// If `b` is shorter than `a`, its missing limbs are taken to be zero. Cost: O(n).
///
/// # Panics
/// Panics if `b` is longer than `a`.
pub fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    assert!(b.len() <= a.len(), "the addend is longer than the sum");
    let (low, high) = a.split_at_mut(b.len());
    let mut carry = chain(low, b, add_limbs);
    for x in high {
        if !carry {
            break;
        }
        (*x, carry) = x.overflowing_add(1);
    }
    carry
}

/// Computes a ← a − b mod 2^(64·n), where n = `a.len()`. Returns the borrow out, which is true if
/// a < b.
///
/// If `b` is shorter than `a`, its missing limbs are taken to be zero. Cost: O(n).
///
/// # Panics
/// Panics if `b` is longer than `a`.
pub fn sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    assert!(b.len() <= a.len(), "the subtrahend is longer than the difference");
    let (low, high) = a.split_at_mut(b.len());
    let mut borrow = chain(low, b, sub_limbs);
    for x in high {
        if !borrow {
            break;
        }
        (*x, borrow) = x.overflowing_sub(1);
    }
    borrow
}

/// Computes a ← b − a mod 2^(64·n), where both numbers have n limbs. Returns the borrow out, which
/// is true if b < a. Cost: O(n).
///
/// # Panics
/// Panics if the lengths differ.
pub fn reversed_sub_assign(a: &mut [u64], b: &[u64]) -> bool {
    assert_eq!(a.len(), b.len(), "the numbers have different lengths");
    chain(a, b, |x, y, borrow| sub_limbs(y, x, borrow))
}

/// Compares two numbers of any lengths. Zero limbs at the high end are ignored.
#[inline]
#[must_use]
pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let common = a.len().min(b.len());
    let ((a, a_high), (b, b_high)) = (a.split_at(common), b.split_at(common));
    if a_high.iter().any(|&x| x != 0) {
        return Ordering::Greater;
    }
    if b_high.iter().any(|&x| x != 0) {
        return Ordering::Less;
    }
    a.iter().rev().cmp(b.iter().rev())
}

/// Returns a without the zero limbs at its high end.
#[inline]
#[must_use]
pub fn trimmed(a: &[u64]) -> &[u64] {
    &a[..a.iter().rposition(|&x| x != 0).map_or(0, |top| top + 1)]
}

/// Removes the zero limbs at the high end of a.
pub fn trim(a: &mut Vec<u64>) {
    a.truncate(trimmed(a).len());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares sums and differences with a computation limb by limb on 128-bit integers, for all
    /// lengths to 20 limbs and numbers with long carries.
    #[test]
    fn sums_and_differences_of_all_short_lengths() {
        let patterns: [fn(usize) -> u64; 6] = [
            |_| 0,
            |_| u64::MAX,
            |i| u64::from(i == 0),
            |i| if i % 3 == 2 { 1 << 63 } else { u64::MAX },
            |i| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            |i| !(i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15),
        ];
        for n in 0..=20 {
            for m in 0..=n {
                for (a, b) in patterns.iter().flat_map(|&a| patterns.map(|b| (a, b))) {
                    let a: Vec<u64> = (0..n).map(a).collect();
                    let b: Vec<u64> = (0..m).map(b).collect();
                    let limb = |x: &[u64], i: usize| i128::from(x.get(i).copied().unwrap_or(0));
                    let combined = |sign_a: i128, sign_b: i128| {
                        let mut carry = 0i128;
                        let next = |i| {
                            let t = sign_a * limb(&a, i) + sign_b * limb(&b, i) + carry;
                            carry = t >> 64;
                            t as u64
                        };
                        let result: Vec<u64> = (0..n).map(next).collect();
                        (result, carry != 0)
                    };
                    let mut sum = a.clone();
                    let carry = add_assign(&mut sum, &b);
                    assert_eq!((sum, carry), combined(1, 1), "{a:x?} + {b:x?}");
                    let mut difference = a.clone();
                    let borrow = sub_assign(&mut difference, &b);
                    assert_eq!((difference, borrow), combined(1, -1), "{a:x?} − {b:x?}");
                    assert_eq!(compare(&a, &b) == Ordering::Less, borrow, "{a:x?} and {b:x?}");
                    assert_eq!(compare(&b, &a) == Ordering::Greater, borrow, "{a:x?} and {b:x?}");
                    if n == m {
                        let mut difference = a.clone();
                        let borrow = reversed_sub_assign(&mut difference, &b);
                        assert_eq!((difference, borrow), combined(-1, 1), "{b:x?} − {a:x?}");
                    }
                }
            }
        }
    }
}
