//! Replaces `cuda` in builds without that feature: no GPUs are found, and no driver is loaded.

use crate::{Device, DeviceError, DeviceInfo};

fn missing() -> DeviceError {
    DeviceError::NoDevice("GPUs are not available: this program was built without CUDA".into())
}

/// Returns `None`: there is no driver.
pub(crate) fn driver_version() -> Option<(u32, u32)> {
    None
}

/// Returns an error: there is no GPU.
pub(crate) fn open(_: u32) -> Result<Device, DeviceError> {
    Err(missing())
}

/// Returns an error: there are no GPUs.
pub(crate) fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    Err(missing())
}

/// Returns an error: there is no GPU with a PCI address.
pub(crate) fn pci_bus_id(_: u32) -> Result<String, DeviceError> {
    Err(missing())
}
