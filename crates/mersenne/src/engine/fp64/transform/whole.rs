//! The whole transform in one FFT, for short lengths, on the caller's thread.

use std::sync::Arc;

use multiversion::multiversion;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};

use super::Transform;
use super::buffer::{Buffer, words_mut};
use super::pairing::{multiply_row_zero, square_row_zero};
use super::roots::Roots;
use crate::engine::fp64::carry::{Subtrahend, chain};
use crate::engine::fp64::weights::Weight;
use crate::layout::WordLayout;

/// A transform of N words as N/2 complex points in one FFT.
pub(crate) struct Whole {
    layout: WordLayout,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    scratch: Buffer,
    points: Buffer,
    factor: Buffer,
    digits: Vec<i32>,
    /// The quarters ω^k/4 of the roots of unity, ω = e^(−2πi/n), for each of the n = N/2 points k.
    quarter: Vec<Complex<f64>>,
    weights: Vec<f64>,
    inverse_weights: Vec<f64>,
    bits: Vec<u8>,
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
            factor: Buffer::new(n),
            digits: vec![0; layout.len()],
            quarter: (0..n as u64).map(|k| roots.get(k) * 0.25).collect(),
            weights: weights.iter().map(|w| w.forward).collect(),
            inverse_weights: weights.iter().map(|w| w.inverse).collect(),
            bits: (0..layout.len()).map(|j| layout.bits(j) as u8).collect(),
        }
    }

    /// Computes the balanced digits of the product whose spectrum is in `points`, minus the
    /// subtrahend, and writes them to `out`. Returns the round-off.
    fn finish(&mut self, subtract: Option<Subtrahend>, out: &mut [i32]) -> f64 {
        self.inverse.process_with_scratch(&mut self.points, &mut self.scratch);
        let (inverse, bits) = (&self.inverse_weights, &self.bits);
        chain::release(&self.layout, &self.points, inverse, bits, subtract, out)
    }
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
    fn load(&mut self, digits: &[i32]) {
        weigh(digits, &self.weights, &mut self.points);
        self.forward.process_with_scratch(&mut self.points, &mut self.scratch);
    }

    fn square(&mut self, subtract: Option<Subtrahend>) -> f64 {
        let mut digits = std::mem::take(&mut self.digits);
        let error = self.square_into(subtract, &mut digits);
        self.load(&digits);
        self.digits = digits;
        error
    }

    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64 {
        square_row_zero(&mut self.points, &self.quarter);
        self.finish(subtract, digits)
    }

    fn load_factor(&mut self, digits: &[i32]) {
        weigh(digits, &self.weights, &mut self.factor);
        self.forward.process_with_scratch(&mut self.factor, &mut self.scratch);
    }

    fn multiply_into(&mut self, digits: &mut [i32]) -> f64 {
        multiply_row_zero(&mut self.points, &self.factor, &self.quarter);
        self.finish(None, digits)
    }
}
