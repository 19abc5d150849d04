//! Devices that stay open until the process ends, and the model names of devices and of the CPU.

use std::fs;
use std::sync::{Mutex, PoisonError};

use crate::{CPU, Device, DeviceChoice, DeviceError, DeviceId};

/// The devices that [`device_on`] has opened so far.
static OPENED: Mutex<Vec<(DeviceId, Device)>> = Mutex::new(vec![]);

/// Returns the device with this identifier. The first call with an identifier opens the device,
/// which then remains open until the process ends.
///
/// # Errors
/// Returns the errors of [`Device::open`].
pub fn device_on(id: DeviceId) -> Result<Device, DeviceError> {
    let mut opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some((_, device)) = opened.iter().find(|(of, _)| *of == id) {
        return Ok(device.clone());
    }
    let device = Device::open(&id.to_string())?;
    opened.push((id, device.clone()));
    Ok(device)
}

/// Returns the model name and the driver version of the device or CPU that `place` names. `place`
/// is the name of a device that [`device_on`] has opened, or `cpu`. The driver version of the CPU
/// is empty. Returns `None` for any other text.
#[must_use]
pub fn device_model(place: &str) -> Option<(String, String)> {
    if place == CPU {
        return Some((cpu_name(), String::new()));
    }
    let opened = OPENED.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, device) = opened.iter().find(|(id, _)| id.to_string() == place)?;
    Some((device.info().name.clone(), device.info().driver.clone()))
}

/// Returns the processor's name, or its architecture if the system does not report the name.
#[must_use]
pub fn cpu_name() -> String {
    let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    info.lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or_else(|| std::env::consts::ARCH.into(), |(_, name)| name.trim().into())
}

/// Returns the identifier of the GPU with index 0; `None` if this machine has no usable GPU.
#[must_use]
pub fn first_gpu() -> Option<DeviceId> {
    match Device::list().devices.first()?.id.parse() {
        Ok(DeviceChoice::On(id)) => Some(id),
        _ => None,
    }
}
