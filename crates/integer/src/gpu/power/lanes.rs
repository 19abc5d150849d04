//! Powers modulo odd numbers in the registers of groups of lanes.

use warpint_device::{Buffer, DeviceError, Source, common};

use super::super::{Gpu, Operand, Shape};
use super::window;

/// How `power_lanes.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in super::super) struct PowerLanes {
    pub(super) x_limbs: usize,
    pub(super) e_limbs: usize,
    pub(super) m_limbs: usize,
    /// Bits of the exponent for each product.
    window: usize,
    /// Lanes of a number, and limbs that each has.
    pub(super) lanes: usize,
    pub(super) limbs: usize,
    /// Of a multiprocessor.
    blocks: u32,
}

/// A lane has at most so many limbs of a number in registers.
const MAX_LIMBS: usize = 32;

const THREADS: usize = 128;

/// Blocks of a multiprocessor, if its shared memory has room: a thread has 168 of its 65,536 registers.
const BLOCKS: u32 = 3;

impl PowerLanes {
    /// For operands of so many limbs. `None` if the base has more than the modulus, or that more than the
    /// registers of a warp hold.
    pub(in super::super) fn new(
        [x_limbs, e_limbs, m_limbs]: [usize; 3],
        shared_memory: u32,
    ) -> Option<Self> {
        let lanes = [2, 4, 8, 16, 32].into_iter().find(|lanes| m_limbs <= lanes * MAX_LIMBS)?;
        let shape = Self::with([x_limbs, e_limbs, m_limbs], lanes)?;
        // A block takes a KiB more.
        let blocks = (shared_memory + 1024) / (shape.shared_bytes() + 1024);
        (shape.shared_bytes() <= shared_memory)
            .then_some(Self { blocks: blocks.clamp(1, BLOCKS), ..shape })
    }

    /// The same with so many lanes a number.
    pub(super) fn with([x_limbs, e_limbs, m_limbs]: [usize; 3], lanes: usize) -> Option<Self> {
        let limbs = m_limbs.div_ceil(lanes).next_multiple_of(4);
        if x_limbs > m_limbs || m_limbs == 0 || limbs > MAX_LIMBS {
            return None;
        }
        let window = window(32 * e_limbs, 2..=6);
        Some(Self { x_limbs, e_limbs, m_limbs, window, lanes, limbs, blocks: 1 })
    }

    /// Limbs that a number has in all lanes.
    pub(super) fn whole(&self) -> usize {
        self.lanes * self.limbs
    }
}

impl Shape for PowerLanes {
    fn source(&self) -> Result<Source, DeviceError> {
        let text = include_str!("../../../kernels/power_lanes.cu");
        Ok(Source::new("power_lanes.cu", text, &["power_lanes"])
            .headers(common::HEADERS)
            .header("exponent.cuh", include_str!("../../../kernels/exponent.cuh"))
            .header("limbs.cuh", include_str!("../../../kernels/limbs.cuh"))
            .header("quad.cuh", include_str!("../../../kernels/quad.cuh"))
            .header("lanes.cuh", include_str!("../../../kernels/lanes.cuh"))
            .define("X_LIMBS", self.x_limbs)
            .define("E_LIMBS", self.e_limbs)
            .define("M_LIMBS", self.m_limbs)
            .define("WINDOW", self.window)
            .define("LANES", self.lanes)
            .define("LIMBS", self.limbs)
            .define("THREADS", THREADS)
            .define("BLOCKS", self.blocks))
    }

    fn shared_bytes(&self) -> u32 {
        // PLACES of power_lanes.cu.
        let apart = self.limbs + if self.limbs % 8 == 4 { 0 } else { 4 };
        let round = if self.lanes > 2 { self.lanes / 2 } else { 0 };
        let places = (3 * self.lanes + round) * apart + 2 * self.lanes + 4;
        (THREADS / self.lanes * places * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        THREADS as u32
    }

    fn numbers(&self) -> u32 {
        (THREADS / self.lanes) as u32
    }
}

impl Gpu {
    /// As [`Gpu::power`] for odd moduli; what the numbers with even ones have is nothing. Whether there are
    /// such.
    ///
    /// # Errors
    /// The device fails, or cannot compile the kernel.
    pub(super) fn power_of_odd(
        &self,
        shape: &PowerLanes,
        [x, e, m]: [Operand<'_>; 3],
        count: usize,
        out: &Buffer<u32>,
        is_zero: &Buffer<u8>,
    ) -> Result<bool, DeviceError> {
        let raised = self.raised(shape.whole(), m, count)?;
        let raised = Operand { data: &raised, limbs: m.limbs, broadcast: m.broadcast };
        let blocks = self.device().info().multiprocessors as usize * shape.blocks as usize;
        let blocks = blocks.min(count.div_ceil(shape.numbers() as usize));
        let table = shape.limbs << shape.window;
        let tables = self.scratch((blocks * THREADS * table).div_ceil(2))?;
        let mut evens = self.device().alloc::<u32>(1)?;
        evens.clear()?;
        let args = [
            x.data.into(),
            e.data.into(),
            m.data.into(),
            raised.data.into(),
            out.into(),
            is_zero.into(),
            (&evens).into(),
            (&*tables).into(),
            x.stride().into(),
            e.stride().into(),
            m.stride().into(),
            raised.stride().into(),
        ];
        self.launch_blocks(shape, blocks, count, &args)?;
        Ok(evens.download()? != [0])
    }
}
