//! Memory of the host that the driver never moves, through which short copies go.
//!
//! A copy from or to any other memory keeps the host waiting, for the stream and once more for the copy. From this memory a copy
//! is work of the stream like a launch: an upload is not waited for at all, a download once.

use std::ptr::{self, NonNull};

use cudarc::driver::sys::{self, CUresult, CUstream};

/// Longer copies go the other way: the wait is short beside them.
pub(super) const LONGEST: usize = 64 << 10;
/// Bytes of uploads between two waits.
const ROOM: usize = 16 * LONGEST;
/// Copies begin at a multiple of so many bytes.
const ALIGNMENT: usize = 64;

/// Memory that the driver never moves.
#[derive(Debug)]
struct Pinned(NonNull<u8>);

// SAFETY: it is plain memory.
unsafe impl Send for Pinned {}

impl Pinned {
    /// Nothing if the driver has none to give. The device's context must be bound.
    fn new(bytes: usize) -> Option<Self> {
        let mut begin = ptr::null_mut();
        // SAFETY: the call writes one address.
        let code = unsafe { sys::cuMemHostAlloc(&raw mut begin, bytes, 0) };
        let begin = NonNull::new(begin.cast::<u8>());
        begin.filter(|_| code == CUresult::CUDA_SUCCESS).map(Self)
    }
}

/// What uploads go through.
#[derive(Debug)]
pub(super) struct Uploads {
    memory: Pinned,
    /// Bytes that copies not known to be done may still read.
    used: usize,
}

impl Uploads {
    pub(super) fn new() -> Option<Self> {
        Pinned::new(ROOM).map(|memory| Self { memory, used: 0 })
    }

    /// Whether there is no room for so many bytes, at most [`LONGEST`], before the stream is idle.
    pub(super) fn is_full(&self, bytes: usize) -> bool {
        self.used + bytes > ROOM
    }

    /// No copy is under way any more: the stream has been idle since the last one.
    pub(super) fn idle(&mut self) {
        self.used = 0;
    }

    /// Starts a copy.
    ///
    /// # Panics
    /// If there is no room.
    pub(super) fn start(&mut self, to: u64, from: &[u8], stream: CUstream) -> CUresult {
        assert!(!self.is_full(from.len()), "more uploads than there is room for");
        // SAFETY: these bytes are within the memory, and no copy reads them.
        let part = unsafe {
            std::slice::from_raw_parts_mut(self.memory.0.as_ptr().add(self.used), from.len())
        };
        part.copy_from_slice(from);
        self.used = (self.used + from.len()).next_multiple_of(ALIGNMENT);
        super::memory::upload(to, part, stream)
    }

    /// Gives the memory back. The context must be bound, and the stream idle.
    pub(super) fn free(self) {
        free(self.memory);
    }
}

/// What downloads go through, one at a time.
#[derive(Debug)]
pub(super) struct Downloads(Pinned);

impl Downloads {
    pub(super) fn new() -> Option<Self> {
        Pinned::new(LONGEST).map(Self)
    }

    /// Memory for a copy; at most [`LONGEST`] bytes.
    pub(super) fn part(&mut self, bytes: usize) -> &mut [u8] {
        assert!(bytes <= LONGEST, "a longer copy than there is room for");
        // SAFETY: it has so many bytes, which the driver has cleared or written; nobody else has them.
        unsafe { std::slice::from_raw_parts_mut(self.0.0.as_ptr(), bytes) }
    }

    /// Gives the memory back. The context must be bound, and the stream idle.
    pub(super) fn free(self) {
        free(self.0);
    }
}

fn free(memory: Pinned) {
    // SAFETY: it came from the driver, and is not used again.
    let _ = unsafe { sys::cuMemFreeHost(memory.0.as_ptr().cast()) };
}
