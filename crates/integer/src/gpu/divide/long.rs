//! Divisions of long numbers. Dividend and divisor are shifted so that the divisor has its highest
//! bit set. The quotient is computed in blocks. The kernel `divide.cu` computes a block directly,
//! or a block is guessed by a division by the upper limbs of the divisor and then corrected
//! (Burnikel and Ziegler 1998). The comments of the kernels prove that the results are exact.

use warpint_device::{Arg, Buffer, Cells, DeviceError, assert_room};

use super::plan::{Costs, Plan, rounded};
use super::rows::{Kernel, RowShape};
use super::{Divide, Windows};
use crate::gpu::memory::{Numbers, Places, at_least, pointer};
use crate::gpu::method::no_method;
use crate::gpu::{Gpu, Operand, Quotients, lock};

/// Device memory that successive divisions reuse.
#[derive(Debug, Default)]
pub(in crate::gpu) struct Space {
    u_lengths: Option<Buffer<u32>>,
    v_lengths: Option<Buffer<u32>>,
    work: Option<Buffer<u32>>,
}

/// For `count` divisions with dividends of the bit lengths `u_bits` and divisors of the bit lengths
/// `v_bits`, returns two lengths in limbs: the length of the longest divisor, and 1 less than the
/// length of the longest possible quotient. A slice of one bit length applies to all divisions.
/// Ignores divisions by 0.
pub(super) fn longest(u_bits: &[u32], v_bits: &[u32], count: usize) -> (usize, usize) {
    let of = |bits: &[u32], i: usize| bits.get(i).or(bits.first()).copied().unwrap_or(0);
    let pairs = (0..count).map(|i| (of(u_bits, i), of(v_bits, i))).filter(|&(_, v)| v > 0);
    let (divisor, quotient) = pairs.fold((0, 0), |(divisor, quotient), (u, v)| {
        (v.max(divisor), (u + 1).saturating_sub(v).max(quotient))
    });
    (divisor.div_ceil(32) as usize, quotient.saturating_sub(32).div_ceil(32) as usize)
}

/// Returns how many of `count` numbers are processed at a time if each needs `bytes` bytes of
/// temporary memory. Together, these numbers take at most an eighth of the `free` bytes of memory.
/// They also take at most 1 GiB or the memory for 16,384 numbers, whichever is more. At least one
/// number is processed at a time.
pub(in crate::gpu) fn slice(count: usize, bytes: usize, free: u64) -> usize {
    let most = (1 << 30).max(16_384 * bytes as u64).min(free / 8) / bytes as u64;
    let most = usize::try_from(most).unwrap_or(count).clamp(1, count.max(1));
    count.div_ceil(count.div_ceil(most).max(1))
}

impl Gpu {
    /// Computes ⌊u_i/v_i⌋ and u_i mod v_i in blocks, by a plan for the longest divisor and the
    /// longest quotient of the batch. `plan` is called with two lengths in limbs: the length of the
    /// longest divisor, and 1 less than the length of the longest quotient. If `plan` returns
    /// `None`, the kernel `divide.cu` alone divides. Waits for the device, which computes the bit
    /// lengths.
    ///
    /// # Errors
    /// The device fails, a kernel cannot be compiled, or no method supports the numbers.
    pub(super) fn divide_in_blocks(
        &self,
        u: Operand<'_>,
        v: Operand<'_>,
        count: usize,
        mut to: Quotients<'_>,
        plan: impl FnOnce(usize, usize) -> Option<Plan>,
    ) -> Result<(), DeviceError> {
        // Held until all kernels are launched, so that no other division uses the memory in
        // between.
        let mut space = lock(&self.division);
        let Space { u_lengths, v_lengths, work } = &mut *space;
        let of = |a: Operand<'_>, kept| {
            let numbers = if a.broadcast { count.min(1) } else { count };
            let lengths = at_least(kept, self.device(), numbers)?;
            self.bit_lengths(a, numbers, lengths)?;
            let bits = lengths.download_part(0..numbers)?;
            Ok::<_, DeviceError>((lengths.view(..numbers), bits))
        };
        let (_, u_bits) = of(u, u_lengths)?;
        let (lengths, v_bits) = of(v, v_lengths)?;
        let (divisor, quotient) = longest(&u_bits, &v_bits, count);
        let Some(plan) = plan(divisor, quotient) else {
            let shared_memory = self.device().info().shared_memory_per_block;
            let shape = Divide::new(u.limbs, v.limbs, shared_memory).ok_or_else(no_method)?;
            return self.divide_by_limbs(&shape, u, v, count, to);
        };
        let kept = work.as_ref().map_or(0, Buffer::len);
        let numbers = if kept >= count.saturating_mul(plan.words()) {
            count
        } else {
            let free = self.device().memory()?.0 + 4 * kept as u64;
            slice(count, 4 * plan.words(), free)
        };
        let work = at_least(work, self.device(), numbers * plan.words())?;
        for first in (0..count).step_by(numbers) {
            let count = numbers.min(count - first);
            let stride = u64::from(!v.broadcast);
            let lengths = Numbers { words: lengths, stride, limbs: 1 }.skip(first);
            let long = Long::new(self, plan, work.cells(..), count, lengths);
            long.align(Numbers::from(u).skip(first), Numbers::from(v).skip(first))?;
            long.divide()?;
            long.unalign(u.limbs, v.limbs, first, &mut to)?;
        }
        Ok(())
    }

    /// Returns the cheapest plan for divisors of `divisor` limbs and quotients of `quotient` + 1
    /// limbs. Returns `None` if no plan supports them, or if the cheapest plan does not cost less
    /// than the kernel `divide.cu` alone. `shape` is the version of `divide.cu` for u and v, if one
    /// exists.
    pub(super) fn plan(
        &self,
        shape: Option<&Divide>,
        u: Operand<'_>,
        v: Operand<'_>,
        divisor: usize,
        quotient: usize,
    ) -> Option<Plan> {
        let mut costs = Costs::new(self);
        let (divisor, rounded) = (rounded(divisor, v.limbs), rounded(quotient, u.limbs));
        let (plan, cost) = costs.plan(divisor, rounded)?;
        let is_dearer = shape.is_none_or(|shape| cost < costs.of_kernel(shape, quotient + 1));
        is_dearer.then_some(plan)
    }
}

/// One step of a division of the shifted dividend U by the shifted divisor V. The window X is the
/// n + m limbs of U that begin at limb `at`, and V' is the n upper limbs of V. The step computes
/// the quotient ⌊X/V'⌋, as m limbs and an overflow. The m limbs are stored in the whole quotient,
/// beginning at its limb `digit`. X mod V' overwrites the lower n limbs of X.
#[derive(Debug, Clone, Copy)]
struct Step {
    at: usize,
    digit: usize,
    n: usize,
    m: usize,
}

/// The operands, results and temporary memory of a batch of divisions in progress.
struct Long<'a> {
    gpu: &'a Gpu,
    plan: Plan,
    count: usize,
    /// The bit lengths of the divisors.
    lengths: Numbers<'a>,
    /// The shifted dividends U = 2^s·u, where u are the dividends. s is such that the shifted
    /// divisor V = 2^s·v has its highest bit set. The division replaces U by the shifted
    /// remainders.
    dividends: Places<'a>,
    /// The shifted divisors V = 2^s·v, where v are the divisors, and s is such that the highest bit
    /// of V is set.
    divisors: Places<'a>,
    quotients: Places<'a>,
    /// Memory for one product per number, stored contiguously.
    products: Cells<'a, u32>,
    /// Memory for the overflows: one word per number for each level of guesses.
    overflows: Cells<'a, u32>,
}

impl<'a> Long<'a> {
    /// Splits the memory `work`, which holds [`Plan::words`] words per number, among dividends,
    /// divisors, quotients, products and overflows.
    fn new(
        gpu: &'a Gpu,
        plan: Plan,
        work: Cells<'a, u32>,
        count: usize,
        lengths: Numbers<'a>,
    ) -> Self {
        let mut rest = work;
        let mut rows = |limbs: usize| {
            let rows = rest.part(..count * limbs);
            rest = rest.part(count * limbs..);
            Places::new(rows, limbs)
        };
        let (dividends, divisors) = (rows(plan.dividend()), rows(plan.whole));
        let quotients = rows(plan.quotient());
        let products = rows(plan.product()).words;
        let overflows = rows(plan.overflows()).words;
        Self { gpu, plan, count, lengths, dividends, divisors, quotients, products, overflows }
    }

    /// Launches a kernel that processes `limbs` limbs of every number.
    ///
    /// # Safety
    /// The requirements of [`Gpu::launch`] hold.
    unsafe fn launch(&self, kernel: Kernel, limbs: usize, args: &[Arg]) -> Result<(), DeviceError> {
        // SAFETY: the caller ensures it.
        unsafe { self.gpu.launch(&RowShape::new(kernel, limbs), self.count, args) }
    }

    /// Returns the memory for the overflows of guesses at a level: one word per number.
    fn overflows(&self, level: u32) -> Cells<'a, u32> {
        let first = level as usize * self.count;
        self.overflows.part(first..first + self.count)
    }

    /// Computes the shifted dividends and divisors from u and v.
    fn align(&self, u: Numbers<'_>, v: Numbers<'_>) -> Result<(), DeviceError> {
        self.lengths.assert_holds(self.count);
        for (is_divisor, a, out) in [(1_u32, v, self.divisors), (0, u, self.dividends)] {
            let args = [
                a.pointer(),
                a.stride.into(),
                Arg::U32(a.limbs as u32),
                self.lengths.pointer(),
                Arg::U32(self.lengths.stride as u32),
                Arg::U32(self.plan.whole as u32),
                is_divisor.into(),
                out.pointer(),
                out.stride.into(),
                Arg::U32(out.limbs as u32),
            ];
            a.assert_holds(self.count);
            out.assert_holds(self.count);
            // SAFETY: there are `count` numbers and lengths of divisors, and the aligned numbers
            // fit.
            unsafe { self.launch(Kernel::Align, out.limbs, &args)? };
        }
        Ok(())
    }

    /// Computes all limbs of the quotients, the highest first.
    fn divide(&self) -> Result<(), DeviceError> {
        let Plan { whole, block, blocks, guesses } = self.plan;
        let step = |at, m| Step { at, digit: at, n: whole, m };
        self.correct(Kernel::Digit, step(blocks * block, 1), None, None)?;
        for at in (0..blocks).rev().map(|i| i * block) {
            match guesses {
                None => self.at_once(step(at, block), Some(self.overflows(0)))?,
                Some(_) => self.step(step(at, block), 0, Some(self.overflows(0)))?,
            }
        }
        Ok(())
    }

    /// Performs a step: guesses its quotient, and corrects the guess. Stores the overflow of the
    /// quotient in `overflows`, which is `None` if no overflow is possible.
    fn step(
        &self,
        step: Step,
        level: u32,
        overflows: Option<Cells<'_, u32>>,
    ) -> Result<(), DeviceError> {
        let Step { at, digit, n, m } = step;
        if n == m {
            return self.guess(step, level, overflows);
        }
        let rest = n - m;
        let guess = Step { at: at + rest, digit, n: m, m };
        let of_guess = Some(self.overflows(level));
        self.guess(guess, level, of_guess)?;
        let lower = self.divisors.part(self.plan.whole - n, rest);
        let block = self.quotients.part(digit, m);
        let (block, lower) = (block.numbers(), lower.numbers());
        self.gpu.multiply_views(block, lower, self.count, self.products)?;
        // Both may be the same memory: an overflow is read before it is written.
        self.correct(Kernel::Correct, step, of_guess, overflows)
    }

    /// Performs a step whose quotient has as many limbs as its divisor: by two steps, each for one
    /// half of the limbs of the quotient, or by the kernel `divide.cu` alone.
    fn guess(
        &self,
        step: Step,
        level: u32,
        overflows: Option<Cells<'_, u32>>,
    ) -> Result<(), DeviceError> {
        if self.plan.guesses.is_none_or(|levels| level >= levels) {
            return self.at_once(step, overflows);
        }
        let Step { at, digit, n, m } = step;
        let half = m / 2;
        let upper = Step { at: at + half, digit: digit + half, n, m: half };
        self.step(upper, level + 1, overflows)?;
        // The remainder is less than the divisor.
        self.step(Step { at, digit, n, m: half }, level + 1, None)
    }

    /// Performs a step by the kernel `divide.cu` alone.
    fn at_once(&self, step: Step, overflows: Option<Cells<'_, u32>>) -> Result<(), DeviceError> {
        let (dividends, divisors, quotients) = self.places(step);
        let windows = Windows { dividends, divisors, quotients, overflows };
        self.gpu.divide_windows(windows, self.count)
    }

    /// Corrects the guessed quotients of a step. Reads the overflows of the guesses from `from`,
    /// and writes the overflows of the corrected quotients to `to`, unless `to` is `None`. If
    /// `kernel` is [`Kernel::Digit`], the quotients have one limb. The kernel then guesses them
    /// itself, and `from` is `None`.
    fn correct(
        &self,
        kernel: Kernel,
        step: Step,
        from: Option<Cells<'_, u32>>,
        to: Option<Cells<'_, u32>>,
    ) -> Result<(), DeviceError> {
        let (window, divisor, quotient) = self.places(step);
        // The kernel loads four of the n limbs at once.
        window.part(0, step.n).assert_holds(self.count);
        window.assert_holds(self.count);
        divisor.assert_holds(self.count);
        quotient.assert_holds(self.count);
        let read = if kernel == Kernel::Digit { 0 } else { self.count };
        assert_room("products", self.products.len(), read * step.n);
        assert_room("overflows", from.map_or(0, |from| from.len()), read);
        to.inspect(|to| assert_room("overflows", to.len(), self.count));
        let args = [
            window.pointer(),
            window.stride.into(),
            divisor.pointer(),
            divisor.stride.into(),
            self.products.into(),
            quotient.pointer(),
            quotient.stride.into(),
            pointer(from),
            pointer(to),
            Arg::U32(step.n as u32),
            Arg::U32(step.m as u32),
        ];
        // SAFETY: there are `count` windows, divisors and digits, and with a guess as many products
        // and overflows.
        unsafe { self.launch(kernel, step.n, &args) }
    }

    /// Returns the window of a step, its divisor, and the limbs of its quotient, in this order.
    fn places(&self, Step { at, digit, n, m }: Step) -> (Places<'a>, Numbers<'a>, Places<'a>) {
        (
            self.dividends.part(at, n + m),
            self.divisors.part(self.plan.whole - n, n).numbers(),
            self.quotients.part(digit, m),
        )
    }

    /// Writes the results to `to`: the quotients, the flags, and the remainders, from which the
    /// shift of [`Self::align`] is removed. The results of the first division get the index
    /// `first`. In `to`, a quotient has `u_limbs` limbs and a remainder `v_limbs` limbs.
    fn unalign(
        &self,
        u_limbs: usize,
        v_limbs: usize,
        first: usize,
        to: &mut Quotients<'_>,
    ) -> Result<(), DeviceError> {
        let all = first..first + self.count;
        let rows = |buffer: &mut Option<&mut Buffer<u32>>, limbs: usize| {
            let words = all.start * limbs..all.end * limbs;
            pointer(buffer.as_mut().map(|buffer| buffer.cells(words)))
        };
        let Plan { whole, block, blocks, .. } = self.plan;
        let args = [
            self.quotients.pointer(),
            self.quotients.stride.into(),
            Arg::U32((blocks * block + 1) as u32),
            self.dividends.pointer(),
            self.dividends.stride.into(),
            Arg::U32(whole as u32),
            self.lengths.pointer(),
            Arg::U32(self.lengths.stride as u32),
            rows(&mut to.quotient, u_limbs),
            Arg::U32(u_limbs as u32),
            rows(&mut to.remainder, v_limbs),
            Arg::U32(v_limbs as u32),
            pointer(to.flags.as_mut().map(|flags| flags.cells(all.clone()))),
            Arg::U32(u32::from(to.exact)),
        ];
        [self.quotients, self.dividends].iter().for_each(|places| places.assert_holds(self.count));
        self.lengths.assert_holds(self.count);
        // SAFETY: there are `count` digits, remainders and lengths of divisors; the results of
        // these numbers fit.
        unsafe { self.launch(Kernel::Unalign, u_limbs.max(v_limbs), &args) }
    }
}
