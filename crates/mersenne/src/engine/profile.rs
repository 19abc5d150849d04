//! What tuning and benchmarks ask of families and engines, beside what a test needs.

use std::time::Duration;

use super::{Cut, EngineError, Work};

/// A family whose engines can be built in several ways, and measured against what they ask of the
/// hardware.
pub trait Profiled {
    /// The names of the ways to build an engine at a length, which compute the
    /// same at different speed (shapes of kernels, `2048x2048/4x4`); at least
    /// one, the default first and then those that promise most.
    fn variants(&self, length: usize) -> Vec<String>;

    /// How each of [`Profiled::variants`] cuts the transform, in their order; nothing where
    /// it is not cut into columns and rows.
    fn cuts(&self, length: usize) -> Vec<Cut> {
        let _ = length;
        vec![]
    }

    /// What a squaring by a variant asks of a device; `None` where that is not known.
    fn work(&self, length: usize, variant: usize) -> Option<Work> {
        let _ = (length, variant);
        None
    }
}

/// An engine whose kernels can be timed one by one.
pub trait KernelTimer {
    /// `r[reg]` ← the n-fold [`Step::Square`](super::Step::Square) of `r[reg]`, and the mean time
    /// of each kernel in the second half of them, in the order of a squaring.
    ///
    /// Kernels are launched one by one there, and none begins before the one before it has ended:
    /// together they take longer than a squaring of [`Engine::square`](super::Engine::square).
    ///
    /// # Panics
    /// If n is not from 4 to 1,000.
    fn kernel_times(&mut self, reg: usize, n: u64) -> Result<Vec<KernelTime>, EngineError>;
}

/// The time of a kernel of a squaring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTime {
    /// Its name.
    pub kernel: &'static str,
    /// The mean time of a launch.
    pub time: Duration,
}
