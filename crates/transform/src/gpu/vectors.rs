//! What plans with passes over memory have in common.

use bytemuck::Pod;
use warpint_device::{Buffer, Device, DeviceError};

/// A batch has another length than the plan's.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vector of {words} words, where the plan takes {expected}")]
pub struct WrongLength {
    /// Words of the batch.
    pub words: usize,
    /// Words of a batch of the plan.
    pub expected: usize,
}

/// An error unless a batch has so many words.
pub(super) fn fits(vectors: &Buffer<u64>, expected: usize) -> Result<(), WrongLength> {
    let words = vectors.len();
    if words == expected { Ok(()) } else { Err(WrongLength { words, expected }) }
}

/// A copy in the device's memory.
pub(super) fn copied<W: Pod>(device: &Device, x: &Buffer<W>) -> Result<Buffer<W>, DeviceError> {
    let mut copy = device.alloc(x.len())?;
    copy.copy_from(x)?;
    Ok(copy)
}

/// How many levels each pass has: as few passes as can be, of nearly the same size, the longest first.
pub(super) fn levels_of_passes(log2: u32, most: u32) -> Vec<u32> {
    let passes = log2.div_ceil(most).max(1);
    (0..passes).map(|i| log2 / passes + u32::from(i < log2 % passes)).collect()
}
