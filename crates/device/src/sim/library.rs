//! Compiled kernels, loaded into this process as a shared object.

use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::{ptr, slice};

use libloading::Library;

use super::arguments::Argument;
use crate::{DeviceError, Launch};

// The structures of sim/interface.h.

#[repr(C)]
struct RawKernel {
    name: *const c_char,
    parameters: *const c_char,
    most_threads: u32,
    call: unsafe extern "C" fn(*mut *mut c_void),
}

#[repr(C)]
struct RawLaunch {
    kernel: *const RawKernel,
    grid: [u32; 3],
    block: [u32; 3],
    shared_bytes: u32,
    resident_blocks: u32,
    seed: u64,
    arguments: *mut *mut c_void,
    stage: *mut *mut c_void,
    report: *mut c_char,
    report_bytes: u64,
}

#[repr(C)]
struct RawModule {
    kernel_count: u32,
    kernels: *const RawKernel,
    run: unsafe extern "C" fn(*const RawLaunch) -> c_int,
}

/// What is known of a kernel before its launch.
#[derive(Debug)]
struct Described {
    name: String,
    /// One letter for the type of each parameter.
    parameters: Vec<u8>,
    /// The largest number of threads of a block; 0 if the kernel declares none.
    most_threads: u32,
}

/// A loaded shared object with the kernels of one source. It is never unloaded.
pub(super) struct Module {
    raw: *const RawModule,
    kernels: Vec<Described>,
    /// The lock that is held during a launch. The shared object contains only one instance of the
    /// run-time library and of its static shared memory, so only one launch can run at a time.
    running: Mutex<()>,
    _library: Library,
}

// SAFETY: `raw` points to a constant, and `run` is called under `running`.
unsafe impl Send for Module {}
// SAFETY: as above.
unsafe impl Sync for Module {}

/// The stacks and similar resources of a launch. The run-time library allocates them during a
/// launch, and later launches of any program reuse them.
struct Stage(*mut c_void);

// SAFETY: used by one thread at a time.
unsafe impl Send for Stage {}

/// The stages that no launch is using at present.
static STAGES: Mutex<Vec<Stage>> = Mutex::new(vec![]);

/// All shared objects loaded by this process, by their paths. A file is loaded once for all
/// devices.
static LOADED: Mutex<Option<HashMap<PathBuf, Arc<Module>>>> = Mutex::new(None);

impl Module {
    /// Loads a shared object that `Compiler::module` made, or returns it if it is already loaded.
    pub(super) fn load(path: &Path) -> Result<Arc<Self>, DeviceError> {
        let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
        let loaded = loaded.get_or_insert_default();
        if let Some(module) = loaded.get(path) {
            return Ok(Arc::clone(module));
        }
        let failed = |error: libloading::Error| DeviceError::Failed {
            what: format!("loading the compiled kernels {}", path.display()),
            message: error.to_string(),
        };
        // SAFETY: the file's only initialisers are those of its constants.
        let library = unsafe { Library::new(path) }.map_err(failed)?;
        // SAFETY: `SIMT_MODULE` defines the symbol with this type.
        let raw = unsafe { library.get::<*const RawModule>(b"simt_module\0") };
        let raw = *raw.map_err(failed)?;
        // SAFETY: the symbol's address is that of a constant of this type, which lives as long as the
        // library, with `kernel_count` kernels and strings.
        let kernels = unsafe {
            let module = &*raw;
            slice::from_raw_parts(module.kernels, module.kernel_count as usize)
                .iter()
                .map(|kernel| Described {
                    name: CStr::from_ptr(kernel.name).to_string_lossy().into_owned(),
                    parameters: CStr::from_ptr(kernel.parameters).to_bytes().to_vec(),
                    most_threads: kernel.most_threads,
                })
                .collect()
        };
        let module = Arc::new(Self { raw, kernels, running: Mutex::new(()), _library: library });
        loaded.insert(path.to_owned(), Arc::clone(&module));
        Ok(module)
    }

    /// Returns the index of the kernel with this name; `None` if there is none.
    pub(super) fn kernel(&self, name: &str) -> Option<usize> {
        self.kernels.iter().position(|kernel| kernel.name == name)
    }

    /// Returns one letter for the type of each parameter of the kernel with this index.
    pub(super) fn parameters(&self, kernel: usize) -> &[u8] {
        self.kernels.get(kernel).map_or(&[], |kernel| &kernel.parameters)
    }

    /// Returns the largest number of threads of a block of the kernel with this index, as its
    /// `__launch_bounds__` say; `None` if it has none.
    pub(super) fn most_threads(&self, kernel: usize) -> Option<u32> {
        self.kernels.get(kernel).map(|kernel| kernel.most_threads).filter(|&threads| threads > 0)
    }

    /// Runs a launch of the kernel with this index to its end. An error is the report of a fault in
    /// the kernel.
    ///
    /// # Safety
    /// The arguments have the types of the kernel's parameters, and every pointer among them refers
    /// to the memory that the kernel expects.
    pub(super) unsafe fn run(
        &self,
        kernel: usize,
        shape: Launch,
        (seed, resident_blocks): (u64, u32),
        arguments: &mut [Argument],
    ) -> Result<(), String> {
        let mut pointers: Vec<_> = arguments.iter_mut().map(Argument::pointer).collect();
        let mut report = [0u8; 1024];
        let stage = STAGES.lock().unwrap_or_else(PoisonError::into_inner).pop();
        let mut stage = stage.unwrap_or(Stage(ptr::null_mut()));
        // SAFETY: `raw` is valid as long as the library, and `kernel` below
        // `kernel_count`, as the caller got it from `Module::kernel`.
        let status = unsafe {
            let module = &*self.raw;
            let launch = RawLaunch {
                kernel: module.kernels.add(kernel),
                grid: shape.grid,
                block: shape.block,
                shared_bytes: shape.shared_bytes,
                resident_blocks: resident_blocks.max(1),
                seed,
                arguments: pointers.as_mut_ptr(),
                stage: &raw mut stage.0,
                report: report.as_mut_ptr().cast(),
                report_bytes: report.len() as u64,
            };
            let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            (module.run)(&raw const launch)
        };
        STAGES.lock().unwrap_or_else(PoisonError::into_inner).push(stage);
        if status == 0 {
            return Ok(());
        }
        let end = report.iter().position(|&byte| byte == 0).unwrap_or(report.len());
        Err(String::from_utf8_lossy(&report[..end]).into_owned())
    }
}
