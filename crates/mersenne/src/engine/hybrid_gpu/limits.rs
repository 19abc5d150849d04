//! The longest words of each family, and the limits of the norms and distances that the kernels
//! measure.

use super::bases::{self, OtherBases};
use super::{SLACK, Shape, error_factor, spare_bits, usual_error_factor, usual_norm};
use crate::Sign;
use crate::engine::fp64_gpu::form::COST_OF_TURNS;
use crate::engine::gpu::Others;
use crate::engine::hybrid::{Hybrid, HybridFast, bound, statistical};
use crate::engine::{EngineFamily, Margin};
use crate::layout::{DigitLayout, WordLayout};

/// A family of engines with the kernels of `hybrid`.
pub(in crate::engine) trait Limited:
    EngineFamily + Default + Send + 'static
{
    /// The largest number of bits of a word.
    const MOST_BITS: usize;

    /// Returns the margin for the exponent p at a transform length, whose words are neither too short
    /// nor longer than [`Self::MOST_BITS`].
    fn margin_of_words(p: u32, length: usize) -> Margin;

    /// Returns the limits for the products of an engine.
    fn limits(layout: &WordLayout, shape: &Shape) -> Limits;

    /// Returns the margin for words of digits, whose carries are small enough.
    fn margin_of_digits(layout: &DigitLayout) -> Margin;

    /// Returns the limits for the products of words of digits.
    fn limits_of_digits(layout: &DigitLayout, shape: &Shape) -> Limits;

    /// Returns the engines for other numbers than Mersenne numbers.
    fn others() -> &'static dyn Others;
}

/// The largest values of measurements with which a product is trusted.
#[derive(Debug, Clone, Copy)]
pub(in crate::engine) struct Limits {
    /// The largest norm ‖x‖² of the weighted digits x.
    pub(super) norm: f64,
    /// The largest distance of (z̃ − r)/q from an integer; `None` if the norm of the digits limits it.
    pub(super) distance: Option<f64>,
}

impl Limits {
    /// Returns the largest trusted distance for products of digits whose largest norm is `norm`.
    pub(super) fn largest_distance(&self, norm: f64) -> f64 {
        // The proven bound: the error as a fraction of q, and the roundings of the quotient.
        let proven = (norm / self.norm + 2.0 / 128.0).min(1.0) / 2.0;
        self.distance.unwrap_or(proven)
    }
}

/// Returns the largest norm with which a product is proven to be exact.
fn proven_norm(shape: &Shape) -> f64 {
    bound::largest_norm_squared(error_factor(shape), SLACK)
}

impl Limited for Hybrid {
    /// A digit and half of its base fit into 31 bits.
    const MOST_BITS: usize = 29;

    fn margin_of_words(p: u32, length: usize) -> Margin {
        // Carries add less than a 64th to the range of digits.
        let norm = bound::norm_squared(p, length, 1.0 / 64.0);
        let bits = bound::margin(usual_error_factor(length), norm, SLACK);
        if bits >= 0.0 {
            return Margin { bits, proven: true };
        }
        Margin { bits: spare_bits(p, length), proven: false }
    }

    fn limits(_: &WordLayout, shape: &Shape) -> Limits {
        Limits { norm: proven_norm(shape), distance: None }
    }

    fn margin_of_digits(layout: &DigitLayout) -> Margin {
        bases::proven_margin(layout)
    }

    fn limits_of_digits(layout: &DigitLayout, shape: &Shape) -> Limits {
        Limits { norm: bases::proven_norm(layout, shape), distance: None }
    }

    fn others() -> &'static dyn Others {
        &OtherBases::<Self>::NEW
    }
}

/// The ratio of the largest trusted norm of digits to the mean norm of random digits, for digits
/// whose product is not proven to be exact. The norm of digits with the largest magnitude is three
/// times the mean. The norm of 2^12 random digits or more exceeds this limit with a probability below
/// 2^−1000.
const LARGEST_NORM: f64 = 2.0;

impl Limited for HybridFast {
    const MOST_BITS: usize = statistical::MOST_BITS;

    fn margin_of_words(p: u32, length: usize) -> Margin {
        Margin { bits: statistical::spare_bits(p, length), proven: false }
    }

    fn limits(layout: &WordLayout, shape: &Shape) -> Limits {
        let random = LARGEST_NORM * usual_norm(layout.exponent(), layout.len());
        Limits { norm: random.max(proven_norm(shape)), distance: Some(statistical::LIMIT) }
    }

    fn margin_of_digits(layout: &DigitLayout) -> Margin {
        let words = layout.number().multiplier() as f64 * bases::usual_norm(layout);
        let turns = if layout.number().sign() == Sign::Plus { COST_OF_TURNS } else { 0.0 };
        let bits = statistical::spare_bits_of_norm(words, layout.len()) - turns;
        Margin { bits, proven: false }
    }

    fn limits_of_digits(layout: &DigitLayout, shape: &Shape) -> Limits {
        let random = LARGEST_NORM.max(bases::largest_ratio(layout)) * bases::usual_norm(layout);
        let norm = random.max(bases::proven_norm(layout, shape));
        Limits { norm, distance: Some(statistical::LIMIT) }
    }

    fn others() -> &'static dyn Others {
        &OtherBases::<Self>::NEW
    }
}
