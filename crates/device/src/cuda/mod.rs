//! GPUs as devices, through NVIDIA's CUDA driver.

mod context;
mod driver;
mod freed;
mod graph;
mod kernels;
mod long_copies;
mod memory;
mod properties;
mod staging;

use std::collections::HashMap;
use std::ffi::c_void;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use cudarc::driver::sys::{self, CUevent_flags, CUresult, CUstream};

use crate::cubin_cache::{CubinCache, CubinKey, identity};
use crate::nvrtc;
use crate::{
    Arg, Backend, Device, DeviceError, DeviceInfo, GraphNode, Launch, Nvrtc, Source, folders,
};

use context::{Context, Event};
use driver::Driver;
use freed::Blocks;
use graph::Executable;
use kernels::{Arguments, Kernels};
use long_copies::LongCopies;
pub(crate) use properties::pci_bus_id;
use staging::{Downloads, Uploads};

/// A GPU, opened through CUDA's driver.
struct Cuda {
    info: DeviceInfo,
    tells_parameters: bool,
    overlaps_launches: bool,
    context: Context,
    /// The memory of all buffers, and memory that is kept for later ones.
    blocks: Mutex<Blocks>,
    cache: CubinCache,
    /// The compiler, which is located when the first source is loaded.
    compiler: Mutex<Option<Arc<Nvrtc>>>,
    /// For each requested source, the id of its program. The id is `None` until the program is
    /// loaded. The inner lock is held while the source is loaded: other threads that need the same
    /// source wait, while threads that need another source do not.
    programs: Mutex<HashMap<Source, Arc<Mutex<Option<u64>>>>>,
    loaded: Mutex<Loaded>,
    /// Staging memory for short uploads; `None` if the driver could not allocate it.
    uploads: Mutex<Option<Uploads>>,
    downloads: Mutex<Option<Downloads>>,
    /// Pinned memory for long copies, which the first of them allocates; `Some(None)` if the driver could
    /// not allocate it.
    long_copies: Mutex<Option<Option<LongCopies>>>,
}

/// The memory in bytes that kept blocks leave to the driver.
const SPARE: u64 = 512 << 20;

/// The kernels and graphs of a device. Their lock is held while work is submitted.
#[derive(Debug, Default)]
struct Loaded {
    kernels: Kernels,
    graphs: HashMap<u64, Executable>,
    graphs_made: u64,
    /// The ids of the kernels launched since the device was last known to be idle, without
    /// duplicates.
    running: Vec<u64>,
}

// SAFETY: the handles are the driver's, which may be called from any thread.
unsafe impl Send for Loaded {}

/// Returns the newest version of CUDA (major, minor) that the driver supports. Returns `None`
/// without a driver.
pub(crate) fn driver_version() -> Option<(u32, u32)> {
    Some(Driver::start().ok()?.cuda)
}

/// Opens the GPU with this index, counted from 0.
pub(crate) fn open(index: u32) -> Result<Device, DeviceError> {
    Ok(Device::new(Arc::new(Cuda::open(index)?)))
}

/// Returns the properties of all GPUs, in the order of their indices.
pub(crate) fn list() -> Result<Vec<DeviceInfo>, DeviceError> {
    (0..properties::count()?).map(|index| Ok(properties::read(index)?.1)).collect()
}

impl Cuda {
    fn open(index: u32) -> Result<Self, DeviceError> {
        let driver = Driver::start()?;
        let (device, info) = properties::read(index)?;
        // The context stays current, as staging memory requires.
        let context = Context::new(device)?;
        Ok(Self {
            tells_parameters: driver.tells_parameters,
            overlaps_launches: driver.overlaps_launches && info.compute_capability >= (9, 0),
            info,
            blocks: Mutex::default(),
            context,
            cache: CubinCache::new(folders::cache().map(|folder| folder.join("kernels"))),
            compiler: Mutex::default(),
            programs: Mutex::default(),
            loaded: Mutex::default(),
            uploads: Mutex::new(Uploads::new()),
            downloads: Mutex::new(Downloads::new()),
            long_copies: Mutex::default(),
        })
    }

    fn compiler(&self) -> Result<Arc<Nvrtc>, DeviceError> {
        let mut compiler = lock(&self.compiler);
        if let Some(compiler) = &*compiler {
            return Ok(Arc::clone(compiler));
        }
        let found = Arc::new(Nvrtc::find(Some(self.info.compute_capability))?);
        Ok(Arc::clone(compiler.insert(found)))
    }

    fn compile(&self, source: &Source) -> Result<Vec<u8>, DeviceError> {
        let compiler = self.compiler()?;
        let device = self.info.compute_capability;
        let architecture = compiler.architecture_for(device).ok_or_else(|| {
            let path = compiler.path().display();
            DeviceError::NoCompiler(format!("{path} cannot compile for {}", self.info.name))
        })?;
        let options = nvrtc::options(source, architecture);
        let key = CubinKey::new(source, &options, &identity(&compiler));
        self.cache.get_or_build_once(&key, || Ok(compiler.compile(source, architecture)?.cubin))
    }

    /// Returns an error if a result code does not mean success. The error names the call or, if a
    /// kernel failed, the kernels that may have failed.
    fn check(&self, call: &str, code: CUresult) -> Result<(), DeviceError> {
        match code {
            CUresult::CUDA_SUCCESS => Ok(()),
            code => Err(lock(&self.loaded).error(call, code)),
        }
    }

    fn bind(&self) -> Result<(), DeviceError> {
        self.check("cuCtxSetCurrent", self.context.bind())
    }

    /// Allocates memory for work that is submitted from now on, and returns its address, which is aligned
    /// to 256 bytes. Returns address 0 if `bytes` is 0, because the driver refuses such a request.
    fn place(&self, bytes: usize) -> Result<u64, CUresult> {
        if bytes == 0 {
            return Ok(0);
        }
        let size = Blocks::size(bytes);
        if let Some(address) = lock(&self.blocks).take(size) {
            return Ok(address);
        }
        if lock(&self.blocks).kept_bytes() > 0 {
            // Kernels and graphs need memory of the device, too.
            let (code, free, _) = memory::state();
            if code != CUresult::CUDA_SUCCESS || free < size as u64 + SPARE {
                self.release();
            }
        }
        let address = match memory::alloc(size) {
            Err(CUresult::CUDA_ERROR_OUT_OF_MEMORY) => {
                self.release();
                memory::alloc(size)?
            }
            result => result?,
        };
        lock(&self.blocks).insert(address, size);
        Ok(address)
    }

    /// Gives all memory that is not in use back to the driver.
    fn release(&self) {
        let kept = lock(&self.blocks).drain();
        // Work that uses them has been submitted before.
        let _ = self.context.wait();
        kept.into_iter().for_each(memory::free);
    }

    /// Calls `work`; if it fails while memory is kept, gives this back and calls it again, because
    /// programs and graphs need memory of the device, too.
    fn with_room<T>(
        &self,
        mut work: impl FnMut() -> Result<T, DeviceError>,
    ) -> Result<T, DeviceError> {
        let result = work();
        if result.is_ok() || lock(&self.blocks).kept_bytes() == 0 {
            return result;
        }
        self.release();
        work()
    }

    fn no_room(&self, bytes: usize) -> DeviceError {
        let (free, total) = self.memory().unwrap_or((0, self.info.memory));
        DeviceError::OutOfMemory {
            device: format!("{} ({})", self.info.id, self.info.name),
            requested: bytes as u64,
            free,
            total,
        }
    }

    /// Waits until the device has done all submitted work. `call` names the operation in an error.
    fn wait(&self, call: &str) -> Result<(), DeviceError> {
        // Kernels that other threads launch during this wait are still running after it.
        let waited_for = std::mem::take(&mut lock(&self.loaded).running);
        let code = self.context.wait();
        if code != CUresult::CUDA_SUCCESS {
            lock(&self.loaded).started(&waited_for);
        }
        self.check(call, code)
    }
}

impl Loaded {
    fn started(&mut self, kernels: &[u64]) {
        for kernel in kernels {
            if !self.running.contains(kernel) {
                self.running.push(*kernel);
            }
        }
    }

    fn error(&self, call: &str, code: CUresult) -> DeviceError {
        context::error(call, code, &self.kernels.names(&self.running))
    }
}

impl Backend for Cuda {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> Result<(u64, u64), DeviceError> {
        self.bind()?;
        let (code, free, total) = memory::state();
        self.check("cuMemGetInfo", code)?;
        Ok((free + lock(&self.blocks).kept_bytes(), total))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        self.bind()?;
        // A request for more than the device's memory is a different error for the driver.
        if bytes as u64 > self.info.memory {
            return Err(self.no_room(bytes));
        }
        self.place(bytes).map_err(|code| match code {
            CUresult::CUDA_ERROR_OUT_OF_MEMORY => self.no_room(bytes),
            code => lock(&self.loaded).error("cuMemAlloc", code),
        })
    }

    unsafe fn free(&self, address: u64) {
        // A failure of the work is reported by the next call; nothing can be done here.
        if address == 0 || self.bind().is_err() {
            return;
        }
        if !lock(&self.blocks).keep(address, self.info.memory / 2) {
            let _ = self.context.wait();
            memory::free(address);
        }
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        if from.is_empty() {
            return Ok(());
        }
        self.bind()?;
        if from.len() <= staging::LONGEST
            && let Some(uploads) = &mut *lock(&self.uploads)
        {
            if uploads.is_full(from.len()) {
                self.wait("cuEventSynchronize")?;
                uploads.idle();
            }
            return self.check("cuMemcpyHtoD", uploads.start(to, from, self.context.stream));
        }
        if from.len() >= long_copies::FROM
            && let Some(copies) = lock(&self.long_copies).get_or_insert_with(LongCopies::new)
        {
            return self.check("cuMemcpyHtoD", copies.upload(to, from, &self.context));
        }
        self.check("cuMemcpyHtoD", memory::upload(to, from, self.context.stream))?;
        // The driver may read `from` until the copy is done.
        self.wait("cuMemcpyHtoD")
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        if to.is_empty() {
            return Ok(());
        }
        self.bind()?;
        if to.len() <= staging::LONGEST
            && let Some(downloads) = &mut *lock(&self.downloads)
        {
            let part = downloads.part(to.len());
            let code = memory::download(from, part, self.context.stream);
            // Even if this failed: the next download uses the same memory.
            let waited = self.wait("cuMemcpyDtoH");
            self.check("cuMemcpyDtoH", code)?;
            waited?;
            to.copy_from_slice(part);
            return Ok(());
        }
        // The copy itself would wait without sleeping.
        self.wait("cuEventSynchronize")?;
        if to.len() >= long_copies::FROM
            && let Some(copies) = lock(&self.long_copies).get_or_insert_with(LongCopies::new)
        {
            return self.check("cuMemcpyDtoH", copies.download(from, to, &self.context));
        }
        let code = memory::download(from, to, self.context.stream);
        // Even if this failed: the driver may write `to` until the copy is done.
        let waited = self.wait("cuMemcpyDtoH");
        self.check("cuMemcpyDtoH", code)?;
        waited
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), DeviceError> {
        self.bind()?;
        self.check("cuMemcpyDtoD", memory::copy(to, from, bytes, self.context.stream))
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), DeviceError> {
        self.bind()?;
        self.check("cuMemsetD8", memory::clear(address, bytes, self.context.stream))
    }

    fn load(&self, source: &Source) -> Result<u64, DeviceError> {
        let program = Arc::clone(lock(&self.programs).entry(source.clone()).or_default());
        let mut program = lock(&program);
        if let Some(id) = *program {
            return Ok(id);
        }
        let cubin = self.compile(source)?;
        self.bind()?;
        let title = source.title();
        let id = self.with_room(|| lock(&self.loaded).kernels.add_module(&cubin, &title))?;
        Ok(*program.insert(id))
    }

    fn kernel(&self, program: u64, name: &str, shared_bytes: u32) -> Result<u64, DeviceError> {
        self.bind()?;
        let kernels = &mut lock(&self.loaded).kernels;
        kernels.find(program, name, shared_bytes, &self.info, self.tells_parameters)
    }

    unsafe fn launch(&self, kernel: u64, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        self.bind()?;
        let mut loaded = lock(&self.loaded);
        let launched = loaded.kernels.get(kernel)?;
        launched.check(shape, args)?;
        let mut arguments = Arguments::new(args);
        let mut pointers: Vec<*mut c_void> = arguments.pointers();
        let [grid_x, grid_y, grid_z] = shape.grid;
        let [block_x, block_y, block_z] = shape.block;
        // SAFETY: the function is loaded; the driver copies the arguments in the call.
        let code = unsafe {
            sys::cuLaunchKernel(
                launched.function,
                grid_x,
                grid_y,
                grid_z,
                block_x,
                block_y,
                block_z,
                shape.shared_bytes,
                self.context.stream,
                pointers.as_mut_ptr(),
                ptr::null_mut(),
            )
        };
        if code != CUresult::CUDA_SUCCESS {
            return Err(loaded.error(&launched.launch_title(shape), code));
        }
        loaded.started(&[kernel]);
        Ok(())
    }

    fn graph(&self, nodes: &[GraphNode]) -> Result<u64, DeviceError> {
        self.bind()?;
        let mut loaded = lock(&self.loaded);
        let make = || Executable::new(nodes, &loaded.kernels, self.overlaps_launches);
        let graph = self.with_room(make)?;
        let id = loaded.graphs_made;
        loaded.graphs_made += 1;
        loaded.graphs.insert(id, graph);
        Ok(id)
    }

    unsafe fn launch_graph(&self, graph: u64) -> Result<(), DeviceError> {
        self.bind()?;
        let loaded = &mut *lock(&self.loaded);
        let Some(found) = loaded.graphs.get(&graph) else {
            return Err(DeviceError::Failed {
                what: format!("launch of graph {graph}"),
                message: "it is not of this device".into(),
            });
        };
        // SAFETY: both are valid.
        let code = unsafe { sys::cuGraphLaunch(found.exec, self.context.stream) };
        if code != CUresult::CUDA_SUCCESS {
            return Err(loaded.error("cuGraphLaunch", code));
        }
        let kernels = found.kernels.clone();
        loaded.started(&kernels);
        Ok(())
    }

    fn free_graph(&self, graph: u64) {
        let freed = lock(&self.loaded).graphs.remove(&graph);
        if let Some(graph) = freed.filter(|_| self.bind().is_ok()) {
            // The graph may still be running; a failure is reported by the next call.
            let _ = self.context.wait();
            graph.destroy();
        }
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.bind()?;
        self.wait("cuEventSynchronize")
    }

    fn synchronize_all(&self) -> Result<(), DeviceError> {
        self.bind()?;
        self.check("cuCtxSynchronize", self.context.wait_for_all_streams())
    }

    fn stream(&self) -> Option<u64> {
        Some(self.context.stream.addr() as u64)
    }

    unsafe fn order_streams(&self, before: u64, after: u64) -> Result<(), DeviceError> {
        self.bind()?;
        // SAFETY: the caller's promise.
        unsafe { Context::order(before as CUstream, after as CUstream) }
    }

    fn check_foreign(&self, address: u64) -> Result<(), DeviceError> {
        self.bind()?;
        let (code, device) = memory::device_of(address);
        self.check("cuPointerGetAttribute", code)?;
        let found = format!("cuda:{device}");
        if found == self.info.id {
            return Ok(());
        }
        Err(DeviceError::Failed {
            what: format!("access to memory at {address:#x}"),
            message: format!("the memory belongs to {found}, not to {}", self.info.id),
        })
    }

    fn times(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError> {
        self.bind()?;
        let mut events = vec![Event::record(self.context.stream, CUevent_flags::CU_EVENT_DEFAULT)?];
        for i in 0..count {
            work(i)?;
            // `work` may have bound another device.
            self.bind()?;
            events.push(Event::record(self.context.stream, CUevent_flags::CU_EVENT_DEFAULT)?);
        }
        self.wait("cuEventSynchronize")?;
        events.windows(2).map(|pair| pair[1].since(&pair[0])).collect()
    }
}

impl Drop for Cuda {
    fn drop(&mut self) {
        if self.bind().is_err() {
            return;
        }
        let _ = self.context.wait();
        let mut loaded = lock(&self.loaded);
        for (_, graph) in loaded.graphs.drain() {
            graph.destroy();
        }
        loaded.kernels.unload();
        if let Some(uploads) = lock(&self.uploads).take() {
            uploads.free();
        }
        if let Some(downloads) = lock(&self.downloads).take() {
            downloads.free();
        }
        if let Some(copies) = lock(&self.long_copies).take().flatten() {
            copies.free();
        }
        for address in lock(&self.blocks).drain() {
            memory::free(address);
        }
    }
}

/// Locks a mutex, even if another thread has panicked while it held the lock. The locked data are
/// consistent after a panic, because each change is made in one step.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
