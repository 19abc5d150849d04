//! Quotients and remainders.

use warpint_device::Buffer;

use crate::cpu::Rows;
use crate::storage::Storage;
use crate::{Flagged, Flags, IntegerError, UintBatch, Width, cpu, gpu};

/// Computes q ← ⌊a/d⌋, with the width of a, and r ← a mod d, with the width of d. Either result may
/// be omitted. A flag is set where d = 0.
fn divide(
    a: &UintBatch,
    d: &UintBatch,
    q: Option<&mut UintBatch>,
    r: Option<&mut UintBatch>,
    flags: &mut Flags,
) -> Result<(), IntegerError> {
    match (&a.data, &d.data, &mut flags.data) {
        (Storage::Host(x), Storage::Host(y), Storage::Host(flags)) => {
            let (x, y) = (a.host(x), d.host(y));
            let (q, r) = (rows(q)?, rows(r)?);
            a.executor.on_threads(|| cpu::divide(x, y, q, r, flags));
            Ok(())
        }
        (Storage::Device(x), Storage::Device(y), Storage::Device(by_zero)) => {
            let count = by_zero.len();
            let to = gpu::Quotients {
                quotient: buffer(q)?,
                remainder: buffer(r)?,
                flags: Some(by_zero),
                exact: false,
            };
            let gpu = a.executor.gpu()?;
            let (x, y) = (a.on_device(x), d.on_device(y));
            Ok(gpu.divide(x, y, count, to)?)
        }
        _ => Err(IntegerError::Places),
    }
}

/// Computes q ← a/d, with the width of a. A flag is set where d = 0 or a/d is not an integer.
fn divide_exactly(
    a: &UintBatch,
    d: &UintBatch,
    q: &mut UintBatch,
    flags: &mut Flags,
) -> Result<(), IntegerError> {
    match (&a.data, &d.data, &mut flags.data) {
        (Storage::Host(x), Storage::Host(y), Storage::Host(flags)) => {
            let (x, y, q) = (a.host(x), d.host(y), rows(Some(q))?);
            a.executor.on_threads(|| cpu::divide_exactly(x, y, q, flags));
            Ok(())
        }
        (Storage::Device(x), Storage::Device(y), Storage::Device(flags)) => {
            let (quotient, count) = (buffer(Some(q))?, flags.len());
            let to = gpu::Quotients { quotient, remainder: None, flags: Some(flags), exact: true };
            let gpu = a.executor.gpu()?;
            let (x, y) = (a.on_device(x), d.on_device(y));
            Ok(gpu.divide(x, y, count, to)?)
        }
        _ => Err(IntegerError::Places),
    }
}

/// Returns the device memory of a result. Returns `None` if the result is not requested, and an
/// error if the result is on the CPU.
pub(super) fn buffer(
    batch: Option<&mut UintBatch>,
) -> Result<Option<&mut Buffer<u32>>, IntegerError> {
    match batch.map(|batch| &mut batch.data) {
        None => Ok(None),
        Some(Storage::Device(data)) => Ok(Some(data)),
        Some(Storage::Host(_)) => Err(IntegerError::Places),
    }
}

/// Returns the host memory of a result. The memory is empty if the result is not requested. Returns
/// an error if the result is on a device.
pub(super) fn rows(batch: Option<&mut UintBatch>) -> Result<Rows<'_>, IntegerError> {
    let Some(batch) = batch else { return Ok(Rows::default()) };
    let limbs = batch.width.limbs();
    match &mut batch.data {
        Storage::Host(data) => Ok(Rows::new(data, limbs)),
        Storage::Device(_) => Err(IntegerError::Places),
    }
}

impl UintBatch {
    /// Allocates the results of an operation on `self`: a batch of `count` numbers of `width`, and
    /// one flag for each.
    pub(super) fn flagged_output(
        &self,
        count: usize,
        width: Width,
    ) -> Result<Flagged<Self>, IntegerError> {
        let flags = Flags::for_results(&self.executor, count, width)?;
        Ok((self.output(count, width)?, flags))
    }

    /// Returns the quotients ⌊a/d⌋, with the width of a, and the remainders a mod d, with the width
    /// of d, where a is `self`. Where d = 0, the flag is set and both results are 0.
    ///
    /// Costs O(l·m) for quotients of l limbs and divisors of m limbs, not counting leading zero
    /// limbs. If both l and m are large, the cost is below O(l·m) (Burnikel and Ziegler 1998).
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn div_rem(&self, d: &Self) -> Result<Flagged<(Self, Self)>, IntegerError> {
        let count = self.count_with(d)?;
        let (mut q, mut flags) = self.flagged_output(count, self.width)?;
        let mut r = self.output(count, d.width)?;
        divide(self, d, Some(&mut q), Some(&mut r), &mut flags)?;
        Ok(((q, r), flags))
    }

    /// Like [`Self::div_rem`], but writes the quotients to a batch of the width of `self`, the
    /// remainders to a batch of the width of `d`, and the flags to `zero_divisors`. Allocates no
    /// result.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn div_rem_into(
        &self,
        d: &Self,
        quotients: &mut Self,
        remainders: &mut Self,
        zero_divisors: &mut Flags,
    ) -> Result<(), IntegerError> {
        let count = self.count_with(d)?;
        self.fits(count, self.width, quotients)?;
        self.fits(count, d.width, remainders)?;
        zero_divisors.fit(quotients)?;
        divide(self, d, Some(quotients), Some(remainders), zero_divisors)
    }

    /// Returns ⌊a/d⌋, where a is `self`. The result has the width of a. Where d = 0, the flag is
    /// set and the result is 0.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn div(&self, d: &Self) -> Result<Flagged<Self>, IntegerError> {
        let (mut q, mut flags) = self.flagged_output(self.count_with(d)?, self.width)?;
        divide(self, d, Some(&mut q), None, &mut flags)?;
        Ok((q, flags))
    }

    /// Returns a mod d, where a is `self`. The result has the width of d. Where d = 0, the flag is
    /// set and the result is 0.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn rem(&self, d: &Self) -> Result<Flagged<Self>, IntegerError> {
        let (mut r, mut flags) = self.flagged_output(self.count_with(d)?, d.width)?;
        divide(self, d, None, Some(&mut r), &mut flags)?;
        Ok((r, flags))
    }

    /// Like [`Self::rem`], but writes the remainders to a batch of the width of `d` and the flags
    /// to `zero_divisors`. Allocates no result.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn rem_into(
        &self,
        d: &Self,
        remainders: &mut Self,
        zero_divisors: &mut Flags,
    ) -> Result<(), IntegerError> {
        self.fits(self.count_with(d)?, d.width, remainders)?;
        zero_divisors.fit(remainders)?;
        divide(self, d, None, Some(remainders), zero_divisors)
    }

    /// Returns a/d where d divides a; a is `self`. Where d = 0 or d does not divide a, the flag is
    /// set and the result is 0. The result has the width of a.
    ///
    /// # Errors
    /// The errors common to all operations: see [`UintBatch`].
    pub fn div_exact(&self, d: &Self) -> Result<Flagged<Self>, IntegerError> {
        let (mut q, mut flags) = self.flagged_output(self.count_with(d)?, self.width)?;
        divide_exactly(self, d, &mut q, &mut flags)?;
        Ok((q, flags))
    }
}
