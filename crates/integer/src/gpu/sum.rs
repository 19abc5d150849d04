//! Sums and differences on a device.

use warpint_device::{Buffer, Cells, DeviceError, Source, assert_room, common};

use super::memory::{Numbers, Places, fits, has, pointer};
use super::{Gpu, Operand, Results, Shape, Sum, elementwise};

/// A version of the kernel `sum.cu`, compiled for operands and results of given numbers of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SumShape {
    sum: Sum,
    a_limbs: usize,
    b_limbs: usize,
    out_limbs: usize,
    /// The number of limbs of a chunk, which one thread adds by itself: 1, 2 or 4.
    chunk: usize,
    numbers: usize,
    windows: usize,
    threads: usize,
}

/// The possible numbers of windows per warp. A window is 32 chunks, one per lane.
const WINDOWS: [usize; 6] = [4, 2, 3, 1, 6, 8];
/// The possible numbers of threads per block.
const THREADS: [usize; 7] = [128, 256, 192, 320, 384, 512, 1024];

impl SumShape {
    /// Returns the shape with the largest share of busy threads. Shares are rounded down to
    /// multiples of 1/32. Returns `None` if the numbers are too long for a block.
    ///
    /// Among shapes with equal shares, prefers shapes with at most 4 windows per warp, or at most 8
    /// if chunks have fewer than four limbs. If several shapes remain, prefers fewer threads per
    /// block, and then more windows per warp.
    pub(super) fn new(sum: Sum, a_limbs: usize, b_limbs: usize, out_limbs: usize) -> Option<Self> {
        let all = a_limbs | b_limbs | out_limbs;
        let chunk = 1 << all.trailing_zeros().min(2);
        let chunks = out_limbs / chunk;
        // Shorter loads need more of them in flight.
        let most = if chunk == 4 { 4 } else { 8 };
        let shapes = THREADS.iter().flat_map(|&threads| WINDOWS.map(|windows| (threads, windows)));
        let full = |(threads, windows): (usize, usize)| {
            let numbers = threads * windows / chunks;
            (numbers, numbers * chunks * 32 / (threads * windows))
        };
        let (threads, windows) =
            shapes.filter(|&shape| full(shape).0 > 0).max_by_key(|&(threads, windows)| {
                let wide = usize::from(windows > most);
                (full((threads, windows)).1, std::cmp::Reverse((wide, threads)), windows)
            })?;
        let numbers = threads * windows / chunks;
        Some(Self { sum, a_limbs, b_limbs, out_limbs, chunk, numbers, windows, threads })
    }
}

impl Shape for SumShape {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(Source::new("sum.cu", include_str!("../../kernels/elementwise/sum.cu"), &["sum"])
            .headers(common::HEADERS)
            .define("A_LIMBS", self.a_limbs)
            .define("B_LIMBS", self.b_limbs)
            .define("OUT_LIMBS", self.out_limbs)
            .define("CHUNK", self.chunk)
            .define("NUMBERS", self.numbers)
            .define("WINDOWS", self.windows)
            .define("THREADS", self.threads)
            .define("SUBTRACT", u32::from(self.sum == Sum::Subtract)))
    }

    fn shared_bytes(&self) -> u32 {
        0
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn numbers(&self) -> u32 {
        self.numbers as u32
    }
}

impl Gpu {
    /// Computes `out_i = a_i ± b_i mod 2^(32·out.limbs)`; `carries[i]` is 1 where a carry or borrow
    /// leaves the highest limb, otherwise 0. `out` has at least as many limbs as a and b. An
    /// operand may be the memory of `out` ([`Results::operand`]). Cost: one pass over memory.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, `out` has fewer limbs than an operand, the device
    /// fails, or the kernel cannot be compiled.
    pub fn add(
        &self,
        sum: Sum,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: Results<'_>,
        carries: Option<&mut Buffer<u8>>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a, b], out)?;
        if let Some(carries) = &carries {
            has(carries.len(), count, 1)?;
        }
        // Operands have at most as many limbs as the sum.
        has(out.limbs, 1, a.limbs.max(b.limbs))?;
        self.sum_of(sum, [a.into(), b.into()], count, out, carries.map(Cells::from))
    }

    /// Like [`Self::add`], for numbers with any strides.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    ///
    /// # Panics
    /// If a buffer has fewer than `count` numbers, or the sums do not fit.
    pub(super) fn sum_of(
        &self,
        sum: Sum,
        [a, b]: [Numbers<'_>; 2],
        count: usize,
        out: Results<'_>,
        carries: Option<Cells<'_, u8>>,
    ) -> Result<(), DeviceError> {
        [a, b].iter().for_each(|numbers| numbers.assert_holds(count));
        Places::from(out).assert_holds(count);
        assert_room("carries", carries.map_or(count, |carries| carries.len()), count);
        let Some(shape) = SumShape::new(sum, a.limbs, b.limbs, out.limbs) else {
            let (shape, args) = elementwise::long_sum(sum, [a, b], out, pointer(carries));
            // SAFETY: there are `count` numbers, and the sums and carries fit.
            return unsafe { self.launch(&shape, count, &args) };
        };
        let args = [
            a.pointer(),
            b.pointer(),
            out.data.into(),
            pointer(carries),
            a.stride.into(),
            b.stride.into(),
        ];
        // SAFETY: `count` numbers have the shape's limbs, and the sums and carries fit.
        unsafe { self.launch(&shape, count, &args) }
    }
}
