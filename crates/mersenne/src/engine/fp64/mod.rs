//! Floating-point squaring modulo M_p: the irrational-base discrete weighted
//! transform of Crandall and Fagin on complex FFTs in `f64`.

mod carry;
mod engine;
pub mod floor;
mod lengths;
mod margin;
#[cfg(test)]
mod tests;
mod transform;
mod weights;

use std::ops::RangeInclusive;

use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};
use crate::layout::WordLayout;

/// Lengths at which one way of transforming gives way to another.
mod threshold {
    pub(super) const ROW_COLUMN: usize = 32768;
}

/// The round-off above which a product is not trusted: the distance to the
/// nearest integer says nothing if the true error is above ½, and it is
/// distributed so that errors of ½ are rare where 0.4 is never seen.
pub const ROUND_OFF_LIMIT: f64 = 0.4;

/// The family `fp64`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Fp64;

impl Fp64 {
    fn layout(&self, p: u32, length: usize) -> Result<WordLayout, EngineError> {
        let unusable = |reason: &str| {
            Err(EngineError::Unusable {
                engine: self.name(),
                exponent: p,
                length,
                reason: reason.into(),
            })
        };
        if !self.exponent_range().contains(&p) {
            return unusable("exponents are from 64 to 2147483647");
        }
        if !lengths::is_length(length) {
            return unusable("not a length of this engine");
        }
        if length > p as usize {
            return unusable("more words than bits");
        }
        if p as usize / length >= 25 {
            return unusable("words are too long");
        }
        Ok(WordLayout::new(p, length))
    }
}

impl EngineFamily for Fp64 {
    fn name(&self) -> &'static str {
        "fp64"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        64..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        lengths::lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.layout(p, length)?;
        Ok(Margin { bits: margin::bits(p, length), proven: false })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        Ok(Box::new(engine::Fp64Engine::new(self.layout(p, length)?, options)?))
    }
}
