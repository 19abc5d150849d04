//! Long copies between host and device, by several threads through pinned (page-locked) memory.
//!
//! The driver copies pageable memory by one thread. On the host of an H200 it copied 1.2·10^9 bytes/s
//! from the device into memory that the host had not written yet, and 7·10^9 bytes/s to the device.
//!
//! Here each thread has two chunks of pinned memory. It copies between one of them and the memory of the
//! caller, while the device copies from or to the other one.

use std::num::NonZeroUsize;
use std::ptr;
use std::sync::{Mutex, PoisonError};
use std::thread;

use cudarc::driver::sys::{self, CUevent, CUevent_flags, CUresult, CUstream};

use super::context::Context;
use super::memory;
use super::staging::Pinned;

/// The length in bytes from which copies are made in this way.
pub(super) const FROM: usize = 4 << 20;
/// The length in bytes of a chunk.
const CHUNK: usize = 2 << 20;
const MOST_THREADS: usize = 8;

/// A chunk of pinned memory, and the event of the last copy of the device from or to it.
#[derive(Debug)]
struct Chunk {
    memory: Pinned,
    copied: CUevent,
}

// SAFETY: the handle is the driver's, which may be called from any thread.
unsafe impl Send for Chunk {}

/// The chunks of all threads, two for each.
#[derive(Debug)]
pub(super) struct LongCopies(Vec<[Chunk; 2]>);

impl Chunk {
    fn new() -> Option<Self> {
        let memory = Pinned::new(CHUNK)?;
        let mut copied = ptr::null_mut();
        let kind = CUevent_flags::CU_EVENT_DISABLE_TIMING as u32;
        // SAFETY: the call writes one handle.
        match unsafe { sys::cuEventCreate(&raw mut copied, kind) } {
            CUresult::CUDA_SUCCESS => Some(Self { memory, copied }),
            _ => {
                memory.free();
                None
            }
        }
    }

    /// Waits until the device has made the last copy from or to the chunk.
    fn wait(&self) -> CUresult {
        // SAFETY: the event is valid. One that was never recorded is complete.
        unsafe { sys::cuEventSynchronize(self.copied) }
    }

    fn record(&self, stream: CUstream) -> CUresult {
        // SAFETY: event and stream are valid.
        unsafe { sys::cuEventRecord(self.copied, stream) }
    }

    fn free(self) {
        // SAFETY: the event is valid, and not used again.
        let _ = unsafe { sys::cuEventDestroy_v2(self.copied) };
        self.memory.free();
    }
}

impl LongCopies {
    /// Allocates the pinned memory. `None` if the driver cannot allocate it. The device's context must
    /// be current, here and at [`Self::free`].
    pub(super) fn new() -> Option<Self> {
        let threads = thread::available_parallelism().map_or(1, NonZeroUsize::get) / 2;
        let mut all = Self(vec![]);
        for _ in 0..threads.clamp(1, MOST_THREADS) {
            match (Chunk::new(), Chunk::new()) {
                (Some(one), Some(other)) => all.0.push([one, other]),
                (one, other) => {
                    one.into_iter().chain(other).for_each(Chunk::free);
                    all.free();
                    return None;
                }
            }
        }
        Some(all)
    }

    /// Copies host memory to the address `to`, which has as many bytes. When it returns, `from` is not
    /// needed any more.
    pub(super) fn upload(&mut self, to: u64, from: &[u8], context: &Context) -> CUresult {
        let step = self.0.len();
        self.each(from.chunks(CHUNK).enumerate(), context, |chunks, parts| {
            for (i, part) in parts {
                let chunk = &mut chunks[i / step % 2];
                done(chunk.wait())?;
                let staged = chunk.memory.bytes(part.len());
                staged.copy_from_slice(part);
                done(memory::upload(to + (i * CHUNK) as u64, staged, context.stream))?;
                done(chunk.record(context.stream))?;
            }
            Ok(())
        })
    }

    /// Copies the memory at the address `from` to host memory of as many bytes, after all work that has
    /// been submitted.
    pub(super) fn download(&mut self, from: u64, to: &mut [u8], context: &Context) -> CUresult {
        let step = self.0.len();
        self.each(to.chunks_mut(CHUNK).enumerate(), context, |chunks, parts| {
            let start = |chunk: &mut Chunk, (i, part): &(usize, &mut [u8])| {
                let staged = chunk.memory.bytes(part.len());
                done(memory::download(from + (i * CHUNK) as u64, staged, context.stream))?;
                done(chunk.record(context.stream))
            };
            let mut parts = parts.into_iter();
            let mut begun = parts.next();
            if let Some(first) = &begun {
                start(&mut chunks[first.0 / step % 2], first)?;
            }
            while let Some((i, part)) = begun {
                begun = parts.next();
                if let Some(next) = &begun {
                    start(&mut chunks[next.0 / step % 2], next)?;
                }
                let chunk = &mut chunks[i / step % 2];
                done(chunk.wait())?;
                part.copy_from_slice(chunk.memory.bytes(part.len()));
            }
            Ok(())
        })
    }

    /// Runs `work` on a thread for each pair of chunks. Of p pairs, pair i gets the parts i, i + p, i + 2p
    /// and so on. Returns the first code that is no success.
    fn each<P: Send>(
        &mut self,
        parts: impl Iterator<Item = P>,
        context: &Context,
        work: impl Fn(&mut [Chunk; 2], Vec<P>) -> Result<(), CUresult> + Sync,
    ) -> CUresult {
        let mut shares: Vec<Vec<P>> = self.0.iter().map(|_| vec![]).collect();
        let count = shares.len();
        for (i, part) in parts.enumerate() {
            shares[i % count].push(part);
        }
        let shares: Vec<_> =
            self.0.iter_mut().zip(shares).map(|own| Mutex::new(Some(own))).collect();
        let one = |share: &Mutex<Option<(&mut [Chunk; 2], Vec<P>)>>| {
            let taken = share.lock().unwrap_or_else(PoisonError::into_inner).take();
            let Some((chunks, parts)) = taken.filter(|(_, parts)| !parts.is_empty()) else {
                return Ok(());
            };
            done(context.bind())?;
            work(chunks, parts)
        };
        let results = thread::scope(|scope| {
            let (one, mut results) = (&one, vec![]);
            let begin = |share| thread::Builder::new().spawn_scoped(scope, move || one(share));
            let threads: Vec<_> = shares.iter().skip(1).flat_map(begin).collect();
            // This thread does the first share, and those for which there is no thread.
            results.extend(
                shares.iter().take(1).chain(shares.iter().skip(1 + threads.len())).map(one),
            );
            let unknown = Err(CUresult::CUDA_ERROR_UNKNOWN);
            results.extend(threads.into_iter().map(|thread| thread.join().unwrap_or(unknown)));
            results.extend(shares.iter().map(one));
            results
        });
        results.into_iter().find_map(Result::err).unwrap_or(CUresult::CUDA_SUCCESS)
    }

    /// Frees the pinned memory. The stream must be idle.
    pub(super) fn free(self) {
        self.0.into_iter().flatten().for_each(Chunk::free);
    }
}

fn done(code: CUresult) -> Result<(), CUresult> {
    if code == CUresult::CUDA_SUCCESS { Ok(()) } else { Err(code) }
}
