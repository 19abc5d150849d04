//! Products on a device by some levels of Karatsuba's identity. Single threads compute the products
//! of the lowest level in their registers.

use warpint_device::{DeviceError, Source, common};

use super::product::{Factors, Product};
use super::{Gpu, Part, Shape, occupancy};

/// A version of the kernel `karatsuba.cu`, compiled for given lengths of the factors and a given
/// number of levels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Karatsuba {
    product: Product,
    levels: u32,
    leaf: usize,
    numbers: usize,
    threads: usize,
    blocks: usize,
}

/// The largest number of limbs of a factor for which the factors and sums of a product fit in the
/// registers of one thread.
const MAX_LEAF: usize = 40;

/// The largest number of levels for which the operands and products of all levels fit in shared
/// memory.
pub(super) const MAX_LEVELS: u32 = 5;

impl Karatsuba {
    /// Returns the version for factors of `a_limbs` and `b_limbs` limbs (`None` for a square).
    /// Returns `None` if `levels` exceeds 5, or if the factors of the lowest level would be empty
    /// or too long for the registers of a thread.
    #[must_use]
    pub fn new(part: Part, a_limbs: usize, b_limbs: Option<usize>, levels: u32) -> Option<Self> {
        let limbs = a_limbs.max(b_limbs.unwrap_or(0));
        let leaf = limbs.div_ceil(1 << levels.min(MAX_LEVELS)).next_multiple_of(4);
        if levels > MAX_LEVELS || !(1..=MAX_LEAF).contains(&leaf) || limbs >> levels == 0 {
            return None;
        }
        let leaves = 3_usize.pow(levels);
        // Registers per thread, as the compiler needs them; a multiprocessor has 65,536.
        let registers = match leaf {
            0..=8 => 48,
            9..=16 => 64,
            17..=24 => 96,
            25..=32 => 128,
            _ => 168,
        };
        // Small blocks spend less time at barriers; 81 leaves fill more of a larger block. For
        // lower halves, whole warps compute full products and others halves of products.
        let threads = match levels {
            1 if part == Part::Low && b_limbs.is_some() => 96,
            0..=3 => 128,
            _ => 256,
        };
        let numbers = (threads / leaves).max(1);
        let blocks = occupancy::blocks(registers, threads);
        let product = Product { part, a_limbs, b_limbs };
        Some(Self { product, levels, leaf, numbers, threads, blocks })
    }

    /// Returns the number of limbs of a factor of the lowest level. One thread computes each
    /// product of that level.
    #[must_use]
    pub fn leaf(&self) -> usize {
        self.leaf
    }
}

impl Shape for Karatsuba {
    fn source(&self) -> Result<Source, DeviceError> {
        let (product, (first, _)) = (self.product, self.product.computed());
        let is_part = |part| !product.is_square() && product.part == part;
        let low = is_part(Part::Low) && self.levels <= 1;
        let high = is_part(Part::High) && self.levels == 0 && first > 1;
        let text = include_str!("../../kernels/product/karatsuba.cu");
        let source = Source::new("karatsuba.cu", text, &["karatsuba"])
            .headers(common::HEADERS)
            .header("limbs.cuh", include_str!("../../kernels/common/limbs.cuh"))
            .header("quad.cuh", include_str!("../../kernels/common/quad.cuh"));
        Ok(product
            .define(source)
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
    /// Computes the limbs of a_i·b_i that the shape selects. The results may be written to the
    /// memory of an operand that is not broadcast and has as many limbs as a result.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    ///
    /// # Panics
    /// If the factors do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
    pub(super) fn karatsuba(&self, shape: &Karatsuba, of: Factors<'_>) -> Result<(), DeviceError> {
        shape.product.assert_fits(&of);
        let Factors { a, b, count, out } = of;
        let args = [a.pointer(), b.pointer(), out.into(), a.stride.into(), b.stride.into()];
        // SAFETY: `count` factors have the shape's limbs, and the results fit.
        unsafe { self.launch(shape, count, &args) }
    }
}
