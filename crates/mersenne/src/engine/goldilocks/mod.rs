//! The engine family `goldilocks` on the CPU: products in exact integers, by the irrational-base
//! weighted transform over the field modulo q = 2^64 − 2^32 + 1 (Hérault 2025, §2–4).
//!
//! | file | subject |
//! |---|---|
//! | `margin` | the longest words for which products are exact: the bound and its proof |
//! | `lanes`, `avx2` | conversion between digits and field elements, one or four words at a time |
//! | `transform` | one product: weights, transforms of columns and rows, carries |
//!
//! The transforms of columns and rows are those of [`warpint_transform::cpu::goldilocks`]. The
//! register machine is that of the module `exact`.

#[cfg(target_arch = "x86_64")]
mod avx2;
mod lanes;
mod margin;
mod transform;

#[cfg(test)]
mod tests;

use std::ops::RangeInclusive;

use super::exact::Machine;
use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};
use crate::layout::WordLayout;
use lanes::WordLanes;
use transform::Transform;
use warpint_arith::goldilocks::nth_root_of_two;
use warpint_transform::cpu::goldilocks::Shape;
#[cfg(target_arch = "x86_64")]
use warpint_transform::cpu::goldilocks::avx2::Four;

/// The engine family `goldilocks` on the CPU, for exponents 64 ≤ p < 2^31. Transform lengths are
/// N = 2^k words with 3 ≤ k ≤ 26, and N = 5·2^k words with 1 ≤ k ≤ 25, such that N ≤ p and words
/// have at most 31 bits.
///
/// With a margin of at least 0, a squaring is exact for all digits. It costs two transforms of N
/// points. An engine occupies 24·N bytes, and 4·N bytes for each register. The first product of two
/// different registers adds 8·N bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Goldilocks;

/// The largest k of a transform length 2^k. The field has 2^k-th roots of 2 for k ≤ 26 only.
const MAX_LOG2: u32 = 26;

/// The largest k of a transform length 5·2^k. The length 5·2^25 is enough for p = 2^31 − 1.
const MAX_LOG2_OF_FIFTH: u32 = 25;

impl EngineFamily for Goldilocks {
    fn name(&self) -> &'static str {
        "goldilocks"
    }

    fn is_exact(&self) -> bool {
        true
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

    /// Returns the margin. Its `bits` are log2 of the ratio of two numbers: the limit below which a
    /// word of a product is exact, and the bound that no word exceeds (proof in the source of the
    /// module `margin`). Each word of a residue could be longer by half of these bits.
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| EngineError::Unusable {
            engine: self.name(),
            number: p.into(),
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
            number: p.into(),
            length,
            reason: "the field has no transform of this length".into(),
        })
    }
}

/// Returns an engine that computes with vectors of type `V`. Returns `None` if the processor does
/// not support these vectors, or if the transform length is too short for them.
fn with_lanes<V: WordLanes>(layout: WordLayout, options: BuildOptions) -> Option<Box<dyn Engine>> {
    let shape = Shape::new(layout.len(), V::WIDTH)?;
    let transform = Transform::<V>::new(layout, shape)?;
    Some(Box::new(Machine::new(Goldilocks.name(), transform, options)))
}
