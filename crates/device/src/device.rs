//! The handle to a device, and the interface that both kinds implement.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use bytemuck::Pod;
use rayon::prelude::*;

use crate::{Arg, Buffer, DeviceError, Launch, Source};

/// What is known of a device.
#[derive(Debug, Clone, PartialEq)]
pub struct DeviceInfo {
    /// `cuda:0`, `sim`: how a user names it.
    pub id: String,
    /// The product's name: `NVIDIA H200`.
    pub name: String,
    /// Compute capability (major, minor); (0, 0) for the simulator.
    pub compute_capability: (u32, u32),
    /// Multiprocessors.
    pub multiprocessors: u32,
    /// Bytes of memory in all.
    pub memory: u64,
    /// Bytes of shared memory a block may have.
    pub shared_memory_per_block: u32,
    /// Bytes of shared memory of a multiprocessor.
    pub shared_memory_per_multiprocessor: u32,
    /// The clock of the multiprocessors, kHz; 0 if unknown.
    pub clock_khz: u32,
    /// The driver's version, `580.159.04 (CUDA 13.0)`; empty for the simulator.
    pub driver: String,
}

#[cfg(test)]
impl DeviceInfo {
    /// That of a GPU, for tests.
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

/// A place where kernels run. Cheap to clone.
#[derive(Clone)]
pub struct Device(Arc<dyn Backend>);

impl Device {
    /// A device on a backend.
    #[must_use]
    pub fn new(backend: Arc<dyn Backend>) -> Self {
        Self(backend)
    }

    pub(crate) fn backend(&self) -> &dyn Backend {
        &*self.0
    }

    /// Its backend, for a backend that passes calls on to another one.
    #[must_use]
    pub fn shared_backend(&self) -> Arc<dyn Backend> {
        Arc::clone(&self.0)
    }

    /// Whether both handles are of one device.
    #[must_use]
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// What tells its backend from those of all other devices, while it exists.
    pub(crate) fn identity(&self) -> usize {
        Arc::as_ptr(&self.0).addr()
    }

    /// What is known of it.
    #[must_use]
    pub fn info(&self) -> &DeviceInfo {
        self.0.info()
    }

    /// (free, total) bytes of its memory.
    pub fn memory(&self) -> Result<(u64, u64), DeviceError> {
        self.0.memory()
    }

    /// Memory for `len` elements, its contents unspecified.
    pub fn alloc<T: Pod>(&self, len: usize) -> Result<Buffer<T>, DeviceError> {
        Buffer::new(self, len)
    }

    /// Memory that holds a copy of `from`.
    pub fn upload<T: Pod>(&self, from: &[T]) -> Result<Buffer<T>, DeviceError> {
        let mut buffer = self.alloc(from.len())?;
        buffer.upload(from)?;
        Ok(buffer)
    }

    /// Compiles a source, or takes it from the cache.
    pub fn program(&self, source: &Source) -> Result<Program, DeviceError> {
        Ok(Program { device: self.clone(), id: self.0.load(source)?, title: source.title() })
    }

    /// Compiles several sources, as many at a time as there are cores.
    pub fn programs(&self, sources: &[Source]) -> Result<Vec<Program>, DeviceError> {
        sources.par_iter().map(|source| self.program(source)).collect()
    }

    /// Waits for all work, and reports what failed in it.
    pub fn synchronize(&self) -> Result<(), DeviceError> {
        self.0.synchronize()
    }

    /// Records the launches made by `work` through the [`Capture`], without running them.
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

    /// The time that the device takes for `work`, by its own clock.
    pub fn time(
        &self,
        work: impl FnOnce() -> Result<(), DeviceError>,
    ) -> Result<Duration, DeviceError> {
        let mut work = Some(work);
        let times = self.0.times(1, &mut |_| work.take().map_or(Ok(()), |work| work()))?;
        Ok(times.into_iter().sum())
    }

    /// The time that the device takes for each of `work(0)`, …, `work(count − 1)`, by its own
    /// clock, which is read between them. Waits for the device once, after the last.
    ///
    /// Work that the host submits more slowly than the device does it has the device's waiting in
    /// its time: what was submitted before gives the host a lead. A GPU's clock is read to about
    /// half a microsecond.
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

/// A compiled [`Source`] on a device.
#[derive(Debug)]
pub struct Program {
    device: Device,
    id: u64,
    title: String,
}

impl Program {
    /// A kernel by name, allowed `shared_bytes` of dynamic shared memory.
    pub fn kernel(&self, name: &'static str, shared_bytes: u32) -> Result<Kernel, DeviceError> {
        let id = self.device.0.kernel(self.id, name, shared_bytes)?;
        Ok(Kernel { device: self.device.clone(), id, name })
    }

    /// File and constants.
    #[must_use]
    pub fn title(&self) -> &str {
        &self.title
    }
}

/// A kernel on a device; stays valid when its [`Program`] is dropped.
#[derive(Debug, Clone)]
pub struct Kernel {
    device: Device,
    id: u64,
    name: &'static str,
}

impl Kernel {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Launches it.
    ///
    /// # Errors
    /// A pointer is to memory of another device, the shape is not possible there, or the device fails.
    ///
    /// # Safety
    /// - `args` match the kernel's parameters in number, order and type.
    /// - What each pointer was made from still exists, and it points to memory with room and alignment for
    ///   all that this launch reads and writes there.
    /// - What the launch writes it does not read through a parameter that the kernel declares
    ///   `const __restrict__`.
    /// - The kernel's own conditions on shape, shared memory and values hold, as far as the places that
    ///   it reads and writes depend on them.
    ///
    /// The memory may be dropped as soon as this returns: it is given back after the work that uses
    /// it ([`Backend::free`]).
    pub unsafe fn launch(&self, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        if let Some(at) = elsewhere(&self.device, args) {
            return Err(DeviceError::Failed {
                what: format!("launching kernel {}", self.name),
                message: format!("argument {at} points to memory of another device"),
            });
        }
        // SAFETY: the caller's promise; and the pointers are of this device.
        unsafe { self.device.0.launch(self.id, shape, args) }
    }
}

/// The first argument that points to another device's memory.
fn elsewhere(device: &Device, args: &[Arg]) -> Option<usize> {
    args.iter().position(|arg| matches!(arg, Arg::Pointer(pointer) if !pointer.is_of(device)))
}

/// Where the launches of a [`Graph`] are recorded.
#[derive(Debug)]
pub struct Capture<'a> {
    device: &'a Device,
    nodes: std::cell::RefCell<&'a mut Vec<GraphNode>>,
}

impl Capture<'_> {
    /// Records a launch, which will come after all those recorded before it.
    ///
    /// # Panics
    /// If the kernel or a pointer is of another device than the graph.
    ///
    /// # Safety
    /// As of [`Kernel::launch`], at every launch of the graph: until the last one what the pointers were
    /// made from must exist.
    pub unsafe fn launch(&self, kernel: &Kernel, shape: Launch, args: &[Arg]) {
        self.record(kernel, shape, args, false);
    }

    /// Records a launch which may begin before the one recorded before it has ended, as
    /// soon as all blocks of that one have called `let_next_launch_begin` or ended. In its
    /// kernel all threads call `wait_for_last_launch`, before they touch what others write
    /// or read and before they let the next launch begin (both in `common/simt.cuh`). A
    /// counter that the launch before does not touch may be touched earlier: those before it
    /// have ended. What an earlier launch writes is no `const __restrict__` there. Where a
    /// device cannot do so, it is like [`Self::launch`].
    ///
    /// # Panics
    /// As [`Self::launch`].
    ///
    /// # Safety
    /// As of [`Self::launch`]; and the kernel and the one before it keep to the rules above.
    pub unsafe fn launch_early(&self, kernel: &Kernel, shape: Launch, args: &[Arg]) {
        self.record(kernel, shape, args, true);
    }

    fn record(&self, kernel: &Kernel, shape: Launch, args: &[Arg], begins_early: bool) {
        assert!(
            self.device.is_same(&kernel.device) && elsewhere(self.device, args).is_none(),
            "a graph of a device has a launch of another one: kernel {}",
            kernel.name
        );
        let node = GraphNode { kernel: kernel.id, shape, args: args.to_vec(), begins_early };
        self.nodes.borrow_mut().push(node);
    }
}

/// A launch in a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct GraphNode {
    /// What [`Backend::kernel`] returned.
    pub kernel: u64,
    /// Its shape.
    pub shape: Launch,
    /// Its arguments.
    pub args: Vec<Arg>,
    /// Whether it may begin before the launch before it has ended.
    pub begins_early: bool,
}

/// Launches that are made again and again in the same order.
#[derive(Debug)]
pub struct Graph {
    device: Device,
    id: u64,
}

impl Graph {
    /// Makes its launches once.
    pub fn launch(&self) -> Result<(), DeviceError> {
        // SAFETY: whoever recorded a launch has promised it for all times that it is made.
        unsafe { self.device.0.launch_graph(self.id) }
    }
}

impl Drop for Graph {
    fn drop(&mut self) {
        self.device.0.free_graph(self.id);
    }
}

/// What a kind of device provides; used through [`Device`].
///
/// Ids are those that its own calls returned. Work is in order.
/// Programs and kernels live as long as the backend.
///
/// # Safety of its calls
/// An address is one that [`Self::alloc`] returned, or lies in the memory that it gave; the memory has not
/// been given back, and has room for the bytes from there on. [`Buffer`] and [`Kernel`] see to it for everyone
/// else.
pub trait Backend: Send + Sync {
    /// What is known of it.
    fn info(&self) -> &DeviceInfo;
    /// (free, total) bytes of its memory.
    fn memory(&self) -> Result<(u64, u64), DeviceError>;
    /// Memory, aligned to 256 bytes; `bytes` may be 0.
    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError>;
    /// Gives memory back after all work that was submitted before: none of it may find it gone.
    ///
    /// # Safety
    /// Above; and the address is where the memory begins.
    unsafe fn free(&self, address: u64);
    /// Copies from the host.
    ///
    /// # Safety
    /// Above.
    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError>;
    /// Waits for all work and copies to the host.
    ///
    /// # Safety
    /// Above.
    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError>;
    /// Copies on the device.
    ///
    /// # Safety
    /// Above, of both addresses.
    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), DeviceError>;
    /// Sets bytes to zero.
    ///
    /// # Safety
    /// Above.
    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), DeviceError>;
    /// Compiles a source; the same source gives the same id.
    fn load(&self, source: &Source) -> Result<u64, DeviceError>;
    /// A kernel of a program, allowed so much dynamic shared memory.
    fn kernel(&self, program: u64, name: &str, shared_bytes: u32) -> Result<u64, DeviceError>;
    /// Launches a kernel.
    ///
    /// # Safety
    /// That of [`Kernel::launch`]; and the pointers are of this device.
    unsafe fn launch(&self, kernel: u64, shape: Launch, args: &[Arg]) -> Result<(), DeviceError>;
    /// A chain of launches, each after the one before it.
    fn graph(&self, nodes: &[GraphNode]) -> Result<u64, DeviceError>;
    /// Makes the launches of a graph.
    ///
    /// # Safety
    /// That of [`Self::launch`] holds for each of its launches.
    unsafe fn launch_graph(&self, graph: u64) -> Result<(), DeviceError>;
    /// Gives a graph back.
    fn free_graph(&self, graph: u64);
    /// Waits for all work.
    fn synchronize(&self) -> Result<(), DeviceError>;
    /// The device's time for the work that each of `count` calls of `work` submits.
    fn times(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError>;
}
