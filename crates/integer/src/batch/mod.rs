//! The type [`UintBatch`]: construction and access.

mod divide;
mod elementwise;
mod gcd;
mod modulus;
mod multiply;
mod operands;
mod powers;
mod sum;

pub use gcd::GcdExt;
pub use modulus::{FixedBase, Modulus, Reduction};

use crate::storage::{Storage, countable};
use crate::{Executor, IntegerError, Width, cpu};

/// A batch of `count` natural numbers of one [`Width`], stored where its executor works.
///
/// Number i is Σ_j limb(i·limbs + j)·2^(32·j), 0 ≤ j < limbs = width/32: row-major, the lowest limb
/// first. A batch may be empty.
///
/// # Operands
///
/// An operation on two batches combines number i of one with number i of the other. If one batch
/// has a single number, that number is combined with every number of the other. The widths may
/// differ: the narrower numbers are extended by zeros. Each operation documents the width of its
/// result.
///
/// # Errors of operations
///
/// Operations return
/// * [`IntegerError::Places`] if the batches are on different devices;
/// * [`IntegerError::Counts`] if their counts differ and neither is 1;
/// * [`IntegerError::Memory`] or [`IntegerError::Device`] if memory for the result cannot be
///   allocated;
/// * [`IntegerError::TooMany`] for more than 2^32 − 1 numbers on a device;
/// * [`IntegerError::Output`] if the batch given for the result has another count or width;
/// * [`IntegerError::Device`] for errors of the device;
/// * [`IntegerError::OnlyOnCpu`] for operations that devices do not support.
#[derive(Debug)]
pub struct UintBatch {
    executor: Executor,
    count: usize,
    width: Width,
    data: Storage<u32>,
}

impl UintBatch {
    /// Returns a batch of `count` zeros.
    ///
    /// # Errors
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if memory cannot be allocated.
    pub fn zeros(executor: &Executor, count: usize, width: Width) -> Result<Self, IntegerError> {
        let data = Storage::zeros(executor, count, width.limbs(), width)?;
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Returns a batch of the numbers with these limbs of 32 bits: limb j of number i is at
    /// i·limbs + j.
    ///
    /// # Errors
    /// [`IntegerError::Length`] unless `limbs` holds whole numbers; out of memory.
    pub fn from_limbs(
        executor: &Executor,
        width: Width,
        limbs: &[u32],
    ) -> Result<Self, IntegerError> {
        Self::from_vec(executor, width, limbs.to_vec())
    }

    /// Like [`Self::from_limbs`], but takes a vector, which on the CPU becomes the batch without a
    /// copy.
    ///
    /// # Errors
    /// As [`Self::from_limbs`].
    pub fn from_vec(
        executor: &Executor,
        width: Width,
        limbs: Vec<u32>,
    ) -> Result<Self, IntegerError> {
        let len = limbs.len();
        if !len.is_multiple_of(width.limbs()) {
            return Err(IntegerError::Length { len, unit: "limbs of 32 bits", width });
        }
        let count = len / width.limbs();
        let data = Storage::from_vec(executor, count, limbs)?;
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Returns a batch of the numbers with these limbs of 64 bits, the lowest limb of each number
    /// first.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; the errors of
    /// [`Self::from_limbs`].
    pub fn from_limbs_u64(
        executor: &Executor,
        width: Width,
        limbs: &[u64],
    ) -> Result<Self, IntegerError> {
        if !width.limbs().is_multiple_of(2) {
            return Err(IntegerError::OddLimbs { width });
        }
        if !limbs.len().is_multiple_of(width.limbs() / 2) {
            let len = limbs.len();
            return Err(IntegerError::Length { len, unit: "limbs of 64 bits", width });
        }
        let halves = limbs.iter().flat_map(|&limb| [limb as u32, (limb >> 32) as u32]);
        Self::from_vec(executor, width, halves.collect())
    }

    /// Returns all limbs of 32 bits: limb j of number i is at i·limbs + j. Waits for a device.
    ///
    /// # Errors
    /// An error of the device.
    pub fn to_limbs(&self) -> Result<Vec<u32>, IntegerError> {
        self.data.with(<[u32]>::to_vec)
    }

    /// Returns all limbs of 64 bits, the lowest limb of each number first. Waits for a device.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; an error of the device.
    pub fn to_limbs_u64(&self) -> Result<Vec<u64>, IntegerError> {
        if !self.width.limbs().is_multiple_of(2) {
            return Err(IntegerError::OddLimbs { width: self.width });
        }
        self.with_limbs(|limbs| limbs.chunks_exact(2).map(cpu::join).collect())
    }

    /// Returns all limbs of 32 bits without a copy; `None` on a device.
    #[must_use]
    pub fn as_limbs(&self) -> Option<&[u32]> {
        match &self.data {
            Storage::Host(limbs) => Some(limbs),
            Storage::Device(_) => None,
        }
    }

    /// Calls `read` with all limbs and returns its result. The limbs are copied to the host first
    /// if they are on a device.
    pub(crate) fn with_limbs<R>(&self, read: impl FnOnce(&[u32]) -> R) -> Result<R, IntegerError> {
        self.data.with(read)
    }

    /// Returns the limbs of number i; `None` if i ≥ count. On a device this costs as much as
    /// [`Self::to_limbs`].
    ///
    /// # Errors
    /// An error of the device.
    pub fn get(&self, i: usize) -> Result<Option<Vec<u32>>, IntegerError> {
        if i >= self.count {
            return Ok(None);
        }
        self.with_limbs(|limbs| limbs.chunks_exact(self.width.limbs()).nth(i).map(<[_]>::to_vec))
    }

    /// Returns the number of integers in the batch.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the width of the numbers.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// Returns the width of the numbers in bits.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.width.bits()
    }

    /// Returns the executor, which is the place where the numbers are stored.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Returns a copy in the same place.
    ///
    /// # Errors
    /// Out of memory, or an error of the device.
    pub fn try_clone(&self) -> Result<Self, IntegerError> {
        let data = self.data.try_clone(&self.executor)?;
        Ok(Self { executor: self.executor.clone(), data, ..*self })
    }

    /// Returns a copy in another place, or in the same one.
    ///
    /// # Errors
    /// Out of memory, or an error of the device.
    pub fn copy_to(&self, executor: &Executor) -> Result<Self, IntegerError> {
        match (&self.data, executor.device()) {
            (Storage::Host(limbs), Some(device)) => {
                countable(self.count)?;
                let data = Storage::Device(device.upload(limbs)?);
                Ok(Self { executor: executor.clone(), data, ..*self })
            }
            _ => self.try_clone()?.to(executor),
        }
    }

    /// Moves the numbers to another place and returns the batch there. From host to host nothing is
    /// copied.
    ///
    /// # Errors
    /// Out of memory, or an error of the device.
    pub fn to(self, executor: &Executor) -> Result<Self, IntegerError> {
        if self.executor.is_same_place(executor) {
            return Ok(Self { executor: executor.clone(), ..self });
        }
        let data = Storage::from_vec(executor, self.count, self.data.into_vec()?)?;
        Ok(Self { executor: executor.clone(), data, ..self })
    }
}
