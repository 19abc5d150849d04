//! Products in exact integers: the irrational-base weighted transform over the field modulo q =
//! 2^64 − 2^32 + 1 (Hérault 2025, §2–4).
//!
//! | file | subject |
//! |---|---|
//! | `margin` | the longest words: the bound and its proof |
//! | `lanes`, `avx2` | words in one lane, and in four side by side |
//! | `transform` | one product: weights, columns, rows, columns, carries |
//! | `carry` | carries through the digits of a register |
//! | `machine` | the register machine |
//!
//! The transforms of columns and rows are those of [`warpint_transform::cpu::goldilocks`].

#[cfg(target_arch = "x86_64")]
mod avx2;
mod carry;
mod lanes;
mod machine;
mod margin;
mod transform;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};
use crate::layout::WordLayout;
use lanes::WordLanes;
use machine::Machine;
use transform::Transform;
use warpint_arith::goldilocks::nth_root_of_two;
use warpint_transform::cpu::goldilocks::Shape;
#[cfg(target_arch = "x86_64")]
use warpint_transform::cpu::goldilocks::avx2::Four;

/// The family `goldilocks`: 64 ≤ p < 2^31 in N = 2^k words, 3 ≤ k ≤ 26, or N = 5·2^k, 1 ≤ k ≤ 25,
/// with N ≤ p and words of at most 31 bits.
///
/// A squaring is exact for all digits and has no round-off. It costs two transforms of N points.
/// Memory is 24·N bytes and 4·N for each register (32·N from the first product of two registers
/// on).
#[derive(Debug, Clone, Copy, Default)]
pub struct Goldilocks;

/// log2 of the longest transform 2^k: the largest order of a root of 2 in the field is 2^26.
const MAX_LOG2: u32 = 26;

/// log2 of the largest 2^k in a length 5·2^k, which is enough for p = 2^31 − 1.
const MAX_LOG2_OF_FIFTH: u32 = 25;

impl EngineFamily for Goldilocks {
    fn name(&self) -> &'static str {
        "goldilocks"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        64..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        let powers = (3..=MAX_LOG2).map(|k| 1usize << k);
        let fifths = (1..=MAX_LOG2_OF_FIFTH).map(|k| 5usize << k);
        let mut lengths: Vec<usize> =
            powers.chain(fifths).filter(|n| (from..=to).contains(n)).collect();
        lengths.sort_unstable();
        lengths
    }

    /// Returns the margin. `bits` is log2 of the ratio of the limit to the bound on a word of a
    /// product; see the source of `margin` for the proof. Half of these bits could be added to each
    /// word.
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| EngineError::Unusable {
            engine: self.name(),
            exponent: p,
            length,
            reason,
        };
        if !self.exponent_range().contains(&p) {
            return Err(unusable("exponents are from 64 to 2^31 − 1".into()));
        }
        if self.lengths(length, length).is_empty() {
            let reason = match nth_root_of_two(length as u64) {
                Err(no_root) => no_root.to_string(),
                Ok(_) => format!(
                    "lengths are 2^k from 8 to 2^{MAX_LOG2} and 5·2^k from 10 to \
                     5·2^{MAX_LOG2_OF_FIFTH}"
                ),
            };
            return Err(unusable(reason));
        }
        if length > p as usize {
            return Err(unusable("there are more words than bits".into()));
        }
        if p as usize > 31 * length {
            return Err(unusable("words have at most 31 bits".into()));
        }
        Ok(Margin { bits: margin::spare_bits(p, length), proven: true })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length)?;
        let layout = WordLayout::new(p, length);
        #[cfg(target_arch = "x86_64")]
        if let Some(engine) = with_lanes::<Four>(layout, options) {
            return Ok(engine);
        }
        with_lanes::<u64>(layout, options).ok_or_else(|| EngineError::Unusable {
            engine: self.name(),
            exponent: p,
            length,
            reason: "the field has no transform of this length".into(),
        })
    }
}

/// Returns an engine on lanes of type `V`; `None` if the processor does not support them or the
/// length does not fill them.
fn with_lanes<V: WordLanes>(layout: WordLayout, options: BuildOptions) -> Option<Box<dyn Engine>> {
    let shape = Shape::new(layout.len(), V::WIDTH)?;
    Some(Box::new(Machine::new(Transform::<V>::new(layout, shape)?, options)))
}
