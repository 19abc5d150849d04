//! A proven bound on the errors of products by complex FP64 transforms, for any digits.
//!
//! Let x be the words of a number times their weights a_w, and z the words of its square. For the
//! computed words z̃,
//!
//! |z̃_w − z_w| ≤ K·u·‖x‖², u = 2^−53,
//!
//! and for the product of x and y the same with ‖x‖·‖y‖. The proof is in
//! `docs/internals/hybrid-bound.md`; it is about the kernels of the engine `fp64` on a GPU
//! (`columns.cu`, `rows.cu`), whose steps the kernels of `hybrid` share. The engine on the CPU has a bound
//! of its own (`hybrid/margin.rs`).
//!
//! | file | subject |
//! |---|---|
//! | `stage` | the relative error of each stage of a transform |
//! | `gpu` | the stages of the transforms on a GPU |

mod gpu;
mod stage;
#[cfg(test)]
mod tests;

pub(in crate::engine) use gpu::{Stages, stages};

use stage::SAFETY;

/// The unit of errors, u = 2^−53: the largest relative error of a rounding.
const UNIT: f64 = 1.0 / (1u64 << 53) as f64;

/// Roundings of weights and of the last expression.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) struct Roundings {
    /// Roundings of a weighted digit: those of its weight, which is a product of table entries, and
    /// of the product.
    pub(in crate::engine) weighting: f64,
    /// Roundings of a word of the product, likewise.
    pub(in crate::engine) unweighting: f64,
    /// Roundings of numbers of the magnitude of a word in the expression for (z̃ − r)/q.
    pub(in crate::engine) rest: f64,
}

impl Roundings {
    /// Bounds on the roundings of `columns.cu`: a weight is a product of four table entries. The
    /// expression for (z̃ − r)/q has two roundings, and 1/q is part of a weight.
    pub(in crate::engine) const GPU: Self = Self { weighting: 8.0, unweighting: 8.0, rest: 3.0 };
}

/// Returns the constant K (the theorem in `docs/internals/hybrid-bound.md`):
///
/// K = 2F + √2·G + P + U, where F is the sum of the errors in the 2-norm of weighting and of the
/// forward stages, G that of the largest errors of the inverse stages, P = 15.2 + τ is the error of
/// the products with factors that err by τ·u, and U that of unweighting and of the last expression.
#[must_use]
pub(in crate::engine) fn constant(stages: &Stages, roundings: Roundings) -> f64 {
    let forward = stages.forward.iter().map(|s| s.mean_error()).sum::<f64>() + roundings.weighting;
    let inverse = stages.inverse.iter().map(|s| s.largest_error()).sum::<f64>();
    let products = 15.2 + stages.product;
    let rest = roundings.unweighting + roundings.rest;
    (2.0 * forward + std::f64::consts::SQRT_2 * inverse + products + rest) * SAFETY
}

/// Returns a bound for ‖x‖², where x_w = a_w·d_w for digits |d_w| ≤ 2^(b_w − 1)·(1 + `excess`) of
/// b_w bits and weights a_w = 2^(⌈pw/N⌉ − pw/N):
///
/// ‖x‖² ≤ ¼·4^(p/N)·N·3/ln 4·(1 + excess)².
#[must_use]
pub(in crate::engine) fn norm_squared(p: u32, words: usize, excess: f64) -> f64 {
    let n = words as f64;
    let base = (2.0 * f64::from(p) / n).exp2();
    0.25 * base * n * (3.0 / 4f64.ln()) * (1.0 + excess) * (1.0 + excess) * SAFETY
}

/// Returns log2 of (2^30 − `slack`)/(K·u·`norm_squared`). With a margin of at least 0, n =
/// round((z̃ − r)/(2^31 − 1)) is proven to be right. The slack is at least ½, and covers errors that
/// do not grow with the norm.
#[must_use]
pub(in crate::engine) fn margin(constant: f64, norm_squared: f64, slack: f64) -> f64 {
    let bound = constant * UNIT * norm_squared * SAFETY;
    ((f64::from(1u32 << 30) - slack) / bound).log2() - 1e-9
}

/// Returns the largest ‖x‖² for which the margin is at least 0. A run that computes ‖x‖² of its
/// digits compares with this number.
#[must_use]
pub(in crate::engine) fn largest_norm_squared(constant: f64, slack: f64) -> f64 {
    (f64::from(1u32 << 30) - slack) / (constant * UNIT * SAFETY) * (1.0 - 1e-8)
}

/// Returns the largest p/N, in bits, for which the margin of `words` words is at least 0.
#[cfg(test)]
#[must_use]
pub(in crate::engine) fn largest_bits(constant: f64, words: usize, excess: f64, slack: f64) -> f64 {
    0.5 * margin(constant, norm_squared(0, words, excess), slack)
}
