//! Square roots on a device.

mod long;
mod plan;
mod rows;
#[cfg(test)]
mod tests;

use warpint_device::{Buffer, DeviceError, Source, common};

pub(super) use self::rows::RootRows;
use super::memory::{Numbers, Places, has, operands_fit, pointer};
use super::{Gpu, Operand, Shape, occupancy};

/// How `square_root.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SquareRoot {
    a_limbs: usize,
    /// Lanes of a number, and limbs that each has of the root.
    lanes: usize,
    limbs: usize,
    threads: usize,
}

/// What a square root gives; at least one of them.
#[derive(Debug, Default)]
pub struct SquareRoots<'a> {
    /// s = ⌊√a⌋, of ⌈l/2⌉ limbs for l limbs of a.
    pub root: Option<&'a mut Buffer<u32>>,
    /// a − s², of one limb more.
    pub remainder: Option<&'a mut Buffer<u32>>,
}

/// A lane has at most so many limbs of a root, and of a remainder, in registers.
const MAX_LIMBS: usize = 64;

/// Limbs of a lane up to which a number has no more lanes.
const FEW_LIMBS: usize = 32;

/// Numbers of so many limbs go by `square_root.cu` alone wherever it can.
const SHORT: usize = 256;

impl SquareRoot {
    /// For numbers of so many limbs. `None` if their roots are longer than the registers of a warp hold,
    /// or they than a block's shared memory, of which a device has so many bytes.
    #[must_use]
    pub fn new(a_limbs: usize, shared_memory: u32) -> Option<Self> {
        [1, 2, 4, 8, 16, 32].into_iter().find_map(|lanes| {
            let most = if lanes == 32 { MAX_LIMBS } else { FEW_LIMBS };
            let mut shapes = Self::of_lanes(a_limbs, lanes);
            shapes.find(|shape| shape.limbs <= most && shape.shared_bytes() <= shared_memory)
        })
    }

    /// With so many lanes a number, the larger blocks first.
    fn of_lanes(a_limbs: usize, lanes: usize) -> impl Iterator<Item = Self> {
        let limbs = a_limbs.div_ceil(2).div_ceil(lanes).next_multiple_of(2).max(4);
        [128, 64, 32].into_iter().map(move |threads| Self { a_limbs, lanes, limbs, threads })
    }

    /// With more lanes a number, while so many numbers are too few to keep a device of so many
    /// multiprocessors busy.
    fn spread(self, count: usize, multiprocessors: u32) -> Self {
        let busy = occupancy::BUSY_THREADS * multiprocessors as usize;
        let mut shape = self;
        while shape.lanes < 32 && shape.limbs > 8 && count.saturating_mul(shape.lanes) < busy {
            let more = Self::of_lanes(self.a_limbs, 2 * shape.lanes);
            shape = more.last().map_or(shape, |more| Self { threads: shape.threads, ..more });
        }
        shape
    }

    /// Blocks of a multiprocessor, by its registers.
    fn blocks(&self) -> usize {
        occupancy::blocks(self.registers(), self.threads)
    }

    /// Warps of a multiprocessor whose shared memory a block might have all of.
    fn warps(&self, shared_memory: u32) -> usize {
        occupancy::warps(self.blocks(), self.threads, self.shared_bytes(), shared_memory)
    }

    /// Registers of a thread, about.
    fn registers(&self) -> usize {
        match self.limbs {
            0..=8 => 64,
            9..=16 => 96,
            17..=24 => 104,
            25..=32 => 128,
            33..=48 => 184,
            _ => 255,
        }
    }
}

impl Shape for SquareRoot {
    fn source(&self) -> Result<Source, DeviceError> {
        let text = include_str!("../../../kernels/root/square_root.cu");
        Ok(Source::new("square_root.cu", text, &["square_root"])
            .headers(common::HEADERS)
            .header("lanes.cuh", include_str!("../../../kernels/common/lanes.cuh"))
            .header("digits.cuh", include_str!("../../../kernels/common/digits.cuh"))
            .define("A_LIMBS", self.a_limbs)
            .define("LANES", self.lanes)
            .define("LIMBS", self.limbs)
            .define("THREADS", self.threads)
            .define("BLOCKS", self.blocks()))
    }

    fn shared_bytes(&self) -> u32 {
        let places = 2 * self.a_limbs.div_ceil(2) + 1;
        (self.threads / self.lanes * places * size_of::<u32>()) as u32
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn numbers(&self) -> u32 {
        (self.threads / self.lanes) as u32
    }
}

/// Where roots of one size and remainders go, if they are wanted.
#[derive(Debug, Clone, Copy)]
struct RootPlaces<'a> {
    root: Option<Places<'a>>,
    remainder: Option<Places<'a>>,
}

impl Gpu {
    /// s = ⌊√`a_i`⌋ and `a_i` − s².
    ///
    /// Numbers of up to some hundred limbs cost O(l²) for l limbs, and nothing waits for the device. Beyond
    /// that their roots are made of halves (Zimmermann 1999, Karatsuba square root), each by a division,
    /// which waits.
    ///
    /// # Errors
    /// A buffer is too short, the device fails, cannot compile a kernel, or has no method for such
    /// numbers.
    pub fn square_root(
        &self,
        a: Operand<'_>,
        count: usize,
        to: SquareRoots<'_>,
    ) -> Result<(), DeviceError> {
        operands_fit(count, &[a])?;
        let root_limbs = a.limbs.div_ceil(2);
        for (data, limbs) in [(&to.root, root_limbs), (&to.remainder, root_limbs + 1)] {
            data.as_ref().map_or(Ok(()), |data| has(data.len(), count, limbs))?;
        }
        if count == 0 {
            return Ok(());
        }
        let shared_memory = self.device().info().shared_memory_per_block;
        let alone = SquareRoot::new(a.limbs, shared_memory);
        let shape = match alone {
            Some(shape) if a.limbs <= SHORT => shape,
            _ => match (self.root_plan(a.limbs, alone.as_ref()), alone) {
                (Some(plan), _) => return self.root_by_halves(&plan, a, count, to),
                (None, Some(shape)) => shape,
                (None, None) => return Err(super::method::no_method()),
            },
        };
        let to = RootPlaces {
            root: to.root.map(|data| Places::new(data.cells(..), root_limbs)),
            remainder: to.remainder.map(|data| Places::new(data.cells(..), root_limbs + 1)),
        };
        let shape = shape.spread(count, self.device().info().multiprocessors);
        self.root_by_limbs(&shape, a.into(), to, count)
    }

    /// The same by `square_root.cu` alone, of numbers anywhere in memory.
    ///
    /// # Errors
    /// The device fails, or cannot compile the kernel.
    ///
    /// # Panics
    /// If numbers are not of the shape, there are not `count`, or there is no room for the results.
    fn root_by_limbs(
        &self,
        shape: &SquareRoot,
        a: Numbers<'_>,
        to: RootPlaces<'_>,
        count: usize,
    ) -> Result<(), DeviceError> {
        let root_limbs = a.limbs.div_ceil(2);
        assert_eq!(a.limbs, shape.a_limbs, "limbs of numbers");
        a.assert_holds(count);
        for (places, limbs) in [(to.root, root_limbs), (to.remainder, root_limbs + 1)] {
            places.inspect(|places| places.part(0, limbs).assert_has(count));
        }
        let stride = |places: Option<Places<'_>>| places.map_or(0, |places| places.stride).into();
        let args = [
            a.pointer(),
            pointer(to.root.map(|places| places.words)),
            pointer(to.remainder.map(|places| places.words)),
            a.stride.into(),
            stride(to.root),
            stride(to.remainder),
        ];
        // SAFETY: there are so many numbers of the shape's limbs, and room for the results that are wanted.
        unsafe { self.launch(shape, count, &args) }
    }
}
