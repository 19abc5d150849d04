//! Irrational-base weights a_j = 2^(⌈pj/N⌉ − pj/N) of the N words of a residue mod 2^p − 1 (Thall
//! 2011, eq. 1.3), and those of the words of a residue modulo k·2^n ± 1 ([`form`](super::form)).
//!
//! All weights follow from two tables of about √N entries each, one for the rows and one for the
//! columns of words. Let u_j = −pj mod N, so that a_j = 2^(u_j/N). Let r be the first word of a
//! row, and j = r + i. Then u_j is u_r + u_i or u_r + u_i − N; in the second case a_j = a_r·a_i/2.
//! u_j also determines the number of bits of word j: ⌈p/N⌉ if u_j < p mod N, else ⌊p/N⌋.
//!
//! The words of a residue modulo k·2^n ± 1 begin at bits B_j = ⌈j·ρ⌉, where 2^32·ρ is an integer. So u_j =
//! −2^32·ρ·j mod 2^32, with 2^32 in place of N and 2^32·ρ in place of p. The weight 2^(B_j)/K^j of word
//! j = r + i is w_r·w_i or w_r·w_i/2, because B_j − j·ρ = u_j/2^32.

use warpint_arith::dd::{Dd, exp2_ratio};

use crate::layout::{FormLayout, FormWeights, WordLayout};

/// The weight a_j of one word j as `f64`, with its inverse and the numerator of its exponent.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Weight {
    /// The integer u_j = −p·j mod N, for the exponent p and N words. For other numbers,
    /// −2^32·ρ·j mod 2^32.
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

/// The weights of the words of a residue.
pub(crate) enum Weights {
    /// Of a residue modulo 2^p − 1.
    Mersenne(WordLayout),
    /// Of a residue modulo k·2^n ± 1.
    Form(FormLayout, FormWeights),
}

impl Weights {
    /// Returns the weight of word j with the inverse weight 1/a_j.
    pub(crate) fn relative(&self, j: usize) -> Weight {
        self.weight(j, Dd::ONE)
    }

    /// Returns the weight of word j with an inverse weight that turns the words of `points` times a
    /// convolution into those of a product: 1/(a_j·`points`), or k/(a_j·`points`) for k·2^n ± 1.
    pub(crate) fn scaled(&self, j: usize, points: usize) -> Weight {
        let k = match self {
            Self::Mersenne(_) => 1,
            Self::Form(layout, _) => layout.number().multiplier(),
        };
        self.weight(j, Dd::from_u64(k) / Dd::from_u64(points as u64))
    }

    fn weight(&self, j: usize, factor: Dd) -> Weight {
        let (numerator, a) = match self {
            Self::Mersenne(layout) => {
                let u = layout.weight_numerator(j);
                (u as f64, exp2_ratio(u, layout.len() as u64))
            }
            Self::Form(layout, weights) => (f64::from(layout.fraction(j)), weights.get(j)),
        };
        Weight { numerator, forward: a.to_f64(), inverse: (factor / a).to_f64() }
    }
}

/// The constants of a layout from which the base 2^b of a word of b bits is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bases {
    /// The number of words N of a residue. For other numbers, 2^32.
    pub(crate) n: f64,
    /// The number p mod N, for the exponent p. Word j has ⌊p/N⌋ + 1 bits if −p·j mod N is below
    /// this number, otherwise ⌊p/N⌋ bits. For other numbers, 2^32·ρ mod 2^32.
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

    /// Creates the constants of a layout modulo k·2^n ± 1 whose words have at most 31 bits.
    pub(crate) fn of_form(layout: &FormLayout) -> Self {
        let rate = layout.rate();
        let base = (1u64 << (rate >> 32)) as f64;
        let n = 2f64.powi(32);
        Self { n, big_below: f64::from(rate as u32), base, inverse_base: 1.0 / base }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Number, Sign};

    fn two_tables(
        what: &str,
        n: usize,
        weights: &Weights,
        bases: Bases,
        bits: &dyn Fn(usize) -> u32,
    ) {
        let columns = n / 4;
        for j in 0..n {
            let row = weights.relative(j / columns * columns);
            let column = weights.relative(j % columns);
            let exact = weights.relative(j);
            let sum = row.numerator + column.numerator;
            let wrapped = sum >= bases.n;
            let u = if wrapped { sum - bases.n } else { sum };
            let a = row.forward * column.forward * if wrapped { 0.5 } else { 1.0 };
            assert_eq!(u, exact.numerator, "word {j} of {what} in {n}");
            assert!((a / exact.forward - 1.0).abs() < 1e-15);
            assert!((exact.forward * exact.inverse - 1.0).abs() < 1e-15);
            let width = bases.base.log2() + if u < bases.big_below { 1.0 } else { 0.0 };
            assert_eq!(width, f64::from(bits(j)), "word {j} of {what} in {n}");
        }
    }

    #[test]
    fn two_tables_give_every_weight_and_width() {
        for (p, n) in [(521u32, 48usize), (607, 60), (1279, 96), (2203, 100), (97, 96)] {
            let layout = WordLayout::new(p, n);
            let weights = Weights::Mersenne(layout);
            two_tables(&format!("M{p}"), n, &weights, Bases::new(&layout), &|j| layout.bits(j));
            for j in 0..n {
                let (one, other) = (Weight::new(&layout, j, 64.0), weights.scaled(j, 64));
                assert_eq!((one.forward, one.inverse), (other.forward, other.inverse));
            }
        }
    }

    #[test]
    fn two_tables_give_every_weight_and_width_of_other_numbers() {
        for (k, e, n) in
            [(1u64, 1024, 64usize), (3, 1279, 96), (10_223, 2203, 100), (1_048_575, 977, 96)]
        {
            for sign in [Sign::Minus, Sign::Plus] {
                let Ok(number) = Number::new(k, 2, e, sign) else { continue };
                let layout = FormLayout::new(number, n);
                let weights = Weights::Form(layout, layout.weights());
                let bases = Bases::of_form(&layout);
                two_tables(&number.to_string(), n, &weights, bases, &|j| layout.bits(j));
            }
        }
    }
}
