//! Rounding and carries of many rows side by side.
//!
//! The carries run along each row from word to word, and leave the row only after its last word. So
//! the words at one position of several rows are computed together, in `f64` lanes. Let z be a
//! rounded word of b bits, and v = z + carry. The next carry is c = round(v·2^−b) and the digit is
//! v − c·2^b. Both are exact for |v| < 2^52. Ties are rounded to even, so a digit may be −2^(b−1)
//! or 2^(b−1).

use multiversion::multiversion;
use rustfft::num_complex::Complex;

use super::ROUNDER;
use crate::engine::fp64::weights::{Bases, Weight};
use crate::layout::WordLayout;

/// The weights of the first word of every row, with one array for each field of [`Weight`].
#[derive(Debug)]
pub(crate) struct RowWeights {
    pub(super) numerator: Vec<f64>,
    pub(super) forward: Vec<f64>,
    pub(super) inverse: Vec<f64>,
}

impl RowWeights {
    /// Computes the weights for rows of `width` words. `scale` is as in [`Weight::new`].
    pub(crate) fn new(layout: &WordLayout, width: usize, scale: f64) -> Self {
        let rows = 0..layout.len() / width;
        Self::of_rows(rows.map(|r| Weight::new(layout, r * width, scale)))
    }

    /// Collects the weights of the first words of the rows, in any order of rows.
    pub(crate) fn of_rows(rows: impl Iterator<Item = Weight>) -> Self {
        let rows: Vec<Weight> = rows.collect();
        Self {
            numerator: rows.iter().map(|w| w.numerator).collect(),
            forward: rows.iter().map(|w| w.forward).collect(),
            inverse: rows.iter().map(|w| w.inverse).collect(),
        }
    }
}

/// The constants of the words at one position of all rows. The weight of the word in a given row
/// follows from these constants and the weight of the row's first word.
#[derive(Clone, Copy)]
struct Word {
    numerator: f64,
    forward: [f64; 2],
    inverse: [f64; 2],
    bases: Bases,
}

impl Word {
    #[inline(always)]
    fn new(weight: Weight, bases: Bases) -> Self {
        Self {
            numerator: weight.numerator,
            forward: [weight.forward, weight.forward * 0.5],
            inverse: [weight.inverse, weight.inverse * 2.0],
            bases,
        }
    }

    /// Returns (a, 1/(a·s), 2^b, 2^−b) for the word in one row: a is its weight, b its number of
    /// bits, and s the scale of the weights. The arguments are the fields of [`Weight`] for the
    /// first word of the row.
    #[inline(always)]
    fn in_row(&self, numerator: f64, forward: f64, inverse: f64) -> (f64, f64, f64, f64) {
        let sum = numerator + self.numerator;
        let wrapped = sum >= self.bases.n;
        let u = sum - if wrapped { self.bases.n } else { 0.0 };
        let a = forward * if wrapped { self.forward[1] } else { self.forward[0] };
        let inverse = inverse * if wrapped { self.inverse[1] } else { self.inverse[0] };
        let more = u < self.bases.big_below;
        let base = if more { self.bases.base * 2.0 } else { self.bases.base };
        let inverse_base =
            if more { self.bases.inverse_base * 0.5 } else { self.bases.inverse_base };
        (a, inverse, base, inverse_base)
    }
}

/// Splits v = digit + carry·2^b into (digit, carry), for `base` = 2^b and `inverse_base` = 2^−b.
#[inline(always)]
fn split(v: f64, base: f64, inverse_base: f64) -> (f64, f64) {
    let carry = (v * inverse_base + ROUNDER) - ROUNDER;
    (v - carry * base, carry)
}

/// Processes two words of every row of a product, which are the real and imaginary part of a point.
/// Divides the words by their weights, rounds them and propagates carries. If `WEIGH`, multiplies
/// the digits by the weights again.
///
/// `carry` contains, for each row, the carry into the first of the two words, and receives the
/// carry out of the second. `errors` contains the largest round-off so far of each row, and
/// `energy` the sum of the squares of its words so far; both are updated. Returns the bits in which
/// t + [`ROUNDER`] differs from [`ROUNDER`] for at least one word t, as in
/// [`Observed::foreign`](super::Observed::foreign).
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(crate) fn release<const WEIGH: bool>(
    column: &mut [Complex<f64>],
    rows: &RowWeights,
    words: [Weight; 2],
    bases: Bases,
    carry: &mut [f64],
    errors: &mut [f64],
    energy: &mut [f64],
) -> u64 {
    let len = column.len();
    let (carry, errors) = (&mut carry[..len], &mut errors[..len]);
    let energy = &mut energy[..len];
    let (numerator, forward) = (&rows.numerator[..len], &rows.forward[..len]);
    let inverse = &rows.inverse[..len];
    let even = Word::new(words[0], bases);
    let odd = Word::new(words[1], bases);
    let mut foreign = 0u64;
    for r in 0..len {
        let (a0, inv0, base0, ibase0) = even.in_row(numerator[r], forward[r], inverse[r]);
        let (a1, inv1, base1, ibase1) = odd.in_row(numerator[r], forward[r], inverse[r]);
        let (t0, t1) = (column[r].re * inv0, column[r].im * inv1);
        let (sum0, sum1) = (t0 + ROUNDER, t1 + ROUNDER);
        foreign |= (sum0.to_bits() ^ ROUNDER.to_bits()) | (sum1.to_bits() ^ ROUNDER.to_bits());
        let (z0, z1) = (sum0 - ROUNDER, sum1 - ROUNDER);
        let (e0, e1) = ((t0 - z0).abs(), (t1 - z1).abs());
        let e = if e0 > e1 { e0 } else { e1 };
        errors[r] = if e > errors[r] { e } else { errors[r] };
        energy[r] += t0 * t0 + t1 * t1;
        let (d0, c) = split(z0 + carry[r], base0, ibase0);
        let (d1, c) = split(z1 + c, base1, ibase1);
        carry[r] = c;
        column[r] = if WEIGH { Complex::new(d0 * a0, d1 * a1) } else { Complex::new(d0, d1) };
    }
    foreign
}

/// Processes two words of every row that are already digits: adds the carries in `carry`, and, if
/// `WEIGH`, multiplies by the weights. Then replaces the carries in `carry` by the carries out of
/// the words.
///
/// If `last`, the second word keeps its carry, and the carry out is 0. The value of the residue
/// stays exact. The accuracy of the next transform suffers only if the carries are still large at
/// the second word.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(crate) fn absorb<const WEIGH: bool>(
    column: &mut [Complex<f64>],
    rows: &RowWeights,
    words: [Weight; 2],
    bases: Bases,
    carry: &mut [f64],
    last: bool,
) {
    let len = column.len();
    let carry = &mut carry[..len];
    let (numerator, forward) = (&rows.numerator[..len], &rows.forward[..len]);
    let inverse = &rows.inverse[..len];
    let even = Word::new(words[0], bases);
    let odd = Word::new(words[1], bases);
    for r in 0..len {
        let (a0, _, base0, ibase0) = even.in_row(numerator[r], forward[r], inverse[r]);
        let (a1, _, base1, ibase1) = odd.in_row(numerator[r], forward[r], inverse[r]);
        let (d0, c) = split(column[r].re + carry[r], base0, ibase0);
        let v1 = column[r].im + c;
        let (d1, c) = if last { (v1, 0.0) } else { split(v1, base1, ibase1) };
        carry[r] = c;
        column[r] = if WEIGH { Complex::new(d0 * a0, d1 * a1) } else { Complex::new(d0, d1) };
    }
}
