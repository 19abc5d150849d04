//! Compares products by transforms with Karatsuba's method and the schoolbook method.

use super::*;
use proptest::prelude::*;

use crate::limbs;
use crate::product::Schoolbook;

/// Returns multipliers with the default settings, multipliers without 50-bit primes, and a
/// multiplier whose limit on the points of a transform is so small that factors are split.
fn multipliers() -> [TransformMultiplier; 5] {
    [
        TransformMultiplier::new(1),
        TransformMultiplier::new(2),
        TransformMultiplier::without_primes(1),
        TransformMultiplier::without_primes(2),
        TransformMultiplier::by(2, 1 << 12, false),
    ]
}

fn words(seed: u64, n: usize) -> Vec<u64> {
    let mut x = seed | 1;
    (0..n)
        .map(|_| {
            x ^= x << 13;
            x ^= x >> 7;
            x ^= x << 17;
            // Includes runs of zeros and ones.
            match x % 7 {
                0 => 0,
                1 => u64::MAX,
                _ => x,
            }
        })
        .collect()
}

#[test]
fn lengths_are_the_least_there_are() {
    for points in 1..3_000usize {
        let n = length(points);
        let least =
            (0..13).flat_map(|k| [16usize << k, 48 << k, 80 << k]).filter(|&n| n >= points).min();
        assert_eq!(Some(n), least, "{points}");
        assert!(cyclic(n).is_some(), "{n}");
    }
}

#[test]
fn all_ones_at_every_length() {
    // (2^(64a) − 1)(2^(64b) − 1): the largest digits everywhere, with a known result.
    for multiplier in multipliers() {
        for (a, b) in [(400, 400), (401, 999), (1_000, 1_024), (2_500, 2_560), (400, 40_000)] {
            let product = multiplier.mul(&vec![u64::MAX; a], &vec![u64::MAX; b]);
            let (short, long) = (a.min(b), a.max(b));
            let mut expected = vec![0; a + b];
            expected[0] = 1;
            expected[short..long].fill(u64::MAX);
            expected[long..].fill(u64::MAX);
            expected[long] -= 1;
            assert_eq!(product, expected, "{a} by {b} limbs");
        }
    }
}

#[test]
fn zeros_stay_and_lengths_are_kept() {
    for multiplier in multipliers() {
        assert_eq!(multiplier.mul(&[], &[]), [0u64; 0]);
        assert_eq!(multiplier.mul(&[0; 900], &[0; 500]), [0; 1_400]);
        let mut x = words(5, 900);
        x[600..].fill(0);
        assert_eq!(multiplier.mul(&x, &x), FastProducts.mul(&x, &x));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    #[test]
    fn sums_of_products_are_those_of_the_schoolbook(
        seed in any::<u64>(),
        a in 70usize..1_500,
        b in 70usize..1_500,
    ) {
        let m: Vec<Vec<u64>> = (0..4).map(|i| words(seed ^ i << 32, a - i as usize)).collect();
        let n: Vec<Vec<u64>> = (0..4).map(|i| words(!seed ^ i << 32, b - i as usize)).collect();
        let trim = |mut x: Vec<u64>| { limbs::trim(&mut x); x };
        // A sum may be one limb longer or shorter, with zeros or sign bits on top.
        let signed = |mut x: Vec<u64>| {
            let sign = if x.last().is_some_and(|top| top >> 63 == 1) { u64::MAX } else { 0 };
            x.resize(a + b + 2, sign);
            x
        };
        let (m, n) = ([[&m[0][..], &m[1]], [&m[2], &m[3]]], [[&n[0][..], &n[1]], [&n[2], &n[3]]]);
        for multiplier in multipliers() {
            prop_assert_eq!(multiplier.mul(m[0][0], n[0][0]), Schoolbook.mul(m[0][0], n[0][0]));
            prop_assert_eq!(
                multiplier.mul_matrices(m, n).map(|row| row.map(trim)),
                Schoolbook.mul_matrices(m, n).map(|row| row.map(trim))
            );
            prop_assert_eq!(
                multiplier.mul_adjugate(m, n[0]).map(signed),
                Schoolbook.mul_adjugate(m, n[0]).map(signed)
            );
        }
    }
}
