//! The transform of residues modulo k·2^n ± 1, with memory for one residue.

use std::sync::Arc;

use multiversion::multiversion;
use rustfft::num_complex::Complex;
use rustfft::{Fft, FftPlanner};
use warpint_arith::dd::Dd;

use super::FormLayout;
use crate::Sign;
use crate::engine::fp64::carry::Subtrahend;
use crate::engine::fp64::carry::chain::{Released, Tables, release_words};
use crate::engine::fp64::transform::buffer::{Buffer, words, words_mut};
use crate::engine::fp64::transform::pairing::square_row_zero;
use crate::engine::fp64::transform::roots::Roots;

/// A transform of W words as W/2 complex points in one FFT.
pub(super) struct Transform {
    words: FormLayout,
    forward: Arc<dyn Fft<f64>>,
    inverse: Arc<dyn Fft<f64>>,
    scratch: Buffer,
    points: Buffer,
    digits: Vec<i32>,
    /// For c = 1: the words of a product, in order. Otherwise empty.
    product: Vec<f64>,
    /// For c = −1: ω^k/4 with ω = e^(−2πi/(W/2)), for each point k of the spectrum. For c = 1: θ^j with
    /// θ = e^(πi/W), for each point j.
    roots: Vec<Complex<f64>>,
    weights: Vec<f64>,
    /// k/(w_j·s), where s is the factor by which the transform and its inverse multiply.
    inverse_weights: Vec<f64>,
    bits: Vec<u8>,
}

impl Transform {
    pub(super) fn new(words: FormLayout) -> Self {
        let (len, points) = (words.len(), words.len() / 2);
        let mut planner = FftPlanner::new();
        let (forward, inverse) =
            (planner.plan_fft_forward(points), planner.plan_fft_inverse(points));
        let scratch = forward.get_inplace_scratch_len().max(inverse.get_inplace_scratch_len());
        let is_negacyclic = words.number().sign() == Sign::Plus;
        let roots = if is_negacyclic {
            // e^(πi/W) is a root of order 2W.
            let roots = Roots::new(2 * len);
            (0..points as u64).map(|j| roots.get(j).conj()).collect()
        } else {
            let roots = Roots::new(points);
            (0..points as u64).map(|k| roots.get(k) * 0.25).collect()
        };
        let weights: Vec<Dd> = {
            let weights = words.weights();
            (0..len).map(|j| weights.get(j)).collect()
        };
        let multiplier = Dd::from_u64(words.number().multiplier()) / Dd::from_u64(points as u64);
        Self {
            words,
            forward,
            inverse,
            scratch: Buffer::new(scratch),
            points: Buffer::new(points),
            digits: vec![0; len],
            product: vec![0.0; if is_negacyclic { len } else { 0 }],
            roots,
            weights: weights.iter().map(|w| w.to_f64()).collect(),
            inverse_weights: weights.iter().map(|&w| (multiplier / w).to_f64()).collect(),
            bits: (0..len).map(|j| words.bits(j) as u8).collect(),
        }
    }

    fn is_negacyclic(&self) -> bool {
        self.words.number().sign() == Sign::Plus
    }

    /// Loads the residue x, which is below N and has the limbs of a residue.
    pub(super) fn load(&mut self, x: &[u64]) {
        self.words.digits_of(x, &mut self.digits);
    }

    /// Replaces the loaded residue x by k·x² minus the subtrahend. Returns the round-off.
    pub(super) fn square(&mut self, subtract: Option<Subtrahend>) -> f64 {
        if self.is_negacyclic() {
            fold(&self.digits, &self.weights, &self.roots, &mut self.points);
        } else {
            weigh(&self.digits, &self.weights, &mut self.points);
        }
        self.forward.process_with_scratch(&mut self.points, &mut self.scratch);
        if self.is_negacyclic() {
            square_all(&mut self.points);
        } else {
            square_row_zero(&mut self.points, &self.roots);
        }
        self.inverse.process_with_scratch(&mut self.points, &mut self.scratch);
        if self.is_negacyclic() {
            unfold(&self.points, &self.roots, &mut self.product);
        }
        let product = if self.is_negacyclic() { &self.product } else { words(&self.points) };
        let (inverse, bits) = (&self.inverse_weights, &self.bits);
        let tables = Tables { inverse, bits, factors: None, flip: None };
        let Released { observed, carry, .. } =
            release_words(product, &tables, subtract, &mut self.digits);
        self.words.wrap(&mut self.digits, carry);
        observed.round_off(self.words.len())
    }

    #[cfg(test)]
    pub(super) fn digits(&self) -> &[i32] {
        &self.digits
    }

    /// Returns the absolute value of the loaded residue, which need not be canonical, and whether it is
    /// negative.
    pub(super) fn value(&self) -> (Vec<u64>, bool) {
        self.words.value_of(&self.digits)
    }
}

/// Sets word j of `points` to digit j times weight j. Words 2i and 2i + 1 are the real and imaginary
/// part of point i.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn weigh(digits: &[i32], weights: &[f64], points: &mut [Complex<f64>]) {
    for ((y, &d), &w) in words_mut(points).iter_mut().zip(digits).zip(weights) {
        *y = f64::from(d) * w;
    }
}

/// Sets point j to (y_j + i·y_(j+m))·θ^j, where y_j is digit j times weight j and m the number of
/// points.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn fold(digits: &[i32], weights: &[f64], roots: &[Complex<f64>], points: &mut [Complex<f64>]) {
    let (low, high) = digits.split_at(points.len());
    let (low_weights, high_weights) = weights.split_at(points.len());
    let low = low.iter().zip(low_weights);
    let high = high.iter().zip(high_weights);
    for (((z, (&re, a)), (&im, b)), &root) in points.iter_mut().zip(low).zip(high).zip(roots) {
        *z = Complex::new(f64::from(re) * a, f64::from(im) * b) * root;
    }
}

#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn square_all(points: &mut [Complex<f64>]) {
    for z in points {
        *z = *z * *z;
    }
}

/// Undoes [`fold`], but for the weights.
#[multiversion(targets("x86_64+avx2+fma+bmi1+bmi2+lzcnt"))]
fn unfold(points: &[Complex<f64>], roots: &[Complex<f64>], words: &mut [f64]) {
    let (low, high) = words.split_at_mut(points.len());
    for (((re, im), &z), &root) in low.iter_mut().zip(high).zip(points).zip(roots) {
        let z = z * root.conj();
        (*re, *im) = (z.re, z.im);
    }
}
