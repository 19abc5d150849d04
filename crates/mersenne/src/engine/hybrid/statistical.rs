//! Margins of the engine family `hybrid-fast`: the error of FP64 as a random quantity.
//!
//! For random digits, the errors of the words of a product behave like Gaussian variables, as those
//! of `fp64` do (source of the module `fp64::margin`). With N words of β = p/N bits, their standard
//! deviation is
//!
//! σ = c·2^−53·√(log2 N)·√N·4^β.
//!
//! In units of q = 2^31 − 1, an error is the distance of (z̃ − r)/q from an integer. At ½ a word is
//! wrong. [`LIMIT`] is half of that. `docs/internals/hybrid-fast.md` has the measurements of c, and what
//! limits the words to 31 bits.

use std::f64::consts::LN_2;

use warpint_arith::m31::Q;

/// The largest number of bits of a word. A carry splits a word at 2^31, and a digit and its carries
/// fit into 32 bits.
pub(in crate::engine) const MOST_BITS: usize = 31;

/// The largest trusted distance of (z̃ − r)/q from an integer. A word is wrong if its FP64 error
/// exceeds twice this distance.
pub(in crate::engine) const LIMIT: f64 = 0.25;

/// The coefficient c of σ. Measured values on the CPU are from 0.25 to 0.29. The FP64 steps of the
/// kernels have a c of at most 0.465, at lengths without a factor 11 (source of the module
/// `fp64::margin`).
pub(super) const COEFFICIENT: f64 = 0.5;

/// log2 of the number of products in which no error may exceed the limit. A test of the largest
/// exponent has fewer products.
const PRODUCTS: f64 = 31.0;

/// −log2 of the allowed probability that some error in 2^31 products exceeds the limit.
const RELIABILITY: f64 = 40.0;

/// Returns σ for the exponent p and N = `length` words.
fn deviation(p: u32, length: usize, coefficient: f64) -> f64 {
    let n = length as f64;
    let of_words = (n.log2() * n).sqrt() * (2.0 * f64::from(p) / n).exp2();
    coefficient * 2f64.powi(-53) * of_words
}

/// Returns z such that none of N·2^31 Gaussian errors exceeds z standard deviations, except with a
/// probability below 2^−40: P(|x| > z) ≤ exp(−z²/2).
fn deviations(length: usize) -> f64 {
    (2.0 * LN_2 * ((length as f64).log2() + PRODUCTS + RELIABILITY)).sqrt()
}

/// Returns the margin for random digits: log2 of [`LIMIT`]·q/(z·σ).
pub(in crate::engine) fn spare_bits(p: u32, length: usize) -> f64 {
    let largest = deviations(length) * deviation(p, length, COEFFICIENT);
    (LIMIT * f64::from(Q) / largest).log2()
}

/// Returns the margin for random digits whose weighted squares have the sum `norm`, with weights of at least 1.
///
/// Modulo 2^p − 1 this norm is N·4^(p/N)/(8·ln 2), and the mean square of inverse weights is 3/(8·ln 2). Other weights
/// may be 1 in many words, whose errors are then as large as those of weighted words.
pub(in crate::engine) fn spare_bits_of_norm(norm: f64, length: usize) -> f64 {
    let n = length as f64;
    let of_weighted = COEFFICIENT * 2f64.powi(-53) * (n.log2() / n).sqrt() * norm * 8.0 * LN_2;
    let largest = deviations(length) * of_weighted / (3.0 / (8.0 * LN_2)).sqrt();
    (LIMIT * f64::from(Q) / largest).log2()
}
