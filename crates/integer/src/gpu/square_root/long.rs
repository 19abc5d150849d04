//! Square roots of long numbers from those of their upper halves, by divisions and squares of the whole
//! batch (Zimmermann 1999, Karatsuba square root). The kernels tell why that is exact.
//!
//! The last level needs no remainder of its division: the root, which may be 1 too large, is shifted down
//! to what it is of a, and its square tells the rest.

use warpint_device::{Arg, Buffer, DeviceError};

use super::plan::Plan;
use super::rows::{Kernel, RootRows};
use super::{RootViews, SquareRoot, SquareRoots};
use crate::gpu::divide::slice;
use crate::gpu::method::no_method;
use crate::gpu::{Gpu, Operand, Part, Quotients, View};

/// Memory for some numbers.
struct Space {
    count: usize,
    /// a·2^(2t) of twice as many limbs as a root.
    aligned: Buffer<u32>,
    /// What is divided; at last the roots of a.
    dividend: Buffer<u32>,
    /// Quotients; at last what the roots leave.
    quotient: Buffer<u32>,
    square: Buffer<u32>,
    remainder: Buffer<u32>,
    lower: Buffer<u32>,
    /// Of one level and of the next.
    roots: [Buffer<u32>; 2],
    rests: [Buffer<u32>; 2],
}

impl Space {
    fn new(gpu: &Gpu, plan: &Plan, count: usize) -> Result<Self, DeviceError> {
        let whole = plan.root();
        let rows = |limbs: usize| gpu.device().alloc(count * limbs);
        Ok(Self {
            count,
            aligned: rows(2 * whole)?,
            dividend: rows(whole)?,
            quotient: rows(whole)?,
            square: rows(2 * whole)?,
            remainder: rows(whole / 2)?,
            lower: rows(whole / 2)?,
            roots: [rows(whole / 2)?, rows(whole / 2)?],
            rests: [rows(whole / 2 + 4)?, rows(whole / 2 + 4)?],
        })
    }
}

/// Square roots of some numbers on their way.
struct Long<'a> {
    gpu: &'a Gpu,
    plan: Plan,
    space: &'a Space,
    count: usize,
    lengths: View,
}

/// Numbers of so many limbs, side by side.
fn rows(data: &Buffer<u32>, limbs: usize) -> View {
    View { address: data.address(), stride: limbs as u64, limbs }
}

impl Gpu {
    /// As [`Gpu::square_root`] by a plan.
    ///
    /// # Errors
    /// The device fails, cannot compile a kernel, or has no method for such numbers.
    pub(super) fn root_by_halves(
        &self,
        plan: &Plan,
        a: Operand<'_>,
        count: usize,
        to: SquareRoots<'_>,
    ) -> Result<(), DeviceError> {
        let bytes = plan.words() * size_of::<u32>();
        let most = slice(count, bytes, self.device().memory()?.0);
        self.root_in_slices(plan, a, count, to, most)
    }

    /// The same, at most so many numbers at a time.
    ///
    /// # Errors
    /// As [`Self::root_by_halves`].
    pub(super) fn root_in_slices(
        &self,
        plan: &Plan,
        a: Operand<'_>,
        count: usize,
        to: SquareRoots<'_>,
        most: usize,
    ) -> Result<(), DeviceError> {
        let lengths = self.device().alloc::<u32>(count)?;
        self.bit_lengths(a, count, &lengths)?;
        let space = Space::new(self, plan, most)?;
        for first in (0..count).step_by(space.count) {
            let count = space.count.min(count - first);
            let lengths = rows(&lengths, 1).from(first);
            let long = Long { gpu: self, plan: *plan, space: &space, count, lengths };
            let a: View = a.into();
            let a = a.from(first);
            long.align(a)?;
            long.upper()?;
            for level in 0..plan.levels {
                long.level(level)?;
            }
            long.last(a, first, to)?;
        }
        Ok(())
    }
}

impl Long<'_> {
    fn launch(&self, kernel: Kernel, limbs: usize, args: &[Arg]) -> Result<(), DeviceError> {
        self.gpu.launch(&RootRows::new(kernel, limbs), self.count, args)
    }

    /// Limbs of the roots that a level begins with.
    fn half(&self, level: u32) -> usize {
        self.plan.base << level
    }

    /// So many limbs of the aligned numbers, above which there are `above`.
    fn aligned(&self, above: usize, limbs: usize) -> View {
        let whole = 2 * self.plan.root();
        rows(&self.space.aligned, whole).part(whole - above - limbs, limbs)
    }

    fn root(&self, level: u32) -> &Buffer<u32> {
        &self.space.roots[level as usize % 2]
    }

    /// What roots of a level leave, with one limb more and places to a multiple of 4.
    fn rest(&self, level: u32) -> View {
        rows(&self.space.rests[level as usize % 2], self.half(level) + 4)
    }

    fn align(&self, a: View) -> Result<(), DeviceError> {
        let whole = 2 * self.plan.root();
        let args = [
            a.pointer(),
            a.stride.into(),
            Arg::U32(a.limbs as u32),
            self.lengths.pointer(),
            (&self.space.aligned).into(),
            Arg::U32(whole as u32),
        ];
        self.launch(Kernel::Align, whole, &args)
    }

    /// The first roots, of the highest limbs.
    fn upper(&self) -> Result<(), DeviceError> {
        let info = self.gpu.device().info();
        let base = self.plan.base;
        let shape = SquareRoot::new(2 * base, info.shared_memory_per_block);
        let shape = shape.ok_or_else(no_method)?.spread(self.count, info.multiprocessors);
        let to = RootViews { root: rows(self.root(0), base), remainder: self.rest(0) };
        self.gpu.root_by_limbs(&shape, self.aligned(0, 2 * base), to, self.count)
    }

    /// Roots of twice as many limbs; of the last level one that may be 1 too large, shifted down.
    fn level(&self, level: u32) -> Result<(), DeviceError> {
        let Space { dividend, quotient, square, remainder, lower, .. } = self.space;
        let (half, is_last) = (self.half(level), level + 1 == self.plan.levels);
        let (rest, roots, limbs) = (self.rest(level), self.root(level), Arg::U32(half as u32));
        let next = self.aligned(2 * half, half);
        let args = [
            rest.pointer(),
            rest.stride.into(),
            next.pointer(),
            next.stride.into(),
            roots.into(),
            dividend.into(),
            limbs,
        ];
        self.launch(Kernel::Dividend, 2 * half, &args)?;
        let of = |data, limbs| Operand { data, limbs, broadcast: false };
        let to = Quotients {
            quotient: Some(quotient),
            remainder: (!is_last).then_some(remainder),
            ..Quotients::default()
        };
        self.gpu.divide(of(dividend, 2 * half), of(roots, half), self.count, to)?;
        let (kernel, out) =
            if is_last { (Kernel::Candidate, dividend) } else { (Kernel::Lower, lower) };
        let args = [
            quotient.into(),
            rest.pointer(),
            rest.stride.into(),
            roots.into(),
            self.lengths.pointer(),
            out.into(),
            limbs,
        ];
        self.launch(kernel, 2 * half, &args)?;
        if is_last {
            return self.gpu.square(Part::Full, of(dividend, 2 * half), self.count, square);
        }
        self.gpu.square(Part::Full, of(lower, half), self.count, square)?;
        let (next, left) = (self.aligned(3 * half, half), self.rest(level + 1));
        let args = [
            remainder.into(),
            next.pointer(),
            next.stride.into(),
            roots.into(),
            lower.into(),
            square.into(),
            quotient.into(),
            rest.pointer(),
            rest.stride.into(),
            left.pointer(),
            left.stride.into(),
            self.root(level + 1).into(),
            limbs,
        ];
        self.launch(Kernel::Settle, 2 * half, &args)
    }

    /// Roots and what they leave, from number `first` on.
    fn last(&self, a: View, first: usize, to: SquareRoots<'_>) -> Result<(), DeviceError> {
        let limbs = a.limbs.div_ceil(2);
        let pointer = |data: Option<&Buffer<u32>>, limbs: usize| match data {
            Some(data) => rows(data, limbs).from(first).pointer(),
            None => Arg::Pointer(0),
        };
        let args = [
            a.pointer(),
            a.stride.into(),
            Arg::U32(a.limbs as u32),
            (&self.space.dividend).into(),
            Arg::U32(self.plan.root() as u32),
            (&self.space.square).into(),
            (&self.space.quotient).into(),
            pointer(to.root, limbs),
            pointer(to.remainder, limbs + 1),
            Arg::U32(limbs as u32),
        ];
        self.launch(Kernel::Last, limbs, &args)
    }
}
