//! goldilocks

use std::ops::RangeInclusive;

use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};

/// The family `goldilocks`.
#[derive(Debug, Clone, Copy, Default)]
pub struct Goldilocks;

impl EngineFamily for Goldilocks {
    fn name(&self) -> &'static str {
        "goldilocks"
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        64..=(1 << 31) - 1
    }

    fn lengths(&self, _from: usize, _to: usize) -> Vec<usize> {
        vec![]
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let reason = String::from("not written yet");
        Err(EngineError::Unusable { engine: self.name(), exponent: p, length, reason })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        _options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length).map(|_| unreachable!())
    }
}
