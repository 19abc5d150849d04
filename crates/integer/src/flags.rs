//! One flag for each number of a batch.

use crate::storage::Storage;
use crate::{Executor, IntegerError, UintBatch, Width};

/// One flag for each number of a batch: a carry, a borrow, lost bits, a division by zero, an
/// inverse that does not exist. What happens to one number neither spoils nor hides the others.
/// They are where their batch is until they are asked for.
#[derive(Debug)]
#[must_use = "a flag may say that a result is no result: a carry, a zero divisor, no inverse"]
pub struct Flags {
    pub(crate) executor: Executor,
    pub(crate) data: Storage<u8>,
}

/// What an operation gives that some numbers may have no result of, or a result that says less: the results, and a
/// flag for each number.
pub type Flagged<T> = (T, Flags);

impl Flags {
    /// Flags for `count` numbers of `width`, which an operation is to set or clear.
    pub(crate) fn for_results(
        executor: &Executor,
        count: usize,
        width: Width,
    ) -> Result<Self, IntegerError> {
        let data = Storage::for_results(executor, count, 1, width)?;
        Ok(Self { executor: executor.clone(), data })
    }

    /// `count` flags, none set: to be filled by operations that take flags.
    ///
    /// # Errors
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if there is no memory for them.
    pub fn zeros(executor: &Executor, count: usize) -> Result<Self, IntegerError> {
        let data = Storage::zeros(executor, count, 1, Width::of_limbs(1))?;
        Ok(Self { executor: executor.clone(), data })
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
        self.data.len()
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
        self.data.with(<[u8]>::to_vec)
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
        self.data.with(|flags| flags.iter().filter(|&&flag| flag != 0).count())
    }
}
