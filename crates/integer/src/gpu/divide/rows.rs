//! The kernels of long divisions in which each block of threads processes one number.

use warpint_device::{DeviceError, Source, common};

use crate::gpu::Shape;

/// A kernel of long divisions. Each kernel has a file of its own, except that `correct.cu` has both
/// [`Kernel::Correct`] and [`Kernel::Digit`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gpu) enum Kernel {
    Align,
    Correct,
    Digit,
    Unalign,
}

/// A kernel with a given number of threads per block. The numbers of limbs are arguments of the
/// launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::gpu) struct RowShape {
    kernel: Kernel,
    threads: usize,
}

impl RowShape {
    /// Returns the kernel for numbers of `limbs` limbs. A block has one warp per 512 limbs, rounded
    /// up to a power of two, and at most 8 warps.
    pub(in crate::gpu) fn new(kernel: Kernel, limbs: usize) -> Self {
        let warps = limbs.div_ceil(512).next_power_of_two().min(8);
        Self { kernel, threads: 32 * warps }
    }

    /// Returns every kernel, both with the smallest and with the largest number of warps per block.
    pub(in crate::gpu) fn all() -> impl Iterator<Item = Self> {
        let kernels = [Kernel::Align, Kernel::Correct, Kernel::Digit, Kernel::Unalign];
        kernels.into_iter().flat_map(|kernel| [1, 4096].map(|limbs| Self::new(kernel, limbs)))
    }
}

impl Shape for RowShape {
    fn source(&self) -> Result<Source, DeviceError> {
        let source = match self.kernel {
            Kernel::Align => Source::new(
                "align.cu",
                include_str!("../../../kernels/division/align.cu"),
                &["align"],
            ),
            Kernel::Correct | Kernel::Digit => Source::new(
                "correct.cu",
                include_str!("../../../kernels/division/correct.cu"),
                &["correct"],
            )
            .define("DIGIT", u32::from(self.kernel == Kernel::Digit)),
            Kernel::Unalign => Source::new(
                "unalign.cu",
                include_str!("../../../kernels/division/unalign.cu"),
                &["unalign"],
            ),
        };
        Ok(source
            .headers(common::HEADERS)
            .header("quad.cuh", include_str!("../../../kernels/common/quad.cuh"))
            .header("shifted.cuh", include_str!("../../../kernels/common/shifted.cuh"))
            .header("pass.cuh", include_str!("../../../kernels/pass.cuh"))
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
