//! Tests that compare the bound on words of a product with the products of the worst digits.

use super::super::{Goldilocks, margin};
use crate::EngineFamily;
use crate::layout::WordLayout;

/// Computes the weighted convolution z_k = Σ x_i·y_j·2^(ε_i + ε_j − ε_k) over i + j ≡ k mod N in
/// quadratic time, where 2^ε_j is the weight of word j.
pub(super) fn convolution(layout: &WordLayout, x: &[i64], y: &[i64]) -> Vec<i128> {
    let n = layout.len();
    let e = |j: usize| layout.weight_numerator(j);
    let mut z = vec![0i128; n];
    for (i, &a) in x.iter().enumerate() {
        for (j, &b) in y.iter().enumerate() {
            let k = (i + j) % n;
            let doublings = e(i) + e(j) - e(k);
            assert_eq!(doublings % n as u64, 0, "the power of two is whole");
            z[k] += (i128::from(a) * i128::from(b)) << (doublings / n as u64);
        }
    }
    z
}

#[test]
fn the_worst_digits_come_close_to_the_bound() {
    for n in [8usize, 10, 16, 40, 64, 80, 256, 320] {
        for beta in [8u32, 17, 20] {
            // An exponent prime to N, between two whole numbers of bits per word.
            let p = beta * n as u32 + n as u32 / 3 * 2 + 1;
            let p = (p..).find(|p| p % 2 == 1 && !p.is_multiple_of(5)).unwrap();
            let layout = WordLayout::new(p, n);
            let worst: Vec<i64> = (0..n).map(|j| -(1i64 << layout.bits(j) >> 1)).collect();
            let largest = convolution(&layout, &worst, &worst).into_iter().max().unwrap();
            let largest = (largest as f64).log2();
            let bound = margin::product_bits(p, n);
            assert!(largest <= bound, "M{p} in {n} words: {largest} > {bound}");
            assert!(largest > bound - 1.2, "M{p} in {n} words: {largest} is far below {bound}");
        }
    }
}

#[test]
fn every_exponent_has_a_length() {
    let mut p = 64u32;
    loop {
        let fits = |n: &usize| Goldilocks.margin(p, *n).is_ok_and(|m| m.proven && m.bits >= 0.0);
        assert!(Goldilocks.lengths(1, usize::MAX).iter().any(fits), "M{p}");
        if p == (1 << 31) - 1 {
            break;
        }
        p = p.saturating_add(p / 50).min((1 << 31) - 1);
    }
}

#[test]
fn says_why_a_length_is_unusable() {
    let reason = |p: u32, n: usize| Goldilocks.margin(p, n).unwrap_err().to_string();
    assert!(reason(1279, 48).contains("2 has no 48-th root"));
    assert!(reason(1279, 0).contains("no 0-th root"));
    assert!(reason(1279, 7).contains("lengths are 2^k"));
    assert!(reason(1279, 2048).contains("more words than bits"));
    assert!(reason(1279, 32).contains("31 bits"));
    assert!(reason(61, 8).contains("from 64"));
    assert!(reason(2_147_483_647, 1 << 27).contains("134217728-th root"));
    // The field has the roots, but the words are too long for exact products: a negative margin.
    assert!(Goldilocks.margin(6_972_593, 1 << 18).unwrap().bits < 0.0);
    assert!(Goldilocks.margin(6_972_593, 5 << 16).unwrap().bits > 0.0);
}
