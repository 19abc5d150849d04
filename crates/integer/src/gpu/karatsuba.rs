//! Products on a device by some levels of Karatsuba's identity and products in registers.

use warpint_device::{Cells, DeviceError, Source, assert_room, common};

use super::memory::Numbers;
use super::{Gpu, Operand, Part, Shape, occupancy};

/// How `karatsuba.cu` is specialised.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Karatsuba {
    a_limbs: usize,
    /// None for a square.
    b_limbs: Option<usize>,
    part: Part,
    levels: u32,
    leaf: usize,
    numbers: usize,
    threads: usize,
    blocks: usize,
}

/// The longest product that has its factors and sums in the registers of one thread, in limbs.
const MAX_LEAF: usize = 40;

/// More levels have more slots than shared memory holds.
pub(super) const MAX_LEVELS: u32 = 5;

impl Karatsuba {
    /// For factors of so many limbs (no second one for a square). `None` where a product of the
    /// lowest level would be longer than a thread's registers hold, or empty.
    #[must_use]
    pub fn new(part: Part, a_limbs: usize, b_limbs: Option<usize>, levels: u32) -> Option<Self> {
        let limbs = a_limbs.max(b_limbs.unwrap_or(0));
        let leaf = limbs.div_ceil(1 << levels.min(MAX_LEVELS)).next_multiple_of(4);
        if levels > MAX_LEVELS || !(1..=MAX_LEAF).contains(&leaf) || limbs >> levels == 0 {
            return None;
        }
        let leaves = 3_usize.pow(levels);
        // Registers of a thread, as the compiler needs them; of a multiprocessor there are 65,536.
        let registers = match leaf {
            0..=8 => 48,
            9..=16 => 64,
            17..=24 => 96,
            25..=32 => 128,
            _ => 168,
        };
        // Small blocks wait less for one another; 81 leaves fill more of a larger one. Of lower halves
        // whole warps have products, and halves of products.
        let threads = match levels {
            1 if part == Part::Low && b_limbs.is_some() => 96,
            0..=3 => 128,
            _ => 256,
        };
        let numbers = (threads / leaves).max(1);
        let blocks = occupancy::blocks(registers, threads);
        Some(Self { a_limbs, b_limbs, part, levels, leaf, numbers, threads, blocks })
    }

    /// Limbs of the products that a thread makes.
    #[must_use]
    pub fn leaf(&self) -> usize {
        self.leaf
    }
}

impl Shape for Karatsuba {
    fn source(&self) -> Result<Source, DeviceError> {
        let b_limbs = self.b_limbs.unwrap_or(self.a_limbs);
        let (first, out_limbs) = self.part.limbs(self.a_limbs, b_limbs);
        let product = self.b_limbs.is_some();
        let low = product && self.part == Part::Low && self.levels <= 1;
        let high = product && self.part == Part::High && self.levels == 0 && first > 1;
        Ok(Source::new(
            "karatsuba.cu",
            include_str!("../../kernels/product/karatsuba.cu"),
            &["karatsuba"],
        )
        .headers(common::HEADERS)
        .header("limbs.cuh", include_str!("../../kernels/common/limbs.cuh"))
        .header("quad.cuh", include_str!("../../kernels/common/quad.cuh"))
        .define("A_LIMBS", self.a_limbs)
        .define("B_LIMBS", b_limbs)
        .define("FIRST", first)
        .define("OUT_LIMBS", out_limbs)
        .define("SQUARE", u32::from(!product))
        .define("LOW", u32::from(low))
        .define("HIGH", u32::from(high))
        .define("LEVELS", self.levels)
        .define("LEAF", self.leaf)
        .define("NUMBERS", self.numbers)
        .define("THREADS", self.threads)
        .define("BLOCKS", self.blocks))
    }

    fn shared_bytes(&self) -> u32 {
        let leaves = 3_usize.pow(self.levels);
        let slots = self.numbers * leaves * (2 * self.leaf + 4) * 4;
        let signs: usize =
            (1..=self.levels).map(|r| 2 * self.numbers * leaves / 3_usize.pow(r)).sum();
        (slots + signs) as u32
    }

    fn threads(&self) -> u32 {
        self.threads as u32
    }

    fn numbers(&self) -> u32 {
        self.numbers as u32
    }
}

impl Gpu {
    /// `out_i` = the limbs of a_i·b_i that `part` asks for, a_i² without a b. `out` may be
    /// what a or b views, where that has as many limbs and is not broadcast.
    ///
    /// # Errors
    /// The device fails, or cannot compile the kernel.
    pub(super) fn karatsuba(
        &self,
        shape: &Karatsuba,
        a: Operand<'_>,
        b: Option<Operand<'_>>,
        count: usize,
        out: Cells<'_, u32>,
    ) -> Result<(), DeviceError> {
        self.karatsuba_of(shape, a.into(), b.unwrap_or(a).into(), count, out)
    }

    /// The same of numbers anywhere in memory; results are side by side from `out` on.
    ///
    /// # Errors
    /// As above.
    ///
    /// # Panics
    /// If numbers are not of the shape, there are not `count`, or there is no room for the results.
    pub(super) fn karatsuba_of(
        &self,
        shape: &Karatsuba,
        a: Numbers<'_>,
        b: Numbers<'_>,
        count: usize,
        out: Cells<'_, u32>,
    ) -> Result<(), DeviceError> {
        let limbs = [shape.a_limbs, shape.b_limbs.unwrap_or(shape.a_limbs)];
        assert_eq!([a.limbs, b.limbs], limbs, "limbs of factors");
        [a, b].iter().for_each(|numbers| numbers.assert_holds(count));
        assert_room("products", out.len(), count * shape.part.limbs(limbs[0], limbs[1]).1);
        let args = [a.pointer(), b.pointer(), out.into(), a.stride.into(), b.stride.into()];
        // SAFETY: there are so many factors of the shape's limbs, and room for the results.
        unsafe { self.launch(shape, count, &args) }
    }
}
