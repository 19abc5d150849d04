//! The handle to a device ([`Device`]), and the interface that GPUs and the simulator implement
//! ([`Backend`]).

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{Arg, Buffer, DeviceError, Launch, Source};

/// The properties of a GPU or of the simulator.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceInfo {
    /// The name by which a user chooses the device: `cuda:0`, `sim`.
    pub id: String,
    /// The name of the GPU model, `NVIDIA H200`; `simulator` for the simulator.
    pub name: String,
    /// The compute capability (major, minor); (0, 0) for the simulator.
    pub compute_capability: (u32, u32),
    /// The number of multiprocessors of the GPU.
    pub multiprocessors: u32,
    /// The total size of the device's memory, in bytes.
    pub memory: u64,
    /// The shared memory available to a block, in bytes.
    pub shared_memory_per_block: u32,
    /// The shared memory of a multiprocessor, in bytes.
    pub shared_memory_per_multiprocessor: u32,
    /// The clock rate of the multiprocessors, in kHz; 0 if unknown.
    pub clock_khz: u32,
    /// The driver's version, `580.159.04 (CUDA 13.0)`; empty for the simulator.
    pub driver: String,
}

#[cfg(test)]
impl DeviceInfo {
    /// Returns the properties of an H200, for tests.
    pub(crate) fn h200() -> Self {
        Self {
            id: "cuda:0".into(),
            name: "NVIDIA H200".into(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            memory: 1 << 37,
            shared_memory_per_block: 232_448,
            shared_memory_per_multiprocessor: 233_472,
            clock_khz: 1_980_000,
            driver: "580.159.04 (CUDA 13.0)".into(),
        }
    }
}

/// A handle to a device, on which kernels run. Clones are cheap and refer to the same opened
/// device.
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl Device {
    /// Creates a device that uses the given backend.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self(backend)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.0
    }

    /// Returns the backend, so that another backend can forward its calls to it.
    #[must_use]
    pub fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.0)
    }

    /// Returns whether the two handles refer to the same opened device.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// Returns a number that identifies the device among all opened devices of this process.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// Returns the device's properties.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    /// Returns the number of free bytes and the total number of bytes of the device's memory.
    pub fn memory(&self) -> Result<(u64, u64), DeviceError> {
        self.0.memory()
    }

    /// Allocates a buffer of `len` elements. The contents of the buffer are unspecified.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        Buffer::new(self, len)
    }

    /// Allocates a buffer that contains a copy of `from`.
    pub fn upload<T: Pod>(&self, from: &[T]) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = self.alloc(from.len())?;
        buffer.upload(from)?;
        Ok(buffer)
    }

    /// Compiles a source, or loads its machine code from the cache on disk.
    pub fn program(&self, source: &Source) -> Result<Program, DeviceError> {
        Ok(Program { device: self.clone(), id: self.0.load(source)?, title: source.title() })
    }

    /// Does the same as [`Self::program`] for several sources, in parallel in rayon's current
    /// thread pool. The programs are in the order of the sources.
    pub fn programs(&self, sources: &[Source]) -> Result<Vec<Program>, DeviceError> {
        sources.par_iter().map(|source| self.program(source)).collect()
    }

    /// Waits until the device has done all submitted work. Returns an error if some of this work
    /// failed.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.0.synchronize()
    }

    /// Waits until all work on the device that this process has submitted is done, including the
    /// work of other libraries on other streams. Memory that such a library has used can be freed
    /// after this.
    pub fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.0.synchronize_all()
    }

    /// Returns the driver's handle of the stream to which all work of the device is submitted, so
    /// that another library can order its work relative to this stream. Returns `None` for a device
    /// without streams, such as the simulator.
    #[must_use]
    pub fn stream(&self) -> Option<u64> {
        self.0.stream()
    }

    /// Makes work that is submitted to the stream `after` from now on wait for all work that has
    /// been submitted to the stream `before`, without blocking the calling thread. The arguments are
    /// the driver's handles of streams; one is usually [`Self::stream`], the other that of another
    /// library. The handle 1 is the legacy default stream, 2 that of the calling thread.
    ///
    /// # Errors
    /// The device has no streams, or the driver refuses.
    ///
    /// # Safety
    /// Both streams exist and belong to the primary context of this device.
    pub unsafe fn order_streams(&self, before: u64, after: u64) -> Result<(), DeviceError> {
        // SAFETY: the caller's promise.
        unsafe { self.0.order_streams(before, after) }
    }

    /// Calls `work`, which records launches in the [`Capture`], and returns the recorded launches
    /// as a graph. Recorded launches are not run.
    pub fn capture(
        &self,
        work: impl FnOnce(&Capture<'_>) -> Result<(), DeviceError>,
    ) -> Result<Graph, DeviceError> {
        let mut nodes = vec![];
        {
            let recorded = std::cell::RefCell::new(&mut nodes);
            work(&Capture { device: self, nodes: recorded })?;
        }
        Ok(Graph { device: self.clone(), id: self.0.graph(&nodes)? })
    }

    /// Calls `work`, and returns the time that the device spends on everything that `work` submits,
    /// by the device's clock. Waits until this has ended.
    pub fn time(
        &self,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<Duration, DeviceError> {
        let mut work = Some(work);
        let times = self.0.times(1, &mut |_| work.take().map_or(Ok(()), |work| work()))?;
        Ok(times.into_iter().sum())
    }

    /// Calls `work(0)`, …, `work(count − 1)`, and returns the time that the device spends on the
    /// work submitted by each call, by the device's clock. Waits for the device once, after the
    /// last call.
    ///
    /// If the host submits work more slowly than the device executes it, the times include idle
    /// time of the device. To avoid idle time, submit other work before this call. The clock of a
    /// GPU has a resolution of about half a microsecond.
    pub fn times(
        &self,
        count: usize,
        mut work: impl FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.0.times(count, &mut work)
    }
}

impl fmt::Debug for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.info().id, self.info().name)
    }
}

/// A compiled [`Source`], loaded on a device.
#[derive(Debug)]
pub struct Program {
    device: Device,
    id: u64,
    title: String,
}

impl Program {
    /// Finds a kernel by name, and permits its launches to use up to `shared_bytes` bytes of
    /// dynamic shared memory. Returns an error if the program has no such kernel, or a block cannot
    /// have this much shared memory.
    pub fn kernel(&self, name: &'static str, shared_bytes: u32) -> Result<Kernel, DeviceError> {
        let id = self.device.0.kernel(self.id, name, shared_bytes)?;
        Ok(Kernel { device: self.device.clone(), id, name })
    }

    /// Returns the source's file name and constants, for messages.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }
}

/// A kernel of a [`Program`]. It remains valid after the program is dropped.
#[derive(Debug, Clone)]
pub struct Kernel {
    device: Device,
    id: u64,
    name: &'static str,
}

impl Kernel {
    /// Returns the kernel's name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Submits a launch of the kernel. The launch runs after all work submitted earlier.
    ///
    /// # Errors
    /// A pointer refers to memory of another device, a mismatch of arguments and parameters is
    /// found, the device does not support the shape, or the device fails.
    ///
    /// # Safety
    /// - `args` match the kernel's parameters in number, order and type.
    /// - The object that each pointer was made from still exists, and the pointer refers to memory
    ///   with room and alignment for everything that this launch reads and writes through it.
    /// - Through a parameter that the kernel declares `const __restrict__`, the launch does not
    ///   read memory that it writes.
    /// - The conditions that the kernel itself sets on shape, shared memory and values hold, as far
    ///   as they determine which addresses it reads and writes.
    ///
    /// A buffer may be dropped as soon as this function returns: its memory is freed after the work
    /// that uses it ([`Backend::free`]).
    pub unsafe fn launch(&self, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        if let Some(at) = elsewhere(&self.device, args) {
            return Err(DeviceError::Failed {
                what: format!("launching kernel {}", self.name),
                message: format!("argument {at} points to memory of another device"),
            });
        }
        // SAFETY: the caller's promise; and the pointers are on this device.
        unsafe { self.device.0.launch(self.id, shape, args) }
    }
}

/// Returns the index of the first argument that points to memory of a device other than `device`;
/// `None` if there is none.
fn elsewhere(device: &Device, args: &[Arg]) -> Option<usize> {
    args.iter().position(|arg| matches!(arg, Arg::Pointer(pointer) if !pointer.is_of(device)))
}

/// Records the launches of a [`Graph`], in a call of [`Device::capture`].
#[derive(Debug)]
pub struct Capture<'a> {
    device: &'a Device,
    nodes: std::cell::RefCell<&'a mut Vec<GraphNode>>,
}

impl Capture<'_> {
    /// Records a launch, which will begin when the launch recorded before it has ended.
    ///
    /// # Panics
    /// If the kernel or a pointer does not belong to the device of the graph.
    ///
    /// # Safety
    /// The conditions of [`Kernel::launch`] hold at every launch of the graph. In particular, the
    /// objects that the pointers were made from must exist until the last launch of the graph.
    pub unsafe fn launch(&self, kernel: &Kernel, shape: Launch, args: &[Arg]) {
        self.record(kernel, shape, args, false);
    }

    /// Records a launch that may begin before the preceding launch has ended: as soon as every
    /// block of the preceding launch has called `let_next_launch_begin` or ended. On a device that
    /// cannot overlap launches, this function does the same as [`Self::launch`].
    ///
    /// The kernel must follow these rules; the functions are in `common/simt.cuh`:
    /// - All threads call `wait_for_last_launch` before they access memory that other launches
    ///   write or read, and before they let the next launch begin. Exception: a counter that the
    ///   preceding launch does not access may be accessed earlier, because all launches before the
    ///   preceding launch have ended.
    /// - Memory that an earlier launch writes is not accessed through a `const __restrict__`
    ///   parameter.
    ///
    /// # Panics
    /// Under the same conditions as [`Self::launch`].
    ///
    /// # Safety
    /// The conditions of [`Self::launch`] hold. This kernel and the kernel of the preceding launch
    /// follow the rules above.
    pub unsafe fn launch_early(&self, kernel: &Kernel, shape: Launch, args: &[Arg]) {
        self.record(kernel, shape, args, true);
    }

    fn record(&self, kernel: &Kernel, shape: Launch, args: &[Arg], begins_early: bool) {
        assert!(
            self.device.is_same(&kernel.device) && elsewhere(self.device, args).is_none(),
            "the kernel {} or one of its pointers belongs to another device than the graph",
            kernel.name
        );
        let node = GraphNode { kernel: kernel.id, shape, args: args.to_vec(), begins_early };
        self.nodes.borrow_mut().push(node);
    }
}

/// A launch of a kernel in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNode {
    /// The id of the kernel, as returned by [`Backend::kernel`].
    pub kernel: u64,
    /// The shape of the launch.
    pub shape: Launch,
    /// The arguments of the kernel.
    pub args: Vec<Arg>,
    /// Whether the launch may begin before the preceding launch has ended.
    pub begins_early: bool,
}

/// A sequence of launches that one call submits. A graph can be submitted repeatedly.
/// [`Device::capture`] records a graph.
#[derive(Debug)]
pub struct Graph {
    device: Device,
    id: u64,
}

impl Graph {
    /// Submits all launches of the graph once. They run after all work submitted earlier.
    pub fn launch(&self) -> Result<(), DeviceError> {
        // SAFETY: the caller of `Capture::launch` has promised it for every launch of the graph.
        unsafe { self.device.0.launch_graph(self.id) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.device.0.free_graph(self.id);
    }
}

/// The interface that a kind of device (CUDA, simulator) implements. Callers use it through
/// [`Device`].
///
/// Every id in an argument was returned by an earlier call of the same backend. Work is executed in
/// the order of the calls. Programs and kernels exist as long as the backend.
///
/// # Safety of its calls
/// An address in an argument must lie in memory that [`Self::alloc`] allocated and that has not
/// been freed. The call reads or writes consecutive bytes, the first of which is at this address.
/// All these bytes must lie in the same allocation. The caller of the backend must ensure these
/// conditions. The methods of [`Buffer`] ensure them; for launches, the caller of
/// [`Kernel::launch`] ensures them.
pub trait Backend: Send + Sync {
    /// Returns the device's properties.
    fn info(&self) -> &DeviceInfo;
    /// Returns the number of free bytes and the total number of bytes of the device's memory.
    fn memory(&self) -> Result<(u64, u64), DeviceError>;
    /// Allocates `bytes` bytes and returns their address, which is aligned to 256 bytes. `bytes`
    /// may be 0.
    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError>;
    /// Frees the memory at `address`, after all work submitted before this call has ended.
    ///
    /// # Safety
    /// As stated for the trait. In addition, [`Self::alloc`] returned exactly this address.
    unsafe fn free(&self, address: u64);
    /// Copies bytes from the host to the address `to`.
    ///
    /// # Safety
    /// As stated for the trait.
    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError>;
    /// Waits until all submitted work is done, and copies bytes from the address `from` to the
    /// host.
    ///
    /// # Safety
    /// As stated for the trait.
    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError>;
    /// Copies `bytes` bytes from one address of the device to another.
    ///
    /// # Safety
    /// As stated for the trait, for both addresses.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), DeviceError>;
    /// Sets `bytes` bytes to zero, beginning at `address`.
    ///
    /// # Safety
    /// As stated for the trait.
    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), DeviceError>;
    /// Compiles a source, or loads its machine code from the cache on disk, and returns the id of
    /// the program. The same source always gives the same id.
    fn load(&self, source: &Source) -> Result<u64, DeviceError>;
    /// Finds a kernel of a program by name, permits its launches to use `shared_bytes` bytes of
    /// dynamic shared memory, and returns the kernel's id.
    fn kernel(&self, program: u64, name: &str, shared_bytes: u32) -> Result<u64, DeviceError>;
    /// Submits a launch of a kernel.
    ///
    /// # Safety
    /// The conditions of [`Kernel::launch`] hold, and every pointer refers to memory of this
    /// device.
    unsafe fn launch(&self, kernel: u64, shape: Launch, args: &[Arg]) -> Result<(), DeviceError>;
    /// Builds a graph of launches, which run in the given order, and returns its id.
    fn graph(&self, nodes: &[GraphNode]) -> Result<u64, DeviceError>;
    /// Submits all launches of a graph once.
    ///
    /// # Safety
    /// The conditions of [`Self::launch`] hold for each launch of the graph.
    unsafe fn launch_graph(&self, graph: u64) -> Result<(), DeviceError>;
    /// Frees a graph, after its last launch has ended.
    fn free_graph(&self, graph: u64);
    /// Waits until all submitted work is done. Returns an error if some of this work failed.
    fn synchronize(&self) -> Result<(), DeviceError>;
    /// Like [`Self::synchronize`], but also waits for the work that other libraries of this process
    /// have submitted to the device. By default, there is no such work.
    fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.synchronize()
    }
    /// Returns the driver's handle of the stream to which work is submitted. By default, there is
    /// none.
    fn stream(&self) -> Option<u64> {
        None
    }
    /// Makes work that is submitted to the stream `after` from now on wait for all work that has
    /// been submitted to the stream `before`. By default, there are no streams.
    ///
    /// # Safety
    /// Both are handles of streams of the device.
    unsafe fn order_streams(&self, _before: u64, _after: u64) -> Result<(), DeviceError> {
        Err(DeviceError::Failed {
            what: "ordering of streams".into(),
            message: format!("{} has no streams", self.info().id),
        })
    }
    /// Returns an error unless kernels of this device can access memory at `address` that another
    /// library of this process has allocated. By default, no such memory is accessible.
    fn check_foreign(&self, address: u64) -> Result<(), DeviceError> {
        Err(DeviceError::Failed {
            what: format!("access to memory at {address:#x}"),
            message: format!("{} uses only memory of its own", self.info().id),
        })
    }
    /// Calls `work(0)`, …, `work(count − 1)`, and returns the time that the device spends on the
    /// work submitted by each call.
    fn times(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError>;
}
