//! Comparisons, shifts, logic and products with a word.

use std::cmp::Ordering;

use bytemuck::Pod;
use warpint_device::{Buffer, DeviceError};

use super::operands::result_width;
use crate::gpu::Gpu;
use crate::operation::{Bitwise, Extreme, Shift};
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, Width, cpu};

/// An operation on one number.
#[derive(Debug, Clone, Copy)]
enum Unary {
    Negate,
    Not,
    Shift(Shift, u32),
    /// The product of the number and a word; the result is wider than the number.
    MultiplyWord(u64),
}

/// An operation on two numbers.
#[derive(Debug, Clone, Copy)]
enum Binary {
    Choose(Extreme),
    Bitwise(Bitwise),
}

/// Applies the operation `what` to each number of a and writes the results to r.
fn unary(what: Unary, a: &UintBatch, r: &mut UintBatch) -> Result<(), IntegerError> {
    match (&a.data, &mut r.data) {
        (Storage::Host(x), Storage::Host(out)) => {
            let (x, limbs) = (a.host(x), r.width.limbs());
            a.executor.on_threads(|| match what {
                Unary::Negate => cpu::neg(x, out),
                Unary::Not => cpu::not(x, out),
                Unary::Shift(Shift::Left, bits) => cpu::shift_left(x, bits, out, limbs),
                Unary::Shift(Shift::Right, bits) => cpu::shift_right(x, bits, out, limbs),
                Unary::MultiplyWord(word) => cpu::mul_word(x, word, out, limbs),
            });
        }
        (Storage::Device(x), Storage::Device(out)) => {
            let (gpu, x, out) = (a.executor.gpu()?, a.on_device(x), r.width.results(out));
            match what {
                Unary::Negate => gpu.negate(x, a.count, out),
                Unary::Not => gpu.not(x, a.count, out),
                Unary::Shift(shift, bits) => gpu.shift(shift, u64::from(bits), x, a.count, out),
                Unary::MultiplyWord(word) => gpu.multiply_by_word(x, word, a.count, out),
            }?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

/// Applies the operation `what` to each pair of corresponding numbers of a and b and writes the
/// results to r. r has the larger width of a and b.
fn binary(
    what: Binary,
    a: &UintBatch,
    b: &UintBatch,
    r: &mut UintBatch,
) -> Result<(), IntegerError> {
    match (&a.data, &b.data, &mut r.data) {
        (Storage::Host(x), Storage::Host(y), Storage::Host(out)) => {
            let (x, y, limbs) = (a.host(x), b.host(y), r.width.limbs());
            a.executor.on_threads(|| match what {
                Binary::Choose(extreme) => cpu::choose(extreme, x, y, out, limbs),
                Binary::Bitwise(operation) => cpu::bitwise(operation, x, y, out, limbs),
            });
        }
        (Storage::Device(x), Storage::Device(y), Storage::Device(out)) => {
            let (gpu, x, y) = (a.executor.gpu()?, a.on_device(x), b.on_device(y));
            match what {
                Binary::Choose(extreme) => gpu.extreme(extreme, x, y, r.count, out),
                Binary::Bitwise(operation) => {
                    gpu.bitwise(operation, x, y, r.count, r.width.results(out))
                }
            }?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

/// Allocates memory for `count` values on a device, calls `work` to fill this memory, and returns
/// the values in the host's memory.
fn words<T: Pod>(
    gpu: &Gpu,
    count: usize,
    work: impl FnOnce(&mut Buffer<T>) -> Result<(), DeviceError>,
) -> Result<Vec<T>, IntegerError> {
    let mut out = gpu.device().alloc(count)?;
    work(&mut out)?;
    Ok(out.download()?)
}

/// Compares `count` pairs of numbers a and b. Returns −1 for a < b, 0 for a = b and 1 for a > b.
fn compare(a: &UintBatch, b: &UintBatch, count: usize) -> Result<Vec<i8>, IntegerError> {
    match (&a.data, &b.data) {
        (Storage::Host(x), Storage::Host(y)) => {
            let mut out = vec![0; count];
            a.executor.on_threads(|| cpu::compare(a.host(x), b.host(y), &mut out));
            Ok(out)
        }
        (Storage::Device(x), Storage::Device(y)) => {
            let gpu = a.executor.gpu()?;
            words(gpu, count, |out| gpu.compare(a.on_device(x), b.on_device(y), count, out))
        }
        _ => Err(IntegerError::Places),
    }
}

/// Returns the bit length of each number.
fn bit_lengths(a: &UintBatch) -> Result<Vec<u32>, IntegerError> {
    match &a.data {
        Storage::Host(x) => {
            let mut out = vec![0; a.count];
            a.executor.on_threads(|| cpu::bit_lengths(a.host(x), &mut out));
            Ok(out)
        }
        Storage::Device(x) => {
            let gpu = a.executor.gpu()?;
            words(gpu, a.count, |out| gpu.bit_lengths(a.on_device(x), a.count, out))
        }
    }
}

/// Computes r ← a mod 2^width(r). A flag is set where r differs from a.
fn resize(a: &UintBatch, r: &mut UintBatch, lost: &mut Flags) -> Result<(), IntegerError> {
    match (&a.data, &mut r.data, &mut lost.data) {
        (Storage::Host(x), Storage::Host(out), Storage::Host(lost)) => {
            let (x, limbs) = (a.host(x), r.width.limbs());
            a.executor.on_threads(|| cpu::resize(x, out, limbs, lost));
        }
        (Storage::Device(x), Storage::Device(out), Storage::Device(lost)) => {
            let out = r.width.results(out);
            a.executor.gpu()?.resize(a.on_device(x), a.count, out, lost)?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

impl UintBatch {
    fn unary(&self, what: Unary, width: Width) -> Result<Self, IntegerError> {
        let mut r = self.output(self.count, width)?;
        unary(what, self, &mut r)?;
        Ok(r)
    }

    fn binary(&self, b: &Self, what: Binary) -> Result<Self, IntegerError> {
        let mut r = self.output(self.count_with(b)?, self.width.max(b.width))?;
        binary(what, self, b, &mut r)?;
        Ok(r)
    }

    /// Returns −a mod 2^width(a), the two's complement of a, where a is `self`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn neg(&self) -> Result<Self, IntegerError> {
        self.unary(Unary::Negate, self.width)
    }

    /// Compares each number of `self` with the corresponding number of `b`. Returns the results in
    /// the host's memory. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn compare(&self, b: &Self) -> Result<Vec<Ordering>, IntegerError> {
        let signs = compare(self, b, self.count_with(b)?)?;
        Ok(signs.into_iter().map(|sign| sign.cmp(&0)).collect())
    }

    /// Returns the smaller number of each pair of corresponding numbers of `self` and `b`. The
    /// result has the larger width of `self` and `b`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn min(&self, b: &Self) -> Result<Self, IntegerError> {
        self.binary(b, Binary::Choose(Extreme::Minimum))
    }

    /// Returns the larger number of each pair of corresponding numbers of `self` and `b`. The
    /// result has the larger width of `self` and `b`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn max(&self, b: &Self) -> Result<Self, IntegerError> {
        self.binary(b, Binary::Choose(Extreme::Maximum))
    }

    /// Returns a·2^bits mod 2^width(a), where a is `self`. The result is 0 if `bits` is at least
    /// the width.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn shl(&self, bits: u32) -> Result<Self, IntegerError> {
        self.unary(Unary::Shift(Shift::Left, bits), self.width)
    }

    /// Returns ⌊a/2^bits⌋, where a is `self`. The result is 0 if `bits` is at least the width.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn shr(&self, bits: u32) -> Result<Self, IntegerError> {
        self.unary(Unary::Shift(Shift::Right, bits), self.width)
    }

    /// Shifts a to the left, r ← a·2^bits mod 2^width(r), or to the right, r ← ⌊a/2^bits⌋ mod
    /// 2^width(r), where a is `self`. r may have any width.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub(super) fn shift_into(
        &self,
        shift: Shift,
        bits: u32,
        r: &mut Self,
    ) -> Result<(), IntegerError> {
        self.fits(self.count, r.width, r)?;
        unary(Unary::Shift(shift, bits), self, r)
    }

    /// Computes r ← (u − p) mod m by up to three subtractions of m, where u is `self`. Requires 0 ≤
    /// u − p < 4m. r has the width of m, and the same count as u and p.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub(super) fn reduce_into(&self, p: &Self, m: &Self, r: &mut Self) -> Result<(), IntegerError> {
        self.fits(self.count_with(p)?, m.width, r)?;
        match (&self.data, &p.data, &m.data, &mut r.data) {
            (Storage::Host(x), Storage::Host(y), Storage::Host(z), Storage::Host(out)) => {
                let (x, y, z) = (self.host(x), p.host(y), m.host(z));
                self.executor.on_threads(|| cpu::reduce(x, y, z, out));
                Ok(())
            }
            (Storage::Device(x), Storage::Device(y), Storage::Device(z), Storage::Device(out)) => {
                let (x, y, z) = (self.on_device(x), p.on_device(y), m.on_device(z));
                Ok(self.executor.gpu()?.reduce(x, y, z, r.count, out)?)
            }
            _ => Err(IntegerError::Places),
        }
    }

    /// Returns the bit length of each number a: ⌊log2 a⌋ + 1, or 0 for a = 0. The result is in the
    /// host's memory. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn bit_lengths(&self) -> Result<Vec<u32>, IntegerError> {
        bit_lengths(self)
    }

    /// Returns the bitwise AND of `self` and `b`. The result has the larger width of `self` and
    /// `b`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn and(&self, b: &Self) -> Result<Self, IntegerError> {
        self.binary(b, Binary::Bitwise(Bitwise::And))
    }

    /// Returns the bitwise OR of `self` and `b`. The result has the larger width of `self` and `b`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn or(&self, b: &Self) -> Result<Self, IntegerError> {
        self.binary(b, Binary::Bitwise(Bitwise::Or))
    }

    /// Returns the bitwise XOR of `self` and `b`. The result has the larger width of `self` and
    /// `b`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn xor(&self, b: &Self) -> Result<Self, IntegerError> {
        self.binary(b, Binary::Bitwise(Bitwise::Xor))
    }

    /// Returns the complement 2^width(a) − 1 − a, where a is `self`.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn not(&self) -> Result<Self, IntegerError> {
        self.unary(Unary::Not, self.width)
    }

    /// Returns a·word, where a is `self`. The result has width(a) + 32 bits.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::TooWide`] if the
    /// result would have more than 2^21 bits.
    pub fn mul_u32(&self, word: u32) -> Result<Self, IntegerError> {
        let width = result_width("a product with a word", self.width.limbs() + 1)?;
        self.unary(Unary::MultiplyWord(u64::from(word)), width)
    }

    /// Returns a·word, where a is `self`. The result has width(a) + 64 bits.
    ///
    /// # Errors
    /// The errors of [`Self::mul_u32`].
    pub fn mul_u64(&self, word: u64) -> Result<Self, IntegerError> {
        let width = result_width("a product with a word", self.width.limbs() + 2)?;
        self.unary(Unary::MultiplyWord(word), width)
    }

    /// Returns a mod 2^w, where a is `self` and w is `width` in bits. The flag is set where a ≥
    /// 2^w.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn resized(&self, width: Width) -> Result<Flagged<Self>, IntegerError> {
        let mut r = self.output(self.count, width)?;
        let mut lost = Flags::for_results(&self.executor, self.count, width)?;
        resize(self, &mut r, &mut lost)?;
        Ok((r, lost))
    }
}
