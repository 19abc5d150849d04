//! Weighted transforms that square and multiply residues held as digits.
//!
//! | module | transform | for |
//! |---|---|---|
//! | [`whole`] | one complex FFT of N/2 points | short lengths |
//! | [`row_column`] | rows and columns, two passes over memory per squaring | long lengths |

mod block;
pub(crate) mod buffer;
pub(crate) mod pairing;
pub(crate) mod roots;
pub(crate) mod row_column;
mod team;
pub(crate) mod whole;

use super::carry::Subtrahend;

/// A transform that holds one residue ready to be squared.
///
/// Digit arrays have N elements. Every product returns its round-off: the largest distance of a
/// word from the nearest integer, or ½ if a word was too large to be rounded.
pub(crate) trait Transform: Send {
    /// Loads the residue that has these digits.
    fn load(&mut self, digits: &[i32]);

    /// Replaces the residue held by its square minus the subtrahend; returns the round-off.
    fn square(&mut self, subtract: Option<Subtrahend>) -> f64;

    /// Writes the digits of the square minus the subtrahend; holds no residue afterwards.
    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64;

    /// Loads a second residue as the factor of a product.
    fn load_factor(&mut self, digits: &[i32]);

    /// Writes the digits of the product of the two residues held; holds no residue afterwards.
    fn multiply_into(&mut self, digits: &mut [i32]) -> f64;
}
