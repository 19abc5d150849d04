//! Interfaces of families and engines that only tuning and benchmarks use.

use std::time::Duration;

use super::{Cut, EngineError, Work};

/// A family with several variants of its engines, whose speed can be compared with the limits of
/// the hardware.
pub trait Profiled {
    /// Returns the names of the variants at a length (shapes of kernels, such as `2048x2048/4x4`).
    /// All variants compute the same, at different speeds. The list is not empty; the default comes
    /// first, then the most promising ones.
    fn variants(&self, length: usize) -> Vec<String>;

    /// Returns the cut of every variant, in the order of [`Profiled::variants`]; empty if the
    /// transform is not cut into columns and rows.
    fn cuts(&self, length: usize) -> Vec<Cut> {
        let _ = length;
        vec![]
    }

    /// Returns the work of a squaring by a variant; `None` if it is not known.
    fn work(&self, length: usize, variant: usize) -> Option<Work> {
        let _ = (length, variant);
        None
    }
}

/// An engine whose kernels can be timed one by one.
pub trait KernelTimer {
    /// Applies [`Step::Square`](super::Step::Square) n times to `r[reg]`, and returns the mean time
    /// of each kernel in the second half of them, in the order of a squaring.
    ///
    /// Kernels are launched one by one, and none begins before the preceding one has ended:
    /// together they take longer than a squaring of [`Engine::square`](super::Engine::square).
    ///
    /// # Panics
    /// Panics if n is not from 4 to 1,000.
    fn kernel_times(&mut self, reg: usize, n: u64) -> Result<Vec<KernelTime>, EngineError>;
}

/// The time of one kernel of a squaring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The mean time of a launch.
    pub time: Duration,
}
