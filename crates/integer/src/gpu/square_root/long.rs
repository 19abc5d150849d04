//! Square roots of long numbers, computed from the roots of their upper halves by divisions and
//! squares of the whole batch (Zimmermann 1999, Karatsuba square root). A level of the computation
//! doubles the number of limbs of the roots. The comments of the kernels prove that the results are
//! exact.
//!
//! The last level needs no remainder of its division. This level computes a root of the shifted
//! number, which may be 1 too large, and shifts this root down to a root of the original number a.
//! The square of the root of a then gives the correction and the remainder.

use warpint_device::{Arg, Buffer, DeviceError, assert_room};

use super::plan::Plan;
use super::rows::{Kernel, RootRows};
use super::{RootPlaces, SquareRoot, SquareRoots};
use crate::gpu::divide::slice;
use crate::gpu::memory::{Numbers, Places, pointer};
use crate::gpu::method::no_method;
use crate::gpu::{Gpu, Operand, Part, Quotients};

/// Temporary memory for the square roots of `count` numbers at a time.
struct Space {
    count: usize,
    /// The shifted numbers a·2^(2t). For each number, t is such that the highest two bits of the
    /// shifted number are not both 0. A shifted number has twice as many limbs as a root.
    aligned: Buffer<u32>,
    /// The dividends of a level; after the last level the roots of a.
    dividend: Buffer<u32>,
    /// The quotients of a level; after the last level the remainders of the roots.
    quotient: Buffer<u32>,
    /// The squares of the lower limbs of the roots that a level computes; on the last level, the
    /// squares of the whole roots.
    square: Buffer<u32>,
    /// The remainders of the divisions of a level.
    remainder: Buffer<u32>,
    /// The lower limbs of the roots that a level computes.
    lower: Buffer<u32>,
    /// The roots that a level starts with and the roots that the level computes. Level i starts
    /// with the element i mod 2. Each level except the last writes to the other element.
    roots: [Buffer<u32>; 2],
    /// The remainders of the roots in `roots`.
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

/// The numbers of a batch whose square roots are being computed.
struct Long<'a> {
    gpu: &'a Gpu,
    plan: Plan,
    space: &'a mut Space,
    count: usize,
    lengths: Numbers<'a>,
}

impl Gpu {
    /// Like [`Gpu::square_root`], by a given plan.
    ///
    /// # Errors
    /// The device fails, a kernel cannot be compiled, or no method supports numbers of these
    /// lengths.
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

    /// Like [`Self::root_by_halves`], but processes at most `most` numbers at a time.
    ///
    /// # Errors
    /// The errors of [`Self::root_by_halves`].
    pub(super) fn root_in_slices(
        &self,
        plan: &Plan,
        a: Operand<'_>,
        count: usize,
        mut to: SquareRoots<'_>,
        most: usize,
    ) -> Result<(), DeviceError> {
        let mut lengths = self.device().alloc::<u32>(count)?;
        self.bit_lengths(a, count, &mut lengths)?;
        let mut space = Space::new(self, plan, most)?;
        for first in (0..count).step_by(space.count) {
            let count = space.count.min(count - first);
            let lengths = Numbers::new(lengths.view(..), 1).skip(first);
            let mut long = Long { gpu: self, plan: *plan, space: &mut space, count, lengths };
            let a = Numbers::from(a).skip(first);
            long.align(a)?;
            long.upper()?;
            for level in 0..plan.levels {
                long.level(level)?;
            }
            long.last(a, first, &mut to)?;
        }
        Ok(())
    }
}

impl Long<'_> {
    /// Launches a kernel that processes `limbs` limbs of every number.
    ///
    /// # Safety
    /// The requirements of [`Gpu::launch`] hold.
    unsafe fn launch(&self, kernel: Kernel, limbs: usize, args: &[Arg]) -> Result<(), DeviceError> {
        // SAFETY: the caller ensures it.
        unsafe { self.gpu.launch(&RootRows::new(kernel, limbs), self.count, args) }
    }

    /// Returns the number of limbs of the roots that a level starts with and doubles.
    fn half(&self, level: u32) -> usize {
        self.plan.base << level
    }

    /// Returns a view of `limbs` limbs of each shifted number: the limbs directly below its `above`
    /// highest limbs.
    fn aligned(&self, above: usize, limbs: usize) -> Numbers<'_> {
        let whole = 2 * self.plan.root();
        let aligned = Numbers::new(self.space.aligned.view(..), whole);
        aligned.part(whole - above - limbs, limbs)
    }

    /// Returns a view of the roots that a level starts with.
    fn roots(&self, level: u32) -> Numbers<'_> {
        Numbers::new(self.space.roots[level as usize % 2].view(..), self.half(level))
    }

    /// Returns a view of the remainders of the roots that a level starts with. A remainder of a
    /// root of n limbs has n + 1 limbs, rounded up to a multiple of 4.
    fn rest(&self, level: u32) -> Numbers<'_> {
        Numbers::new(self.space.rests[level as usize % 2].view(..), self.half(level) + 4)
    }

    /// Asserts that a buffer holds `limbs` limbs of each number.
    fn assert_room(&self, what: &str, buffer: &Buffer<u32>, limbs: usize) {
        assert_room(what, buffer.len(), self.count * limbs);
    }

    fn align(&mut self, a: Numbers<'_>) -> Result<(), DeviceError> {
        let whole = 2 * self.plan.root();
        a.assert_holds(self.count);
        self.lengths.assert_holds(self.count);
        self.assert_room("aligned numbers", &self.space.aligned, whole);
        let args = [
            a.pointer(),
            a.stride.into(),
            Arg::U32(a.limbs as u32),
            self.lengths.pointer(),
            (&mut self.space.aligned).into(),
            Arg::U32(whole as u32),
        ];
        // SAFETY: there are `count` numbers and lengths, and the aligned numbers fit.
        unsafe { self.launch(Kernel::Align, whole, &args) }
    }

    /// Computes the first roots, of `base` limbs, from the highest limbs of the shifted numbers.
    fn upper(&mut self) -> Result<(), DeviceError> {
        let info = self.gpu.device().info();
        let (base, whole) = (self.plan.base, 2 * self.plan.root());
        let shape = SquareRoot::new(2 * base, info.shared_memory_per_block);
        let shape = shape.ok_or_else(no_method)?.spread(self.count, info.multiprocessors);
        let Space { aligned, roots: [roots, _], rests: [rests, _], .. } = &mut *self.space;
        let to = RootPlaces {
            root: Some(Places::new(roots.cells(..), base)),
            remainder: Some(places_of_rest(rests, base)),
        };
        let aligned = Numbers::new(aligned.view(..), whole).part(whole - 2 * base, 2 * base);
        self.gpu.root_by_limbs(&shape, aligned, to, self.count)
    }

    /// Computes roots of twice as many limbs as the level starts with. The last level instead
    /// computes the roots of a, which may be 1 too large, and their squares.
    fn level(&mut self, level: u32) -> Result<(), DeviceError> {
        let (half, is_last) = (self.half(level), level + 1 == self.plan.levels);
        self.dividend(level)?;
        let Space { dividend, quotient, remainder, roots, .. } = &mut *self.space;
        let to = Quotients {
            quotient: Some(quotient),
            remainder: (!is_last).then_some(remainder),
            ..Quotients::default()
        };
        let dividend = Operand::new(&*dividend, 2 * half, false);
        let roots = Operand::new(&roots[level as usize % 2], half, false);
        self.gpu.divide(dividend, roots, self.count, to)?;
        self.lower(level, is_last)?;
        let Space { dividend, lower, square, .. } = &mut *self.space;
        let (root, limbs) = if is_last { (dividend, 2 * half) } else { (lower, half) };
        self.gpu.square(Part::Full, Operand::new(&*root, limbs, false), self.count, square)?;
        if is_last { Ok(()) } else { self.correct(level) }
    }

    /// Computes the dividends of a level. The quotients of these dividends by the roots that the
    /// level starts with give the lower limbs of the roots that the level computes.
    fn dividend(&mut self, level: u32) -> Result<(), DeviceError> {
        let half = self.half(level);
        self.assert_room("dividends", &self.space.dividend, 2 * half);
        let next = self.aligned(2 * half, half);
        let rest = self.rest(level);
        let roots = self.roots(level);
        [next, rest, roots].iter().for_each(|numbers| numbers.assert_holds(self.count));
        let args = [
            rest.pointer(),
            rest.stride.into(),
            next.pointer(),
            next.stride.into(),
            roots.pointer(),
            (&mut self.space.dividend).into(),
            Arg::U32(half as u32),
        ];
        // SAFETY: there are `count` roots and remainders of half as many limbs, and the dividends
        // fit.
        unsafe { self.launch(Kernel::Dividend, 2 * half, &args) }
    }

    /// Computes the lower limbs of the roots from the quotients. On the last level, computes the
    /// whole roots.
    fn lower(&mut self, level: u32, is_last: bool) -> Result<(), DeviceError> {
        let half = self.half(level);
        self.assert_room("quotients", &self.space.quotient, 2 * half);
        let (rest, roots) = (self.rest(level), self.roots(level));
        [rest, roots, self.lengths].iter().for_each(|numbers| numbers.assert_holds(self.count));
        let (kernel, limbs) =
            if is_last { (Kernel::Candidate, 2 * half) } else { (Kernel::Lower, half) };
        let out = if is_last { &self.space.dividend } else { &self.space.lower };
        self.assert_room("roots", out, limbs);
        let [rest_pointer, rest_stride] = [rest.pointer(), rest.stride.into()];
        let (roots, lengths) = (roots.pointer(), self.lengths.pointer());
        let Space { dividend, lower, quotient, .. } = &mut *self.space;
        let args = [
            (&*quotient).into(),
            rest_pointer,
            rest_stride,
            roots,
            lengths,
            if is_last { dividend } else { lower }.into(),
            Arg::U32(half as u32),
        ];
        // SAFETY: there are `count` quotients, remainders, roots and lengths, and the results fit.
        unsafe { self.launch(kernel, 2 * half, &args) }
    }

    /// Computes the roots that the next level starts with, and their remainders.
    fn correct(&mut self, level: u32) -> Result<(), DeviceError> {
        let half = self.half(level);
        for (what, buffer, limbs) in [
            ("remainders", &self.space.remainder, half),
            ("lower limbs", &self.space.lower, half),
            ("squares", &self.space.square, 2 * half),
            ("quotients", &self.space.quotient, 2 * half),
            ("roots", &self.space.roots[(level + 1) as usize % 2], 2 * half),
        ] {
            self.assert_room(what, buffer, limbs);
        }
        let (next, rest, roots) =
            (self.aligned(3 * half, half), self.rest(level), self.roots(level));
        [next, rest, roots].iter().for_each(|numbers| numbers.assert_holds(self.count));
        let [next, rest] = [next, rest].map(|numbers| [numbers.pointer(), numbers.stride.into()]);
        let (roots, to) = (roots.pointer(), (level + 1) as usize % 2);
        let Space { remainder, lower, square, quotient, roots: all_roots, rests, .. } =
            &mut *self.space;
        let left = places_of_rest(&mut rests[to], 2 * half);
        left.assert_holds(self.count);
        let args = [
            (&*remainder).into(),
            next[0],
            next[1],
            roots,
            (&*lower).into(),
            (&*square).into(),
            (&*quotient).into(),
            rest[0],
            rest[1],
            left.pointer(),
            left.stride.into(),
            (&mut all_roots[to]).into(),
            Arg::U32(half as u32),
        ];
        // SAFETY: there are `count` numbers of all kinds, and roots of twice as many limbs and
        // their remainders fit.
        unsafe { self.launch(Kernel::Correct, 2 * half, &args) }
    }

    /// Corrects the roots of the last level and writes the roots and remainders to the results. The
    /// first root and the first remainder get the index `first` in the results.
    fn last(
        &mut self,
        a: Numbers<'_>,
        first: usize,
        to: &mut SquareRoots<'_>,
    ) -> Result<(), DeviceError> {
        let (limbs, root) = (a.limbs.div_ceil(2), self.plan.root());
        a.assert_holds(self.count);
        self.assert_room("roots", &self.space.dividend, root);
        self.assert_room("squares", &self.space.square, 2 * root);
        self.assert_room("rests", &self.space.quotient, limbs.next_multiple_of(4));
        let all = first..first + self.count;
        let rows = |data: &mut Option<&mut Buffer<u32>>, limbs: usize| {
            let words = all.start * limbs..all.end * limbs;
            pointer(data.as_mut().map(|data| data.cells(words)))
        };
        let Space { dividend, square, quotient, .. } = &mut *self.space;
        let args = [
            a.pointer(),
            a.stride.into(),
            Arg::U32(a.limbs as u32),
            dividend.into(),
            Arg::U32(root as u32),
            (&*square).into(),
            quotient.into(),
            rows(&mut to.root, limbs),
            rows(&mut to.remainder, limbs + 1),
            Arg::U32(limbs as u32),
        ];
        // SAFETY: there are `count` numbers, roots and squares, and the remainders and the results
        // of these numbers fit.
        unsafe { self.launch(Kernel::Last, limbs, &args) }
    }
}

/// Returns a view of memory for the remainders of roots of `limbs` limbs. A remainder has `limbs` +
/// 1 limbs, rounded up to a multiple of 4.
fn places_of_rest(data: &mut Buffer<u32>, limbs: usize) -> Places<'_> {
    Places::new(data.cells(..), limbs + 4)
}
