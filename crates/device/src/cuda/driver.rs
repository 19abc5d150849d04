//! The CUDA driver: whether it is installed, its version, and its error codes.

use std::ffi::CStr;
use std::ffi::c_char;
use std::fs;
use std::sync::OnceLock;

use cudarc::driver::sys::{self, CUresult};
use libloading::Library;

use crate::DeviceError;
use crate::error::one_line;

/// The oldest CUDA version (major, minor) whose driver has every function that this crate requires.
const OLDEST: (u32, u32) = (12, 0);

#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";

/// The names of functions of the driver that are looked up before the first call, because the
/// bindings panic if a function is missing. [`STREAM_FUNCTIONS`] lists the functions for streams.
const FUNCTIONS: [&str; 43] = [
    "cuCtxSetCurrent",
    "cuCtxSynchronize",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDeviceGetPCIBusId",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuFuncGetAttribute",
    "cuFuncSetAttribute",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphAddDependencies",
    "cuGraphAddKernelNode_v2",
    "cuGraphCreate",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoDAsync_v2",
    "cuMemcpyDtoHAsync_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemsetD8Async",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuPointerGetAttribute",
];

/// The names of the driver's functions for streams. They are looked up before the first call, like
/// [`FUNCTIONS`].
const STREAM_FUNCTIONS: [&str; 3] = ["cuStreamCreate", "cuStreamDestroy_v2", "cuStreamWaitEvent"];

/// The CUDA driver, loaded and initialised.
#[derive(Debug)]
pub(crate) struct Driver {
    /// The newest CUDA version (major, minor) that the driver supports.
    pub(crate) cuda: (u32, u32),
    /// The versions of the driver and of CUDA: `580.159.04 (CUDA 13.0)`.
    pub(crate) version: String,
    /// Whether the driver can report the sizes of a kernel's parameters. Drivers for CUDA 12.4 and
    /// later can report them.
    pub(crate) tells_parameters: bool,
    /// Whether a launch in a graph may begin before the preceding launch has ended. Drivers for
    /// CUDA 12.3 and later support this.
    pub(crate) overlaps_launches: bool,
}

impl Driver {
    /// Returns the driver, which the first call in the process loads and initialises. Later calls
    /// return the same driver or the same error.
    pub(crate) fn start() -> Result<&'static Self, DeviceError> {
        static STARTED: OnceLock<Result<Driver, DeviceError>> = OnceLock::new();
        STARTED.get_or_init(start).as_ref().map_err(Clone::clone)
    }
}

fn start() -> Result<Driver, DeviceError> {
    let library = library()?;
    // SAFETY: the symbols are only compared with null, never called as this type.
    let has = |name: &str| unsafe { library.get::<*const ()>(name.as_bytes()) }.is_ok();
    let missing = FUNCTIONS.iter().chain(&STREAM_FUNCTIONS).find(|name| !has(name));
    let cuda = if has("cuDriverGetVersion") { cuda_version()? } else { (0, 0) };
    if cuda < OLDEST || missing.is_some() {
        return Err(too_old(cuda));
    }
    // SAFETY: the function exists; it takes no pointer.
    match unsafe { sys::cuInit(0) } {
        CUresult::CUDA_SUCCESS => {}
        CUresult::CUDA_ERROR_NO_DEVICE => return Err(no_gpu()),
        code => {
            let said = describe(code);
            return Err(DeviceError::NoDevice(format!(
                "the CUDA driver does not start: cuInit: {said}"
            )));
        }
    }
    let version = match product_version() {
        Some(product) => format!("{product} (CUDA {}.{})", cuda.0, cuda.1),
        None => format!("CUDA {}.{}", cuda.0, cuda.1),
    };
    Ok(Driver {
        cuda,
        version,
        tells_parameters: has("cuFuncGetParamInfo"),
        overlaps_launches: has("cuGraphAddDependencies_v2"),
    })
}

/// Loads the driver's library, and returns the handle to it that the bindings (cudarc) hold. The
/// error says why the library cannot be loaded.
fn library() -> Result<&'static Library, DeviceError> {
    // SAFETY: loading the driver runs its initialisers, which any CUDA program relies on.
    let probe = unsafe { Library::new(LIBRARY) };
    match probe {
        // Never unloaded: the bindings hold a handle to the same library.
        Ok(library) => std::mem::forget(library),
        Err(e) => return Err(no_driver(&one_line(&e))),
    }
    // SAFETY: as above; the bindings panic only if the library is missing.
    unsafe { sys::is_culib_present().then(|| sys::culib()) }
        .ok_or_else(|| no_driver("the bindings cannot load it"))
}

fn no_driver(reason: &str) -> DeviceError {
    let absent = reason.contains("No such file") || reason.contains("could not be found");
    DeviceError::NoDevice(if absent || cfg!(windows) {
        format!("no CUDA driver: {LIBRARY} was not found (install the NVIDIA driver of your GPU)")
    } else {
        format!("no CUDA driver: {LIBRARY} does not load: {reason} (reinstall the NVIDIA driver)")
    })
}

fn too_old((major, minor): (u32, u32)) -> DeviceError {
    let (oldest, _) = OLDEST;
    DeviceError::NoDevice(format!(
        "the NVIDIA driver is too old: it supports CUDA {major}.{minor}, but at least {oldest}.0 is \
         needed (install driver 525 or newer)"
    ))
}

pub(super) fn no_gpu() -> DeviceError {
    DeviceError::NoDevice(
        "no CUDA device: the driver finds no GPU (nvidia-smi lists the GPUs; \
         CUDA_VISIBLE_DEVICES may hide some)"
            .into(),
    )
}

fn cuda_version() -> Result<(u32, u32), DeviceError> {
    let mut version = 0;
    // SAFETY: the function exists, and writes one int.
    check("cuDriverGetVersion", unsafe { sys::cuDriverGetVersion(&raw mut version) })?;
    Ok(version_pair(version))
}

/// Returns (major, minor) of a version that the driver writes as 1000·major + 10·minor.
fn version_pair(version: i32) -> (u32, u32) {
    let version = u32::try_from(version).unwrap_or(0);
    (version / 1000, version % 1000 / 10)
}

/// Returns the driver's product version, such as `580.159.04`, which the Linux kernel module
/// reports. Returns `None` if the version cannot be read.
fn product_version() -> Option<String> {
    ["/sys/module/nvidia/version", "/proc/driver/nvidia/version"]
        .iter()
        .find_map(|path| version_in(&fs::read_to_string(path).ok()?))
}

/// Returns the first word in a text that has the form of `580.159.04`: decimal numbers separated by
/// dots.
fn version_in(text: &str) -> Option<String> {
    let is_version = |word: &&str| {
        word.contains('.')
            && word.split('.').all(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    text.split_whitespace().find(is_version).map(str::to_owned)
}

/// Returns an error if the result code of a call does not mean success. `call` names the call in
/// the error.
pub(super) fn check(call: &str, code: CUresult) -> Result<(), DeviceError> {
    match code {
        CUresult::CUDA_SUCCESS => Ok(()),
        code => Err(DeviceError::Failed { what: call.into(), message: describe(code) }),
    }
}

/// Formats a result code with the driver's explanation: `CUDA_ERROR_ILLEGAL_ADDRESS: an illegal
/// memory access was encountered`.
pub(super) fn describe(code: CUresult) -> String {
    let text = |read: unsafe fn(CUresult, *mut *const c_char) -> CUresult| {
        let mut text = std::ptr::null();
        // SAFETY: both readers write a pointer to a constant string, or null.
        unsafe {
            read(code, &raw mut text);
            (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned())
        }
    };
    match (text(sys::cuGetErrorName), text(sys::cuGetErrorString)) {
        (Some(name), Some(text)) => format!("{name}: {text}"),
        (name, _) => name.unwrap_or_else(|| format!("{code:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        assert_eq!(version_pair(12040), (12, 4));
        assert_eq!(version_pair(13000), (13, 0));
        assert_eq!(version_pair(-1), (0, 0));
        assert!(version_pair(11080) < OLDEST);
        assert_eq!(version_in("580.159.04\n").as_deref(), Some("580.159.04"));
        let kernel_module = "NVRM version: NVIDIA UNIX x86_64 Kernel Module  550.54.14  Thu Feb";
        assert_eq!(version_in(kernel_module).as_deref(), Some("550.54.14"));
        assert_eq!(version_in("unknown 5. .6"), None);
    }

    #[test]
    fn a_missing_or_unfit_driver_is_one_line_that_says_what_to_do() {
        for (error, says) in [
            (no_driver("libcuda.so.1: … No such file or directory"), "install the NVIDIA driver"),
            (no_driver("wrong ELF class"), "does not load: wrong ELF class"),
            (too_old((11, 8)), "it supports CUDA 11.8, but at least 12.0 is needed"),
            (no_gpu(), "the driver finds no GPU"),
        ] {
            let text = error.to_string();
            assert!(text.contains(says) && text.lines().count() == 1, "{text}");
        }
    }

    /// The source files of this module call only functions that are looked up before.
    #[test]
    fn every_function_that_is_called_is_looked_up() {
        let optional = ["cuFuncGetParamInfo", "cuGraphAddDependencies_v2"];
        let known = [&FUNCTIONS[..], &STREAM_FUNCTIONS, &optional].concat();
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/cuda");
        let mut calls = 0;
        for file in std::fs::read_dir(folder).unwrap() {
            let text = std::fs::read_to_string(file.unwrap().path()).unwrap();
            // Other names that begin with `cu` have a lowercase letter after it.
            let calls_in = text.split("sys::cu").skip(1);
            for rest in calls_in.filter(|rest| rest.starts_with(|c: char| c.is_uppercase())) {
                let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap();
                let name = format!("cu{}", &rest[..end]);
                assert!(known.contains(&name.as_str()), "{name}");
                calls += 1;
            }
        }
        assert!(calls >= FUNCTIONS.len(), "{calls} calls");
    }

    #[test]
    fn starting_twice_gives_the_same_answer() {
        let answer = || Driver::start().map(|d| d.version.clone());
        assert_eq!(answer(), answer());
    }
}
