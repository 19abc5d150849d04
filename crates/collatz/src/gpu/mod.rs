//! The kernels of devices.

pub mod sieve;

use warpint_device::Source;

/// Every kernel as it ships, for devices whose blocks have so much shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    sieve::sources(shared_memory)
}
