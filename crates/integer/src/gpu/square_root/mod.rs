//! Square roots on a device.

mod long;
mod plan;
mod rows;
#[cfg(test)]
mod tests;

use warpint_device::{Buffer, DeviceError, Source};

pub(super) use self::rows::RootRows;
use super::memory::{Numbers, Places, has, operands_fit, pointer};
use super::split::{InLanes, OF_WARPS, Split, even_share, fitting};
use super::{Gpu, Operand};

/// A version of the kernel `square_root.cu`, compiled for numbers of a given number of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SquareRoot {
    a_limbs: usize,
    /// How a root is split among lanes.
    split: Split,
}

/// Memory for the requested results of a square root; at least one is requested.
#[derive(Debug, Default)]
pub struct SquareRoots<'a> {
    /// Memory for s = ⌊√a⌋, with ⌈l/2⌉ limbs for l limbs of a.
    pub root: Option<&'a mut Buffer<u32>>,
    /// Memory for a − s², with one limb more than s.
    pub remainder: Option<&'a mut Buffer<u32>>,
}

/// The largest number of limbs of a root, and of a remainder, in the registers of a lane, if a
/// number has 32 lanes.
const MAX_LIMBS: usize = 64;

/// The largest number of limbs per lane if a number has fewer than 32 lanes. Longer numbers are
/// split among more lanes.
const FEW_LIMBS: usize = 32;

/// Roots of numbers of at most this number of limbs are computed by `square_root.cu` alone if it
/// supports them.
const SHORT: usize = 256;

impl SquareRoot {
    /// Returns the version for numbers of `a_limbs` limbs. Returns `None` if a root does not fit in
    /// the registers of a warp, or if a number does not fit in `shared_memory` bytes of shared
    /// memory per block.
    #[must_use]
    pub fn new(a_limbs: usize, shared_memory: u32) -> Option<Self> {
        let of_lanes = |lanes| Self::of_lanes(a_limbs, lanes);
        let most = |lanes| if lanes == 32 { MAX_LIMBS } else { FEW_LIMBS };
        fitting(&OF_WARPS, of_lanes, most, shared_memory)
    }

    /// Returns the versions with `lanes` lanes per number, those with the larger blocks first.
    fn of_lanes(a_limbs: usize, lanes: usize) -> impl Iterator<Item = Self> {
        let limbs = even_share(a_limbs.div_ceil(2), lanes);
        Split::of_lanes(lanes, limbs).map(move |split| Self { a_limbs, split })
    }

    /// Returns a version with more lanes per number if `count` numbers are too few to keep a device
    /// of `multiprocessors` multiprocessors busy.
    fn spread(self, count: usize, multiprocessors: u32) -> Self {
        let root_limbs = self.a_limbs.div_ceil(2);
        Self { split: self.split.spread(root_limbs, count, multiprocessors), ..self }
    }
}

impl InLanes for SquareRoot {
    const REGISTERS: [(usize, usize); 5] = [(8, 64), (16, 96), (24, 104), (32, 128), (48, 184)];

    fn split(&self) -> Split {
        self.split
    }

    fn file(&self) -> Source {
        let text = include_str!("../../../kernels/root/square_root.cu");
        Source::new("square_root.cu", text, &["square_root"])
            .header("digits.cuh", include_str!("../../../kernels/common/digits.cuh"))
            .define("A_LIMBS", self.a_limbs)
    }

    fn words(&self) -> usize {
        2 * self.a_limbs.div_ceil(2) + 1
    }
}

/// Memory for the requested roots and remainders, with any strides.
#[derive(Debug, Clone, Copy)]
struct RootPlaces<'a> {
    root: Option<Places<'a>>,
    remainder: Option<Places<'a>>,
}

impl Gpu {
    /// Computes s = ⌊√`a_i`⌋ and `a_i` − s² for `count` numbers.
    ///
    /// For numbers of up to a few hundred limbs, costs O(l²) for l limbs and is asynchronous. A
    /// longer root is computed from the root of the upper half of the number by a division and a
    /// square (Zimmermann 1999, Karatsuba square root). A long division waits for the device: see
    /// [`Self::divide`].
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, a kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
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

    /// Like [`Self::square_root`], but by `square_root.cu` alone, for numbers with any strides.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    ///
    /// # Panics
    /// If the numbers do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
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
        // SAFETY: `count` numbers have the shape's limbs, and the requested results fit.
        unsafe { self.launch(shape, count, &args) }
    }
}
