//! Products and squares of numbers of a batch.

use warpint_device::Buffer;

use super::operands::{as_factor, result_width};
use crate::operation::Part;
use crate::storage::Storage;
use crate::{Flagged, IntegerError, UintBatch, Width, cpu};

/// r ← the part of a·b; r has the width of that part.
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

/// r ← the part of a².
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

/// out ← the part of a·b, or of a², by the method that a device has for these widths.
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

    /// a·b, of width(a) + width(b).
    ///
    /// # Errors
    /// Those of every operation (see [`UintBatch`]); [`IntegerError::TooWide`] for factors of
    /// more than 2^20 bits, and [`IntegerError::NoMethod`] for wider ones than a device can multiply,
    /// which depends on its shared memory: with 68 KiB a block it can up to 2^20 bits.
    pub fn mul(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::Full)
    }

    /// a·b mod 2^w, w the larger width. About half the work of [`Self::mul`] for numbers of up
    /// to some thousand bits.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn mul_low(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::Low)
    }

    /// ⌊a·b/2^w⌋, w the larger width; of the smaller width, which it always fits. So
    /// a·b = mul_high·2^w + mul_low. About half the work of [`Self::mul`] for numbers of up to
    /// some thousand bits.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn mul_high(&self, b: &Self) -> Result<Self, IntegerError> {
        self.product(b, Part::High)
    }

    /// a², of twice the width.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn square(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::Full)
    }

    /// a² mod 2^width(a).
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn square_low(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::Low)
    }

    /// ⌊a²/2^width(a)⌋, of the width of a.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn square_high(&self) -> Result<Self, IntegerError> {
        self.own_square(Part::High)
    }

    /// As [`Self::mul`] into a batch of width(a) + width(b): no result is allocated.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn mul_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::Full, into)
    }

    /// As [`Self::mul_low`] into a batch of the larger width.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn mul_low_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::Low, into)
    }

    /// As [`Self::mul_high`] into a batch of the smaller width.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn mul_high_into(&self, b: &Self, into: &mut Self) -> Result<(), IntegerError> {
        self.product_into(b, Part::High, into)
    }

    /// As [`Self::square`] into a batch of twice the width.
    ///
    /// # Errors
    /// As [`Self::mul`].
    pub fn square_into(&self, into: &mut Self) -> Result<(), IntegerError> {
        self.square_part_into(Part::Full, into)
    }

    /// a·b + c, exactly, of width(a) + width(b); and whether a carry of 2^(width(a) + width(b)) was
    /// lost. c is no wider than that. None is lost if c is no wider than the wider factor, for
    /// (2^m − 1)(2^n − 1) + 2^m − 1 < 2^(m + n).
    ///
    /// # Errors
    /// As [`Self::mul`]; [`IntegerError::TooWide`] for a wider c; [`IntegerError::Counts`] unless
    /// c has one number, or as many as a·b.
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
