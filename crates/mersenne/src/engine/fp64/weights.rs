//! Irrational-base weights a_j = 2^(⌈pj/N⌉ − pj/N) of the N words of a residue mod 2^p − 1 (Thall
//! 2011, eq. 1.3).
//!
//! All weights follow from two tables of about √N entries each, one for the rows and one for the
//! columns of words. Let u_j = −pj mod N, so that a_j = 2^(u_j/N). Let r be the first word of a
//! row, and j = r + i. Then u_j is u_r + u_i or u_r + u_i − N; in the second case a_j = a_r·a_i/2.
//! u_j also determines the number of bits of word j: ⌈p/N⌉ if u_j < p mod N, else ⌊p/N⌋.

use warpint_arith::dd::{Dd, exp2_ratio};

use crate::layout::WordLayout;

/// The weight a_j of one word j as `f64`, with its inverse and the numerator of its exponent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    /// The integer u_j = −p·j mod N, for the exponent p and N words.
    pub(crate) numerator: f64,
    /// The weight a_j = 2^(u_j/N), at least 1 and below 2.
    pub(crate) forward: f64,
    /// The inverse weight 1/(a_j·s), where s is the `scale` of [`Weight::new`].
    pub(crate) inverse: f64,
}

impl Weight {
    /// Computes the weight of word j in double-double arithmetic and rounds it. `scale` is the
    /// factor by which the transform and its inverse multiply a convolution; the inverse weight
    /// removes this factor.
    pub(crate) fn new(layout: &WordLayout, j: usize, scale: f64) -> Self {
        let u = layout.weight_numerator(j);
        let a = exp2_ratio(u, layout.len() as u64);
        let inverse = Dd::ONE / (a * Dd::from_f64(scale));
        Self { numerator: u as f64, forward: a.to_f64(), inverse: inverse.to_f64() }
    }
}

/// The constants of a layout from which the base 2^b of a word of b bits is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bases {
    /// The number of words N of a residue.
    pub(crate) n: f64,
    /// The number p mod N, for the exponent p. Word j has ⌊p/N⌋ + 1 bits if −p·j mod N is below
    /// this number, otherwise ⌊p/N⌋ bits.
    pub(crate) big_below: f64,
    /// The base of the shorter words, 2^⌊p/N⌋.
    pub(crate) base: f64,
    /// The inverse of the base, 2^−⌊p/N⌋.
    pub(crate) inverse_base: f64,
}

impl Bases {
    pub(crate) fn new(layout: &WordLayout) -> Self {
        let (p, n) = (u64::from(layout.exponent()), layout.len() as u64);
        // The base is at most 2^31.
        let base = (1u64 << (p / n)) as f64;
        Self { n: n as f64, big_below: (p % n) as f64, base, inverse_base: 1.0 / base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_tables_give_every_weight_and_width() {
        for (p, n) in [(521u32, 48usize), (607, 60), (1279, 96), (2203, 100), (97, 96)] {
            let layout = WordLayout::new(p, n);
            let bases = Bases::new(&layout);
            let columns = n / 4;
            for j in 0..n {
                let row = Weight::new(&layout, j / columns * columns, 1.0);
                let column = Weight::new(&layout, j % columns, 1.0);
                let exact = Weight::new(&layout, j, 1.0);
                let sum = row.numerator + column.numerator;
                let wrapped = sum >= bases.n;
                let u = if wrapped { sum - bases.n } else { sum };
                let a = row.forward * column.forward * if wrapped { 0.5 } else { 1.0 };
                assert_eq!(u, exact.numerator, "word {j} of M{p} in {n}");
                assert!((a / exact.forward - 1.0).abs() < 1e-15);
                assert!((exact.forward * exact.inverse - 1.0).abs() < 1e-15);
                let bits = f64::from(layout.bits(j));
                let width = bases.base.log2() + if u < bases.big_below { 1.0 } else { 0.0 };
                assert_eq!(width, bits, "word {j} of M{p} in {n}");
            }
        }
    }
}
