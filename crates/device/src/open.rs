//! Lists the GPUs, and opens a device by its name.

use crate::{Device, DeviceError, DeviceInfo, cuda};

/// The GPUs of this machine, or the reasons why no GPU was found.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceList {
    /// The properties of the GPUs found, in the order of their indices.
    pub devices: Vec<DeviceInfo>,
    /// The reasons why no GPU was found, one line each, such as a missing driver. Empty if a GPU
    /// was found.
    pub missing: Vec<String>,
}

impl Device {
    /// Opens the GPU with this index, counted from 0.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`]: the device does not exist. The message says in one line what is
    /// missing. Other errors: the driver cannot open the device.
    pub fn cuda(index: u32) -> Result<Self, DeviceError> {
        cuda::open(index)
    }

    /// Opens the device with the given name. `cuda` is the first GPU, `cuda:1` the second, and so
    /// on. `sim` is the simulator, which requires the feature `sim`.
    ///
    /// # Errors
    /// [`DeviceError::NoDevice`]: the device does not exist. The message says in one line what is
    /// missing. [`DeviceError::NoCompiler`]: the simulator finds no C++ compiler. Other errors: the
    /// driver cannot open the device.
    pub fn open(name: &str) -> Result<Self, DeviceError> {
        #[cfg(feature = "sim")]
        if name == "sim" {
            return Self::simulator();
        }
        Self::cuda(cuda_index(name)?)
    }

    /// Lists the GPUs of this machine. Opens none of them and allocates no memory.
    #[must_use]
    pub fn list() -> DeviceList {
        match cuda::list() {
            Ok(devices) => DeviceList { devices, missing: vec![] },
            Err(e) => DeviceList { devices: vec![], missing: vec![e.to_string()] },
        }
    }
}

fn cuda_index(name: &str) -> Result<u32, DeviceError> {
    let unknown = || {
        DeviceError::NoDevice(format!(
            "'{name}' is not a device: give cuda for the first GPU, or cuda:1 for the second"
        ))
    };
    match name.strip_prefix("cuda").ok_or_else(unknown)? {
        "" => Ok(0),
        rest => rest
            .strip_prefix(':')
            .filter(|digits| digits.bytes().all(|b| b.is_ascii_digit()))
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(unknown),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read() {
        for (name, index) in [("cuda", 0), ("cuda:0", 0), ("cuda:12", 12)] {
            assert_eq!(cuda_index(name), Ok(index));
        }
        for name in ["", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:+1", "cuda1", "cuda:4294967296"]
        {
            let error = cuda_index(name).unwrap_err().to_string();
            assert!(error.starts_with(&format!("'{name}' is not a device")), "{error}");
        }
    }

    #[test]
    fn a_list_has_devices_or_says_why_not() {
        let DeviceList { devices, missing } = Device::list();
        assert_ne!(devices.is_empty(), missing.is_empty());
        assert!(missing.iter().all(|line| line.lines().count() == 1), "{missing:?}");
    }
}
