//! Conversions from and to bytes, in little-endian or big-endian order.

use crate::{Executor, IntegerError, UintBatch, Width};

impl UintBatch {
    /// Returns a batch of the numbers in `bytes`: width/8 bytes each, the lowest byte of each
    /// number first.
    ///
    /// # Errors
    /// [`IntegerError::Length`] unless the length of `bytes` is a multiple of width/8; the other
    /// errors of [`Self::from_limbs`].
    pub fn from_bytes_le(
        executor: &Executor,
        width: Width,
        bytes: &[u8],
    ) -> Result<Self, IntegerError> {
        check(bytes, width)?;
        let (limbs, _) = bytes.as_chunks();
        let limbs = limbs.iter().map(|&limb| u32::from_le_bytes(limb));
        Self::from_vec(executor, width, limbs.collect())
    }

    /// Returns a batch of the numbers in `bytes`: width/8 bytes each, the highest byte of each
    /// number first.
    ///
    /// # Errors
    /// The errors of [`Self::from_bytes_le`].
    pub fn from_bytes_be(
        executor: &Executor,
        width: Width,
        bytes: &[u8],
    ) -> Result<Self, IntegerError> {
        check(bytes, width)?;
        let numbers = bytes.chunks_exact(4 * width.limbs());
        let limbs = numbers.flat_map(|number| {
            let (limbs, _) = number.as_chunks();
            limbs.iter().rev().map(|&limb| u32::from_be_bytes(limb))
        });
        Self::from_vec(executor, width, limbs.collect())
    }

    /// Returns the bytes of all numbers, one number after the other: width/8 bytes each, the lowest
    /// byte of each number first. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_bytes_le(&self) -> Result<Vec<u8>, IntegerError> {
        self.with_limbs(|limbs| limbs.iter().flat_map(|limb| limb.to_le_bytes()).collect())
    }

    /// Returns the bytes of all numbers, one number after the other: width/8 bytes each, the
    /// highest byte of each number first. On a device, waits for the operations submitted before.
    ///
    /// # Errors
    /// [`IntegerError::Device`] for errors of the device.
    pub fn to_bytes_be(&self) -> Result<Vec<u8>, IntegerError> {
        self.with_limbs(|limbs| {
            let numbers = limbs.chunks_exact(self.width().limbs());
            numbers.flat_map(|x| x.iter().rev().flat_map(|limb| limb.to_be_bytes())).collect()
        })
    }
}

fn check(bytes: &[u8], width: Width) -> Result<(), IntegerError> {
    let len = bytes.len();
    if len.is_multiple_of(4 * width.limbs()) {
        return Ok(());
    }
    Err(IntegerError::Length { len, unit: "bytes", width })
}
