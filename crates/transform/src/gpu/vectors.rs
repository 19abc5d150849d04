//! Functions that several plans on devices share.

use bytemuck::Pod;
use warpint_device::{Buffer, Device, DeviceError};

/// The error that a buffer of vectors does not have the length that the plan requires.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a vector has {words} words, but the plan requires {expected}")]
pub struct WrongLength {
    /// The number of words of the given buffer.
    pub words: usize,
    /// The number of words that the plan requires.
    pub expected: usize,
}

/// Returns an error unless `vectors` has the expected number of words.
pub(super) fn fits<W: Pod>(vectors: &Buffer<W>, expected: usize) -> Result<(), WrongLength> {
    let words = vectors.len();
    if words == expected { Ok(()) } else { Err(WrongLength { words, expected }) }
}

/// Copies a buffer within the device's memory, and returns the copy.
pub(super) fn copied<W: Pod>(device: &Device, x: &Buffer<W>) -> Result<Buffer<W>, DeviceError> {
    let mut copy = device.alloc(x.len())?;
    copy.copy_from(x)?;
    Ok(copy)
}

/// Returns the number of levels of each pass of a transform of 2^log2 points, for passes of at most
/// `most` levels. The number of passes is the least possible. The numbers of levels differ by at
/// most 1, and are in descending order.
pub(super) fn levels_of_passes(log2: u32, most: u32) -> Vec<u32> {
    let passes = log2.div_ceil(most).max(1);
    (0..passes).map(|i| log2 / passes + u32::from(i < log2 % passes)).collect()
}
