//! The type of batches: making one, and reading it.

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

/// `count` natural numbers of one [`Width`], in the memory where their executor works.
///
/// Number i is Σ_j limb(i·limbs + j)·2^(32·j), 0 ≤ j < limbs = width/32: row-major, the lowest
/// limb first. There may be no number at all.
///
/// # Operands
///
/// An operation of two batches takes number i of each; if one of them has a single number, every
/// number of the other meets that one. They may have different widths: a number is what it is,
/// whatever limbs of zero it has on top. Each operation says how wide its result is.
///
/// # Errors of operations
///
/// [`IntegerError::Places`] if the batches are on different devices, [`IntegerError::Counts`] if
/// their counts differ and none is 1, [`IntegerError::Memory`] or [`IntegerError::Device`] if
/// there is no memory for the result, [`IntegerError::TooMany`] for more than 2^32 − 1 numbers on
/// a device, [`IntegerError::Output`] if a batch that was to take the
/// result has another count or width, [`IntegerError::Device`] for what a device reports,
/// [`IntegerError::OnlyOnCpu`] for what devices cannot do.
#[derive(Debug)]
pub struct UintBatch {
    executor: Executor,
    count: usize,
    width: Width,
    data: Storage<u32>,
}

impl UintBatch {
    /// `count` zeros.
    ///
    /// # Errors
    /// [`IntegerError::Memory`] or [`IntegerError::Device`] if there is no memory for them.
    pub fn zeros(executor: &Executor, count: usize, width: Width) -> Result<Self, IntegerError> {
        let data = Storage::zeros(executor, count, width.limbs(), width)?;
        Ok(Self { executor: executor.clone(), count, width, data })
    }

    /// The numbers whose limbs of 32 bits these are.
    ///
    /// # Errors
    /// [`IntegerError::Length`] unless there are limbs for whole numbers; no memory.
    pub fn from_limbs(
        executor: &Executor,
        width: Width,
        limbs: &[u32],
    ) -> Result<Self, IntegerError> {
        Self::from_vec(executor, width, limbs.to_vec())
    }

    /// As [`Self::from_limbs`]; on the CPU the vector itself becomes the batch.
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

    /// The numbers whose limbs of 64 bits these are, the lowest first.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; as [`Self::from_limbs`].
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

    /// All limbs: limb j of number i at i·limbs + j. Waits for a device.
    ///
    /// # Errors
    /// What a device reports.
    pub fn to_limbs(&self) -> Result<Vec<u32>, IntegerError> {
        self.data.with(<[u32]>::to_vec)
    }

    /// All limbs of 64 bits.
    ///
    /// # Errors
    /// [`IntegerError::OddLimbs`] unless the width is a multiple of 64; what a device reports.
    pub fn to_limbs_u64(&self) -> Result<Vec<u64>, IntegerError> {
        if !self.width.limbs().is_multiple_of(2) {
            return Err(IntegerError::OddLimbs { width: self.width });
        }
        self.with_limbs(|limbs| limbs.chunks_exact(2).map(cpu::join).collect())
    }

    /// All limbs, without a copy; `None` on a device.
    #[must_use]
    pub fn as_limbs(&self) -> Option<&[u32]> {
        match &self.data {
            Storage::Host(limbs) => Some(limbs),
            Storage::Device(_) => None,
        }
    }

    /// What `read` makes of all limbs, here or brought here.
    pub(crate) fn with_limbs<R>(&self, read: impl FnOnce(&[u32]) -> R) -> Result<R, IntegerError> {
        self.data.with(read)
    }

    /// The limbs of number i; `None` if there is none. On a device it costs as much as
    /// [`Self::to_limbs`].
    ///
    /// # Errors
    /// What a device reports.
    pub fn get(&self, i: usize) -> Result<Option<Vec<u32>>, IntegerError> {
        if i >= self.count {
            return Ok(None);
        }
        self.with_limbs(|limbs| limbs.chunks_exact(self.width.limbs()).nth(i).map(<[_]>::to_vec))
    }

    /// How many numbers.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count
    }

    /// How wide they are.
    #[must_use]
    pub fn width(&self) -> Width {
        self.width
    }

    /// How wide they are, in bits.
    #[must_use]
    pub fn bits(&self) -> u32 {
        self.width.bits()
    }

    /// Where they are.
    #[must_use]
    pub fn executor(&self) -> &Executor {
        &self.executor
    }

    /// A copy, in the same place.
    ///
    /// # Errors
    /// No memory, or what a device reports.
    pub fn try_clone(&self) -> Result<Self, IntegerError> {
        let data = self.data.try_clone(&self.executor)?;
        Ok(Self { executor: self.executor.clone(), data, ..*self })
    }

    /// A copy in another place, or in the same one.
    ///
    /// # Errors
    /// No memory, or what a device reports.
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

    /// Moves them to another place. From host to host nothing is copied.
    ///
    /// # Errors
    /// No memory, or what a device reports.
    pub fn to(self, executor: &Executor) -> Result<Self, IntegerError> {
        if self.executor.is_same_place(executor) {
            return Ok(Self { executor: executor.clone(), ..self });
        }
        let data = Storage::from_vec(executor, self.count, self.data.into_vec()?)?;
        Ok(Self { executor: executor.clone(), data, ..self })
    }
}
