//! Greatest common divisors, and inverses modulo a number, by Euclid's algorithm.

use super::div::div_rem;
use super::mul::mul;
use super::{add_assign, sub_assign, trim, trimmed};

/// Returns gcd(a, b) without leading zero limbs, by Euclid's algorithm with one division per step;
/// gcd(a, 0) = a and gcd(0, 0) = 0. Cost O(n²) limb products for n limbs.
#[must_use]
pub fn gcd(a: &[u64], b: &[u64]) -> Vec<u64> {
    let (mut a, mut b) = (trimmed(a).to_vec(), trimmed(b).to_vec());
    while !b.is_empty() {
        let (_, rem) = div_rem(&a, &b);
        (a, b) = (b, rem);
    }
    a
}

/// Returns the inverse of a modulo m without leading zero limbs: the number x with a·x ≡ 1 mod m
/// and 0 ≤ x < m. Returns `None` if m = 0 or gcd(a, m) > 1, because no inverse exists. For m = 1, x
/// is 0.
///
/// The method is Euclid's algorithm with the cofactors of a (Knuth 1997, *The Art of Computer
/// Programming* 2, §4.5.2, algorithm X). The cofactors are reduced mod m so that none is negative.
/// Cost O(n³) limb products for n limbs.
#[must_use]
pub fn inverse(a: &[u64], m: &[u64]) -> Option<Vec<u64>> {
    let m = trimmed(m);
    if m.is_empty() {
        return None;
    }
    let residue = |x: &[u64]| div_rem(x, m).1;
    // u ≡ a·x and v ≡ a·y mod m.
    let (mut u, mut v) = (m.to_vec(), residue(a));
    let (mut x, mut y) = (vec![], residue(&[1]));
    while !v.is_empty() {
        let (q, rem) = div_rem(&u, &v);
        // Computes x − q·y as x + (m − q·y mod m).
        let mut difference = m.to_vec();
        sub_assign(&mut difference, &residue(&mul(&q, &y)));
        difference.push(0);
        add_assign(&mut difference, &x);
        (u, v) = (v, rem);
        (x, y) = (y, residue(&difference));
    }
    trim(&mut x);
    (u == [1]).then_some(x)
}
