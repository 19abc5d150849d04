//! Device memory from a pool of the driver.
//!
//! `cuMemAlloc` and `cuMemFree` map and unmap memory, which takes from 0.1 ms to several ms, and memory
//! may be unmapped only when no submitted work uses it. The pool keeps freed memory mapped. It is ordered
//! like the stream: memory that was freed can be allocated again at once, and the work that is submitted
//! then begins after all work that used it before.

use std::ptr;

use cudarc::driver::sys::{
    self, CUdevice, CUmemAllocationHandleType, CUmemAllocationType, CUmemLocation,
    CUmemLocationType, CUmemPool_attribute as A, CUmemPoolProps, CUmemoryPool, CUresult, CUstream,
};

/// A pool of the memory of a device, for the allocations of one stream.
#[derive(Debug)]
pub(super) struct Pool(CUmemoryPool);

// SAFETY: the handle is the driver's, which may be called from any thread.
unsafe impl Send for Pool {}
// SAFETY: as above.
unsafe impl Sync for Pool {}

impl Pool {
    /// Makes a pool; `None` if the device has none, as some virtual GPUs. The device's context must be
    /// current, at this call and at all calls of methods.
    pub(super) fn new(device: CUdevice) -> Option<Self> {
        let properties = CUmemPoolProps {
            allocType: CUmemAllocationType::CU_MEM_ALLOCATION_TYPE_PINNED,
            handleTypes: CUmemAllocationHandleType::CU_MEM_HANDLE_TYPE_NONE,
            location: CUmemLocation {
                type_: CUmemLocationType::CU_MEM_LOCATION_TYPE_DEVICE,
                id: device,
            },
            win32SecurityAttributes: ptr::null_mut(),
            maxSize: 0,
            usage: 0,
            reserved: [0; 54],
        };
        let mut pool = ptr::null_mut();
        // SAFETY: the call reads the properties and writes one handle.
        let code = unsafe { sys::cuMemPoolCreate(&raw mut pool, &raw const properties) };
        let pool = (code == CUresult::CUDA_SUCCESS).then_some(Self(pool))?;
        // Keep all memory until `trim`.
        let mut kept = u64::MAX;
        // SAFETY: the value of this attribute is a 64-bit integer, which the call reads.
        let code = unsafe {
            sys::cuMemPoolSetAttribute(
                pool.0,
                A::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD,
                (&raw mut kept).cast(),
            )
        };
        (code == CUresult::CUDA_SUCCESS).then_some(pool)
    }

    /// Allocates `bytes` bytes, at least one, for work that is submitted to the stream after this call.
    pub(super) fn alloc(&self, bytes: usize, stream: CUstream) -> Result<u64, CUresult> {
        let mut address = 0;
        // SAFETY: pool and stream are valid; the call writes one address.
        match unsafe { sys::cuMemAllocFromPoolAsync(&raw mut address, bytes, self.0, stream) } {
            CUresult::CUDA_SUCCESS => Ok(address),
            code => Err(code),
        }
    }

    /// Frees the memory at `address`, after all work that has been submitted to the stream.
    #[expect(clippy::unused_self, reason = "the address is one of this pool")]
    pub(super) fn free(&self, address: u64, stream: CUstream) {
        // SAFETY: the address came from `alloc`, and its buffer is being dropped.
        let _ = unsafe { sys::cuMemFreeAsync(address, stream) };
    }

    /// Returns the number of bytes that the pool keeps and that are not allocated.
    pub(super) fn unused(&self) -> u64 {
        let read = |attribute| {
            let mut value = 0_u64;
            // SAFETY: the values of these attributes are 64-bit integers; the call writes one.
            let code =
                unsafe { sys::cuMemPoolGetAttribute(self.0, attribute, (&raw mut value).cast()) };
            (code == CUresult::CUDA_SUCCESS).then_some(value)
        };
        let [reserved, used] =
            [A::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT, A::CU_MEMPOOL_ATTR_USED_MEM_CURRENT]
                .map(read);
        reserved.zip(used).map_or(0, |(reserved, used)| reserved.saturating_sub(used))
    }

    /// Gives the memory that is not allocated back to the driver. The stream must be idle.
    pub(super) fn trim(&self) {
        // SAFETY: the pool is valid.
        let _ = unsafe { sys::cuMemPoolTrimTo(self.0, 0) };
    }

    /// Ends the pool. None of its memory is allocated any more, and the stream is idle.
    pub(super) fn destroy(self) {
        // SAFETY: the pool is valid, and not used again.
        let _ = unsafe { sys::cuMemPoolDestroy(self.0) };
    }
}
