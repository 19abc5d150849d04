//! Quotients and remainders on a device.

mod long;
mod plan;
mod rows;
#[cfg(test)]
mod tests;

use warpint_device::{Arg, Buffer, Cells, DeviceError, Source, assert_room};

pub(super) use self::long::{Space, slice};
pub(super) use self::plan::Costs;
pub(super) use self::rows::RowShape;
use super::memory::{Numbers, Places, has, operands_fit, pointer};
use super::method::no_method;
use super::split::{InLanes, OF_WARPS, Split, even_share, fitting};
use super::{Gpu, Operand};

/// A version of the kernel `divide.cu`, compiled for given numbers of limbs and given results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Divide {
    u_limbs: usize,
    v_limbs: usize,
    quotient: bool,
    remainder: bool,
    exact: bool,
    /// Whether the kernel divides parts of longer numbers. A quotient then has `u_limbs` −
    /// `v_limbs` limbs, and one more limb, its overflow, in separate memory.
    window: bool,
    /// How a divisor is split among lanes.
    split: Split,
}

/// Memory for the requested results of a division; at least one is requested.
#[derive(Debug, Default)]
pub struct Quotients<'a> {
    /// Memory for ⌊u/v⌋, with as many limbs as u.
    pub quotient: Option<&'a mut Buffer<u32>>,
    /// Memory for u mod v, with as many limbs as v.
    pub remainder: Option<&'a mut Buffer<u32>>,
    /// Memory for the flags. Where v is 0, the flag is 1 and the results are 0.
    pub flags: Option<&'a mut Buffer<u8>>,
    /// Whether the flag is also 1, and the results 0, where v does not divide u.
    pub exact: bool,
}

/// The largest number of limbs of a divisor, and of a remainder, in the registers of a lane, if a
/// number has 32 lanes.
const MAX_LIMBS: usize = 64;

/// The largest number of limbs per lane if a number has fewer than 32 lanes. Longer numbers are
/// split among more lanes.
const FEW_LIMBS: usize = 32;

/// Dividends of at most this number of limbs are divided by `divide.cu` alone if it supports the
/// divisors.
const SHORT: usize = 256;

impl Divide {
    /// Returns the version for dividends of `u_limbs` limbs and divisors of `v_limbs` limbs.
    /// Returns `None` if a divisor does not fit in the registers of a warp, or if a dividend and a
    /// divisor together do not fit in `shared_memory` bytes of shared memory per block.
    #[must_use]
    pub fn new(u_limbs: usize, v_limbs: usize, shared_memory: u32) -> Option<Self> {
        let of_lanes = |lanes| {
            let limbs = match lanes {
                1 => v_limbs.next_multiple_of(2).max(2),
                _ => even_share(v_limbs, lanes),
            };
            Split::of_lanes(lanes, limbs).map(move |split| Self {
                u_limbs,
                v_limbs,
                quotient: true,
                remainder: true,
                exact: false,
                window: false,
                split,
            })
        };
        let most = |lanes| if lanes == 32 { MAX_LIMBS } else { FEW_LIMBS };
        fitting(&OF_WARPS, of_lanes, most, shared_memory)
    }

    /// Returns the version of the same shape that divides parts of longer numbers.
    pub(super) fn of_windows(self) -> Self {
        Self { window: true, ..self }
    }

    /// Returns a version with more lanes per number if `count` numbers are too few to keep a device
    /// of `multiprocessors` multiprocessors busy.
    fn spread(self, count: usize, multiprocessors: u32) -> Self {
        Self { split: self.split.spread(self.v_limbs, count, multiprocessors), ..self }
    }
}

impl InLanes for Divide {
    const REGISTERS: [(usize, usize); 5] = [(8, 64), (16, 80), (24, 104), (32, 128), (48, 168)];

    fn split(&self) -> Split {
        self.split
    }

    fn file(&self) -> Source {
        let text = include_str!("../../../kernels/division/divide.cu");
        Source::new("divide.cu", text, &["divide"])
            .header("digits.cuh", include_str!("../../../kernels/common/digits.cuh"))
            .define("U_LIMBS", self.u_limbs)
            .define("V_LIMBS", self.v_limbs)
            .define("QUOTIENT", u32::from(self.quotient))
            .define("REMAINDER", u32::from(self.remainder))
            .define("EXACT", u32::from(self.exact))
            .define("WINDOW", u32::from(self.window))
    }

    fn words(&self) -> usize {
        (self.split.lanes * self.split.limbs + self.u_limbs) | 1
    }
}

/// The operands and results of `divide.cu` for divisions of parts of longer numbers. Divisors have
/// their highest bit set, and remainders overwrite the lower limbs of dividends.
#[derive(Debug, Clone, Copy)]
struct Windows<'a> {
    dividends: Places<'a>,
    divisors: Numbers<'a>,
    quotients: Places<'a>,
    /// Memory for one overflow limb per quotient; `None` if no quotient can overflow.
    overflows: Option<Cells<'a, u32>>,
}

impl Gpu {
    /// Computes ⌊u_i/v_i⌋ and u_i mod v_i for `count` numbers.
    ///
    /// With divisors of up to a few hundred limbs, costs O(l·m) for quotients of l limbs and
    /// divisors of m limbs, and is asynchronous. With longer divisors, first waits for the device,
    /// which computes the bit lengths of the numbers. The division then costs a few times as much
    /// as products of the length of the divisors (Burnikel and Ziegler 1998, Fast recursive
    /// division).
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn divide(
        &self,
        u: Operand<'_>,
        v: Operand<'_>,
        count: usize,
        to: Quotients<'_>,
    ) -> Result<(), DeviceError> {
        operands_fit(count, &[u, v])?;
        for (data, limbs) in [(&to.quotient, u.limbs), (&to.remainder, v.limbs)] {
            data.as_ref().map_or(Ok(()), |data| has(data.len(), count, limbs))?;
        }
        to.flags.as_ref().map_or(Ok(()), |flags| has(flags.len(), count, 1))?;
        if count == 0 {
            return Ok(());
        }
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Divide::new(u.limbs, v.limbs, shared_memory);
        let plan = |divisor, quotient| self.plan(shape.as_ref(), u, v, divisor, quotient);
        // Whether blocks can be cheaper, for full divisors or for those half as long as the
        // dividends.
        let half = v.limbs.min(u.limbs.div_ceil(2));
        let may_gain = |divisor| plan(divisor, u.limbs.saturating_sub(divisor)).is_some();
        match shape {
            Some(shape) if u.limbs <= SHORT || !(may_gain(v.limbs) || may_gain(half)) => {
                let shape = shape.spread(count, self.device().info().multiprocessors);
                self.divide_by_limbs(&shape, u, v, count, to)
            }
            _ => self.divide_in_blocks(u, v, count, to, plan),
        }
    }

    /// Returns `a_i` mod `m_i` if a has more limbs than m. Otherwise returns `None`.
    ///
    /// # Errors
    /// The errors of [`Self::divide`].
    pub(super) fn folded(
        &self,
        a: Operand<'_>,
        m: Operand<'_>,
        count: usize,
    ) -> Result<Option<Buffer<u32>>, DeviceError> {
        if a.limbs <= m.limbs {
            return Ok(None);
        }
        let mut folded = self.device().alloc(count * m.limbs)?;
        let to = Quotients { remainder: Some(&mut folded), ..Quotients::default() };
        self.divide(a, m, count, to)?;
        Ok(Some(folded))
    }

    /// Like [`Self::divide`], but by `divide.cu` alone.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    ///
    /// # Panics
    /// If the operands do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
    pub(super) fn divide_by_limbs(
        &self,
        shape: &Divide,
        u: Operand<'_>,
        v: Operand<'_>,
        count: usize,
        to: Quotients<'_>,
    ) -> Result<(), DeviceError> {
        assert_eq!([u.limbs, v.limbs], [shape.u_limbs, shape.v_limbs], "limbs of operands");
        [u, v].iter().for_each(|&a| Numbers::from(a).assert_holds(count));
        for (data, limbs) in [(&to.quotient, u.limbs), (&to.remainder, v.limbs)] {
            data.as_ref().inspect(|data| assert_room("results", data.len(), count * limbs));
        }
        to.flags.as_ref().inspect(|flags| assert_room("flags", flags.len(), count));
        let (quotient, remainder) = (to.quotient.is_some(), to.remainder.is_some());
        let shape = Divide { quotient, remainder, exact: to.exact, ..*shape };
        let args = [
            u.data.into(),
            v.data.into(),
            pointer(to.quotient),
            pointer(to.remainder),
            pointer(to.flags),
            Arg::NULL,
            u.stride().into(),
            v.stride().into(),
            Arg::U64(u.limbs as u64),
            Arg::U64(v.limbs as u64),
        ];
        // SAFETY: `count` operands have the shape's limbs, and the results fit.
        unsafe { self.launch(&shape, count, &args) }
    }

    /// Like [`Self::divide_by_limbs`], but for parts of longer numbers.
    ///
    /// # Errors
    /// The device fails, the kernel cannot be compiled, or no method supports numbers of these
    /// lengths.
    ///
    /// # Panics
    /// If a quotient and a divisor together do not have as many limbs as a dividend, a buffer has
    /// fewer than `count` numbers, or numbers are not aligned.
    fn divide_windows(&self, of: Windows<'_>, count: usize) -> Result<(), DeviceError> {
        let Windows { dividends: u, divisors: v, quotients: q, overflows } = of;
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Divide::new(u.limbs, v.limbs, shared_memory).ok_or_else(no_method)?;
        let shape = shape.spread(count, self.device().info().multiprocessors);
        assert_eq!(q.limbs + v.limbs, u.limbs, "limbs of a window");
        [u, q].iter().for_each(|places| places.assert_holds(count));
        v.assert_holds(count);
        overflows.inspect(|overflows| assert_room("overflows", overflows.len(), count));
        let args = [
            u.pointer(),
            v.pointer(),
            q.pointer(),
            u.pointer(),
            Arg::NULL,
            pointer(overflows),
            u.stride.into(),
            v.stride.into(),
            q.stride.into(),
            u.stride.into(),
        ];
        // SAFETY: `count` windows, divisors and quotients have the shape's limbs. Remainders
        // overwrite dividends, which are read before.
        unsafe { self.launch(&shape.of_windows(), count, &args) }
    }
}
