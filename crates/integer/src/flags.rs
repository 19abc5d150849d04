//! One flag for each number of a batch.

use crate::storage::Storage;
use crate::{Executor, IntegerError, UintBatch, Width};

/// One flag for each number of a batch. Each operation documents the meaning of a set flag: for
/// example, that the result for this number has a carry, a borrow or lost bits, that the divisor is
/// zero, or that no inverse exists. Results whose flag is not set are valid, even if other flags
/// are set. Flags stay on the CPU or the device of their batch until they are read.
#[derive(Debug)]
#[must_use = "a flag may mark a result as invalid: a carry, a zero divisor, no inverse"]
pub struct Flags {
    pub(crate) executor: Executor,
    pub(crate) data: Storage<u8>,
}

/// The results of an operation, and one flag per result. A flag is set if its result is incomplete
/// or missing.
pub type Flagged<T> = (T, Flags);

impl Flags {
    /// Allocates flags for `count` numbers. The next operation must write all flags, since their
    /// initial values are unspecified. `width`, the width of the numbers, is used only for the
    /// error [`IntegerError::Memory`].
    pub(crate) fn for_results(
        executor: &Executor,
        count: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        let data = Storage::for_results(executor, count, 1, width)?;
        Ok(Self { executor: executor.clone(), data })
    }

    /// Returns `count` flags that are not set. Operations such as [`UintBatch::div_rem_into`] write
    /// to them.
    ///
    /// # Errors
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if memory for the flags cannot be
    /// allocated; [`IntegerError::TooMany`] for more than 2^32 − 1 flags on a device.
    pub fn zeros(executor: &Executor, count: usize) -> Result<Self, IntegerError> {
        let data = Storage::zeros(executor, count, 1, Width::of_limbs(1))?;
        Ok(Self { executor: executor.clone(), data })
    }

    /// Returns an error unless the flags are on the CPU or the device of `batch`, and there is one
    /// flag for each number of `batch`.
    pub(crate) fn fit(&self, batch: &UintBatch) -> Result<(), IntegerError> {
        if !self.executor.is_same_place(batch.executor()) {
            return Err(IntegerError::Places);
        }
        if self.len() != batch.count() {
            return Err(IntegerError::Counts { a: batch.count(), b: self.len() });
        }
        Ok(())
    }

    /// Returns the number of flags.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len()
    }

    /// Returns whether there are no flags.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns all flags: flag i, 0 or 1, belongs to number i. On a device, waits for the
    /// operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_vec(&self) -> Result<Vec<u8>, IntegerError> {
        self.data.with(<[u8]>::to_vec)
    }

    /// Returns whether any flag is set.
    ///
    /// # Errors
    /// The errors of [`Self::to_vec`].
    pub fn any(&self) -> Result<bool, IntegerError> {
        Ok(self.count()? != 0)
    }

    /// Returns the number of flags that are set.
    ///
    /// # Errors
    /// The errors of [`Self::to_vec`].
    pub fn count(&self) -> Result<usize, IntegerError> {
        self.data.with(|flags| flags.iter().filter(|&&flag| flag != 0).count())
    }
}
