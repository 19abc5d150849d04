//! The kernels of devices.

mod delay;
pub mod sieve;
mod table;

use warpint_device::Source;

pub use delay::{DelayShape, DelaysOnDevice};
pub use table::{DeviceTable, TableLimits};

/// Returns the source of every kernel as shipped, for devices with `shared_memory` bytes of shared
/// memory per block.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let all = [delay::sources, sieve::sources, table::sources];
    all.map(|sources| sources(shared_memory)).concat()
}
