//! One flag for each number of a batch.

use crate::storage::Storage;
use crate::{Executor, IntegerError, UintBatch, Width};

/// One flag for each number of a batch: a carry, a borrow, lost bits. What happens to one number
/// neither spoils nor hides the others.
#[derive(Debug)]
pub struct Flags {
    pub(crate) executor: Executor,
    pub(crate) data: Storage<u8>,
}

impl Flags {
    pub(crate) fn new(
        executor: &Executor,
        count: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        Ok(Self { executor: executor.clone(), data: Storage::zeros(executor, count, 1, width)? })
    }

    /// `count` flags, none set: to be filled by operations that take flags.
    ///
    /// # Errors
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if there is no memory for them.
    pub fn zeros(executor: &Executor, count: usize) -> Result<Self, IntegerError> {
        Self::new(executor, count, Width::of_limbs(1))
    }

    /// Refuses flags that are not those of `batch`'s numbers.
    pub(crate) fn fit(&self, batch: &UintBatch) -> Result<(), IntegerError> {
        if !self.executor.is_same_place(batch.executor()) {
            return Err(IntegerError::Places);
        }
        if self.len() != batch.count() {
            return Err(IntegerError::Counts { a: batch.count(), b: self.len() });
        }
        Ok(())
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        match &self.data {
            Storage::Host(flags) => flags.len(),
        }
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Flag i, 0 or 1, of number i. Waits for a device.
    ///
    /// # Errors
    /// What a device reports.
    pub fn to_vec(&self) -> Result<Vec<u8>, IntegerError> {
        self.data.to_vec()
    }

    /// Whether any is set.
    ///
    /// # Errors
    /// As [`Self::to_vec`].
    pub fn any(&self) -> Result<bool, IntegerError> {
        Ok(self.count()? != 0)
    }

    /// How many are set.
    ///
    /// # Errors
    /// As [`Self::to_vec`].
    pub fn count(&self) -> Result<usize, IntegerError> {
        let set = |flags: &[u8]| flags.iter().filter(|&&f| f != 0).count();
        match &self.data {
            Storage::Host(flags) => Ok(set(flags)),
        }
    }
}
