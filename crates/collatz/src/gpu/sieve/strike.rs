//! Faults of a device's memory, which tests inject.

use std::fmt::Debug;

use warpint_device::{Buffer, DeviceError};

/// Contents of a device's memory at some moment, before the host reads them.
#[derive(Debug)]
pub enum Memory<'a> {
    /// The look-ahead vectors, after they were computed.
    Vectors(&'a mut Buffer<u32>),
    /// The number of nodes of each of some levels, after they were grown.
    Counters(&'a mut Buffer<u32>),
    /// The nodes of the last level, before they are walked, and their number.
    Nodes(&'a mut Buffer<[u32; 8]>, usize),
    /// The tallies of 32 nodes each, after the walks, and their number.
    Tallies(&'a mut Buffer<[u32; 4]>, usize),
    /// The sums of all tallies: first the two of the walks, then the four of the tallies.
    Sums(&'a mut Buffer<u64>),
    /// The number of places of long numbers, in the last word.
    Places(&'a mut Buffer<u32>),
    /// The places of long numbers, and their number.
    Listed(&'a mut Buffer<u64>, usize),
    /// The ends of long numbers by place, and the number of places.
    Ends(&'a mut Buffer<u16>, usize),
    /// The sum of these ends, the count of long numbers that reached one, the sum again, and the
    /// lists of tall numbers and of numbers given up, both of the same size: a count, then two
    /// words per number.
    Long(&'a mut Buffer<u64>),
}

/// Changes the contents of a device's memory, as a fault would.
pub trait Strike: Debug + Send + Sync {
    /// Changes the memory; called at each of the moments.
    ///
    /// # Errors
    /// The device fails.
    fn strike(&self, memory: Memory<'_>) -> Result<(), DeviceError>;
}
