//! Conversion of the words of a product to balanced digits.
//!
//! A word t = z + ε of the product, already divided by its weight, is rounded to the integer z by
//! adding and subtracting 1.5·2^52. The result is right for |t| < 2^51: the sum t + 1.5·2^52 then
//! has the binary exponent 52, and its bits differ from the bits of 1.5·2^52 only in the fraction.
//! If a word is too large, infinite or NaN, other bits differ too, and the product is reported with
//! a round-off of ½.
//!
//! | module | order of words | carries |
//! |---|---|---|
//! | [`chain`] | one after another | one chain of integers |
//! | [`lanes`] | many rows side by side | one chain per row, in `f64` lanes |
//! | [`tiles`] | the same, eight columns at a time | the same, with explicit vectors |
//!
//! On demand all of them make the sums by which squarings are checked ([`sums`]).

use super::margin;
use crate::Shift;
use crate::layout::{FormLayout, WordLayout};

pub(crate) mod chain;
pub(crate) mod lanes;
pub(crate) mod sums;
pub(crate) mod tiles;

/// The number 1.5·2^52, which is added to a number t and subtracted again to round t to an integer.
/// For |t| < 2^51 the unit in the last place of the sum is 1.
pub(crate) const ROUNDER: f64 = 6_755_399_441_055_744.0;

/// The round-off reported for a product with words too large to be rounded.
pub(crate) const HOPELESS: f64 = 0.5;

/// The number 2·2^s that is subtracted from a square with the shift s. Bit s of the residue is bit
/// number `bit` of word number `word`, so 2^(`bit` + 1) is subtracted from that word. Modulo k·2^n − 1,
/// s is n.
///
/// The word is even, because some carry chains can be changed at even words only. So `bit` counts
/// from the beginning of the word, and bit s may belong to the next word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Subtrahend {
    pub(crate) word: usize,
    pub(crate) bit: u32,
}

impl Subtrahend {
    pub(crate) fn new(layout: &WordLayout, shift: Shift) -> Self {
        let (word, bit) = layout.word_at_bit(shift.bits());
        Self::at(word, bit, |j| layout.bits(j))
    }

    /// Returns the number 2·2^n, the stored form of 2 modulo k·2^n − 1.
    pub(crate) fn at_exponent(layout: &FormLayout) -> Self {
        let (word, bit) = layout.at_exponent();
        Self::at(word, bit, |j| layout.bits(j))
    }

    fn at(word: usize, bit: u32, bits: impl Fn(usize) -> u32) -> Self {
        if word.is_multiple_of(2) {
            return Self { word, bit };
        }
        Self { word: word - 1, bit: bit + bits(word - 1) }
    }

    /// Returns the number that is subtracted from the word, which is below 2^51.
    pub(crate) fn value(self) -> u64 {
        2 << self.bit
    }
}

/// Statistics of the words t of a product, and of the integers z to which they are rounded.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Observed {
    /// The largest |t − z| of all words, where t is a word and z the integer to which it is
    /// rounded.
    pub(crate) largest: f64,
    /// The sum of the squares of all words before rounding.
    pub(crate) energy: f64,
    /// The bits in which t + [`ROUNDER`] differs from [`ROUNDER`] for at least one word t.
    pub(crate) foreign: u64,
}

impl Observed {
    /// Returns the round-off of a product of `n` words. It is the largest distance of a word from
    /// an integer, with two exceptions. If a word could not be rounded, the round-off is ½. It is
    /// also ½ if the root mean square of the words is too large: errors of the transform are
    /// proportional to the root mean square, and could then exceed ½ without being noticed.
    pub(crate) fn round_off(self, n: usize) -> f64 {
        let credible = self.energy <= n as f64 * margin::largest_rms(n, margin::ON_CPU).powi(2);
        if credible && self.foreign >> 52 == 0 { self.largest } else { HOPELESS }
    }
}
