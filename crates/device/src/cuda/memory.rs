//! Device memory. Every call needs the device's context.

use cudarc::driver::sys::{self, CUresult, CUstream};

/// Returns the driver's result code, the number of free bytes and the number of all bytes.
pub(super) fn state() -> (CUresult, u64, u64) {
    let (mut free, mut total) = (0_usize, 0_usize);
    // SAFETY: the call writes two sizes.
    let code = unsafe { sys::cuMemGetInfo_v2(&raw mut free, &raw mut total) };
    (code, free as u64, total as u64)
}

/// Returns an address aligned to 256 bytes, or 0 if `bytes` is 0, which the driver would refuse.
pub(super) fn alloc(bytes: usize) -> Result<u64, CUresult> {
    if bytes == 0 {
        return Ok(0);
    }
    let mut address = 0;
    // SAFETY: the call writes one address.
    match unsafe { sys::cuMemAlloc_v2(&raw mut address, bytes) } {
        CUresult::CUDA_SUCCESS => Ok(address),
        code => Err(code),
    }
}

/// Frees memory that no work uses any more.
pub(super) fn free(address: u64) {
    if address != 0 {
        // SAFETY: it came from `alloc`, and its buffer is being dropped.
        let _ = unsafe { sys::cuMemFree_v2(address) };
    }
}

/// Starts a copy from the host. `from` must stay valid until the stream is idle.
pub(super) fn upload(to: u64, from: &[u8], stream: CUstream) -> CUresult {
    // SAFETY: both have that many bytes, as the methods of `Buffer` ensure.
    unsafe { sys::cuMemcpyHtoDAsync_v2(to, from.as_ptr().cast(), from.len(), stream) }
}

/// Starts a copy to the host. `to` must stay valid until the stream is idle.
pub(super) fn download(from: u64, to: &mut [u8], stream: CUstream) -> CUresult {
    // SAFETY: as above.
    unsafe { sys::cuMemcpyDtoHAsync_v2(to.as_mut_ptr().cast(), from, to.len(), stream) }
}

/// Starts a copy within the device.
pub(super) fn copy(to: u64, from: u64, bytes: usize, stream: CUstream) -> CUresult {
    if bytes == 0 {
        return CUresult::CUDA_SUCCESS;
    }
    // SAFETY: both have that many bytes.
    unsafe { sys::cuMemcpyDtoDAsync_v2(to, from, bytes, stream) }
}

/// Starts to fill memory with zeros.
pub(super) fn clear(address: u64, bytes: usize, stream: CUstream) -> CUresult {
    if bytes == 0 {
        return CUresult::CUDA_SUCCESS;
    }
    // SAFETY: it has that many bytes.
    unsafe { sys::cuMemsetD8Async(address, 0, bytes, stream) }
}
