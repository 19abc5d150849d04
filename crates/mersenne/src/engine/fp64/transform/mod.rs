//! Weighted transforms that square and multiply residues given by digits.
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

/// A weighted transform, with memory for two residues: the loaded residue, which is ready to be
/// squared, and a second factor.
///
/// Arrays of digits have N elements for N words. Every product returns its round-off: the largest
/// distance of a word from the nearest integer, or ½ if a word was too large to be rounded.
pub(crate) trait Transform: Send {
    /// Loads the residue with the given balanced digits.
    fn load(&mut self, digits: &[i32]);

    /// Replaces the loaded residue by its square minus the subtrahend. Returns the round-off.
    fn square(&mut self, subtract: Option<Subtrahend>) -> f64;

    /// Computes the square of the loaded residue minus the subtrahend, and writes its balanced
    /// digits to `digits`. Returns the round-off. Afterwards no residue is loaded.
    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64;

    /// Loads the residue with the given balanced digits as the second factor of a product.
    fn load_factor(&mut self, digits: &[i32]);

    /// Computes the product of the loaded residue and the second factor, and writes its balanced
    /// digits to `digits`. Returns the round-off. Afterwards no residue is loaded.
    fn multiply_into(&mut self, digits: &mut [i32]) -> f64;
}
