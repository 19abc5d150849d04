//! Modular inverses, and cofactors of greatest common divisors, on a device.

#[cfg(test)]
mod tests;

use warpint_device::{Buffer, Cells, DeviceError, Source, assert_room};

use super::memory::{Numbers, fits, has, pointer};
use super::method::no_method;
use super::split::{EXCHANGED, InLanes, OF_BLOCKS, Split, fitting};
use super::{Gpu, Operand, Part, Quotients, Results, Sum};

/// A version of the kernel `inverse.cu`, compiled for operands of given numbers of limbs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Inverse {
    a_limbs: usize,
    b_limbs: usize,
    /// Whether cofactors of greatest common divisors are computed.
    cofactors: bool,
    /// How numbers are split among lanes, in limbs of 30 bits.
    split: Split,
}

/// The largest number of 30-bit limbs per lane if a number has 512 lanes, the largest block. The
/// kernel keeps four such numbers. Limbs that do not fit in registers are in local memory.
const MAX_LIMBS: usize = 72;

/// The largest number of 30-bit limbs per lane if a number has 32 lanes, which are one warp. The
/// kernel keeps four such numbers.
const MAX_LIMBS_OF_WARPS: usize = 36;

/// The largest number of 30-bit limbs per lane for all other numbers of lanes. Numbers for which a
/// lane would have more limbs are split among more lanes.
const FEW_LIMBS: usize = 18;

/// Memory for the results of [`Gpu::gcd_ext`] for `count` pairs a and b.
#[derive(Debug)]
pub struct Cofactors<'a> {
    /// Memory for g = gcd(a, b), with as many limbs as the wider of a and b.
    pub gcd: &'a mut Buffer<u32>,
    /// Memory for |x|, with as many limbs as b.
    pub x: &'a mut Buffer<u32>,
    /// Memory for |y|, with as many limbs as a.
    pub y: &'a mut Buffer<u32>,
    /// Memory for the sign of x: 1 where x < 0, otherwise 0.
    pub x_negative: &'a mut Buffer<u8>,
    /// Memory for the sign of y: 1 where y < 0, otherwise 0.
    pub y_negative: &'a mut Buffer<u8>,
}

/// Memory for the outputs of `inverse.cu`.
#[derive(Debug, Clone, Copy)]
struct Outputs<'a> {
    /// The inverses, with as many limbs as the modulus, or the cofactors, with as many limbs as the
    /// wider operand.
    out: Cells<'a, u32>,
    /// The greatest common divisors; `None` for inverses.
    gcds: Option<Cells<'a, u32>>,
    /// The flags of numbers without an inverse; `None` for cofactors.
    flags: Option<Cells<'a, u8>>,
    /// One byte per number, which says how to complete the result for this number: see the comment
    /// of the kernel `inverse.cu`.
    kinds: Cells<'a, u8>,
    /// One word, initially 0, which becomes nonzero if some number has an inverse modulo an even
    /// modulus. `None` for cofactors.
    evens: Option<Cells<'a, u32>>,
}

impl Inverse {
    /// Returns the version for inverses of numbers of `a_limbs` limbs modulo numbers of `m_limbs`
    /// limbs. Returns `None` if `a_limbs` exceeds `m_limbs`, or if the numbers are too long for a
    /// block with `shared_memory` bytes of shared memory: 2^18 bits need 37 KiB, and 2^20 bits need
    /// 140 KiB.
    #[must_use]
    pub fn new(a_limbs: usize, m_limbs: usize, shared_memory: u32) -> Option<Self> {
        Self::fitting(a_limbs, m_limbs, false, shared_memory).filter(|_| a_limbs <= m_limbs)
    }

    /// Returns the version for cofactors of numbers of `a_limbs` and `b_limbs` limbs. Returns
    /// `None` if the numbers are too long for a block. The limits are described at [`Self::new`].
    #[must_use]
    pub fn with_cofactors(a_limbs: usize, b_limbs: usize, shared_memory: u32) -> Option<Self> {
        Self::fitting(a_limbs, b_limbs, true, shared_memory)
    }

    fn fitting(
        a_limbs: usize,
        b_limbs: usize,
        cofactors: bool,
        shared_memory: u32,
    ) -> Option<Self> {
        let of_lanes = |lanes| Self::of_lanes(a_limbs, b_limbs, cofactors, lanes);
        let most = |lanes| match lanes {
            32 => MAX_LIMBS_OF_WARPS,
            512 => MAX_LIMBS,
            _ => FEW_LIMBS,
        };
        fitting(&OF_BLOCKS, of_lanes, most, shared_memory.saturating_sub(EXCHANGED))
    }

    /// Returns the versions with `lanes` lanes per number, those with the larger blocks first. With
    /// more than 32 lanes, a block has one number.
    fn of_lanes(
        a_limbs: usize,
        b_limbs: usize,
        cofactors: bool,
        lanes: usize,
    ) -> impl Iterator<Item = Self> {
        // As the static_assert of inverse.cu: d and e grow by the modulus with every matrix.
        let bits = 32 * a_limbs.max(b_limbs);
        let rounds = bits / 10 + 2;
        let all = (bits + 2 + rounds.ilog2() as usize).div_ceil(30);
        let limbs = all.div_ceil(lanes).max(2);
        let of = move |split| Self { a_limbs, b_limbs, cofactors, split };
        Split::of_lanes(lanes, limbs).map(of)
    }

    fn wide(&self) -> usize {
        self.a_limbs.max(self.b_limbs)
    }
}

impl InLanes for Inverse {
    const REGISTERS: [(usize, usize); 5] = [(3, 64), (6, 80), (12, 104), (18, 128), (28, 168)];

    fn split(&self) -> Split {
        self.split
    }

    fn file(&self) -> Source {
        Source::new("inverse.cu", include_str!("../../../kernels/gcd/inverse.cu"), &["inverse"])
            .header("division_steps.cuh", include_str!("../../../kernels/gcd/division_steps.cuh"))
            .define("A_LIMBS", self.a_limbs)
            .define("B_LIMBS", self.b_limbs)
            .define("COFACTORS", u32::from(self.cofactors))
    }

    fn words(&self) -> usize {
        self.split.lanes * self.split.limbs + 2
    }
}

/// Returns the operand of contiguous numbers of `limbs` limbs in `data`.
fn numbers(data: &Buffer<u32>, limbs: usize) -> Operand<'_> {
    Operand::new(data, limbs, false)
}

impl Gpu {
    /// Computes `out_i` = a_i^(−1) mod m_i, with as many limbs as m. Where no inverse exists, since
    /// m_i = 0 or gcd(a_i, m_i) > 1, the result is 0 and the flag is 1. Modulo 1 the inverse is 0.
    ///
    /// Inverses modulo odd numbers are computed by division steps (Bernstein and Yang 2019). If
    /// some number has an inverse modulo an even modulus, a product and its quotient by a are also
    /// computed for every number of the batch. Waits for the device.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn inverse(
        &self,
        a: Operand<'_>,
        m: Operand<'_>,
        count: usize,
        out: &mut Buffer<u32>,
        is_none: &mut Buffer<u8>,
    ) -> Result<(), DeviceError> {
        let results = Results::new(out, m.limbs);
        fits(count, &[a, m], results)?;
        has(is_none.len(), count, 1)?;
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Inverse::new(a.limbs.min(m.limbs), m.limbs, shared_memory);
        let shape = shape.ok_or_else(no_method)?;
        self.inverse_by_steps(&shape, a, m, count, results, is_none)
    }

    /// Like [`Self::inverse`], with a given shape.
    ///
    /// # Errors
    /// The errors of [`Self::inverse`].
    ///
    /// # Panics
    /// If the operands do not match the shape, or a buffer has fewer than `count` numbers.
    fn inverse_by_steps(
        &self,
        shape: &Inverse,
        a: Operand<'_>,
        m: Operand<'_>,
        count: usize,
        out: Results<'_>,
        is_none: &mut Buffer<u8>,
    ) -> Result<(), DeviceError> {
        if count == 0 {
            return Ok(());
        }
        let device = self.device();
        let folded = self.folded(a, m, count)?;
        let a = folded.as_ref().map_or(a, |data| numbers(data, m.limbs));
        let mut kinds = device.alloc::<u8>(count)?;
        let mut evens = device.alloc::<u32>(1)?;
        evens.clear()?;
        let to = Outputs {
            out: out.data,
            gcds: None,
            flags: Some(is_none.cells(..)),
            kinds: kinds.cells(..),
            evens: Some(evens.cells(..)),
        };
        self.launch_steps(shape, a, m, count, to)?;
        if evens.download()? == [0] {
            return Ok(());
        }
        // d·m − n·a = 1: the inverse is m − n.
        let rest = out.operand();
        let mut d = device.alloc(count * m.limbs)?;
        self.add(Sum::Subtract, a, rest, count, Results::new(&mut d, m.limbs), None)?;
        let n = self.other_cofactor(&d, a, m, count)?;
        let less = Numbers::new(n.view(..), 2 * m.limbs).part(0, m.limbs);
        self.sum_of(Sum::Subtract, [m.into(), less], count, Results::new(&mut d, m.limbs), None)?;
        self.select(rest, numbers(&d, m.limbs), &kinds, count, out)
    }

    /// Computes g_i = gcd(a_i, b_i) = x_i·a_i + y_i·b_i. Of all possible x_i, computes the one with
    /// the least absolute value. If two possible x_i have this absolute value, computes the
    /// positive one. For b_i = 0, x_i is 1 if a_i ≠ 0, and 0 otherwise.
    ///
    /// Computes g and one cofactor, modulo a or b, by division steps (Bernstein and Yang 2019), and
    /// the rest by three quotients, a remainder and a product. Needs temporary memory for ten
    /// numbers of the larger width per pair.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, the kernel cannot be compiled, or
    /// no method supports numbers of these lengths.
    pub fn gcd_ext(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        to: Cofactors<'_>,
    ) -> Result<(), DeviceError> {
        let shared_memory = self.device().info().shared_memory_per_block;
        let shape = Inverse::with_cofactors(a.limbs, b.limbs, shared_memory);
        self.gcd_ext_by_steps(&shape.ok_or_else(no_method)?, a, b, count, to)
    }

    /// Like [`Self::gcd_ext`], with a given shape.
    ///
    /// # Errors
    /// The errors of [`Self::gcd_ext`].
    ///
    /// # Panics
    /// If the operands do not match the shape.
    fn gcd_ext_by_steps(
        &self,
        shape: &Inverse,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        to: Cofactors<'_>,
    ) -> Result<(), DeviceError> {
        let wide = shape.wide();
        let Cofactors { gcd, x, y, x_negative, y_negative } = to;
        let (x, y) = (Results::new(x, b.limbs), Results::new(y, a.limbs));
        for out in [Results::new(&mut *gcd, wide), x, y] {
            fits(count, &[a, b], out)?;
        }
        let signs = [x_negative, y_negative];
        signs.iter().try_for_each(|signs| has(signs.len(), count, 1))?;
        if count == 0 {
            return Ok(());
        }
        let room = |limbs: usize| self.device().alloc::<u32>(count * limbs);
        let (mut rest, mut kinds) = (room(wide)?, self.device().alloc::<u8>(count)?);
        let outputs = Outputs {
            out: rest.cells(..),
            gcds: Some(gcd.cells(..)),
            flags: None,
            kinds: kinds.cells(..),
            evens: None,
        };
        self.launch_steps(shape, a, b, count, outputs)?;
        // a and b divided by their divisor: d is modulo p, and pairs with q.
        let (mut p, mut q) = (room(wide)?, room(wide)?);
        {
            let by_divisor = |x: Operand<'_>| {
                let mut quotient = room(x.limbs)?;
                let results = Quotients { quotient: Some(&mut quotient), ..Quotients::default() };
                self.divide(x, numbers(gcd, wide), count, results)?;
                Ok::<_, DeviceError>(quotient)
            };
            let (of_a, of_b) = (by_divisor(a)?, by_divisor(b)?);
            let (of_a, of_b) = (numbers(&of_a, a.limbs), numbers(&of_b, b.limbs));
            self.select(of_b, of_a, &kinds, count, Results::new(&mut p, wide))?;
            self.select(of_a, of_b, &kinds, count, Results::new(&mut q, wide))?;
        }
        let (p, q) = (numbers(&p, wide), numbers(&q, wide));
        let (mut d, mut d_less) = (room(wide)?, room(wide)?);
        let remainder = Quotients { remainder: Some(&mut d_less), ..Quotients::default() };
        self.divide(numbers(&rest, wide), p, count, remainder)?;
        let less = numbers(&d_less, wide);
        self.add(Sum::Subtract, p, less, count, Results::new(&mut d, wide), None)?;
        let n = self.other_cofactor(&d, p, q, count)?;
        let n = Numbers::new(n.view(..), 2 * wide).part(0, wide);
        let mut n_less = rest;
        self.sum_of(Sum::Subtract, [q.into(), n], count, Results::new(&mut n_less, wide), None)?;
        let all = [numbers(&d, wide).into(), less.into(), n, numbers(&n_less, wide).into()];
        self.choose_cofactors(all, &kinds, count, [x, y], signs)
    }

    /// Returns `n_i` = ⌊(d_i·q_i − 1)/p_i⌋ for d and q of l limbs each, where d_i·q_i − 1 is
    /// computed mod 2^(64·l). `n_i` has 2·l limbs.
    fn other_cofactor(
        &self,
        d: &Buffer<u32>,
        p: Operand<'_>,
        q: Operand<'_>,
        count: usize,
    ) -> Result<Buffer<u32>, DeviceError> {
        let limbs = 2 * q.limbs;
        let mut product = self.device().alloc(count * limbs)?;
        self.multiply(Part::Full, numbers(d, q.limbs), q, count, &mut product)?;
        let one = self.device().upload(&[1])?;
        let one = Operand::new(&one, 1, true);
        let less = Results::new(&mut product, limbs);
        self.add(Sum::Subtract, less.operand(), one, count, less, None)?;
        let mut n = self.device().alloc(count * limbs)?;
        let to = Quotients { quotient: Some(&mut n), ..Quotients::default() };
        self.divide(less.operand(), p, count, to)?;
        Ok(n)
    }

    /// Launches the kernel `inverse.cu`, which computes the division steps.
    ///
    /// # Panics
    /// If the operands do not match the shape, a buffer has fewer than `count` numbers, or the
    /// results do not fit.
    fn launch_steps(
        &self,
        shape: &Inverse,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        to: Outputs<'_>,
    ) -> Result<(), DeviceError> {
        let Outputs { out, gcds, flags, kinds, evens } = to;
        assert_eq!([a.limbs, b.limbs], [shape.a_limbs, shape.b_limbs], "limbs of operands");
        [a, b].iter().for_each(|&a| Numbers::from(a).assert_holds(count));
        assert_room("results", out.len(), count * shape.wide());
        assert_room("kinds", kinds.len(), count);
        let (divisors, inverses) =
            if shape.cofactors { (count * shape.wide(), 0) } else { (0, count) };
        assert_room("divisors", gcds.map_or(0, |gcds| gcds.len()), divisors);
        assert_room("flags", flags.map_or(0, |flags| flags.len()), inverses);
        assert_room("a word", evens.map_or(0, |evens| evens.len()), inverses.min(1));
        let strides = [a.stride().into(), b.stride().into()];
        let (gcds, flags, evens) = (pointer(gcds), pointer(flags), pointer(evens));
        let args = [a.data.into(), b.data.into(), out.into(), gcds, flags, kinds.into(), evens];
        // SAFETY: `count` operands have the shape's limbs, and its outputs fit.
        unsafe { self.launch(shape, count, &[&args[..], &strides].concat()) }
    }
}
