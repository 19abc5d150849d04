//! Squaring modulo N = k·2^n + c with c = ±1 and small k, by one transform. This is the irrational-base
//! discrete weighted transform of Crandall and Fagin (1994), with a factor k.
//!
//! # Method
//!
//! Let W be the number of words and L = n + log2 k. Word j begins at bit B_j = ⌈j·ρ⌉, where ρ is L/W,
//! rounded up to a multiple of 2^−32 ([`FormLayout`]). Let K = (k·2^n)^(1/W), so that K^W ≡ −c mod N, and let
//! y_j = w_j·x_j with the weights w_j = 2^(B_j)/K^j. Let v be the cyclic (c = −1) or negacyclic (c = 1)
//! convolution of y with itself:
//!
//! v_i = Σ_(j+l=i) y_j·y_l − c·Σ_(j+l=i+W) y_j·y_l.
//!
//! Then Σ v_i·K^i ≡ x² mod N. The numbers u_i = k·v_i/w_i satisfy
//!
//! u_i = k·Σ_(j+l=i) x_j·x_l·2^(B_j+B_l−B_i) − c·Σ_(j+l=i+W) x_j·x_l·2^(B_j+B_l−B_i−n).
//!
//! They are integers: B_j + B_l ≥ B_(j+l), and for j + l = i + W it is at least ⌈i·ρ + L⌉ ≥ B_i + n. So
//! u_i is rounded, carries are propagated, and Σ u_i·2^(B_i) ≡ k·x² mod N.
//!
//! A value X is stored as x = X/k mod N. Then k·x² = X²/k is the stored form of X². Because k·2^n ≡ −c,
//! 1/k ≡ −c·2^n.
//!
//! *Last carry.* Let C be the carry out of the last word, κ = B_W − n, and C·2^κ = q·k + r with
//! |r| ≤ k/2. Then C·2^(B_W) = q·k·2^n + r·2^n ≡ −c·q + r·2^n. The number −c·q is added to word 0, and
//! r·2^n to the last words.
//!
//! *Weights.* The fractions u_j of B_j − j·ρ are multiples of 2^−32, so words i of all rows of W/R words
//! have weights that follow from those of the first row and of the first words of the rows, as for
//! Mersenne numbers ([`weights`](super::weights)).
//!
//! # Margin
//!
//! u_i has the factor k, and so have its errors: log2 k bits of the margin of a Mersenne number with
//! words of L/W bits. Weights are between 1 and 2, or up to 2^(W·2^−32) times as large because ρ is rounded. So
//! a word loses about half of log2 k bits. r·2^n can double the last word.
//!
//! # Transform
//!
//! The transforms are those of Mersenne numbers. Words 2i and 2i + 1 are point i of W/2 points. For c = 1, the
//! spectrum is taken at frequencies k + ½ ([`pairing`](super::transform::pairing)): with s = t², a real
//! polynomial modulo t^W + 1 is E(s) + t·O(s) modulo s^(W/2) + 1, whose roots are e^(−2πi·(k + ½)/(W/2)).

mod engine;
#[cfg(test)]
mod tests;

use crate::layout::FormLayout;
pub(super) use engine::FormEngine;

use super::margin::Accuracy;
use super::{Fp64, LONGEST_WORD, lengths, margin};
use crate::Number;
use crate::engine::{EngineError, EngineFamily};

/// The upper bound on log2 k. For longer multipliers the words are so short that exact products are
/// faster.
const MULTIPLIER_BITS: u32 = 20;

/// The longest transform length, in words, at which the transform may be one FFT of `rustfft`. At some longer
/// lengths, its errors are above the model of margins.
pub(super) const LONGEST_WHOLE: usize = 1 << 17;

/// The least number of bits of each word in a transform with explicit vectors (`transform/tiled`). A carry of
/// a product is below 2^51. If it enters 15 such words, less than one bit of it is left for the next word.
pub(super) const SHORTEST_WORD: u64 = 4;

/// The least number of bits of a number. For shorter numbers, exact products are as fast.
const SHORTEST_NUMBER: u32 = 10_000;

/// Returns whether there is a transform length for the number.
pub(super) fn takes(number: Number) -> bool {
    unsuitable(number).is_none() && {
        let length = lengths::LONGEST;
        bits(number, length, accuracy(length)) >= 0.0
    }
}

/// Returns the accuracy of the transforms of a length.
pub(super) fn accuracy(length: usize) -> Accuracy {
    if length <= LONGEST_WHOLE { margin::OF_WHOLE } else { margin::ON_CPU }
}

/// Returns whether words are long enough for a transform with explicit vectors.
pub(super) fn suits_tiles(layout: &FormLayout) -> bool {
    layout.rate() >> 32 >= SHORTEST_WORD
}

/// Returns an error if the number cannot be computed with in `length` words, whatever the margin.
pub(super) fn check(number: Number, length: usize) -> Result<(), EngineError> {
    let known = || (!lengths::is_length(length)).then_some("not a length of this engine");
    let Some(reason) = refusal(number, length).or_else(known) else { return Ok(()) };
    Err(EngineError::Unusable { engine: Fp64.name(), number, length, reason: reason.into() })
}

/// Returns why numbers of this form, or of this length, cannot be computed with.
fn refusal(number: Number, length: usize) -> Option<&'static str> {
    let too_short = || {
        (length > LONGEST_WHOLE && (number.exponent() as usize) < SHORTEST_WORD as usize * length)
            .then_some("words of less than 4 bits")
    };
    unsuitable(number).or_else(|| crowded(number, length)).or_else(too_short)
}

/// Returns why numbers of this form, or of this size, cannot be computed with.
pub(in crate::engine) fn unsuitable(number: Number) -> Option<&'static str> {
    if number.base() != 2 {
        return Some("it computes modulo k*2^n+1 and k*2^n-1 only");
    }
    if number.multiplier() >> MULTIPLIER_BITS != 0 {
        return Some("multipliers k are below 2^20");
    }
    (number.bits() < SHORTEST_NUMBER).then_some("numbers have 10000 bits or more")
}

/// Returns why a number does not suit a number of words.
pub(in crate::engine) fn crowded(number: Number, length: usize) -> Option<&'static str> {
    if length > number.exponent() as usize {
        return Some("more words than bits");
    }
    // Longer words have negative margins.
    (number.bits() as usize > LONGEST_WORD * length).then_some("words of more than 25 bits")
}

/// Returns the margin in bits at a transform length.
pub(in crate::engine) fn bits(number: Number, length: usize, accuracy: Accuracy) -> f64 {
    let multiplier = (number.multiplier() as f64).log2();
    let word = (f64::from(number.exponent()) + multiplier) / length as f64;
    // The last word may be twice as large as others of its bits.
    let last = 2.0 * (1.0 + 1.5 / length as f64).log2();
    margin::bits_of_words(word, length, accuracy) - multiplier - last
}
