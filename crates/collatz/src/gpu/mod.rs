//! The computations of this crate on devices.

mod delay;
pub mod sieve;
mod table;

use warpint_device::Source;

pub use delay::{DelayShape, DelaysOnDevice};
pub use table::{DeviceTable, TableLimits};

/// Returns the sources of all kernels with the constants that the program uses by default, for
/// devices with `shared_memory` bytes of shared memory per block.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let all = [delay::sources, sieve::sources, table::sources];
    all.map(|sources| sources(shared_memory)).concat()
}
