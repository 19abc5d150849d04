//! Common parts of plans with passes over memory.

use bytemuck::Pod;
use warpint_device::{Buffer, Device, DeviceError};

/// The error that a batch does not have the plan's length.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vector has {words} words, but the plan requires {expected}")]
pub struct WrongLength {
    /// The number of words given.
    pub words: usize,
    /// The number of words of the plan's batch.
    pub expected: usize,
}

/// Returns an error unless a batch has the expected number of words.
pub(super) fn fits(vectors: &Buffer<u64>, expected: usize) -> Result<(), WrongLength> {
    let words = vectors.len();
    if words == expected { Ok(()) } else { Err(WrongLength { words, expected }) }
}

/// Copies a buffer within the device's memory.
pub(super) fn copied<W: Pod>(device: &Device, x: &Buffer<W>) -> Result<Buffer<W>, DeviceError> {
    let mut copy = device.alloc(x.len())?;
    copy.copy_from(x)?;
    Ok(copy)
}

/// Returns the number of levels of each pass: as few passes as possible, of nearly equal size, the
/// longest first.
pub(super) fn levels_of_passes(log2: u32, most: u32) -> Vec<u32> {
    let passes = log2.div_ceil(most).max(1);
    (0..passes).map(|i| log2 / passes + u32::from(i < log2 % passes)).collect()
}
