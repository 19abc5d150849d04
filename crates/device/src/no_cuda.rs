//! Replaces the module `cuda` in builds without the feature `cuda`: no driver is loaded, and no GPU
//! is found.

use crate::{Device, DeviceError, DeviceInfo};

fn missing() -> DeviceError {
    DeviceError::NoDevice("GPUs are not available: this program was built without CUDA".into())
}

/// Returns `None`, because this build has no driver.
pub(crate) fn driver_version() -> Option<(u32, u32)> {
    None
}

/// Returns an error, because this build finds no GPU.
pub(crate) fn open(_: u32) -> Result<Device, DeviceError> {
    Err(missing())
}

/// Returns an error, because this build finds no GPUs.
pub(crate) fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    Err(missing())
}

/// Returns an error, because this build finds no GPU.
pub(crate) fn pci_bus_id(_: u32) -> Result<String, DeviceError> {
    Err(missing())
}
