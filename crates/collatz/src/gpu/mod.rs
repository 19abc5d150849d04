//! The kernels of devices.

pub mod sieve;
mod table;

use warpint_device::Source;

pub use table::DeviceTable;

/// Every kernel as it ships, for devices whose blocks have so much shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    [sieve::sources(shared_memory), table::sources(shared_memory)].concat()
}
