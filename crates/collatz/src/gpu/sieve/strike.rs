//! Faults of a device's memory, which tests inject.

use std::fmt::Debug;

use warpint_device::{Buffer, DeviceError};

/// A buffer in a device's memory, at a moment at which a test can inject a fault. Each variant
/// states the contents of the buffer and the moment.
#[derive(Debug)]
pub enum Memory<'a> {
    /// The look-ahead vectors, after the device has computed them.
    Vectors(&'a mut Buffer<u32>),
    /// The counters of nodes, one per level, after the device has grown nodes over one or more
    /// levels.
    Counters(&'a mut Buffer<u32>),
    /// The nodes of the last level, before their numbers are walked, and the number of nodes.
    Nodes(&'a mut Buffer<[u32; 8]>, usize),
    /// The tallies, one for every 32 nodes, after the numbers of the nodes were walked, and the
    /// number of tallies.
    Tallies(&'a mut Buffer<[u32; 4]>, usize),
    /// The sums of a launch: first the two sums over its walks, then the four sums over its
    /// tallies.
    Sums(&'a mut Buffer<u64>),
    /// The counters of a launch. The last word is the number of used places of the list of long
    /// numbers.
    Places(&'a mut Buffer<u32>),
    /// The list of long numbers, and the number of its used places.
    Listed(&'a mut Buffer<u64>, usize),
    /// The number of odd steps of each long number, in the order of the places of the list, and the
    /// number of used places.
    Ends(&'a mut Buffer<u16>, usize),
    /// The results for long numbers. First, three words about the numbers that fell below their
    /// starts: the sum of their odd steps, their count, and a second copy of the sum, which the
    /// host compares with the first. Then two lists of equal size: the numbers that may have the
    /// highest value, and the numbers left to the host. A list is a count, then two words per
    /// number.
    Long(&'a mut Buffer<u64>),
}

/// A change of the contents of a device's memory, as a fault would cause it.
pub trait Strike: Debug + Send + Sync {
    /// Changes `memory`, or leaves it as it is. This function is called at each moment that
    /// [`Memory`] lists.
    ///
    /// # Errors
    /// The device fails.
    fn strike(&self, memory: Memory<'_>) -> Result<(), DeviceError>;
}
