//! The whole transform in one FFT, for short lengths, on the caller's thread.
//!
//! For a negacyclic convolution, the n points are multiplied by e^(−πij/n) first, and the points of the
//! product by the conjugates.

use std::sync::Arc;

use multiversion::multiversion;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::Transform;
use super::buffer::{Buffer, words, words_mut};
use super::pairing::{square_half_turned, square_row_zero};
use super::roots::Roots;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::carry::chain::{self, Released, Tables};
use crate::engine::fp64::carry::sums::{AllFactors, Sums};
use crate::engine::fp64::digits::{self, Part, RUN, Run, Start};
use crate::engine::fp64::flip::{Flip, Place, choose, flip_f64};
use crate::engine::fp64::weights::Weight;
use crate::engine::fp64::words::Words;
use crate::engine::squares::Root;
use crate::layout::{StoredForm, WordLayout};

/// A transform of N words as N/2 complex points in one FFT.
pub(crate) struct Whole {
    packing: Packing,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    scratch: Buffer,
    points: Buffer,
    digits: Vec<i32>,
    /// The quarters ω^k/4 of the roots of unity, ω = e^(−2πi/n), for each of the n = N/2 points k. If the
    /// convolution is negacyclic, ω^(k + ½)/4.
    quarter: Vec<Complex<f64>>,
    /// e^(−πij/n) for each point j, if the convolution is negacyclic.
    turns: Option<Vec<Complex<f64>>>,
    weights: Vec<f64>,
    inverse_weights: Vec<f64>,
    bits: Vec<u8>,
    /// The factors of the sums, if sums are made.
    factors: Option<AllFactors>,
    sums: Sums,
    flip: Option<Flip>,
}

/// How residues become digits and are packed.
enum Packing {
    /// Residues modulo 2^p − 1, with the positions of words 0, 16, 32, …
    Mersenne { layout: WordLayout, run: Run, starts: Vec<Start> },
    /// Residues modulo k·2^n ± 1.
    Form(StoredForm),
}

impl Whole {
    pub(crate) fn new(of: impl Into<Words>) -> Self {
        let of = of.into();
        let (len, half) = (of.len(), of.half_turns());
        let n = len / 2;
        let mut planner = FftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        let scratch = forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len());
        // The roots of order n, or of order 2n.
        let roots = Roots::new(n << half);
        let quarter = |k: usize| roots.get(((k << half) + half) as u64) * 0.25;
        let weights: Vec<Weight> = {
            let weights = of.weights();
            (0..len).map(|j| weights.scaled(j, n)).collect()
        };
        Self {
            forward,
            inverse,
            scratch: Buffer::new(scratch),
            points: Buffer::new(n),
            digits: vec![0; len],
            quarter: (0..n).map(quarter).collect(),
            turns: (half == 1).then(|| (0..n as u64).map(|j| roots.get(j)).collect()),
            weights: weights.iter().map(|w| w.forward).collect(),
            inverse_weights: weights.iter().map(|w| w.inverse).collect(),
            bits: (0..len).map(|j| of.bits(j) as u8).collect(),
            packing: match of {
                Words::Mersenne(layout) => Packing::Mersenne {
                    layout,
                    run: Run::new(&layout, 0),
                    starts: Start::of_rows(&layout, RUN, len.div_ceil(RUN)),
                },
                Words::Form(stored) => Packing::Form(stored),
            },
            factors: None,
            sums: Sums::default(),
            flip: None,
        }
    }

    /// Transforms the residue whose balanced digits are in `digits`.
    fn transform(&mut self) {
        match &self.turns {
            None => weigh(&self.digits, &self.weights, &mut self.points),
            Some(turns) => weigh_and_turn(&self.digits, &self.weights, turns, &mut self.points),
        }
        self.forward.process_with_scratch(&mut self.points, &mut self.scratch);
    }

    /// Flips a bit of a table.
    fn flip_table(&mut self, bit: u64) {
        match choose(bit, 4) {
            (0, bit) => flip_f64(words_mut(&mut self.quarter), bit),
            (1, bit) => flip_f64(&mut self.weights, bit),
            (2, bit) => flip_f64(&mut self.inverse_weights, bit),
            (_, bit) => self.factors.iter_mut().for_each(|factors| factors.flip(bit)),
        }
    }

    /// Computes the balanced digits of the square of the loaded residue, minus the subtrahend.
    /// Returns the round-off.
    fn square_to_digits(&mut self, subtract: Option<Subtrahend>) -> f64 {
        let flip = self.flip.take();
        let at = |place| flip.and_then(|flip| flip.at(place));
        if let Some(bit) = at(Place::Tables) {
            self.flip_table(bit);
        }
        if let Some(bit) = at(Place::Spectrum).filter(|bit| bit % 2 == 0) {
            flip_f64(words_mut(&mut self.points), bit / 2);
        }
        match &self.turns {
            None => square_row_zero(&mut self.points, &self.quarter),
            Some(_) => square_half_turned(&mut self.points, &self.quarter),
        }
        if let Some(bit) = at(Place::Spectrum).filter(|bit| bit % 2 == 1) {
            flip_f64(words_mut(&mut self.points), bit / 2);
        }
        self.inverse.process_with_scratch(&mut self.points, &mut self.scratch);
        if let Some(turns) = &self.turns {
            turn_back(turns, &mut self.points);
        }
        let (inverse, bits, factors) = (&self.inverse_weights, &self.bits, self.factors.as_ref());
        let tables = Tables { inverse, bits, factors, flip: at(Place::Carries) };
        let digits = &mut self.digits;
        let Released { observed, carry, mut sums } =
            chain::release(words(&self.points), &tables, subtract, digits);
        match &self.packing {
            Packing::Mersenne { layout, .. } => {
                chain::wrap(layout, carry, factors, digits, &mut sums);
            }
            Packing::Form(stored) => stored.layout.wrap(digits, carry),
        }
        let error = observed.round_off(digits.len());
        self.sums = sums;
        if let Some(bit) = at(Place::Digits) {
            let (word, bit) = choose(bit, self.digits.len());
            self.digits[word] ^= 1 << (bit % 32);
        }
        error
    }
}

/// Writes the digits of the residue x to `digits`.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn unpack(x: &[u64], run: &Run, starts: &[Start], digits: &mut [i32]) {
    for (digits, &start) in digits.chunks_mut(RUN).zip(starts) {
        digits.copy_from_slice(&run.digits(x, start)[..digits.len()]);
    }
}

/// Packs the digits of a part.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn pack(mut part: Part<'_>, run: &Run, starts: &[Start], digits: &[i32]) {
    for (digits, &start) in digits.chunks(RUN).zip(starts) {
        match digits.first_chunk() {
            Some(digits) => part.push(run, start, digits),
            None => {
                let mut last = [0; RUN];
                last[..digits.len()].copy_from_slice(digits);
                part.push(run, start, &last);
            }
        }
    }
    part.end();
}

/// Sets word j of `points` to digit j times weight j. Words 2i and 2i + 1 are the real and
/// imaginary part of point i.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn weigh(digits: &[i32], weights: &[f64], points: &mut [Complex<f64>]) {
    for ((y, &d), &a) in words_mut(points).iter_mut().zip(digits).zip(weights) {
        *y = f64::from(d) * a;
    }
}

/// Does the same as [`weigh`], and multiplies each point by its turn.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn weigh_and_turn(
    digits: &[i32],
    weights: &[f64],
    turns: &[Complex<f64>],
    points: &mut [Complex<f64>],
) {
    let pairs = digits.chunks_exact(2).zip(weights.chunks_exact(2));
    for ((z, turn), (d, a)) in points.iter_mut().zip(turns).zip(pairs) {
        *z = Complex::new(f64::from(d[0]) * a[0], f64::from(d[1]) * a[1]) * turn;
    }
}

/// Multiplies each point by the conjugate of its turn.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn turn_back(turns: &[Complex<f64>], points: &mut [Complex<f64>]) {
    for (z, turn) in points.iter_mut().zip(turns) {
        *z *= turn.conj();
    }
}

impl Transform for Whole {
    fn load(&mut self, x: &[u64]) {
        match &self.packing {
            Packing::Mersenne { run, starts, .. } => unpack(x, run, starts, &mut self.digits),
            Packing::Form(stored) => stored.store(x, &mut self.digits),
        }
        if let Some(factors) = &self.factors {
            self.sums = chain::sums_of(factors, &self.digits);
        }
        self.transform();
    }

    fn square(&mut self, subtract: Option<Subtrahend>) -> f64 {
        let error = self.square_to_digits(subtract);
        self.transform();
        error
    }

    fn square_into(&mut self, subtract: Option<Subtrahend>, x: &mut Vec<u64>) -> f64 {
        let error = self.square_to_digits(subtract);
        match &self.packing {
            Packing::Mersenne { layout, run, starts } => {
                digits::pack(layout, x, layout.len(), |parts| {
                    for part in parts {
                        pack(part, run, starts, &self.digits);
                    }
                });
            }
            Packing::Form(stored) => *x = stored.load(&self.digits),
        }
        error
    }

    fn sum_by(&mut self, root: &Root) {
        self.factors = Some(AllFactors::new(root, self.digits.len()));
    }

    fn sums(&self) -> Sums {
        self.sums
    }

    fn digits(&self, first: usize, digits: &mut [i32; RUN]) {
        let from = &self.digits[first..];
        let count = from.len().min(RUN);
        digits[..count].copy_from_slice(&from[..count]);
        digits[count..].fill(0);
    }

    fn flip_next(&mut self, flip: Flip) {
        self.flip = Some(flip);
    }

    fn is_intact(&self) -> bool {
        match &self.packing {
            Packing::Mersenne { .. } => true,
            Packing::Form(stored) => stored.is_intact(),
        }
    }
}
