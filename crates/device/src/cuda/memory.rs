//! The driver's functions for device memory. The device's context must be current at every call.

use cudarc::driver::sys::{self, CUpointer_attribute, CUresult, CUstream};

/// Returns the driver's result code, the number of free bytes and the total number of bytes of the
/// device's memory.
pub(super) fn state() -> (CUresult, u64, u64) {
    let (mut free, mut total) = (0_usize, 0_usize);
    // SAFETY: the call writes two sizes.
    let code = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
    (code, free as u64, total as u64)
}

/// Returns the driver's result code, and the index of the device that holds the memory at `address`.
pub(super) fn device_of(address: u64) -> (CUresult, i32) {
    let mut device = -1_i32;
    let attribute = CUpointer_attribute::CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL;
    // SAFETY: the call writes one int; it accepts any address.
    let code = unsafe { sys::cuPointerGetAttribute((&raw mut device).cast(), attribute, address) };
    (code, device)
}

/// Allocates `bytes` bytes, at least one, and returns their address, which is aligned to 256 bytes.
pub(super) fn alloc(bytes: usize) -> Result<u64, CUresult> {
    let mut address = 0;
    // SAFETY: the call writes one address.
    match unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) } {
        CUresult::CUDA_SUCCESS => Ok(address),
        code => Err(code),
    }
}

/// Frees the memory at `address`, which no submitted work may still use.
pub(super) fn free(address: u64) {
    // SAFETY: it came from `alloc`, and its buffer is being dropped.
    let _ = unsafe { sys::cuMemFree_v2(address) };
}

/// Starts a copy from host memory to the address `to`. `from` must stay valid until the stream is
/// idle.
pub(super) fn upload(to: u64, from: &[u8], stream: CUstream) -> CUresult {
    // SAFETY: both have that many bytes, as the methods of `Buffer` ensure.
    unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), stream) }
}

/// Starts a copy from the address `from` to host memory. `to` must stay valid until the stream is
/// idle.
pub(super) fn download(from: u64, to: &mut [u8], stream: CUstream) -> CUresult {
    // SAFETY: as above.
    unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), stream) }
}

/// Starts a copy of `bytes` bytes between two addresses of the device.
pub(super) fn copy(to: u64, from: u64, bytes: usize, stream: CUstream) -> CUresult {
    if bytes == 0 {
        return CUresult::CUDA_SUCCESS;
    }
    // SAFETY: both have that many bytes.
    unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream) }
}

/// Starts to set `bytes` bytes to zero, beginning at `address`.
pub(super) fn clear(address: u64, bytes: usize, stream: CUstream) -> CUresult {
    if bytes == 0 {
        return CUresult::CUDA_SUCCESS;
    }
    // SAFETY: it has that many bytes.
    unsafe { sys::cuMemsetD8Async(address, 0, bytes, stream) }
}
