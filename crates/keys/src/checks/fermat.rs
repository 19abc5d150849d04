//! Fermat's method.

use std::cmp::Ordering;

use warpint_natural::limbs::{add_assign, compare, mul, sub_assign, trim};
use warpint_natural::root::SquareRoot;

use super::residue::Divisor;

/// A product of odd numbers below 2^64, modulo which few residues are squares: 9·5·7·11·13·17·19·23.
const MODULUS: u64 = 9 * 5 * 7 * 11 * 13 * 17 * 19 * 23;
const FACTORS: [u64; 8] = [9, 5, 7, 11, 13, 17, 19, 23];

/// Returns (p, q) with n = p·q and p ≥ q > 1 if Fermat's method finds them in `steps` steps. n must
/// be odd.
///
/// Let c = ⌈√n⌉. The method tests whether a² − n is a square b² for a = c, c + 1, …, c + `steps` − 1;
/// then p = a + b and q = a − b (Fermat 1643; for keys found in practice, Böck 2023, *Fermat
/// Factorization in the Wild*, IACR ePrint 2023/026). As a = (p + q)/2 and
/// (p + q)/2 − √n = (p − q)²/(2·(√p + √q)²) ≤ (p − q)²/(8·√n), it finds all p and q with
/// |p − q| ≤ √(8·(`steps` − 1))·n^(1/4). If n is a square, p = q is found in the first step.
///
/// Cost: a square root, and for each step a sum of w limbs and a test modulo small numbers, for n of
/// w limbs.
#[must_use]
pub fn close_factors(n: &[u64], steps: u32) -> Option<(Vec<u64>, Vec<u64>)> {
    if n.first().is_none_or(|low| low % 2 == 0) || *n == [1] {
        return None;
    }
    let modulus = Divisor::new(MODULUS);
    let half = n.len().div_ceil(2);
    let (mut a, mut rest) = (vec![0; half + 1], vec![0; half + 1]);
    let mut root = SquareRoot::default();
    root.sqrt_rem(&mut a, &mut rest, n);
    // a² − n for a = ⌈√n⌉.
    let mut square = vec![];
    if rest.iter().any(|&limb| limb != 0) {
        add_assign(&mut a, &[1]);
        square = mul(&a, &a);
        sub_assign(&mut square, n);
    }
    // n < a², and (a + `steps`)² must fit.
    square.resize(half + 3, 0);
    for _ in 0..steps {
        if may_be_square(&square, &modulus) {
            let (mut b, mut rest) = (vec![0; half + 2], vec![0; half + 3]);
            root.sqrt_rem(&mut b, &mut rest, &square);
            if rest.iter().all(|&limb| limb == 0) {
                let (mut p, mut q) = (a.clone(), a);
                p.resize(half + 2, 0);
                q.resize(half + 2, 0);
                add_assign(&mut p, &b);
                sub_assign(&mut q, &b);
                trim(&mut p);
                trim(&mut q);
                // With q = 1 the method has found that n is a prime, or reached the trivial factors.
                return (compare(&q, &[1]) == Ordering::Greater).then_some((p, q));
            }
        }
        // (a + 1)² − n = a² − n + 2a + 1.
        add_assign(&mut square, &a);
        add_assign(&mut square, &a);
        add_assign(&mut square, &[1]);
        add_assign(&mut a, &[1]);
    }
    None
}

/// Returns whether x is a square modulo 64 and modulo each of [`FACTORS`].
fn may_be_square(x: &[u64], modulus: &Divisor) -> bool {
    const MODULO_64: u64 = 0x0202_0212_0203_0213;
    if MODULO_64 >> (x[0] % 64) & 1 == 0 {
        return false;
    }
    let residue = modulus.residue(x);
    FACTORS.iter().all(|&m| {
        let r = residue % m;
        (0..m).any(|y| y * y % m == r)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limbs(x: u128) -> Vec<u64> {
        let mut limbs = vec![x as u64, (x >> 64) as u64];
        trim(&mut limbs);
        limbs
    }

    #[test]
    fn squares_modulo_64() {
        let modulus = Divisor::new(MODULUS);
        for x in 0..10_000u64 {
            assert!(may_be_square(&[x * x], &modulus), "{x}²");
        }
        let squares = (0..64).filter(|r| (0..64u64).any(|y| y * y % 64 == *r));
        let mask = squares.fold(0u64, |mask, r| mask | 1 << r);
        assert_eq!(mask, 0x0202_0212_0203_0213);
    }

    /// Compares with the definition: the odd n below 4,000 with all their factors, and 50 steps.
    #[test]
    fn factors_of_small_numbers() {
        for n in (3..4000u64).step_by(2) {
            let ceil = (1..).find(|c| c * c >= n).unwrap();
            let square = |x: u64| (0..=x).find(|b| b * b >= x).filter(|b| b * b == x);
            let expected = (ceil..ceil + 50)
                .find_map(|a| square(a * a - n).map(|b| (a + b, a - b)))
                .filter(|&(_, q)| q > 1);
            let found = close_factors(&[n], 50).map(|(p, q)| (p[0], q[0]));
            assert_eq!(found, expected, "{n}");
        }
    }

    /// The bound on |p − q| of the documentation: factors at the bound are found, and factors far
    /// above it are not.
    #[test]
    fn the_bound_on_the_difference_holds() {
        for steps in [1, 2, 10, 100] {
            let q = (1u128 << 60) + 33;
            let bound = (8.0 * f64::from(steps - 1)).sqrt() * (q as f64).sqrt();
            for difference in [0, bound as u128 / 2 * 2, bound as u128 / 4 * 2] {
                let p = q + difference;
                let found = close_factors(&limbs(p * q), steps);
                assert_eq!(found, Some((limbs(p), limbs(q))), "{difference} in {steps}");
            }
            let p = q + (2.0 * bound) as u128 / 2 * 2 + (1 << 32);
            assert_eq!(close_factors(&limbs(p * q), steps), None);
        }
    }

    #[test]
    fn numbers_without_close_factors() {
        assert_eq!(close_factors(&[1], 9), None);
        assert_eq!(close_factors(&[], 9), None);
        assert_eq!(close_factors(&[2 * 3], 9), None);
        // A prime: the method would reach p·1.
        assert_eq!(close_factors(&[7], 100), None);
        assert_eq!(close_factors(&[u64::MAX, u64::MAX >> 1], 1000), None);
    }
}
