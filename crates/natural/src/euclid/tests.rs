//! Compares the fast Jacobi symbol with the slow one, and tests greatest common divisors and
//! half-gcds.

use super::half_gcd::{Context, reduce_top};
use super::*;
use crate::division::div_rem_by;
use crate::limbs::{div_rem, mul, trimmed};
use crate::product::{FastProducts, Schoolbook};
use proptest::prelude::*;

fn fast(a: &[u64], b: &[u64]) -> Option<i8> {
    jacobi(a, b, &FastProducts, &|| false)
}

#[test]
fn every_small_pair() {
    for b in (1..200u64).step_by(2) {
        for a in 0..400 {
            assert_eq!(fast(&[a], &[b]), Some(jacobi_binary(&[a], &[b])), "({a} | {b})");
        }
    }
}

/// Compares the slow Jacobi symbol with Euler's criterion, (a | p) ≡ a^((p−1)/2) mod p for a prime
/// p. The criterion does not depend on the law of quadratic reciprocity.
#[test]
fn the_slow_symbol_is_eulers() {
    for p in warpint_arith::primes::primes_between(3, 300) {
        for a in 0..p {
            let power = (0..p / 2).fold(1, |power, _| power * a % p);
            let expected = if power == p - 1 { -1 } else { power as i8 };
            assert_eq!(jacobi_binary(&[a], &[p]), expected, "({a} | {p})");
        }
    }
}

#[test]
fn no_result_once_cancelled() {
    let (a, b) = (vec![u64::MAX - 4; 300], vec![u64::MAX; 301]);
    assert_eq!(jacobi(&a, &b, &FastProducts, &|| true), None);
    assert_eq!(gcd(&a, &b, &FastProducts, &|| true), None);
    // The third call of `later` cancels.
    let left = std::cell::Cell::new(3u32);
    let later = || {
        left.set(left.get().saturating_sub(1));
        left.get() == 0
    };
    assert_eq!(jacobi(&a, &b, &FastProducts, &later), None);
}

#[test]
fn neighbours_of_fibonacci_have_quotients_of_one() {
    let (mut a, mut b) = (vec![1u64], vec![1u64]);
    for n in 0..40_000u32 {
        let mut sum = a.clone();
        sum.resize(b.len() + 1, 0);
        crate::limbs::add_assign(&mut sum, &b);
        crate::limbs::trim(&mut sum);
        (a, b) = (b, sum);
        if n % 9_001 < 3 && b[0] % 2 == 1 {
            assert_eq!(fast(&a, &b), Some(jacobi_binary(&a, &b)), "n = {n}");
            assert_eq!(gcd(&a, &b, &FastProducts, &|| false), Some(vec![1]), "n = {n}");
        }
    }
}

/// Generates numbers of 1 to `most` limbs. Some limbs are 0, 1 or 2^64 − 1, which cause long
/// carries. The others are random.
fn number(most: usize) -> impl Strategy<Value = Vec<u64>> {
    let limb = prop_oneof![4 => any::<u64>(), 1 => Just(0), 1 => Just(u64::MAX), 1 => Just(1)];
    proptest::collection::vec(limb, 1..=most)
}

proptest! {
    #[test]
    fn short_and_unequal(a in number(12), b in number(12)) {
        let mut b = b;
        b[0] |= 1;
        prop_assert_eq!(fast(&a, &b), Some(jacobi_binary(&a, &b)));
    }

    #[test]
    fn a_common_factor_gives_zero(a in number(150), b in number(150), c in number(150)) {
        let (mut b, mut c) = (b, c);
        b[0] |= 1;
        c[0] |= 3;
        let (ac, bc) = (mul(&a, &c), mul(&b, &c));
        prop_assert_eq!(fast(&ac, &bc), Some(0));
        // gcd(ac, bc) = c·gcd(a, b).
        let inner = gcd(&a, &b, &Schoolbook, &|| false).unwrap_or_default();
        let mut expected = mul(&inner, &c);
        crate::limbs::trim(&mut expected);
        prop_assert_eq!(gcd(&ac, &bc, &FastProducts, &|| false), Some(expected));
    }

    /// Tests that [`reduce_top`] returns a matrix M of determinant 1 with (a; b) = M·(a'; b'), or
    /// that a and b do not change if it returns `None`.
    #[test]
    fn a_reduced_pair_comes_back(a in number(120), b in number(120), p in 0usize..100) {
        prop_assume!([&a, &b].iter().all(|x| x.iter().any(|&x| x != 0)));
        let whole = |x: &[u64]| trimmed(x).to_vec();
        let (mut x, mut y) = (a.clone(), b.clone());
        let context = Context { multiplier: &FastProducts, cancel: &|| false };
        let reduced = reduce_top(&mut x, &mut y, p, &context).ok().flatten();
        let Some([[m00, m01], [m10, m11]]) = reduced else {
            prop_assert_eq!((x, y), (whole(&a), whole(&b)));
            return Ok(());
        };
        let sum = |m: &[u64], n: &[u64], one: &[u64], other: &[u64]| {
            let (mut sum, second) = (mul(m, one), mul(n, other));
            sum.resize(sum.len().max(second.len()) + 1, 0);
            crate::limbs::add_assign(&mut sum, &second);
            whole(&sum)
        };
        prop_assert_eq!(sum(&m00, &m01, &x, &y), whole(&a));
        prop_assert_eq!(sum(&m10, &m11, &x, &y), whole(&b));
        prop_assert_eq!(whole(&mul(&m00, &m11)), sum(&m01, &[1], &m10, &[1]));
        prop_assert!(!trimmed(&x).is_empty() && !trimmed(&y).is_empty());
    }

    #[test]
    fn division_both_ways(a in number(800), b in number(400)) {
        prop_assume!(b.iter().any(|&x| x != 0));
        prop_assert_eq!(div_rem_by(&FastProducts, &a, &b), div_rem(&a, &b));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]
    #[test]
    fn long(a in number(1_200), b in number(1_200)) {
        let mut b = b;
        b[0] |= 1;
        prop_assert_eq!(fast(&a, &b), Some(jacobi_binary(&a, &b)));
    }
}
