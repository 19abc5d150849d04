//! Products and squares of numbers of a batch.

use warpint_device::Buffer;

use super::operands::{as_factor, result_width};
use crate::operation::Part;
use crate::storage::Storage;
use crate::{Flagged, IntegerError, UintBatch, Width, cpu};

/// Computes r ← the limbs of a·b that `part` selects. r has the width of these limbs.
fn multiply(
    part: Part,
    a: &UintBatch,
    b: &UintBatch,
    r: &mut UintBatch,
) -> Result<(), IntegerError> {
    match (&a.data, &b.data, &mut r.data) {
        (Storage::Host(x), Storage::Host(y), Storage::Host(out)) => {
            let (x, y) = (a.host(x), b.host(y));
            a.executor.on_threads(|| cpu::multiply(part, x, y, out));
        }
        (Storage::Device(x), Storage::Device(y), Storage::Device(out)) => {
            on_device(part, a, x, Some((b, y)), r.count, out)?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

/// Computes r ← the limbs of a² that `part` selects. r has the width of these limbs.
fn square(part: Part, a: &UintBatch, r: &mut UintBatch) -> Result<(), IntegerError> {
    match (&a.data, &mut r.data) {
        (Storage::Host(x), Storage::Host(out)) => {
            let x = a.host(x);
            a.executor.on_threads(|| cpu::square(part, x, out));
        }
        (Storage::Device(x), Storage::Device(out)) => on_device(part, a, x, None, r.count, out)?,
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

/// Computes out ← the limbs of a·b that `part` selects, or of a² if `b` is `None`. Uses the method
/// that the device chooses for these widths. x is the memory of a. `b` is the second factor with
/// its memory.
fn on_device(
    part: Part,
    a: &UintBatch,
    x: &Buffer<u32>,
    b: Option<(&UintBatch, &Buffer<u32>)>,
    count: usize,
    out: &mut Buffer<u32>,
) -> Result<(), IntegerError> {
    let gpu = a.executor.gpu()?;
    let (x, y) = (a.on_device(x), b.map(|(b, y)| b.on_device(y)));
    let choice = gpu.choice(x.limbs, y.map(|y| y.limbs)).ok_or_else(|| IntegerError::NoMethod {
        device: gpu.device().info().name.clone(),
        a: a.width,
        b: b.map_or(a.width, |(b, _)| b.width),
    })?;
    Ok(gpu.multiply_by(choice.method, part, x, y, count, out)?)
}

impl UintBatch {
    fn product_shape(&self, b: &Self, part: Part) -> Result<(usize, Width), IntegerError> {
        let count = self.count_with(b)?;
        as_factor("a product", self.width)?;
        as_factor("a product", b.width)?;
        let width = result_width("a product", part.limbs(self.width.limbs(), b.width.limbs()).1)?;
        Ok((count, width))
    }

    fn product(&self, b: &Self, part: Part) -> Result<Self, IntegerError> {
        let (count, width) = self.product_shape(b, part)?;
        let mut r = self.output(count, width)?;
        multiply(part, self, b, &mut r)?;
        Ok(r)
    }

    fn product_into(&self, b: &Self, part: Part, into: &mut Self) -> Result<(), IntegerError> {
        let (count, width) = self.product_shape(b, part)?;
        self.fits(count, width, into)?;
        multiply(part, self, b, into)
    }

    fn own_square(&self, part: Part) -> Result<Self, IntegerError> {
        let (count, width) = self.product_shape(self, part)?;
        let mut r = self.output(count, width)?;
        square(part, self, &mut r)?;
        Ok(r)
    }

    fn square_part_into(&self, part: Part, into: &mut Self) -> Result<(), IntegerError> {
        let (count, width) = self.product_shape(self, part)?;
        self.fits(count, width, into)?;
        square(part, self, into)
    }

    /// Returns a·b, where a is `self`. The width of the result is width(a) + width(b).
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::TooWide`] for
    /// factors of more than 2^20 bits; [`IntegerError::NoMethod`] for factors wider than the device
    /// can multiply. Factors of 2^20 bits need 68 KiB of shared memory per block.
    pub fn mul(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::Full)
    }

    /// Returns a·b mod 2^w, where a is `self` and w is the larger width of a and b in bits. This
    /// takes about half the work of [`Self::mul`] for numbers of up to a few thousand bits.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn mul_low(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::Low)
    }

    /// Returns ⌊a·b/2^w⌋, where a is `self` and w is the larger width of a and b in bits. The
    /// result has the smaller width of a and b, which always suffices. So a·b = `mul_high`·2^w +
    /// `mul_low`. The computation takes about half the work of [`Self::mul`] for numbers of up to a
    /// few thousand bits.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn mul_high(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::High)
    }

    /// Returns a², where a is `self`. The result has twice the width of a.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn square(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::Full)
    }

    /// Returns a² mod 2^width(a), where a is `self`.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn square_low(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::Low)
    }

    /// Returns ⌊a²/2^width(a)⌋, where a is `self`. The result has the width of a.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn square_high(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::High)
    }

    /// Like [`Self::mul`], but writes the products to `into`, whose width is the sum of the widths
    /// of `self` and `b`, and allocates no result.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn mul_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::Full, into)
    }

    /// Like [`Self::mul_low`], but writes the results to `into`, which has the larger width of
    /// `self` and `b`, and allocates no result.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn mul_low_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::Low, into)
    }

    /// Like [`Self::mul_high`], but writes the results to `into`, which has the smaller width of
    /// `self` and `b`, and allocates no result.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn mul_high_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::High, into)
    }

    /// Like [`Self::square`], but writes the squares to `into`, which is twice as wide as `self`,
    /// and allocates no result.
    ///
    /// # Errors
    /// The errors of [`Self::mul`].
    pub fn square_into(&self, into: &mut Self) -> Result<(), IntegerError> {
        self.square_part_into(Part::Full, into)
    }

    /// Returns (a·b + c) mod 2^w, where a is `self` and w = width(a) + width(b) is the width of the
    /// result. The flag is set where a·b + c ≥ 2^w. c must not be wider than w bits. If c is no
    /// wider than the wider factor, no flag is set: (2^m − 1)(2^n − 1) + 2^m − 1 < 2^(m + n) for
    /// factors of m and n bits and c of m bits.
    ///
    /// # Errors
    /// The errors of [`Self::mul`]; [`IntegerError::TooWide`] if c is wider than w bits;
    /// [`IntegerError::Counts`] if the counts of a·b and c differ and neither is 1.
    pub fn mul_add(&self, b: &Self, c: &Self) -> Result<Flagged<Self>, IntegerError> {
        let (_, width) = self.product_shape(b, Part::Full)?;
        if c.width > width {
            let (bits, most) = (u64::from(c.bits()), width.bits());
            return Err(IntegerError::TooWide { operation: "what is added", bits, most });
        }
        let mut r = self.mul(b)?;
        if r.count == 1 && c.count != 1 {
            return r.add(c);
        }
        let carries = r.add_assign(c)?;
        Ok((r, carries))
    }
}
