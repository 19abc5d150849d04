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
use super::sums::{SumsOfRows, WordFactor, plus_products};
use crate::engine::fp64::flip::{choose, flip_f64};
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

impl RowWeights {
    /// Flips a bit of a weight.
    pub(crate) fn flip(&mut self, bit: u64) {
        match choose(bit, 3) {
            (0, bit) => flip_f64(&mut self.numerator, bit),
            (1, bit) => flip_f64(&mut self.forward, bit),
            (_, bit) => flip_f64(&mut self.inverse, bit),
        }
    }
}

/// The two words of a point in the first row, which are those of the real and of the imaginary part:
/// their weights, and the factors of the sums.
#[derive(Debug, Clone, Copy)]
pub(crate) struct PointWords {
    pub(crate) weights: [Weight; 2],
    pub(crate) factors: [WordFactor; 2],
}

/// Statistics of the words of each row, from which an [`Observed`](super::Observed) is computed, and
/// the sums over the row's digits and carries.
#[derive(Debug)]
pub(crate) struct Seen {
    /// The largest round-off of each row.
    pub(crate) errors: Vec<f64>,
    /// The sum of the squares of the words of each row.
    pub(crate) energy: Vec<f64>,
    /// The bits in which t + [`ROUNDER`] differs from [`ROUNDER`] for at least one word t.
    pub(crate) foreign: u64,
    pub(crate) sums: SumsOfRows,
}

impl Seen {
    /// Creates statistics of `rows` rows, without sums.
    pub(crate) fn new(rows: usize) -> Self {
        let sums = SumsOfRows::default();
        Self { errors: vec![0.0; rows], energy: vec![0.0; rows], foreign: 0, sums }
    }

    pub(crate) fn clear(&mut self) {
        self.errors.fill(0.0);
        self.energy.fill(0.0);
        self.foreign = 0;
        self.sums.clear();
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

    /// Returns the constants of the word in one row. The arguments are the fields of [`Weight`] for
    /// the first word of the row.
    #[inline(always)]
    fn in_row(&self, numerator: f64, forward: f64, inverse: f64) -> InRow {
        let sum = numerator + self.numerator;
        let wrapped = sum >= self.bases.n;
        let u = sum - if wrapped { self.bases.n } else { 0.0 };
        let a = forward * if wrapped { self.forward[1] } else { self.forward[0] };
        let inverse = inverse * if wrapped { self.inverse[1] } else { self.inverse[0] };
        let more = u < self.bases.big_below;
        let base = if more { self.bases.base * 2.0 } else { self.bases.base };
        let inverse_base =
            if more { self.bases.inverse_base * 0.5 } else { self.bases.inverse_base };
        InRow { weight: a, inverse, base, inverse_base, wrapped }
    }
}

/// The weight a of a word, 1/(a·s) with the scale s of the weights, 2^b and 2^−b for the number b of
/// its bits, and whether the fractions of the weights of row and word wrap around.
#[derive(Clone, Copy)]
struct InRow {
    weight: f64,
    inverse: f64,
    base: f64,
    inverse_base: f64,
    wrapped: bool,
}

/// Splits v = digit + carry·2^b into (digit, carry).
#[inline(always)]
fn split(v: f64, word: &InRow) -> (f64, f64) {
    let carry = (v * word.inverse_base + ROUNDER) - ROUNDER;
    (v - carry * word.base, carry)
}

/// Returns the lower 32 bits of an integer x with |x| < 2^51, as a signed number.
#[inline(always)]
fn lower(x: f64) -> i64 {
    i64::from((x + ROUNDER).to_bits() as i32)
}

/// Adds the digits and the carries into two words of a row to the sums of the row.
#[inline(always)]
fn add_to_row(
    [d_re, d_im, c_re, c_im]: [&mut u64; 4],
    factors: &[WordFactor; 2],
    words: [&InRow; 2],
    [digits, carries]: [[f64; 2]; 2],
) {
    let [f0, f1] = [0, 1].map(|k| factors[k].parts(words[k].wrapped));
    let (digits, carries) = (digits.map(lower), carries.map(lower));
    *d_re = plus_products(*d_re, digits, [f0[0], f1[0]]);
    *d_im = plus_products(*d_im, digits, [f0[1], f1[1]]);
    *c_re = plus_products(*c_re, carries, [f0[0], f1[0]]);
    *c_im = plus_products(*c_im, carries, [f0[1], f1[1]]);
}

/// Processes two words of every row of a product, which are the real and imaginary part of a point.
/// Divides the words by their weights, rounds them and propagates carries. If `WEIGH`, multiplies
/// the digits by the weights again. If `SUM`, makes sums; then `seen` must have sums of all rows.
///
/// `carry` contains, for each row, the carry into the first of the two words, and receives the
/// carry out of the second. In the row `subtract.0`, the number `subtract.1` is subtracted from the
/// first word. Updates `seen`.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(crate) fn release<const WEIGH: bool, const SUM: bool>(
    column: &mut [Complex<f64>],
    rows: &RowWeights,
    words: &PointWords,
    bases: Bases,
    subtract: Option<(usize, f64)>,
    carry: &mut [f64],
    seen: &mut Seen,
) {
    let len = column.len();
    let (carry, errors) = (&mut carry[..len], &mut seen.errors[..len]);
    let energy = &mut seen.energy[..len];
    let (numerator, forward) = (&rows.numerator[..len], &rows.forward[..len]);
    let inverse = &rows.inverse[..len];
    let summed = if SUM { len } else { 0 };
    let [d_re, d_im, c_re, c_im] = &mut seen.sums.0;
    let (d_re, d_im) = (&mut d_re[..summed], &mut d_im[..summed]);
    let (c_re, c_im) = (&mut c_re[..summed], &mut c_im[..summed]);
    let even = Word::new(words.weights[0], bases);
    let odd = Word::new(words.weights[1], bases);
    // What the subtraction changes in the lower half of the carry: the sums have the carry before.
    let mut change = 0;
    if let Some((row, value)) = subtract {
        let before = carry[row];
        carry[row] -= value;
        change = lower(before) - lower(carry[row]);
    }
    let mut foreign = 0u64;
    for r in 0..len {
        let w0 = even.in_row(numerator[r], forward[r], inverse[r]);
        let w1 = odd.in_row(numerator[r], forward[r], inverse[r]);
        let (t0, t1) = (column[r].re * w0.inverse, column[r].im * w1.inverse);
        let (sum0, sum1) = (t0 + ROUNDER, t1 + ROUNDER);
        foreign |= (sum0.to_bits() ^ ROUNDER.to_bits()) | (sum1.to_bits() ^ ROUNDER.to_bits());
        let (z0, z1) = (sum0 - ROUNDER, sum1 - ROUNDER);
        let (e0, e1) = ((t0 - z0).abs(), (t1 - z1).abs());
        let e = if e0 > e1 { e0 } else { e1 };
        errors[r] = if e > errors[r] { e } else { errors[r] };
        energy[r] += t0 * t0 + t1 * t1;
        let into = carry[r];
        let (d0, between) = split(z0 + into, &w0);
        let (d1, out) = split(z1 + between, &w1);
        carry[r] = out;
        if SUM {
            let sums = [&mut d_re[r], &mut d_im[r], &mut c_re[r], &mut c_im[r]];
            add_to_row(sums, &words.factors, [&w0, &w1], [[d0, d1], [into, between]]);
        }
        let weights = if WEIGH { [w0.weight, w1.weight] } else { [1.0; 2] };
        column[r] = Complex::new(d0 * weights[0], d1 * weights[1]);
    }
    seen.foreign |= foreign;
    if SUM && let Some((row, _)) = subtract {
        let w0 = even.in_row(numerator[row], forward[row], inverse[row]);
        let [re, im] = words.factors[0].parts(w0.wrapped);
        c_re[row] = plus_products(c_re[row], [change, 0], [re, 0]);
        c_im[row] = plus_products(c_im[row], [change, 0], [im, 0]);
    }
}

/// Processes two words of every row that are already digits: adds the carries in `carry`, and, if
/// `WEIGH`, multiplies by the weights. Then replaces the carries in `carry` by the carries out of
/// the words. If `SUM`, adds to `sums`, which must have sums of all rows.
///
/// If `last`, the second word keeps its carry, and the carry out is 0. The value of the residue
/// stays exact. The accuracy of the next transform suffers only if the carries are still large at
/// the second word.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
pub(crate) fn absorb<const WEIGH: bool, const SUM: bool>(
    column: &mut [Complex<f64>],
    rows: &RowWeights,
    words: &PointWords,
    bases: Bases,
    carry: &mut [f64],
    last: bool,
    sums: &mut SumsOfRows,
) {
    let len = column.len();
    let carry = &mut carry[..len];
    let (numerator, forward) = (&rows.numerator[..len], &rows.forward[..len]);
    let inverse = &rows.inverse[..len];
    let summed = if SUM { len } else { 0 };
    let [d_re, d_im, c_re, c_im] = &mut sums.0;
    let (d_re, d_im) = (&mut d_re[..summed], &mut d_im[..summed]);
    let (c_re, c_im) = (&mut c_re[..summed], &mut c_im[..summed]);
    let even = Word::new(words.weights[0], bases);
    let odd = Word::new(words.weights[1], bases);
    for r in 0..len {
        let w0 = even.in_row(numerator[r], forward[r], inverse[r]);
        let w1 = odd.in_row(numerator[r], forward[r], inverse[r]);
        let into = carry[r];
        let (d0, between) = split(column[r].re + into, &w0);
        let v1 = column[r].im + between;
        let (d1, out) = if last { (v1, 0.0) } else { split(v1, &w1) };
        carry[r] = out;
        if SUM {
            let sums = [&mut d_re[r], &mut d_im[r], &mut c_re[r], &mut c_im[r]];
            add_to_row(sums, &words.factors, [&w0, &w1], [[d0, d1], [into, between]]);
        }
        let weights = if WEIGH { [w0.weight, w1.weight] } else { [1.0; 2] };
        column[r] = Complex::new(d0 * weights[0], d1 * weights[1]);
    }
}
