//! The simulator as a device. Work is executed within the call that submits it.

use std::collections::HashMap;
use std::ptr;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::SimOptions;
use super::arguments::{self, Argument};
use super::compiler::Compiler;
use super::library::Module;
use super::memory::Memory;
use super::trace::Trace;
use super::unit::Unit;
use crate::{Arg, Backend, DeviceError, DeviceInfo, GraphNode, Launch, Source};

const MEMORY: u64 = 16 << 30;
const SHARED_PER_BLOCK: u32 = 227 << 10;
const MOST_THREADS: u32 = 1024;

/// The simulator's implementation of [`Backend`].
pub(super) struct Simulator {
    info: DeviceInfo,
    compiler: Compiler,
    seed: u64,
    resident_blocks: u32,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    memory: Memory,
    programs: Vec<Arc<Module>>,
    loaded: HashMap<Unit, u64>,
    kernels: Vec<Kernel>,
    graphs: HashMap<u64, Vec<GraphNode>>,
    graphs_made: u64,
    trace: Option<Trace>,
}

#[derive(Clone)]
struct Kernel {
    program: u64,
    module: Arc<Module>,
    index: usize,
    name: String,
    shared_bytes: u32,
}

impl Simulator {
    pub(super) fn new(options: &SimOptions) -> Result<Self, DeviceError> {
        let info = DeviceInfo {
            id: "sim".to_owned(),
            name: "simulator".to_owned(),
            compute_capability: (0, 0),
            multiprocessors: 4,
            memory: MEMORY,
            shared_memory_per_block: SHARED_PER_BLOCK,
            shared_memory_per_multiprocessor: 228 << 10,
            clock_khz: 0,
            driver: String::new(),
        };
        let trace = options.record.as_deref().map(Trace::create).transpose()?;
        Ok(Self {
            info,
            compiler: Compiler::find()?,
            seed: options.seed,
            resident_blocks: options.resident_blocks,
            state: Mutex::new(State { trace, ..State::default() }),
        })
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn launch_in(
        &self,
        state: &mut State,
        kernel: u64,
        shape: Launch,
        args: &[Arg],
    ) -> Result<(), DeviceError> {
        let kernel = state
            .kernels
            .get(kernel as usize)
            .cloned()
            .ok_or_else(|| failed("a launch", "the kernel does not exist"))?;
        if let Some(wrong) = state.wrong_launch(&kernel, shape, args) {
            return Err(failed(&format!("launching kernel {}", kernel.name), &wrong));
        }
        let State { memory, trace, .. } = state;
        if let Some(trace) = trace {
            trace.launch(memory, kernel.program, &kernel.name, shape, args)?;
        }
        let mut values: Vec<_> = args.iter().copied().map(Argument::new).collect();
        // SAFETY: number and types of the arguments were checked, and pointers refer to memory of this
        // device. That the kernel stays within it is the promise of its caller, which the sanitizers
        // check.
        unsafe {
            kernel.module.run(kernel.index, shape, (self.seed, self.resident_blocks), &mut values)
        }
        .map_or_else(Some, |()| memory.overrun())
        .map_or(Ok(()), |report| Err(DeviceError::Fault { kernel: kernel.name.clone(), report }))
    }
}

impl State {
    fn wrong_launch(&self, kernel: &Kernel, shape: Launch, args: &[Arg]) -> Option<String> {
        let threads = shape.block.iter().map(|&n| u64::from(n)).product::<u64>();
        if threads == 0 || threads > u64::from(MOST_THREADS) {
            return Some(format!("a block has 1 to {MOST_THREADS} threads, not {threads}"));
        }
        if let Some(most) = kernel.module.most_threads(kernel.index)
            && threads > u64::from(most)
        {
            return Some(format!(
                "its __launch_bounds__ are {most} threads a block, the launch has {threads}"
            ));
        }
        let blocks = shape.grid.iter().map(|&n| u128::from(n)).product::<u128>();
        if blocks == 0 || blocks >= 1 << 31 {
            return Some(format!("a grid has 1 to 2^31 − 1 blocks, not {blocks}"));
        }
        if shape.shared_bytes > kernel.shared_bytes {
            return Some(format!(
                "{} bytes of dynamic shared memory, but it was allowed {}",
                shape.shared_bytes, kernel.shared_bytes
            ));
        }
        if let Some(wrong) = arguments::mismatch(kernel.module.parameters(kernel.index), args) {
            return Some(wrong);
        }
        let outside = |arg: &Arg| match *arg {
            Arg::Pointer(pointer) => {
                let address = pointer.address();
                address != 0 && self.memory.place(address, 0).is_none()
            }
            _ => false,
        };
        let at = args.iter().position(outside)?;
        Some(format!("argument {at} does not point to memory of this device"))
    }

    /// Finds the allocation that contains all of the `bytes` bytes that begin at `address`. Returns
    /// the number of the allocation and the offset of the bytes in it. Returns an error if there is
    /// no such allocation; `what` names the operation in the error.
    fn check(&self, what: &str, address: u64, bytes: usize) -> Result<(u64, u64), DeviceError> {
        self.memory
            .place(address, bytes)
            .ok_or_else(|| failed(what, &format!("no buffer holds {bytes} bytes at {address:#x}")))
    }
}

impl Backend for Simulator {
    fn info(&self) -> &DeviceInfo {
        &self.info
    }

    fn memory(&self) -> Result<(u64, u64), DeviceError> {
        Ok((MEMORY.saturating_sub(self.state().memory.used()), MEMORY))
    }

    fn alloc(&self, bytes: usize) -> Result<u64, DeviceError> {
        let mut state = self.state();
        let free = MEMORY.saturating_sub(state.memory.used());
        let fits = bytes as u64 <= free;
        let address = fits.then(|| state.memory.alloc(bytes)).flatten().ok_or_else(|| {
            let device = self.info.name.clone();
            DeviceError::OutOfMemory { device, requested: bytes as u64, free, total: MEMORY }
        })?;
        let State { memory, trace, .. } = &mut *state;
        if let (Some(trace), Some(number)) = (trace, memory.number(address)) {
            trace.alloc(number, bytes)?;
        }
        Ok(address)
    }

    unsafe fn free(&self, address: u64) {
        let mut state = self.state();
        let State { memory, trace, .. } = &mut *state;
        if let (Some(trace), Some(number)) = (trace, memory.number(address)) {
            trace.free(number);
        }
        memory.free(address);
    }

    unsafe fn upload(&self, to: u64, from: &[u8]) -> Result<(), DeviceError> {
        let mut state = self.state();
        let place = state.check("an upload", to, from.len())?;
        // SAFETY: the bytes are within an allocation, and `from` is not of it.
        unsafe { ptr::copy_nonoverlapping(from.as_ptr(), to as *mut u8, from.len()) };
        state.trace.as_mut().map_or(Ok(()), |trace| trace.upload(place, from))
    }

    unsafe fn download(&self, from: u64, to: &mut [u8]) -> Result<(), DeviceError> {
        let mut state = self.state();
        let place = state.check("a download", from, to.len())?;
        // SAFETY: the bytes are within an allocation, and `to` is not of it.
        unsafe { ptr::copy_nonoverlapping(from as *const u8, to.as_mut_ptr(), to.len()) };
        state.trace.as_mut().map_or(Ok(()), |trace| trace.download(place, to))
    }

    unsafe fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), DeviceError> {
        let mut state = self.state();
        let (to_place, from_place) =
            (state.check("a copy", to, bytes)?, state.check("a copy", from, bytes)?);
        // SAFETY: both are within allocations; they may overlap.
        unsafe { ptr::copy(from as *const u8, to as *mut u8, bytes) };
        state.trace.as_mut().map_or(Ok(()), |trace| trace.copy(to_place, from_place, bytes))
    }

    unsafe fn clear(&self, address: u64, bytes: usize) -> Result<(), DeviceError> {
        let mut state = self.state();
        let place = state.check("clearing", address, bytes)?;
        // SAFETY: the bytes are within an allocation.
        unsafe { ptr::write_bytes(address as *mut u8, 0, bytes) };
        state.trace.as_mut().map_or(Ok(()), |trace| trace.clear(place, bytes))
    }

    fn load(&self, source: &Source) -> Result<u64, DeviceError> {
        let unit = Unit::new(source)?;
        if let Some(&id) = self.state().loaded.get(&unit) {
            return Ok(id);
        }
        // Without the lock: other threads may compile other sources meanwhile.
        let module = Module::load(&self.compiler.module(&unit, None)?)?;
        let mut state = self.state();
        if let Some(&id) = state.loaded.get(&unit) {
            return Ok(id);
        }
        let id = state.programs.len() as u64;
        if let Some(trace) = &mut state.trace {
            trace.program(id, &unit)?;
        }
        state.programs.push(module);
        state.loaded.insert(unit, id);
        Ok(id)
    }

    fn kernel(&self, program: u64, name: &str, shared_bytes: u32) -> Result<u64, DeviceError> {
        let what = format!("kernel {name}");
        if shared_bytes > SHARED_PER_BLOCK {
            let message = format!(
                "a block has at most {SHARED_PER_BLOCK} bytes of shared memory, not {shared_bytes}"
            );
            return Err(failed(&what, &message));
        }
        let mut state = self.state();
        let module = state
            .programs
            .get(program as usize)
            .cloned()
            .ok_or_else(|| failed(&what, "the program does not exist"))?;
        let index =
            module.kernel(name).ok_or_else(|| failed(&what, "its program has no such kernel"))?;
        state.kernels.push(Kernel { program, module, index, name: name.to_owned(), shared_bytes });
        Ok(state.kernels.len() as u64 - 1)
    }

    unsafe fn launch(&self, kernel: u64, shape: Launch, args: &[Arg]) -> Result<(), DeviceError> {
        self.launch_in(&mut self.state(), kernel, shape, args)
    }

    fn graph(&self, nodes: &[GraphNode]) -> Result<u64, DeviceError> {
        let mut state = self.state();
        state.graphs_made += 1;
        let id = state.graphs_made;
        state.graphs.insert(id, nodes.to_vec());
        Ok(id)
    }

    unsafe fn launch_graph(&self, graph: u64) -> Result<(), DeviceError> {
        let mut state = self.state();
        let nodes = state.graphs.get(&graph).cloned().unwrap_or_default();
        nodes
            .iter()
            .try_for_each(|node| self.launch_in(&mut state, node.kernel, node.shape, &node.args))
    }

    fn free_graph(&self, graph: u64) {
        self.state().graphs.remove(&graph);
    }

    fn synchronize(&self) -> Result<(), DeviceError> {
        self.state().trace.as_mut().map_or(Ok(()), Trace::flush)
    }

    /// Accepts memory that this simulator has allocated for another buffer.
    fn check_foreign(&self, address: u64) -> Result<(), DeviceError> {
        self.state().check("access to memory of another library", address, 1).map(|_| ())
    }

    fn times(
        &self,
        count: usize,
        work: &mut dyn FnMut(usize) -> Result<(), DeviceError>,
    ) -> Result<Vec<Duration>, DeviceError> {
        let time = |i| {
            let start = Instant::now();
            work(i)?;
            Ok(start.elapsed())
        };
        (0..count).map(time).collect()
    }
}

fn failed(what: &str, message: &str) -> DeviceError {
    DeviceError::Failed { what: what.to_owned(), message: message.to_owned() }
}
