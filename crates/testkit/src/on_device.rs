//! An engine family that computes on the CPU, but claims to be on a device.

use std::ops::RangeInclusive;

use warpint_mersenne::{BuildOptions, Engine, EngineError, EngineFamily, Margin};

/// An engine family that uses the engines of an inner family, but reports another place.
#[derive(Clone, Copy)]
pub struct OnDevice {
    /// The inner family, whose engines compute.
    pub inner: &'static dyn EngineFamily,
    /// The name of the place that the family reports, such as `cuda:0`.
    pub place: &'static str,
}

impl EngineFamily for OnDevice {
    fn name(&self) -> &'static str {
        self.inner.name()
    }

    fn place(&self) -> &str {
        self.place
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        self.inner.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        self.inner.lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        self.inner.margin(p, length)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.inner.build(p, length, options)
    }
}
