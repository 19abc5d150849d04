//! Devices that fail: a backend that forwards every call to a sound backend, but makes one fault.

use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use warpint_device::{Arg, Backend, Device, DeviceError, DeviceInfo, GraphNode, Launch, Source};

/// A fault of a device. Launches, uploads and downloads are counted from 0. Every kernel launch of a graph
/// is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DeviceFault {
    /// Launch `from` and all later launches do nothing, and no call reports an error. If launch
    /// `from` belongs to a graph, the whole graph does nothing. All allocated memory contains zeros
    /// until something is written to it.
    Dead {
        /// The number of the first launch that is not executed.
        from: u64,
    },
    /// Download `from` and all later downloads contain zeros.
    Zeros {
        /// The number of the first download that contains zeros.
        from: u64,
    },
    /// Every download of at most `bytes` bytes contains the same bytes as the first download of
    /// this size from this address, as if counters on the device were stuck.
    Stuck {
        /// The size of the largest counter, in bytes.
        bytes: usize,
    },
    /// One bit of one upload is flipped.
    FlippedUpload {
        /// The number of the upload. Empty uploads are not counted.
        upload: u64,
        /// The index of the bit, taken modulo the number of bits of the upload.
        bit: u64,
    },
    /// One bit of one download is flipped.
    FlippedDownload {
        /// The number of the download. Empty downloads are not counted.
        download: u64,
        /// The index of the bit, taken modulo the number of bits of the download.
        bit: u64,
    },
    /// After one launch, one bit is flipped in the memory to which the launch's arguments point.
    FlippedMemory {
        /// The number of the launch. If it belongs to a graph, the bit is flipped after the last
        /// launch of the graph.
        launch: u64,
        /// The index of the bit among the bits of all buffers that the arguments point to, one
        /// buffer after another. The index is taken modulo the number of these bits.
        bit: u64,
    },
    /// After one launch, one bit is flipped in one of the buffers to which the launch's arguments
    /// point.
    FlippedBuffer {
        /// The number of the launch, as for [`DeviceFault::FlippedMemory`].
        launch: u64,
        /// The index of the buffer among these buffers, taken modulo their number.
        buffer: u64,
        /// The index of the bit, taken modulo the number of bits of the buffer.
        bit: u64,
    },
}

/// A device with a [`DeviceFault`]. It wraps a sound device, a GPU or the simulator.
///
/// Buffers, kernels and graphs must be made through [`FaultyDevice::device`]. They cannot be used
/// together with buffers of the sound device.
#[derive(Debug, Clone)]
pub struct FaultyDevice {
    device: Device,
    backend: Arc<FaultyBackend>,
}

impl FaultyDevice {
    /// Wraps a sound device into one with the given fault.
    #[must_use]
    pub fn new(sound: &Device, fault: DeviceFault) -> Self {
        let backend = Arc::new(FaultyBackend {
            sound: sound.shared_backend(),
            fault,
            launches: AtomicU64::new(0),
            uploads: AtomicU64::new(0),
            downloads: AtomicU64::new(0),
            strikes: AtomicU64::new(0),
            state: Mutex::default(),
        });
        Self { device: Device::new(Arc::clone(&backend) as Arc<dyn Backend>), backend }
    }

    /// Returns the device with the fault, on which computations are run.
    #[must_use]
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// Returns how many launches were not executed, or how many uploads, downloads and buffers were changed.
    /// If the number is 0, the fault was never made, and a test that expects the fault to be
    /// noticed proves nothing.
    #[must_use]
    pub fn strikes(&self) -> u64 {
        self.backend.strikes.load(Ordering::Relaxed)
    }

    /// Returns the number of launches so far, including those that were not executed.
    #[must_use]
    pub fn launches(&self) -> u64 {
        self.backend.launches.load(Ordering::Relaxed)
    }

    /// Returns the number of uploads so far. Empty uploads are not counted.
    #[must_use]
    pub fn uploads(&self) -> u64 {
        self.backend.uploads.load(Ordering::Relaxed)
    }

    /// Returns the number of downloads so far. Empty downloads are not counted.
    #[must_use]
    pub fn downloads(&self) -> u64 {
        self.backend.downloads.load(Ordering::Relaxed)
    }
}

struct FaultyBackend {
    sound: Arc<dyn Backend>,
    fault: DeviceFault,
    launches: AtomicU64,
    uploads: AtomicU64,
    downloads: AtomicU64,
    strikes: AtomicU64,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The size in bytes of each allocation, by its address.
    allocations: BTreeMap<u64, usize>,
    /// For each graph, by its id: the pointers among the arguments of each of its launches.
    graphs: HashMap<u64, Vec<Vec<u64>>>,
    /// The bytes of the first download of each counter, by its address and its size in bytes.
    first_seen: HashMap<(u64, usize), Vec<u8>>,
}

impl State {
    /// Returns the address and the size in bytes of the allocation that contains the given address.
    /// Returns `None` if there is no such allocation.
    fn allocation(&self, address: u64) -> Option<(u64, usize)> {
        let (&start, &bytes) = self.allocations.range(..=address).next_back()?;
        (address - start < bytes as u64).then_some((start, bytes))
    }
}

impl std::fmt::Debug for FaultyBackend {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FaultyBackend").field("fault", &self.fault).finish_non_exhaustive()
    }
}

impl FaultyBackend {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn strike(&self, times: u64) {
        self.strikes.fetch_add(times, Ordering::Relaxed);
    }

    /// Counts launches, each of which is given by the pointers among its arguments. Calls `make`,
    /// which executes the launches, unless the device is dead.
    fn count(
        &self,
        launches: &[Vec<u64>],
        make: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<(), DeviceError> {
        let count = launches.len() as u64;
        let first = self.launches.fetch_add(count, Ordering::Relaxed);
        match self.fault {
            DeviceFault::Dead { from } if first + count > from => {
                self.strike(count);
                Ok(())
            }
            DeviceFault::FlippedMemory { launch, bit } => {
                make()?;
                let of_this = launch.checked_sub(first).and_then(|i| launches.get(i as usize));
                of_this.map_or(Ok(()), |pointers| self.flip(pointers, bit))
            }
            DeviceFault::FlippedBuffer { launch, buffer, bit } => {
                make()?;
                let of_this = launch.checked_sub(first).and_then(|i| launches.get(i as usize));
                let chosen = of_this.and_then(|pointers| {
                    pointers.get(buffer.checked_rem(pointers.len() as u64)? as usize)
                });
                chosen.map_or(Ok(()), |&pointer| self.flip(&[pointer], bit))
            }
            _ => make(),
        }
    }

    fn flip(&self, pointers: &[u64], bit: u64) -> Result<(), DeviceError> {
        let state = self.state();
        let buffers: Vec<_> = pointers.iter().filter_map(|&p| state.allocation(p)).collect();
        drop(state);
        let bits = buffers.iter().map(|&(_, bytes)| 8 * bytes as u64).sum::<u64>();
        let Some(mut bit) = bit.checked_rem(bits) else { return Ok(()) };
        for (start, bytes) in buffers {
            let here = 8 * bytes as u64;
            if bit < here {
                let mut byte = [0];
                // SAFETY: the byte is in memory that a launch uses, which stays allocated until the
                // launch returns.
                unsafe { self.sound.download(start + bit / 8, &mut byte)? };
                byte[0] ^= 1 << (bit % 8);
                // SAFETY: as above.
                unsafe { self.sound.upload(start + bit / 8, &byte)? };
                self.strike(1);
                return Ok(());
            }
            bit -= here;
        }
        Ok(())
    }
}

/// Returns the addresses of the pointers among the arguments of a launch.
fn pointers(args: &[Arg]) -> Vec<u64> {
    let address = |arg: &Arg| match *arg {
        Arg::Pointer(pointer) => Some(pointer.address()),
        _ => None,
    };
    args.iter().filter_map(address).collect()
}

impl Backend for FaultyBackend {
    fn info(&self) -> &DeviceInfo {
        self.sound.info()
    }

    fn memory(&self) -> Result<(u64, u64), DeviceError> {
        self.sound.memory()
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        let address = self.sound.alloc(bytes)?;
        if matches!(self.fault, DeviceFault::Dead { .. }) {
            // Remains of an earlier computation could be the right result.
            // SAFETY: the memory is new and has this size.
            unsafe { self.sound.clear(address, bytes)? };
        }
        self.state().allocations.insert(address, bytes);
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        self.state().allocations.remove(&address);
        // SAFETY: the caller guarantees the same conditions.
        unsafe { self.sound.free(address) };
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        let number = self.uploads.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            DeviceFault::FlippedUpload { upload, bit } if number == upload => {
                let mut wrong = from.to_vec();
                let bit = bit % (8 * from.len() as u64);
                wrong[(bit / 8) as usize] ^= 1 << (bit % 8);
                self.strike(1);
                // SAFETY: the caller guarantees the same conditions.
                unsafe { self.sound.upload(to, &wrong) }
            }
            // SAFETY: as above.
            _ => unsafe { self.sound.upload(to, from) },
        }
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        // SAFETY: the caller guarantees the same conditions.
        unsafe { self.sound.download(from, to)? };
        if to.is_empty() {
            return Ok(());
        }
        let number = self.downloads.fetch_add(1, Ordering::Relaxed);
        match self.fault {
            DeviceFault::Zeros { from } if number >= from => {
                to.fill(0);
                self.strike(1);
            }
            DeviceFault::Stuck { bytes } if to.len() <= bytes => {
                let mut state = self.state();
                let first = state.first_seen.entry((from, to.len())).or_insert_with(|| to.to_vec());
                let changed = first != to;
                to.copy_from_slice(first);
                self.strike(changed.into());
            }
            DeviceFault::FlippedDownload { download, bit } if number == download => {
                let bit = bit % (8 * to.len() as u64);
                to[(bit / 8) as usize] ^= 1 << (bit % 8);
                self.strike(1);
            }
            _ => {}
        }
        Ok(())
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: the caller guarantees the same conditions.
        unsafe { self.sound.copy(to, from, bytes) }
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), DeviceError> {
        // SAFETY: the caller guarantees the same conditions.
        unsafe { self.sound.clear(address, bytes) }
    }

    fn load(&self, source: &Source) -> Result<u64, DeviceError> {
        self.sound.load(source)
    }

    fn kernel(&self, program: u64, name: &str, shared_bytes: u32) -> Result<u64, DeviceError> {
        self.sound.kernel(program, name, shared_bytes)
    }

    unsafe fn launch(&self, kernel: u64, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        // SAFETY: the caller guarantees the same conditions.
        let launch = || unsafe { self.sound.launch(kernel, shape, args) };
        self.count(&[pointers(args)], launch)
    }

    fn graph(&self, nodes: &[GraphNode]) -> Result<u64, DeviceError> {
        let id = self.sound.graph(nodes)?;
        let pointers = nodes.iter().map(|node| pointers(&node.args)).collect();
        self.state().graphs.insert(id, pointers);
        Ok(id)
    }

    unsafe fn launch_graph(&self, graph: u64) -> Result<(), DeviceError> {
        let launches = self.state().graphs.get(&graph).cloned().unwrap_or_default();
        // SAFETY: the caller guarantees the same conditions.
        self.count(&launches, || unsafe { self.sound.launch_graph(graph) })
    }

    fn free_graph(&self, graph: u64) {
        self.state().graphs.remove(&graph);
        self.sound.free_graph(graph);
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.sound.synchronize()
    }

    fn times(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.sound.times(count, work)
    }
}

#[cfg(test)]
mod tests;
