//! Weighted transforms that square and multiply residues held as digits.
//!
//! | module | transform | for |
//! |---|---|---|
//! | [`whole`] | one complex FFT of N/2 points | short lengths |
//! | [`row_column`] | rows and columns, two passes over memory a squaring | long ones |

mod block;
pub(crate) mod buffer;
pub(crate) mod pairing;
pub(crate) mod roots;
pub(crate) mod row_column;
mod team;
pub(crate) mod whole;

use super::carry::Subtrahend;

/// A machine that holds one residue ready to be squared.
///
/// Digit arrays have N elements. Every product returns its round-off: the
/// largest distance of a word from the nearest integer, or ½ when a word was
/// too large to be rounded.
pub(crate) trait Transform: Send {
    /// Holds the residue of these digits.
    fn load(&mut self, digits: &[i32]);

    /// Replaces the residue held by its square, less the subtrahend.
    fn square(&mut self, subtract: Option<Subtrahend>) -> f64;

    /// The digits of the square, less the subtrahend; holds nothing afterwards.
    fn square_into(&mut self, subtract: Option<Subtrahend>, digits: &mut [i32]) -> f64;

    /// Holds a second residue, to be multiplied by.
    fn load_factor(&mut self, digits: &[i32]);

    /// The digits of the product of the two residues held; holds nothing
    /// afterwards.
    fn multiply_into(&mut self, digits: &mut [i32]) -> f64;
}
