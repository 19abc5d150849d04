//! Staging memory: pinned (page-locked) host memory for short copies.
//!
//! A copy from or to pageable memory blocks the host twice: until the stream is idle, and until the
//! copy is complete. A copy from or to pinned memory is queued in the stream like a launch: the
//! host does not wait for an upload, and waits once for a download.

use std::ptr::{self, NonNull};

use cudarc::driver::sys::{self, CUresult, CUstream};

/// The length in bytes of the longest copy through staging memory. For longer copies, the
/// additional wait of a copy through pageable memory is negligible.
pub(super) const LONGEST: usize = 64 << 10;
/// The size in bytes of the staging memory for uploads. When all of it is used, the host waits
/// until the stream is idle.
const ROOM: usize = 16 * LONGEST;
/// The alignment in bytes of each upload in the staging memory.
const ALIGNMENT: usize = 64;

/// Page-locked (pinned) memory of the host.
#[derive(Debug)]
struct Pinned(NonNull<u8>);

// SAFETY: it is plain memory.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates `bytes` bytes. Returns `None` if the driver cannot allocate them. The device's
    /// context must be current.
    fn new(bytes: usize) -> Option<Self> {
        let mut begin = ptr::null_mut();
        // SAFETY: the call writes one address.
        let code = unsafe { sys::cuMemHostAlloc(&raw mut begin, bytes, 0) };
        let begin = NonNull::new(begin.cast::<u8>());
        begin.filter(|_| code == CUresult::CUDA_SUCCESS).map(Self)
    }
}

/// Staging memory for uploads.
#[derive(Debug)]
pub(super) struct Uploads {
    memory: Pinned,
    /// The number of bytes, from the beginning of the memory, that incomplete copies may still
    /// read.
    used: usize,
}

impl Uploads {
    pub(super) fn new() -> Option<Self> {
        Pinned::new(ROOM).map(|memory| Self { memory, used: 0 })
    }

    /// Returns whether the staging memory has no room for a copy of `bytes` bytes, which must be at
    /// most [`LONGEST`]. In this case, the caller must wait until the stream is idle and call
    /// [`Self::idle`].
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        self.used + bytes > ROOM
    }

    /// Records that all copies are complete. The stream must have become idle after the last copy
    /// was started.
    pub(super) fn idle(&mut self) {
        self.used = 0;
    }

    /// Copies `from` into the staging memory, and starts a copy from there to the device address
    /// `to`.
    ///
    /// # Panics
    /// If the free part of the staging memory is too small ([`Self::is_full`]).
    pub(super) fn start(&mut self, to: u64, from: &[u8], stream: CUstream) -> CUresult {
        assert!(!self.is_full(from.len()), "the staging memory for uploads is full");
        // SAFETY: these bytes are within the memory, and no copy reads them.
        let part = unsafe {
            std::slice::from_raw_parts_mut(self.memory.0.as_ptr().add(self.used), from.len())
        };
        part.copy_from_slice(from);
        self.used = (self.used + from.len()).next_multiple_of(ALIGNMENT);
        super::memory::upload(to, part, stream)
    }

    /// Frees the staging memory. The device's context must be current and the stream idle.
    pub(super) fn free(self) {
        free(self.memory);
    }
}

/// Staging memory for one download at a time.
#[derive(Debug)]
pub(super) struct Downloads(Pinned);

impl Downloads {
    pub(super) fn new() -> Option<Self> {
        Pinned::new(LONGEST).map(Self)
    }

    /// Returns the staging memory for a download of `bytes` bytes.
    ///
    /// # Panics
    /// If `bytes` exceeds [`LONGEST`].
    pub(super) fn part(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= LONGEST, "the download is longer than its staging memory");
        // SAFETY: it has this many bytes, which the driver has cleared or written, and no other
        // reference to them exists.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.as_ptr(), bytes) }
    }

    /// Frees the staging memory. The device's context must be current and the stream idle.
    pub(super) fn free(self) {
        free(self.0);
    }
}

fn free(memory: Pinned) {
    // SAFETY: it came from the driver, and is not used again.
    let _ = unsafe { sys::cuMemFreeHost(memory.0.as_ptr().cast()) };
}
