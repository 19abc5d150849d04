//! Roots, bit by bit, and square roots by Newton's iteration.

use core::cmp::Ordering;

use super::div::div_rem;
use super::mul::mul;
use super::{add_assign, compare, shift_right_assign, trim, trimmed};

/// Returns ⌊a^(1/k)⌋ without leading zero limbs: the largest number whose k-th power is at most a.
/// This number is found bit by bit, the highest bit first. Cost O(n³/k) limb products for n limbs.
///
/// # Panics
/// Panics if k is zero.
#[must_use]
pub fn root(a: &[u64], k: u32) -> Vec<u64> {
    assert!(k > 0, "no root of degree zero");
    let bits = 64 * a.len() as u64;
    let mut root = vec![0u64; (bits / u64::from(k) / 64 + 1) as usize];
    for bit in (0..=bits / u64::from(k)).rev() {
        root[(bit / 64) as usize] |= 1 << (bit % 64);
        if power_exceeds(&root, k, a) {
            root[(bit / 64) as usize] &= !(1 << (bit % 64));
        }
    }
    trim(&mut root);
    root
}

/// Returns ⌊√a⌋ without leading zero limbs. Unlike [`root`], it is suitable for long numbers. The
/// method is Newton's iteration x ← ⌊(x + ⌊a/x⌋)/2⌋. It starts from a power of two above the root,
/// and stops when x no longer decreases. Cost O(n²·log n) limb products for n limbs.
#[must_use]
pub fn sqrt(a: &[u64]) -> Vec<u64> {
    let a = trimmed(a);
    let mut root = vec![0; a.len() / 2 + 1];
    if let Some(top) = root.last_mut() {
        // A power of two above the root: 2^(64·⌊n/2⌋ + 32) for odd n, and 2^(64·n/2) for even n,
        // where n is the number of limbs of a.
        *top = if a.len() % 2 == 1 { 1 << 32 } else { 1 };
    }
    if a.is_empty() {
        return vec![];
    }
    loop {
        let mut next = div_rem(a, &root).0;
        next.resize(root.len() + 1, 0);
        add_assign(&mut next, &root);
        shift_right_assign(&mut next, 1);
        trim(&mut next);
        if compare(&next, &root) != Ordering::Less {
            return root;
        }
        root = next;
    }
}

/// Returns whether x^k > a.
fn power_exceeds(x: &[u64], k: u32, a: &[u64]) -> bool {
    let mut power = vec![1];
    for _ in 0..k {
        power = mul(&power, x);
        trim(&mut power);
        // The powers of x never decrease, because x = 0 does not occur.
        if compare(&power, a) == Ordering::Greater {
            return true;
        }
    }
    false
}
