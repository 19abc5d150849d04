//! Checks that batches fit together, and memory for operands and results.

use warpint_device::Buffer;

use crate::storage::Storage;
use crate::{IntegerError, UintBatch, Width, cpu, gpu};

impl UintBatch {
    /// Returns the count of results of an operation on `self` and `other`. Returns an error if the
    /// two batches are neither both on the CPU nor both on the same device, or if their counts
    /// differ and neither is 1.
    pub(super) fn count_with(&self, other: &Self) -> Result<usize, IntegerError> {
        if !self.executor.is_same_place(&other.executor) {
            return Err(IntegerError::Places);
        }
        match (self.count, other.count) {
            (a, b) if a == b => Ok(a),
            (1, b) => Ok(b),
            (a, 1) => Ok(a),
            (a, b) => Err(IntegerError::Counts { a, b }),
        }
    }

    /// Returns an error unless `into`, the batch given for a result, is on the CPU or device of
    /// `self` and has `count` numbers of `width`.
    pub(super) fn fits(&self, count: usize, width: Width, into: &Self) -> Result<(), IntegerError> {
        if !self.executor.is_same_place(&into.executor) {
            return Err(IntegerError::Places);
        }
        if into.count == count && into.width == width {
            return Ok(());
        }
        let (into_count, into_width) = (into.count, into.width);
        Err(IntegerError::Output { count, width, into_count, into_width })
    }

    /// Allocates a batch for a result of `count` numbers of `width`, on the CPU or device of
    /// `self`.
    pub(super) fn output(&self, count: usize, width: Width) -> Result<Self, IntegerError> {
        let data = Storage::for_results(&self.executor, count, width.limbs(), width)?;
        Ok(Self { executor: self.executor.clone(), count, width, data })
    }

    /// Returns an operand on the CPU with the numbers of `self`. `limbs` are the limbs of `self`.
    pub(super) fn host<'a>(&self, limbs: &'a [u32]) -> cpu::Operand<'a> {
        cpu::Operand::new(limbs, self.width.limbs(), self.count == 1)
    }

    /// Returns an operand on a device with the numbers of `self`. `data` is the memory of `self`.
    pub(super) fn on_device<'a>(&self, data: &'a Buffer<u32>) -> gpu::Operand<'a> {
        gpu::Operand::new(data, self.width.limbs(), self.count == 1)
    }
}

impl Width {
    /// Returns `data` as device memory for results of this width.
    pub(super) fn results(self, data: &mut Buffer<u32>) -> gpu::Results<'_> {
        gpu::Results::new(data, self.limbs())
    }
}

/// Returns the width of `limbs` limbs. Returns [`IntegerError::TooWide`] if the width exceeds 2^21
/// bits, the largest width of a result.
pub(super) fn result_width(operation: &'static str, limbs: usize) -> Result<Width, IntegerError> {
    let most = 2 * Width::MAX_BITS;
    if limbs > (most / 32) as usize {
        return Err(IntegerError::TooWide { operation, bits: 32 * limbs as u64, most });
    }
    Ok(Width::of_limbs(limbs))
}

/// Returns [`IntegerError::TooWide`] if `width` exceeds 2^20 bits, the largest width of a factor.
pub(super) fn as_factor(operation: &'static str, width: Width) -> Result<(), IntegerError> {
    if width.bits() > Width::MAX_BITS {
        let bits = u64::from(width.bits());
        return Err(IntegerError::TooWide { operation, bits, most: Width::MAX_BITS });
    }
    Ok(())
}
