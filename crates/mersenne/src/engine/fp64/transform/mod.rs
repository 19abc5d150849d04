//! Weighted transforms that square residues.
//!
//! | module | transform | for |
//! |---|---|---|
//! | [`whole`] | one complex FFT of N/2 points | short lengths |
//! | [`tiled`] | FFTs of rows and columns with explicit vectors, two memory passes per squaring | most lengths, on processors with AVX2 or AVX-512 |
//! | [`row_column`] | the same with the FFTs of `rustfft` | long lengths on other processors |

mod block;
pub(crate) mod buffer;
pub(crate) mod pairing;
pub(crate) mod roots;
pub(crate) mod row_column;
mod team;
pub(crate) mod tiled;
pub(crate) mod whole;

use super::carry::Subtrahend;
use super::carry::sums::Sums;
use super::digits::RUN;
use super::flip::Flip;
use crate::engine::squares::Root;

/// A weighted transform, with memory for one residue: the loaded residue, which is ready to be
/// squared.
///
/// Residues enter and leave a transform as the little-endian limbs of a number below N = 2^p − 1 or
/// k·2^n ± 1: ⌈p/64⌉ limbs, or the limbs of N.
/// Every squaring returns its round-off: the largest distance of a word from the nearest integer, or
/// ½ if a word was too large to be rounded.
pub(crate) trait Transform: Send + Sync {
    /// Loads the residue x.
    fn load(&mut self, x: &[u64]);

    /// Replaces the loaded residue by its square minus the subtrahend. Returns the round-off. Modulo
    /// k·2^n ± 1, the subtrahend is the stored form x/k of the number x that is subtracted.
    fn square(&mut self, subtract: Option<Subtrahend>) -> f64;

    /// Computes the square of the loaded residue minus the subtrahend, and writes it to `x`. Returns
    /// the round-off. Afterwards no residue is loaded.
    fn square_into(&mut self, subtract: Option<Subtrahend>, x: &mut Vec<u64>) -> f64;

    /// Makes sums by this root over the words of each residue modulo 2^p − 1 that is loaded or squared,
    /// from the next call of [`Transform::load`] on. At first no sums are made.
    fn sum_by(&mut self, root: &Root);

    /// Returns the sums made by the last load or squaring: over the digits that are then loaded, or
    /// were packed, and over the carries. Carries are counted before a subtrahend is taken from
    /// them.
    fn sums(&self) -> Sums;

    /// Copies the digits from word `first` on, which is a multiple of [`RUN`].
    /// The last call must have been [`Transform::square_into`]. Digits after the last word of the
    /// residue are 0.
    fn digits(&self, first: usize, digits: &mut [i32; RUN]);

    /// Makes a bit flip during the next squaring.
    fn flip_next(&mut self, flip: Flip);

    /// Returns whether the constants that convert residues modulo k·2^n ± 1 are unchanged in memory.
    fn is_intact(&self) -> bool {
        true
    }
}
