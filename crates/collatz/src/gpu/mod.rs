//! The kernels of devices.

use warpint_device::Source;

/// Every kernel as it ships, for devices whose blocks have so much shared memory.
#[must_use]
pub fn sources(_shared_memory: u32) -> Vec<Source> {
    vec![]
}
