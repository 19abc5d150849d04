//! Roots, bit by bit.

use core::cmp::Ordering;

use super::add::compare;
use super::div::trim;
use super::mul::mul;

/// ⌊a^(1/k)⌋ without leading zero limbs: the largest number whose power k is at most a, found
/// bit by bit from the highest on. Cost O(n³/k) limb products for n limbs.
///
/// # Panics
/// If k is zero.
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

/// Whether x^k > a.
fn power_exceeds(x: &[u64], k: u32, a: &[u64]) -> bool {
    let mut power = vec![1];
    for _ in 0..k {
        power = mul(&power, x);
        trim(&mut power);
        // Products only grow, for x = 0 is no question.
        if compare(&power, a) == Ordering::Greater {
            return true;
        }
    }
    false
}
