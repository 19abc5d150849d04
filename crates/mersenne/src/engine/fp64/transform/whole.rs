//! The whole transform in one FFT, for short lengths, on the caller's thread.

use std::sync::Arc;

use multiversion::multiversion;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::Transform;
use super::buffer::{Buffer, words_mut};
use super::pairing::square_row_zero;
use super::roots::Roots;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::carry::chain::{self, Tables};
use crate::engine::fp64::carry::sums::{AllFactors, Sums};
use crate::engine::fp64::digits::{self, Part, RUN, Run, Start};
use crate::engine::fp64::flip::{Flip, Place, choose, flip_f64};
use crate::engine::fp64::weights::Weight;
use crate::engine::squares::Root;
use crate::layout::WordLayout;

/// A transform of N words as N/2 complex points in one FFT.
pub(crate) struct Whole {
    layout: WordLayout,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    scratch: Buffer,
    points: Buffer,
    digits: Vec<i32>,
    run: Run,
    /// The positions of words 0, 16, 32, …
    starts: Vec<Start>,
    /// The quarters ω^k/4 of the roots of unity, ω = e^(−2πi/n), for each of the n = N/2 points k.
    quarter: Vec<Complex<f64>>,
    weights: Vec<f64>,
    inverse_weights: Vec<f64>,
    bits: Vec<u8>,
    /// The factors of the sums, if sums are made.
    factors: Option<AllFactors>,
    sums: Sums,
    flip: Option<Flip>,
}

impl Whole {
    pub(crate) fn new(layout: WordLayout) -> Self {
        let n = layout.len() / 2;
        let mut planner = FftPlanner::new();
        let (forward, inverse) = (planner.plan_fft_forward(n), planner.plan_fft_inverse(n));
        let scratch = forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len());
        let roots = Roots::new(n);
        let weights: Vec<Weight> =
            (0..layout.len()).map(|j| Weight::new(&layout, j, n as f64)).collect();
        Self {
            layout,
            forward,
            inverse,
            scratch: Buffer::new(scratch),
            points: Buffer::new(n),
            digits: vec![0; layout.len()],
            run: Run::new(&layout, 0),
            starts: Start::of_rows(&layout, RUN, layout.len().div_ceil(RUN)),
            quarter: (0..n as u64).map(|k| roots.get(k) * 0.25).collect(),
            weights: weights.iter().map(|w| w.forward).collect(),
            inverse_weights: weights.iter().map(|w| w.inverse).collect(),
            bits: (0..layout.len()).map(|j| layout.bits(j) as u8).collect(),
            factors: None,
            sums: Sums::default(),
            flip: None,
        }
    }

    /// Transforms the residue whose balanced digits are in `digits`.
    fn transform(&mut self) {
        weigh(&self.digits, &self.weights, &mut self.points);
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
        square_row_zero(&mut self.points, &self.quarter);
        if let Some(bit) = at(Place::Spectrum).filter(|bit| bit % 2 == 1) {
            flip_f64(words_mut(&mut self.points), bit / 2);
        }
        self.inverse.process_with_scratch(&mut self.points, &mut self.scratch);
        let (inverse, bits, factors) = (&self.inverse_weights, &self.bits, self.factors.as_ref());
        let tables = Tables { inverse, bits, factors, flip: at(Place::Carries) };
        let (error, sums) =
            chain::release(&self.layout, &self.points, &tables, subtract, &mut self.digits);
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

impl Transform for Whole {
    fn load(&mut self, x: &[u64]) {
        unpack(x, &self.run, &self.starts, &mut self.digits);
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
        digits::pack(&self.layout, x, self.layout.len(), |parts| {
            for part in parts {
                pack(part, &self.run, &self.starts, &self.digits);
            }
        });
        error
    }

    fn sum_by(&mut self, root: &Root) {
        self.factors = Some(AllFactors::new(root, self.layout.len()));
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
}
