//! Addition, subtraction and comparison of numbers, and removal of zero limbs at the high end.

use core::cmp::Ordering;

/// Computes a ← a + b mod 2^(64·n), where n = `a.len()`. Returns the carry out.
///
/// If `b` is shorter than `a`, its missing limbs are taken to be zero. Cost: O(n).
///
/// # Panics
/// Panics if `b` is longer than `a`.
pub fn add_assign(a: &mut [u64], b: &[u64]) -> bool {
    assert!(b.len() <= a.len(), "the addend is longer than the sum");
    let mut carry = false;
    for (i, x) in a.iter_mut().enumerate() {
        if i >= b.len() && !carry {
            return false;
        }
        let y = b.get(i).copied().unwrap_or(0);
        let (s, c1) = x.overflowing_add(y);
        let (s, c2) = s.overflowing_add(u64::from(carry));
        *x = s;
        carry = c1 | c2;
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
    let mut borrow = false;
    for (i, x) in a.iter_mut().enumerate() {
        if i >= b.len() && !borrow {
            return false;
        }
        let y = b.get(i).copied().unwrap_or(0);
        let (d, b1) = x.overflowing_sub(y);
        let (d, b2) = d.overflowing_sub(u64::from(borrow));
        *x = d;
        borrow = b1 | b2;
    }
    borrow
}

/// Compares two numbers of any lengths. Zero limbs at the high end are ignored.
#[must_use]
pub fn compare(a: &[u64], b: &[u64]) -> Ordering {
    let longest = a.len().max(b.len());
    let limb = |x: &[u64], i: usize| x.get(i).copied().unwrap_or(0);
    (0..longest)
        .rev()
        .map(|i| limb(a, i).cmp(&limb(b, i)))
        .find(|o| o.is_ne())
        .unwrap_or(Ordering::Equal)
}

/// Returns a without the zero limbs at its high end.
#[must_use]
pub fn trimmed(a: &[u64]) -> &[u64] {
    &a[..a.iter().rposition(|&x| x != 0).map_or(0, |top| top + 1)]
}

/// Removes the zero limbs at the high end of a.
pub fn trim(a: &mut Vec<u64>) {
    a.truncate(trimmed(a).len());
}
