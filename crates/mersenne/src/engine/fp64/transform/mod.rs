//! Weighted transforms that square and multiply residues given by digits.
//!
//! | module | transform | for |
//! |---|---|---|
//! | [`whole`] | one complex FFT of N/2 points | short lengths |
//! | [`row_column`] | FFTs of rows and columns, two memory passes per squaring | long lengths |

mod block;
pub(crate) mod buffer;
pub(crate) mod pairing;
pub(crate) mod roots;
pub(crate) mod row_column;
mod team;
pub(crate) mod whole;

use super::carry::Subtrahend;

/// A weighted transform, with memory for one loaded residue, which is ready to be squared, and for
/// a second factor.
///
/// Arrays of digits have N elements for N words. Every product returns its round-off: the largest
/// distance of a word from the nearest integer, or ½ if a word was too large to be rounded.
pub(crate) trait Transform: Send {
    /// Loads the residue with the given balanced digits.
    fn load(&mut self, digits: &[i32]);

    /// Replaces the loaded residue by its square minus the subtrahend; returns the round-off.
    fn square(&mut self, subtract: Option<Subtrahend>) -> f64;

    /// Writes the balanced digits of the loaded residue's square minus the subtrahend to `digits`;
    /// returns the round-off. Afterwards no residue is loaded.
    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64;

    /// Loads the residue with the given balanced digits as the second factor of a product.
    fn load_factor(&mut self, digits: &[i32]);

    /// Writes the balanced digits of the product of the loaded residue and the second factor to
    /// `digits`; returns the round-off. Afterwards no residue is loaded.
    fn multiply_into(&mut self, digits: &mut [i32]) -> f64;
}
