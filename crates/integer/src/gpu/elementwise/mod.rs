//! Limb-wise operations on a device.

mod shape;
#[cfg(test)]
mod tests;

use warpint_device::{Arg, Buffer, Cells, DeviceError, Source, assert_room};

pub use super::Results;
use super::memory::{MOST_LIMBS, Numbers, Places, fits, has, operands_fit};
use super::{Gpu, Operand, Shape, Sum};
pub use crate::operation::{Bitwise, Extreme, Shift};
use shape::{GroupShape, Kernel};

/// Returns the sources of the kernels of limb-wise operations, for chunks of every size and groups
/// of 1, 8, 32 and 256 lanes.
#[must_use]
pub fn sources() -> Vec<Source> {
    shape::sources()
}

/// The limb-wise operations. Operands with fewer limbs than the result are extended by zeros.
/// Operands with more limbs than the result are truncated to the number of limbs of the result.
/// Unless stated otherwise, results may be written to the memory of an operand that is not
/// broadcast and has as many limbs as a result ([`Results::operand`]). Numbers have 1 to 2^20
/// limbs. Operations return before the device has finished.
impl Gpu {
    /// Computes `out_i = −a_i mod 2^(32·out.limbs)`.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn negate(
        &self,
        a: Operand<'_>,
        count: usize,
        out: Results<'_>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a], out)?;
        let shape = GroupShape::new(Kernel::Negate, &[a.limbs, out.limbs]);
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &[&operand(a)[..], &results(out)].concat()) }
    }

    /// Computes `out[i]` = −1 for `a_i` < `b_i`, 0 for `a_i` = `b_i` and 1 for `a_i` > `b_i`. Reads
    /// limbs from the highest down to the first difference.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn compare(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: &mut Buffer<i8>,
    ) -> Result<(), DeviceError> {
        operands_fit(count, &[a, b])?;
        has(out.len(), count, 1)?;
        self.compare_bytes(a, b, count, out.into())
    }

    /// Like [`Self::compare`], but `out` is a pointer to memory for at least `count` bytes.
    fn compare_bytes(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: Arg,
    ) -> Result<(), DeviceError> {
        let limbs = a.limbs.max(b.limbs);
        let shape = GroupShape::new(Kernel::Compare, &[a.limbs, b.limbs]);
        let more = [out, Arg::U32(limbs as u32)];
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &[&operand(a)[..], &operand(b), &more].concat()) }
    }

    /// Computes `out_i` = the smaller or the larger of `a_i` and `b_i`; the result has as many
    /// limbs as the longer operand.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn extreme<'a>(
        &self,
        extreme: Extreme,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: impl Into<Cells<'a, u32>>,
    ) -> Result<(), DeviceError> {
        let out = Results::new(out, a.limbs.max(b.limbs));
        fits(count, &[a, b], out)?;
        let shape = GroupShape::new(Kernel::Extreme, &[a.limbs, b.limbs]);
        let maximum = [Arg::U32(u32::from(extreme == Extreme::Maximum))];
        let args = [&operand(a)[..], &operand(b), &maximum, &results(out)].concat();
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args) }
    }

    /// Computes `out[i]` = ⌊log2 `a_i`⌋ + 1, or `out[i]` = 0 for `a_i` = 0. Reads limbs from the
    /// highest down to the first that is not 0.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn bit_lengths(
        &self,
        a: Operand<'_>,
        count: usize,
        out: &mut Buffer<u32>,
    ) -> Result<(), DeviceError> {
        operands_fit(count, &[a])?;
        has(out.len(), count, 1)?;
        let shape = GroupShape::new(Kernel::BitLengths, &[a.limbs]);
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &[&operand(a)[..], &[out.into()]].concat()) }
    }

    /// Computes `out_i` = `a_i` AND, OR or XOR `b_i`.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn bitwise(
        &self,
        operation: Bitwise,
        a: Operand<'_>,
        b: Operand<'_>,
        count: usize,
        out: Results<'_>,
    ) -> Result<(), DeviceError> {
        let masks = match operation {
            Bitwise::And => [u32::MAX, 0, 0],
            Bitwise::Or => [u32::MAX, u32::MAX, 0],
            Bitwise::Xor => [0, u32::MAX, 0],
        };
        fits(count, &[a, b], out)?;
        let shape = GroupShape::new(Kernel::Bitwise, &[a.limbs, b.limbs, out.limbs]);
        let args = [&operand(a)[..], &operand(b), &masks.map(Arg::U32), &results(out)].concat();
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args) }
    }

    /// Computes `out_i` = 2^(32·`out.limbs`) − 1 − `a_i`: all bits of `a_i` inverted.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn not(&self, a: Operand<'_>, count: usize, out: Results<'_>) -> Result<(), DeviceError> {
        fits(count, &[a], out)?;
        let shape = GroupShape::new(Kernel::Bitwise, &[a.limbs, out.limbs]);
        // a XOR 0 XOR all ones.
        let masks = [0, u32::MAX, u32::MAX].map(Arg::U32);
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe {
            self.launch(&shape, count, &[&operand(a)[..], &NOTHING, &masks, &results(out)].concat())
        }
    }

    /// Computes `out_i = a_i mod 2^(32·out.limbs)`; `lost[i]` is 1 where `out_i` differs from
    /// `a_i`, otherwise 0. Results must not alias operands.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn resize(
        &self,
        a: Operand<'_>,
        count: usize,
        out: Results<'_>,
        lost: &mut Buffer<u8>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a], out)?;
        has(lost.len(), count, 1)?;
        let shape = GroupShape::new(Kernel::Bitwise, &[a.limbs, out.limbs]);
        // a XOR 0.
        let masks = [0, u32::MAX, 0].map(Arg::U32);
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe {
            self.launch(
                &shape,
                count,
                &[&operand(a)[..], &NOTHING, &masks, &results(out)].concat(),
            )?
        };
        if out.limbs >= a.limbs {
            return lost.clear();
        }
        // The truncated number is at most the original: the order is 0 or 1.
        self.compare_bytes(a, out.operand(), count, lost.into())
    }

    /// Computes `out_i` = `b_i` where `bytes[i]` is not 0, and `out_i` = `a_i` elsewhere. Results
    /// are reduced modulo 2^(32·`out.limbs`).
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub(super) fn select(
        &self,
        a: Operand<'_>,
        b: Operand<'_>,
        bytes: &Buffer<u8>,
        count: usize,
        out: Results<'_>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a, b], out)?;
        has(bytes.len(), count, 1)?;
        let shape = GroupShape::new(Kernel::Select, &[a.limbs, b.limbs, out.limbs]);
        let args = [&operand(a)[..], &operand(b), &[bytes.into()], &results(out)].concat();
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args) }
    }

    /// Chooses the cofactors x and y of a greatest common divisor, and their signs, from the
    /// candidates d, `d_less`, n and `n_less`. The comment of `cofactors.cu` defines the choice and
    /// the meaning of `bytes`, which has one byte per number. All candidates have the same number
    /// of limbs.
    ///
    /// # Errors
    /// The device fails, or the kernel cannot be compiled.
    pub(super) fn choose_cofactors(
        &self,
        [d, d_less, n, n_less]: [Numbers<'_>; 4],
        bytes: &Buffer<u8>,
        count: usize,
        [x, y]: [Results<'_>; 2],
        [x_negative, y_negative]: [&mut Buffer<u8>; 2],
    ) -> Result<(), DeviceError> {
        assert!([d, d_less, n_less].iter().all(|a| a.limbs == n.limbs));
        assert!(d.stride == d_less.stride && d.stride == n_less.stride);
        [d, d_less, n, n_less].iter().for_each(|a| a.assert_holds(count));
        [x, y].iter().for_each(|&out| Places::from(out).assert_holds(count));
        for bytes in [bytes, &*x_negative, &*y_negative] {
            assert_room("bytes", bytes.len(), count);
        }
        let shape = GroupShape::new(Kernel::Cofactors, &[d.limbs, x.limbs, y.limbs]);
        let numbers = [d, d_less, n, n_less].map(Numbers::pointer);
        let layout = [Arg::U64(d.stride), Arg::U64(n.stride), Arg::U32(d.limbs as u32)];
        let signs = [x_negative.into(), y_negative.into()];
        let args = [&numbers[..], &layout, &[bytes.into()], &results(x), &results(y), &signs];
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args.concat()) }
    }

    /// Computes `out_i` = `a_i`·2^bits for a left shift, or ⌊`a_i`/2^bits⌋ for a right shift, mod
    /// 2^(32·`out.limbs`). Results must not alias operands.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn shift(
        &self,
        shift: Shift,
        bits: u64,
        a: Operand<'_>,
        count: usize,
        out: Results<'_>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a], out)?;
        // Shifts beyond the longest number have the same result.
        let bits = bits.min(64 * MOST_LIMBS as u64) as i32;
        let right = if shift == Shift::Right { bits } else { -bits };
        let by = [Arg::I32(right.div_euclid(32)), Arg::U32(right.rem_euclid(32) as u32)];
        let shape = GroupShape::new(Kernel::Shift, &[out.limbs]);
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &[&operand(a)[..], &by, &results(out)].concat()) }
    }

    /// Computes `out_i` = `a_i`·w mod 2^(32·`out.limbs`). This is the whole product if `out` has
    /// two limbs more than a, or one more if w < 2^32. Results must not alias operands.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub fn multiply_by_word(
        &self,
        a: Operand<'_>,
        w: u64,
        count: usize,
        out: Results<'_>,
    ) -> Result<(), DeviceError> {
        fits(count, &[a], out)?;
        let shape = GroupShape::new(Kernel::MultiplyByWord, &[a.limbs, out.limbs]);
        let args = [&operand(a)[..], &[Arg::U64(w)], &results(out)].concat();
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args) }
    }
}

impl Gpu {
    /// Computes `out_i` = (`u_i` − `p_i`) mod `m_i` by up to three subtractions of `m_i`. Requires
    /// 0 ≤ `u_i` − `p_i` < 4·`m_i`. Results have as many limbs as m and must not alias operands.
    ///
    /// # Errors
    /// A buffer is too short or not aligned, the device fails, or the kernel cannot be compiled.
    pub(crate) fn reduce(
        &self,
        u: Operand<'_>,
        p: Operand<'_>,
        m: Operand<'_>,
        count: usize,
        out: &mut Buffer<u32>,
    ) -> Result<(), DeviceError> {
        let out = Results::new(out, m.limbs);
        fits(count, &[u, p, m], out)?;
        // The chunk size that suits u, p and m. u − p may have one chunk more than m.
        let vector = 1 << (u.limbs | p.limbs | m.limbs).trailing_zeros().min(2);
        let shape = GroupShape::new(Kernel::Reduce, &[m.limbs, m.limbs + vector]);
        let args = [&operand(u)[..], &operand(p), &operand(m), &results(out)].concat();
        // SAFETY: `count` numbers and the memory for the results were checked above.
        unsafe { self.launch(&shape, count, &args) }
    }
}

/// Returns the shape and the arguments of the kernel for sums or differences of numbers that are
/// too long for the registers of a block.
pub(super) fn long_sum(
    sum: Sum,
    [a, b]: [Numbers<'_>; 2],
    out: Results<'_>,
    carries: Arg,
) -> (impl Shape, Vec<Arg>) {
    let shape = GroupShape::new(Kernel::LongSum, &[a.limbs, b.limbs, out.limbs]);
    let more = [Arg::U32(u32::from(sum == Sum::Subtract)), carries];
    (shape, [&operand(a)[..], &operand(b), &more, &results(out)].concat())
}

/// The kernel parameters of an absent operand: a null pointer, no stride, no limbs.
const NOTHING: [Arg; 3] = [Arg::NULL, Arg::U64(0), Arg::U32(0)];

/// Returns the kernel parameters of an operand.
fn operand<'a>(a: impl Into<Numbers<'a>>) -> [Arg; 3] {
    let a = a.into();
    [a.pointer(), Arg::U64(a.stride), Arg::U32(a.limbs as u32)]
}

/// Returns the kernel parameters of results.
fn results(out: Results<'_>) -> [Arg; 2] {
    [out.data.into(), Arg::U32(out.limbs as u32)]
}
