//! What cannot be done with a batch.

use warpint_device::DeviceError;

/// Why an operation on a batch was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum IntegerError {
    /// A width that no batch has.
    #[error("{bits} bits: a width must be a multiple of 32 from 32 to 1048576")]
    Width {
        /// As asked for.
        bits: u64,
    },
    /// The device failed, or cannot do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
}
