//! Interfaces of engine families and engines that only tuning and benchmarks use.

use std::time::Duration;

use super::{Cut, EngineError, Work};

/// An engine family that has several variants of an engine for one transform length. Tuning
/// compares the times of the variants; benchmarks compare them with the limits of the hardware.
pub trait Profiled {
    /// Returns the names of the variants at a transform length. A name describes the shape of the
    /// kernels, such as `1024x2048 16.8.8/16.16.8 2/4 1 128.128`. All variants compute the same
    /// results, at different speeds. The list is not empty if the family supports the length. The
    /// default variant comes first; the others follow, the most promising ones first.
    fn variants(&self, length: usize) -> Vec<String>;

    /// Returns the division into columns and rows for every variant, in the order of
    /// [`Profiled::variants`]. The list is empty if the transform is not divided into columns and
    /// rows.
    fn cuts(&self, length: usize) -> Vec<Cut> {
        let _ = length;
        vec![]
    }

    /// Returns the work of a squaring by a variant, as counts of operations. Returns `None` if the
    /// work is not known. `variant` is an index into the list of [`Profiled::variants`].
    fn work(&self, length: usize, variant: usize) -> Option<Work> {
        let _ = (length, variant);
        None
    }
}

/// An engine whose kernels can be timed one by one.
pub trait KernelTimer {
    /// Applies [`Step::Square`](super::Step::Square) n times to `r[reg]`, and returns the mean time
    /// of each kernel over the second half of the squarings, without the last squaring. The kernels
    /// are listed in the order in which a squaring launches them.
    ///
    /// No kernel begins before the preceding one has ended. So the sum of the times is longer than
    /// the time of a squaring by [`Engine::square`](super::Engine::square), whose kernels may
    /// overlap.
    ///
    /// # Panics
    /// Panics if n is not from 4 to 1,000.
    fn kernel_times(&mut self, reg: usize, n: u64) -> Result<Vec<KernelTime>, EngineError>;
}

/// The measured time of one of the kernels of a squaring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KernelTime {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The mean time of one launch of the kernel.
    pub time: Duration,
}
