//! Greatest common divisors on a device.

#[cfg(test)]
pub(super) mod tests;

use warpint_device::{Cells, DeviceError, Source, assert_room};

use super::memory::{Numbers, fits};
use super::method::no_method;
use super::split::{EXCHANGED, InLanes, OF_BLOCKS, Split, fitting};
use super::{Gpu, Operand, Results};

/// A version of the kernel `gcd.cu`, compiled for operands of given numbers of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Gcd {
    a_limbs: usize,
    b_limbs: usize,
    /// How numbers are split among lanes, in limbs of 30 bits.
    split: Split,
}

/// The largest number of 30-bit limbs of each number in the registers of a lane, if a number has 32
/// or 512 lanes.
const MAX_LIMBS: usize = 72;

/// The largest number of 30-bit limbs per lane for all other numbers of lanes. Numbers for which a
/// lane would have more limbs are split among more lanes.
const FEW_LIMBS: usize = 36;

impl Gcd {
    /// Returns the version for operands of `a_limbs` and `b_limbs` limbs. Returns `None` if the
    /// operands do not fit in the registers of a block, or need more than `shared_memory` bytes of
    /// shared memory. Operands of 2^20 bits need 140 KiB.
    #[must_use]
    pub fn new(a_limbs: usize, b_limbs: usize, shared_memory: u32) -> Option<Self> {
        let of_lanes = |lanes| Self::of_lanes(a_limbs, b_limbs, lanes);
        let most = |lanes| if [32, 512].contains(&lanes) { MAX_LIMBS } else { FEW_LIMBS };
        fitting(&OF_BLOCKS, of_lanes, most, shared_memory.saturating_sub(EXCHANGED))
    }

    /// Returns the versions with `lanes` lanes per number, those with the larger blocks first. With
    /// more than 32 lanes, a block has one number.
    fn of_lanes(a_limbs: usize, b_limbs: usize, lanes: usize) -> impl Iterator<Item = Self> {
        // One more bit for the sign.
        let all = 32 * a_limbs.max(b_limbs) / 30 + 1;
        let limbs = all.div_ceil(lanes).max(2);
        Split::of_lanes(lanes, limbs).map(move |split| Self { a_limbs, b_limbs, split })
    }

    fn wide(&self) -> usize {
        self.a_limbs.max(self.b_limbs)
    }
}

impl InLanes for Gcd {
    const REGISTERS: [(usize, usize); 5] = [(12, 64), (20, 80), (28, 104), (36, 128), (52, 168)];

    fn split(&self) -> Split {
        self.split
    }

    fn file(&self) -> Source {
        Source::new("gcd.cu", include_str!("../../../kernels/gcd/gcd.cu"), &["gcd"])
            .header("division_steps.cuh", include_str!("../../../kernels/gcd/division_steps.cuh"))
            .define("A_LIMBS", self.a_limbs)
            .define("B_LIMBS", self.b_limbs)
    }

    fn words(&self) -> usize {
        let (limbs, wide) = (self.split.lanes * self.split.limbs + 2, self.wide());
        if self.split.lanes > 32 { limbs } else { (limbs + wide).max(2 * wide + 4) | 1 }
    }
}

impl Gpu {
    /// Computes `out_i` = gcd(a_i, b_i), with as many limbs as the wider operand; gcd(0, 0) = 0.
    /// `out` may be the memory of an operand that is not broadcast and has as many limbs as the
    /// results. Asynchronous: returns before the device has finished.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn gcd<'a>(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: impl Into<Cells<'a, u32>>,
    ) -> Result<(), DeviceError> {
        let out = out.into();
        fits(count, &[a, b], Results::new(out, a.limbs.max(b.limbs)))?;
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Gcd::new(a.limbs, b.limbs, shared_memory).ok_or_else(no_method)?;
        self.gcd_by_steps(&shape, a, b, count, out)
    }

    /// Like [`Self::gcd`], with a given shape.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    ///
    /// # Panics
    /// If the operands do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
    pub(super) fn gcd_by_steps(
        &self,
        shape: &Gcd,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: Cells<'_, u32>,
    ) -> Result<(), DeviceError> {
        assert_eq!([a.limbs, b.limbs], [shape.a_limbs, shape.b_limbs], "limbs of operands");
        [a, b].iter().for_each(|&a| Numbers::from(a).assert_holds(count));
        assert_room("divisors", out.len(), count * shape.wide());
        let args = [a.data.into(), b.data.into(), out.into(), a.stride().into(), b.stride().into()];
        // SAFETY: `count` operands have the shape's limbs, and as many divisors fit.
        unsafe { self.launch(shape, count, &args) }
    }
}
