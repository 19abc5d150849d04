//! Quotients and remainders on a device.

use warpint_device::{Arg, Buffer, DeviceError, Source, common};

use super::memory::fits;
use super::method::no_method;
use super::{Gpu, Operand, Results, Shape};

/// How `divide.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divide {
    u_limbs: usize,
    v_limbs: usize,
    quotient: bool,
    remainder: bool,
    exact: bool,
    /// Lanes of a number, and limbs that each has of the divisor.
    lanes: usize,
    limbs: usize,
    threads: usize,
}

/// What a division gives; at least one of them.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quotients<'a> {
    /// ⌊u/v⌋, of as many limbs as u.
    pub quotient: Option<&'a Buffer<u32>>,
    /// u mod v, of as many limbs as v.
    pub remainder: Option<&'a Buffer<u32>>,
    /// 1 where v is 0; the results are 0 there.
    pub flags: Option<&'a Buffer<u8>>,
    /// Whether there is a flag, and the results are 0, too where v does not divide u.
    pub exact: bool,
}

/// A lane has at most so many limbs of a divisor, and of a remainder, in registers.
const MAX_LIMBS: usize = 64;

/// Limbs of a lane up to which a number has no more lanes.
const FEW_LIMBS: usize = 32;

impl Divide {
    /// For dividends and divisors of so many limbs. `None` if these are longer than the registers of a
    /// warp hold, or those than a block's shared memory, of which a device has so many bytes.
    #[must_use]
    pub fn new(u_limbs: usize, v_limbs: usize, shared_memory: u32) -> Option<Self> {
        let of_lanes = |lanes: usize| {
            // What waits between lanes needs more than two limbs.
            let least = if lanes == 1 { 2 } else { 4 };
            let limbs = v_limbs.div_ceil(lanes).next_multiple_of(2).max(least);
            let threads = [128, 64, 32].into_iter().filter(|&threads| threads >= lanes);
            let shapes = threads.map(|threads| Self {
                u_limbs,
                v_limbs,
                quotient: true,
                remainder: true,
                exact: false,
                lanes,
                limbs,
                threads,
            });
            let most = if lanes == 32 { MAX_LIMBS } else { FEW_LIMBS };
            let fits = |shape: &Self| limbs <= most && shape.shared_bytes() <= shared_memory;
            let mut shapes = shapes;
            shapes.find(fits)
        };
        [1, 2, 4, 8, 16, 32].into_iter().find_map(of_lanes)
    }

    /// Registers of a thread, about.
    fn registers(&self) -> usize {
        match self.limbs {
            0..=8 => 64,
            9..=16 => 80,
            17..=24 => 104,
            25..=32 => 128,
            33..=48 => 168,
            _ => 255,
        }
    }
}

impl Shape for Divide {
    fn source(&self) -> Result<Source, DeviceError> {
        Ok(Source::new("divide.cu", include_str!("../../kernels/divide.cu"), &["divide"])
            .headers(common::HEADERS)
            .header("lanes.cuh", include_str!("../../kernels/lanes.cuh"))
            .define("U_LIMBS", self.u_limbs)
            .define("V_LIMBS", self.v_limbs)
            .define("QUOTIENT", u32::from(self.quotient))
            .define("REMAINDER", u32::from(self.remainder))
            .define("EXACT", u32::from(self.exact))
            .define("LANES", self.lanes)
            .define("LIMBS", self.limbs)
            .define("THREADS", self.threads)
            .define("BLOCKS", (65_536 / self.registers() / self.threads).max(1)))
    }

    fn shared_bytes(&self) -> u32 {
        let places = (self.lanes * self.limbs + self.u_limbs) | 1;
        (self.threads / self.lanes * places * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn numbers(&self) -> u32 {
        (self.threads / self.lanes) as u32
    }
}

impl Gpu {
    /// ⌊u_i/v_i⌋ and u_i mod v_i. Nothing waits for the device.
    ///
    /// # Errors
    /// A buffer is too short, the device fails, cannot compile the kernel, or has no method for such
    /// numbers.
    pub fn divide(
        &self,
        u: Operand<'_>,
        v: Operand<'_>,
        count: usize,
        to: Quotients<'_>,
    ) -> Result<(), DeviceError> {
        let results = [(to.quotient, u.limbs), (to.remainder, v.limbs)];
        for (data, limbs) in results {
            if let Some(data) = data {
                fits(count, &[u, v], Results { data, limbs })?;
            }
        }
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Divide::new(u.limbs, v.limbs, shared_memory).ok_or_else(no_method)?;
        self.divide_by_limbs(&shape, u, v, count, to)
    }

    /// ⌊u_i/v_i⌋ and u_i mod v_i. No result may be the memory of an operand.
    ///
    /// # Errors
    /// The device fails, or cannot compile the kernel.
    pub(super) fn divide_by_limbs(
        &self,
        shape: &Divide,
        u: Operand<'_>,
        v: Operand<'_>,
        count: usize,
        to: Quotients<'_>,
    ) -> Result<(), DeviceError> {
        let (quotient, remainder) = (to.quotient.is_some(), to.remainder.is_some());
        let shape = Divide { quotient, remainder, exact: to.exact, ..*shape };
        let args = [
            u.data.into(),
            v.data.into(),
            to.quotient.map_or(Arg::Pointer(0), Arg::from),
            to.remainder.map_or(Arg::Pointer(0), Arg::from),
            to.flags.map_or(Arg::Pointer(0), Arg::from),
            u.stride().into(),
            v.stride().into(),
        ];
        self.launch(&shape, count, &args)
    }
}
