//! The kernels of devices.

mod delay;
pub mod sieve;
mod table;

use warpint_device::Source;

pub use delay::{DelayShape, DelaysOnDevice};
pub use table::{DeviceTable, TableLimits};

/// Every kernel as it ships, for devices whose blocks have so much shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let all = [delay::sources, sieve::sources, table::sources];
    all.map(|sources| sources(shared_memory)).concat()
}
