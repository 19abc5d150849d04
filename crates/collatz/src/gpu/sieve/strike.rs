//! Test hook: faults of a device's memory.

use std::fmt::Debug;

use warpint_device::{Buffer, DeviceError};

/// What a device has in its memory at some moment, before the host looks at it.
#[derive(Debug)]
pub enum Memory<'a> {
    /// Vectors that look ahead, when they have been made.
    Vectors(&'a mut Buffer<u32>),
    /// How many nodes each of some levels has, after these were grown.
    Counters(&'a mut Buffer<u32>),
    /// Nodes of the last level, before they are walked, and how many there are.
    Nodes(&'a mut Buffer<[u32; 8]>, usize),
    /// The tallies of 32 nodes each, after the walks, and how many there are.
    Tallies(&'a mut Buffer<[u32; 4]>, usize),
    /// Sums of all tallies: first the two of the walks, then the four of the tallies.
    Sums(&'a mut Buffer<u64>),
    /// How many places of long numbers there are, in the last word.
    Places(&'a mut Buffer<u32>),
    /// Places of long numbers, and how many there are.
    Listed(&'a mut Buffer<u64>, usize),
    /// The ends of long numbers by their places, and how many places there are.
    Ends(&'a mut Buffer<u16>, usize),
    /// The sum of these ends, the count of long numbers that came to one, the sum again, and the lists of those that are tall
    /// and given up, both of the same size: a count, then two words for each number.
    Long(&'a mut Buffer<u64>),
}

/// Changes what a device has in its memory, as a fault would.
pub trait Strike: Debug + Send + Sync {
    /// Called at each of the moments.
    ///
    /// # Errors
    /// The device fails.
    fn strike(&self, memory: Memory<'_>) -> Result<(), DeviceError>;
}
