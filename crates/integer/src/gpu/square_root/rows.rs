//! The kernels of long square roots, in which each block of threads processes one number.

use warpint_device::{DeviceError, Source, common};

use crate::gpu::Shape;

/// A kernel of long square roots. Each kernel has a file of its own, except that `root_lower.cu`
/// has both [`Kernel::Lower`] and [`Kernel::Candidate`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kernel {
    Align,
    Dividend,
    Lower,
    Candidate,
    Correct,
    Last,
}

/// A kernel with a given number of threads per block. The numbers of limbs are arguments of the
/// launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gpu) struct RootRows {
    kernel: Kernel,
    threads: usize,
}

impl RootRows {
    /// Returns the kernel for numbers of `limbs` limbs. A block has one warp per 512 limbs, rounded
    /// up to a power of two, and at most 8 warps.
    pub(super) fn new(kernel: Kernel, limbs: usize) -> Self {
        let warps = limbs.div_ceil(512).next_power_of_two().min(8);
        Self { kernel, threads: 32 * warps }
    }

    /// Returns every kernel, both with the smallest and with the largest number of warps per block.
    pub(in crate::gpu) fn all() -> impl Iterator<Item = Self> {
        use Kernel::{Align, Candidate, Correct, Dividend, Last, Lower};
        let kernels = [Align, Dividend, Lower, Candidate, Correct, Last];
        kernels.into_iter().flat_map(|kernel| [1, 4096].map(|limbs| Self::new(kernel, limbs)))
    }
}

impl Shape for RootRows {
    fn source(&self) -> Result<Source, DeviceError> {
        let source = match self.kernel {
            Kernel::Align => Source::new(
                "root_align.cu",
                include_str!("../../../kernels/root/root_align.cu"),
                &["root_align"],
            ),
            Kernel::Dividend => Source::new(
                "root_dividend.cu",
                include_str!("../../../kernels/root/root_dividend.cu"),
                &["root_dividend"],
            ),
            Kernel::Lower | Kernel::Candidate => Source::new(
                "root_lower.cu",
                include_str!("../../../kernels/root/root_lower.cu"),
                &["root_lower"],
            )
            .define("LAST", u32::from(self.kernel == Kernel::Candidate)),
            Kernel::Correct => Source::new(
                "root_correct.cu",
                include_str!("../../../kernels/root/root_correct.cu"),
                &["root_correct"],
            ),
            Kernel::Last => Source::new(
                "root_last.cu",
                include_str!("../../../kernels/root/root_last.cu"),
                &["root_last"],
            ),
        };
        Ok(source
            .headers(common::HEADERS)
            .header("quad.cuh", include_str!("../../../kernels/common/quad.cuh"))
            .header("shifted.cuh", include_str!("../../../kernels/common/shifted.cuh"))
            .header("pass.cuh", include_str!("../../../kernels/pass.cuh"))
            .header("root_less.cuh", include_str!("../../../kernels/root/root_less.cuh"))
            .define("THREADS", self.threads))
    }

    fn shared_bytes(&self) -> u32 {
        0
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn numbers(&self) -> u32 {
        1
    }
}
