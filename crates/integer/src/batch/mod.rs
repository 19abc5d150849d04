//! The type [`UintBatch`]: construction and access.

mod divide;
mod elementwise;
mod gcd;
mod modulus;
mod multiply;
mod operands;
mod powers;
mod primality;
mod sum;
#[cfg(test)]
mod tests;

pub use gcd::GcdExt;
pub use modulus::{FixedBase, Modulus, Reduction};
pub use primality::PrimalityTest;

use std::any::Any;

use warpint_device::Buffer;

use crate::host::Host;
use crate::storage::{Storage, countable};
use crate::{Executor, IntegerError, Width, cpu};

/// A batch of `count` natural numbers of one [`Width`], stored on the CPU or the device of its
/// executor.
///
/// Numbers are stored one after the other as limbs of 32 bits, the lowest limb first. With n =
/// width/32 limbs per number, number i is the sum of limb(i·n + j)·2^(32·j) over 0 ≤ j < n. A batch
/// may be empty.
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
/// * [`IntegerError::Places`] if the batches are neither all on the CPU nor all on the same device;
/// * [`IntegerError::Counts`] if the counts of two batches differ and neither is 1, or if the
///   number of flags given for a result differs from the count of the result;
/// * [`IntegerError::Memory`] or [`IntegerError::Device`] if memory for the result cannot be
///   allocated;
/// * [`IntegerError::TooMany`] for more than 2^32 − 1 numbers on a device;
/// * [`IntegerError::Output`] if a batch given for the result has another count or another width
///   than the result;
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
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if memory cannot be allocated;
    /// [`IntegerError::TooMany`] for more than 2^32 − 1 numbers on a device.
    pub fn zeros(executor: &Executor, count: usize, width: Width) -> Result<Self, IntegerError> {
        let data = Storage::zeros(executor, count, width.limbs(), width)?;
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Returns a batch of the numbers with the 32-bit limbs `limbs`. Limb j of number i is at index
    /// i·n + j, where n = width/32.
    ///
    /// # Errors
    /// [`IntegerError::Length`] unless the length of `limbs` is a multiple of width/32; on a device
    /// also [`IntegerError::TooMany`] for more than 2^32 − 1 numbers and [`IntegerError::Device`]
    /// for errors of the device, such as a lack of memory.
    pub fn from_limbs(
        executor: &Executor,
        width: Width,
        limbs: &[u32],
    ) -> Result<Self, IntegerError> {
        let Some(device) = executor.device() else {
            return Self::from_vec(executor, width, limbs.to_vec());
        };
        let count = whole_numbers(limbs.len(), width)?;
        countable(count)?;
        let data = Storage::Device(device.upload(limbs)?);
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Like [`Self::from_limbs`], but for a vector. On the CPU, the vector becomes the memory of
    /// the batch without a copy.
    ///
    /// # Errors
    /// The errors of [`Self::from_limbs`].
    pub fn from_vec(
        executor: &Executor,
        width: Width,
        limbs: Vec<u32>,
    ) -> Result<Self, IntegerError> {
        let count = whole_numbers(limbs.len(), width)?;
        let data = Storage::from_vec(executor, count, limbs)?;
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Returns a batch on the CPU of the numbers with the 32-bit limbs `limbs`, in the order of
    /// [`Self::to_limbs`], without a copy. Only an operation that writes to the batch itself copies them.
    /// `owner` is dropped with the batch, or when the limbs have been copied.
    ///
    /// # Errors
    /// [`IntegerError::Places`] if the executor is a device; [`IntegerError::Length`] unless the length
    /// of `limbs` is a multiple of width/32.
    ///
    /// # Safety
    /// Until `owner` is dropped, the limbs stay valid, at the same address and unchanged.
    pub unsafe fn from_foreign(
        executor: &Executor,
        width: Width,
        limbs: &[u32],
        owner: Box<dyn Any + Send + Sync>,
    ) -> Result<Self, IntegerError> {
        if !executor.is_cpu() {
            return Err(IntegerError::Places);
        }
        let count = whole_numbers(limbs.len(), width)?;
        // SAFETY: the caller's promise.
        let data = Storage::Host(unsafe { Host::foreign(limbs, owner) });
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Returns a batch of the numbers with the 64-bit limbs `limbs`. Limb j of number i is at index
    /// i·n + j, where n = width/64.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; [`IntegerError::Length`]
    /// unless the length of `limbs` is a multiple of width/64; the other errors of
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

    /// Returns the 32-bit limbs of all numbers. Limb j of number i is at index i·n + j, where n =
    /// width/32. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_limbs(&self) -> Result<Vec<u32>, IntegerError> {
        self.data.with(<[u32]>::to_vec)
    }

    /// Returns the 64-bit limbs of all numbers. Limb j of number i is at index i·n + j, where n =
    /// width/64. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; [`IntegerError::Device`]
    /// for errors of the device.
    pub fn to_limbs_u64(&self) -> Result<Vec<u64>, IntegerError> {
        if !self.width.limbs().is_multiple_of(2) {
            return Err(IntegerError::OddLimbs { width: self.width });
        }
        self.with_limbs(|limbs| limbs.chunks_exact(2).map(cpu::join).collect())
    }

    /// Returns the 32-bit limbs of all numbers, in the order of [`Self::to_limbs`], without a copy.
    /// Returns `None` if the batch is on a device.
    #[must_use]
    pub fn as_limbs(&self) -> Option<&[u32]> {
        match &self.data {
            Storage::Host(limbs) => Some(limbs),
            Storage::Device(_) => None,
        }
    }

    /// Returns the device memory of the batch: the 32-bit limbs of all numbers, in the order of
    /// [`Self::to_limbs`]. Returns `None` if the batch is on the CPU.
    #[must_use]
    pub fn buffer(&self) -> Option<&Buffer<u32>> {
        match &self.data {
            Storage::Host(_) => None,
            Storage::Device(buffer) => Some(buffer),
        }
    }

    /// Returns a batch of the numbers with the 32-bit limbs `limbs`, which are on the device of
    /// `executor`. Limb j of number i is at index i·n + j, where n = width/32. Copies nothing.
    ///
    /// # Errors
    /// [`IntegerError::Places`] if `limbs` is not on the device of `executor`;
    /// [`IntegerError::Length`] unless the length of `limbs` is a multiple of width/32;
    /// [`IntegerError::TooMany`] for more than 2^32 − 1 numbers.
    pub fn from_buffer(
        executor: &Executor,
        width: Width,
        limbs: Buffer<u32>,
    ) -> Result<Self, IntegerError> {
        if !executor.device().is_some_and(|device| limbs.is_on(device)) {
            return Err(IntegerError::Places);
        }
        let count = whole_numbers(limbs.len(), width)?;
        countable(count)?;
        let data = Storage::Device(limbs);
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// Calls `read` with the 32-bit limbs of all numbers and returns the result of the call. If the
    /// batch is on a device, the limbs are first copied to the host.
    pub(crate) fn with_limbs<R>(&self, read: impl FnOnce(&[u32]) -> R) -> Result<R, IntegerError> {
        self.data.with(read)
    }

    /// Returns the 32-bit limbs of number i, the lowest first. Returns `None` if the batch has no
    /// number i. On a device this costs as much as [`Self::to_limbs`].
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
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

    /// Returns the executor: the CPU or the device where the numbers are stored.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// Returns a copy of the batch on the same CPU or device.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device, such as a lack of memory.
    pub fn try_clone(&self) -> Result<Self, IntegerError> {
        let data = self.data.try_clone(&self.executor)?;
        Ok(Self { executor: self.executor.clone(), data, ..*self })
    }

    /// Returns a copy of the batch on the CPU or the device of `executor`. A copy from a device to
    /// the CPU or to another device waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::TooMany`] for more than 2^32 − 1 numbers on a device;
    /// [`IntegerError::Device`] for errors of a device, such as a lack of memory.
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

    /// Moves the batch to the CPU or the device of `executor`. Copies nothing if the batch is
    /// already there. A move from a device to the CPU or to another device waits for the operations
    /// submitted before.
    ///
    /// # Errors
    /// The errors of [`Self::copy_to`].
    pub fn to(self, executor: &Executor) -> Result<Self, IntegerError> {
        if self.executor.is_same_place(executor) {
            return Ok(Self { executor: executor.clone(), ..self });
        }
        let data = Storage::from_vec(executor, self.count, self.data.into_vec()?)?;
        Ok(Self { executor: executor.clone(), data, ..self })
    }
}

/// Returns the number of numbers that have `len` limbs together. Returns [`IntegerError::Length`] if a
/// part of a number remains.
fn whole_numbers(len: usize, width: Width) -> Result<usize, IntegerError> {
    if len.is_multiple_of(width.limbs()) {
        return Ok(len / width.limbs());
    }
    Err(IntegerError::Length { len, unit: "limbs of 32 bits", width })
}
