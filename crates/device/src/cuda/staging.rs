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
pub(super) struct Pinned {
    begin: NonNull<u8>,
    bytes: usize,
}

// SAFETY: it is plain memory.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Allocates `bytes` bytes. Returns `None` if the driver cannot allocate them. The device's
    /// context must be current.
    pub(super) fn new(bytes: usize) -> Option<Self> {
        let mut begin = ptr::null_mut();
        // SAFETY: the call writes one address.
        let code = unsafe { sys::cuMemHostAlloc(&raw mut begin, bytes, 0) };
        let begin = NonNull::new(begin.cast::<u8>());
        let begin = begin.filter(|_| code == CUresult::CUDA_SUCCESS)?;
        // SAFETY: the memory has this many bytes. From now on they have values.
        unsafe { begin.as_ptr().write_bytes(0, bytes) };
        Some(Self { begin, bytes })
    }

    /// Returns the first `length` bytes.
    ///
    /// # Panics
    /// If there are fewer.
    pub(super) fn bytes(&mut self, length: usize) -> &mut [u8] {
        assert!(length <= self.bytes, "more bytes than the memory has");
        // SAFETY: it has this many bytes, and no other reference to them exists.
        unsafe { std::slice::from_raw_parts_mut(self.begin.as_ptr(), length) }
    }

    /// Frees the memory. The device's context must be current, and no copy may use the memory.
    pub(super) fn free(self) {
        // SAFETY: it came from the driver, and is not used again.
        let _ = unsafe { sys::cuMemFreeHost(self.begin.as_ptr().cast()) };
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
        // No copy reads the bytes from `used` on.
        let part = &mut self.memory.bytes(self.used + from.len())[self.used..];
        part.copy_from_slice(from);
        self.used = (self.used + from.len()).next_multiple_of(ALIGNMENT);
        super::memory::upload(to, part, stream)
    }

    /// Frees the staging memory. The device's context must be current and the stream idle.
    pub(super) fn free(self) {
        self.memory.free();
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
        self.0.bytes(bytes)
    }

    /// Frees the staging memory. The device's context must be current and the stream idle.
    pub(super) fn free(self) {
        self.0.free();
    }
}
