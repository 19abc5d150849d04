//! Reads the properties of GPUs from the driver.

use std::ffi::{CStr, c_char};

use cudarc::driver::sys::{self, CUdevice, CUdevice_attribute};

use super::driver::{Driver, check, no_gpu};
use crate::{DeviceError, DeviceInfo};

/// Returns the number of GPUs that the driver reports.
pub(super) fn count() -> Result<u32, DeviceError> {
    Driver::start()?;
    let mut count = 0;
    // SAFETY: the driver is started; the call writes one int.
    check("cuDeviceGetCount", unsafe { sys::cuDeviceGetCount(&raw mut count) })?;
    Ok(u32::try_from(count).unwrap_or(0))
}

/// Returns the handle and the properties of the GPU with this index, counted from 0.
pub(super) fn read(index: u32) -> Result<(CUdevice, DeviceInfo), DeviceError> {
    let driver = Driver::start()?;
    let device = handle(index, count()?)?;
    let mut name: [c_char; 256] = [0; 256];
    let mut memory = 0_usize;
    // SAFETY: the device is valid; the name is cut to the given length, with a zero at its end.
    let name = unsafe {
        check("cuDeviceGetName", sys::cuDeviceGetName(name.as_mut_ptr(), 256, device))?;
        check("cuDeviceTotalMem", sys::cuDeviceTotalMem_v2(&raw mut memory, device))?;
        CStr::from_ptr(name.as_ptr()).to_string_lossy().into_owned()
    };
    use CUdevice_attribute as A;
    let of = |attribute| property(device, attribute);
    let info = DeviceInfo {
        id: format!("cuda:{index}"),
        name,
        compute_capability: (
            of(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)?,
            of(A::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)?,
        ),
        multiprocessors: of(A::CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)?,
        memory: memory as u64,
        shared_memory_per_block: of(A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
        shared_memory_per_multiprocessor: of(
            A::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR,
        )?,
        // Virtual GPUs do not report it.
        clock_khz: of(A::CU_DEVICE_ATTRIBUTE_CLOCK_RATE).unwrap_or(0),
        driver: driver.version.clone(),
    };
    Ok((device, info))
}

/// Returns the PCI address of the GPU with this index, such as `0000:3B:00.0`. Does not open the
/// GPU.
pub(crate) fn pci_bus_id(index: u32) -> Result<String, DeviceError> {
    let device = handle(index, count()?)?;
    let mut id: [c_char; 32] = [0; 32];
    // SAFETY: the device is valid; the text is cut to the given length, with a zero at its end.
    let id = unsafe {
        let code = sys::cuDeviceGetPCIBusId(id.as_mut_ptr(), 32, device);
        check("cuDeviceGetPCIBusId", code)?;
        CStr::from_ptr(id.as_ptr())
    };
    Ok(id.to_string_lossy().into_owned())
}

fn handle(index: u32, count: u32) -> Result<CUdevice, DeviceError> {
    if index >= count {
        return Err(no_such(index, count));
    }
    let ordinal = i32::try_from(index).map_err(|_| no_such(index, count))?;
    let mut device = 0;
    // SAFETY: the driver is started; the call writes one handle.
    check("cuDeviceGet", unsafe { sys::cuDeviceGet(&raw mut device, ordinal) })?;
    Ok(device)
}

fn no_such(index: u32, count: u32) -> DeviceError {
    match count {
        0 => no_gpu(),
        1 => DeviceError::NoDevice(format!(
            "device cuda:{index} does not exist: the driver reports one GPU, cuda:0"
        )),
        n => DeviceError::NoDevice(format!(
            "device cuda:{index} does not exist: the driver reports {n} GPUs, cuda:0 to cuda:{}",
            n - 1
        )),
    }
}

fn property(device: CUdevice, attribute: CUdevice_attribute) -> Result<u32, DeviceError> {
    let mut value = 0;
    // SAFETY: the device is valid; the call writes one int.
    let code = unsafe { sys::cuDeviceGetAttribute(&raw mut value, attribute, device) };
    check(&format!("cuDeviceGetAttribute({attribute:?})"), code)?;
    Ok(u32::try_from(value).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_too_high_is_told_what_there_is() {
        assert_eq!(
            no_such(2, 2).to_string(),
            "device cuda:2 does not exist: the driver reports 2 GPUs, cuda:0 to cuda:1"
        );
        assert!(no_such(1, 1).to_string().ends_with("one GPU, cuda:0"));
        assert_eq!(no_such(0, 0), no_gpu());
    }
}
