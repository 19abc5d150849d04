//! Sums and differences.

use warpint_device::Buffer;

use crate::operation::Sum;
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, Width, cpu};

/// Computes r ← a ± b mod 2^width(r). Writes the carries or borrows to `carries`, unless `carries`
/// is `None`.
fn sum(
    sum: Sum,
    a: &UintBatch,
    b: &UintBatch,
    r: &mut UintBatch,
    carries: Option<&mut Flags>,
) -> Result<(), IntegerError> {
    let mut carries = carries.map(|flags| &mut flags.data);
    match (&a.data, &b.data, &mut r.data) {
        (Storage::Host(x), Storage::Host(y), Storage::Host(out)) => {
            let carries = carries.as_deref_mut().map(host_flags).transpose()?;
            let limbs = r.width.limbs();
            let (x, y) = (a.host(x), b.host(y));
            a.executor.on_threads(|| cpu::sum(sum, x, y, out, limbs, carries));
        }
        (Storage::Device(x), Storage::Device(y), Storage::Device(out)) => {
            let carries = carries.map(device_flags).transpose()?;
            let (x, y, out) = (a.on_device(x), b.on_device(y), r.width.results(out));
            a.executor.gpu()?.add(sum, x, y, r.count, out, carries)?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(())
}

/// Computes a ← a ± b mod 2^width(a) and returns the carries or borrows.
fn sum_assign(sum: Sum, a: &mut UintBatch, b: &UintBatch) -> Result<Flags, IntegerError> {
    let (count, width) = (a.count_with(b)?, a.width.max(b.width));
    b.fits(count, width, a)?;
    let mut carries = Flags::for_results(&a.executor, a.count, a.width)?;
    match (&mut a.data, &b.data, &mut carries.data) {
        (Storage::Host(out), Storage::Host(y), Storage::Host(carries)) => {
            let (limbs, y) = (a.width.limbs(), b.host(y));
            a.executor.on_threads(|| cpu::sum_assign(sum, out, y, limbs, carries));
        }
        (Storage::Device(out), Storage::Device(y), Storage::Device(carries)) => {
            let (y, out) = (b.on_device(y), a.width.results(out));
            a.executor.gpu()?.add(sum, out.operand(), y, a.count, out, Some(carries))?;
        }
        _ => return Err(IntegerError::Places),
    }
    Ok(carries)
}

pub(super) fn host_flags(flags: &mut Storage<u8>) -> Result<&mut [u8], IntegerError> {
    match flags {
        Storage::Host(flags) => Ok(flags),
        Storage::Device(_) => Err(IntegerError::Places),
    }
}

fn device_flags(flags: &mut Storage<u8>) -> Result<&mut Buffer<u8>, IntegerError> {
    match flags {
        Storage::Device(flags) => Ok(flags),
        Storage::Host(_) => Err(IntegerError::Places),
    }
}

impl UintBatch {
    fn sum_of(&self, b: &Self, what: Sum) -> Result<Flagged<Self>, IntegerError> {
        let (count, width) = (self.count_with(b)?, self.width.max(b.width));
        let mut r = self.output(count, width)?;
        let mut carries = Flags::for_results(&self.executor, count, width)?;
        sum(what, self, b, &mut r, Some(&mut carries))?;
        Ok((r, carries))
    }

    fn wrapping_sum(&self, b: &Self, what: Sum) -> Result<Self, IntegerError> {
        let mut r = self.output(self.count_with(b)?, self.width.max(b.width))?;
        sum(what, self, b, &mut r, None)?;
        Ok(r)
    }

    fn sum_into(
        &self,
        b: &Self,
        what: Sum,
        into: &mut Self,
        carries: Option<&mut Flags>,
    ) -> Result<(), IntegerError> {
        let (count, width) = (self.count_with(b)?, self.width.max(b.width));
        self.fits(count, width, into)?;
        if let Some(flags) = carries.as_deref() {
            flags.fit(into)?;
        }
        sum(what, self, b, into, carries)
    }

    /// Returns a + b mod 2^w, where a is `self` and w is the larger width of a and b in bits. The
    /// flag is set where a + b ≥ 2^w.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn add(&self, b: &Self) -> Result<Flagged<Self>, IntegerError> {
        self.sum_of(b, Sum::Add)
    }

    /// Returns a − b mod 2^w, where a is `self` and w is the larger width of a and b in bits. The
    /// flag is set where a < b.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn sub(&self, b: &Self) -> Result<Flagged<Self>, IntegerError> {
        self.sum_of(b, Sum::Subtract)
    }

    /// Returns a + b mod 2^w, where a is `self` and w is the larger width of a and b in bits.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn wrapping_add(&self, b: &Self) -> Result<Self, IntegerError> {
        self.wrapping_sum(b, Sum::Add)
    }

    /// Returns a + b mod 2^w, where a is `self` and w in bits is the largest of `width` and the
    /// widths of a and b. The sum is exact if w exceeds the widths of a and b. Cost: one pass over
    /// memory, as [`Self::add`].
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn add_to_width(&self, b: &Self, width: Width) -> Result<Self, IntegerError> {
        let width = width.max(self.width).max(b.width);
        let mut r = self.output(self.count_with(b)?, width)?;
        sum(Sum::Add, self, b, &mut r, None)?;
        Ok(r)
    }

    /// Returns a − b mod 2^w, where a is `self` and w is the larger width of a and b in bits.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn wrapping_sub(&self, b: &Self) -> Result<Self, IntegerError> {
        self.wrapping_sum(b, Sum::Subtract)
    }

    /// Like [`Self::add`], but writes the sums to `into`, which has the larger width of `self` and
    /// `b`. Writes the flags to `carries`, unless `carries` is `None`. Allocates nothing.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn add_into(
        &self,
        b: &Self,
        into: &mut Self,
        carries: Option<&mut Flags>,
    ) -> Result<(), IntegerError> {
        self.sum_into(b, Sum::Add, into, carries)
    }

    /// Like [`Self::sub`], but writes the differences to `into`, which has the larger width of
    /// `self` and `b`. Writes the flags to `borrows`, unless `borrows` is `None`. Allocates
    /// nothing.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn sub_into(
        &self,
        b: &Self,
        into: &mut Self,
        borrows: Option<&mut Flags>,
    ) -> Result<(), IntegerError> {
        self.sum_into(b, Sum::Subtract, into, borrows)
    }

    /// Computes a ← a + b mod 2^width(a), where a is `self`. The flag is set where a + b ≥
    /// 2^width(a). b must not be wider than a, and the count of b must be 1 or the count of a.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::Output`] if b is
    /// wider than a, or if a is a single number and b is not.
    pub fn add_assign(&mut self, b: &Self) -> Result<Flags, IntegerError> {
        sum_assign(Sum::Add, self, b)
    }

    /// Computes a ← a − b mod 2^width(a), where a is `self`. The flag is set where a < b before the
    /// operation. b must not be wider than a, and the count of b must be 1 or the count of a.
    ///
    /// # Errors
    /// The errors common to all operations (see [`UintBatch`]); [`IntegerError::Output`] if b is
    /// wider than a, or if a is a single number and b is not.
    pub fn sub_assign(&mut self, b: &Self) -> Result<Flags, IntegerError> {
        sum_assign(Sum::Subtract, self, b)
    }
}
