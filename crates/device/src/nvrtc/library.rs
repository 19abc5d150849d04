//! Loads the NVRTC library and calls its functions.

use std::ffi::{CStr, CString, c_char, c_int};
use std::fs;
use std::path::{Path, PathBuf};
use std::ptr;

use crate::error::one_line;
use crate::{Compiled, DeviceError, Source};

type Code = c_int;
type Program = *mut std::ffi::c_void;
type Strings = *const *const c_char;

const SUCCESS: Code = 0;
const COMPILATION_ERROR: Code = 6;
const BUILTIN_OPERATION_FAILURE: Code = 7;

/// The NVRTC library, loaded into this process.
pub(super) struct Library {
    /// The version of the compiler (major, minor).
    pub(super) version: (u32, u32),
    /// The architectures that the compiler supports, ascending. Architecture 75 has compute
    /// capability 7.5.
    pub(super) architectures: Vec<u32>,
    /// The path of the library's file, or its bare name if the file cannot be determined.
    pub(super) path: PathBuf,
    calls: Calls,
}

#[derive(Clone, Copy)]
struct Calls {
    create: unsafe extern "C" fn(
        *mut Program,
        *const c_char,
        *const c_char,
        c_int,
        Strings,
        Strings,
    ) -> Code,
    compile: unsafe extern "C" fn(Program, c_int, Strings) -> Code,
    destroy: unsafe extern "C" fn(*mut Program) -> Code,
    log_size: unsafe extern "C" fn(Program, *mut usize) -> Code,
    log: unsafe extern "C" fn(Program, *mut c_char) -> Code,
    cubin_size: unsafe extern "C" fn(Program, *mut usize) -> Code,
    cubin: unsafe extern "C" fn(Program, *mut c_char) -> Code,
    error_text: unsafe extern "C" fn(Code) -> *const c_char,
}

impl Library {
    /// Loads the library from a file. A bare file name is searched for by the dynamic loader. An
    /// error is worded as the end of a sentence that begins with the path.
    pub(super) fn load(path: &Path) -> Result<Self, String> {
        // SAFETY: NVRTC's initialisers have no preconditions; that the file is NVRTC is vouched for by
        // its name and by the person who installed it.
        let loaded = unsafe { libloading::Library::new(path) }
            .map_err(|e| format!("does not load: {}", one_line(&e)))?;
        // SAFETY: the types are those of nvrtc.h, unchanged since CUDA 11.2.
        unsafe {
            let version: unsafe extern "C" fn(*mut c_int, *mut c_int) -> Code =
                symbol(&loaded, "nvrtcVersion")?;
            let number: unsafe extern "C" fn(*mut c_int) -> Code =
                symbol(&loaded, "nvrtcGetNumSupportedArchs")?;
            let list: unsafe extern "C" fn(*mut c_int) -> Code =
                symbol(&loaded, "nvrtcGetSupportedArchs")?;
            let calls = Calls {
                create: symbol(&loaded, "nvrtcCreateProgram")?,
                compile: symbol(&loaded, "nvrtcCompileProgram")?,
                destroy: symbol(&loaded, "nvrtcDestroyProgram")?,
                log_size: symbol(&loaded, "nvrtcGetProgramLogSize")?,
                log: symbol(&loaded, "nvrtcGetProgramLog")?,
                cubin_size: symbol(&loaded, "nvrtcGetCUBINSize")?,
                cubin: symbol(&loaded, "nvrtcGetCUBIN")?,
                error_text: symbol(&loaded, "nvrtcGetErrorString")?,
            };
            let (mut major, mut minor, mut count) = (0, 0, 0);
            let told =
                |code| if code == SUCCESS { Ok(()) } else { Err("does not tell its version") };
            told(version(&raw mut major, &raw mut minor))?;
            told(number(&raw mut count))?;
            let mut architectures: Vec<c_int> = vec![0; usize::try_from(count).unwrap_or(0)];
            told(list(architectures.as_mut_ptr()))?;
            let mut architectures: Vec<u32> =
                architectures.into_iter().filter_map(|a| u32::try_from(a).ok()).collect();
            architectures.sort_unstable();
            let positive = |n| u32::try_from(n).unwrap_or(0);
            let version = (positive(major), positive(minor));
            let path = file_of(path);
            if let Some(builtins) = load_builtins(&path, version) {
                std::mem::forget(builtins);
            }
            // Kept for the life of the process, as the functions require; loading it repeatedly would
            // take longer.
            std::mem::forget(loaded);
            Ok(Self { version, architectures, path, calls })
        }
    }

    pub(super) fn compile(
        &self,
        source: &Source,
        options: &[String],
    ) -> Result<Compiled, DeviceError> {
        let unit = Unit::new(&self.calls, source)?;
        unit.compile(options)
    }
}

/// Returns the absolute path of a loaded library. `path` is the path or bare name from which it was
/// loaded. If the file cannot be determined, returns `path` itself.
fn file_of(path: &Path) -> PathBuf {
    if path.is_absolute() {
        return path.to_owned();
    }
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let name = path.to_string_lossy();
    let of_name =
        |file: &&Path| file.file_name().is_some_and(|n| n.to_string_lossy().starts_with(&*name));
    let mut files = maps.lines().filter_map(|line| Some(Path::new(line.get(line.find('/')?..)?)));
    files.find(of_name).unwrap_or(path).to_owned()
}

/// Loads NVRTC's built-in functions, which are in a separate file in the folder of the library.
/// NVRTC requests this file from the dynamic loader by its name at the first compilation. The
/// loader does not search Python wheels, so the file must be loaded before the first compilation.
/// Returns `None` if the file is missing or does not load.
fn load_builtins(path: &Path, (major, minor): (u32, u32)) -> Option<libloading::Library> {
    let name = if cfg!(windows) {
        format!("nvrtc-builtins64_{major}{minor}.dll")
    } else {
        format!("libnvrtc-builtins.so.{major}.{minor}")
    };
    let real = fs::canonicalize(path).ok();
    let beside = [Some(path), real.as_deref()].into_iter().flatten().filter_map(Path::parent);
    // SAFETY: the file contains data only, and its initialisers have no relevant effects.
    beside
        .map(|folder| folder.join(&name))
        .filter(|file| file.is_file())
        .find_map(|file| unsafe { libloading::Library::new(file) }.ok())
}

impl std::fmt::Debug for Library {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { version, architectures, .. } = self;
        f.debug_struct("Library").field("version", version).field("for", architectures).finish()
    }
}

/// Returns the function `name` of the library. An error is worded as the end of a sentence that
/// begins with the library's path.
///
/// # Safety
/// `T` is the type of the function of that name.
unsafe fn symbol<T: Copy>(library: &libloading::Library, name: &str) -> Result<T, String> {
    // SAFETY: as the caller promises.
    unsafe { library.get::<T>(name.as_bytes()) }
        .map(|symbol| *symbol)
        .map_err(|_| format!("has no function {name}: it is too old, or is not NVRTC"))
}

/// A source, and the program object that the compiler created for it.
struct Unit<'a> {
    calls: &'a Calls,
    handle: Program,
    source: &'a Source,
}

impl<'a> Unit<'a> {
    fn new(calls: &'a Calls, source: &'a Source) -> Result<Self, DeviceError> {
        let text = c_string(source, source.text())?;
        let name = c_string(source, source.name())?;
        let headers = source.header_texts();
        let names =
            headers.iter().map(|(n, _)| c_string(source, n)).collect::<Result<Vec<_>, _>>()?;
        let texts =
            headers.iter().map(|(_, t)| c_string(source, t)).collect::<Result<Vec<_>, _>>()?;
        let (name_pointers, text_pointers) = (pointers(&names), pointers(&texts));
        let count = c_int::try_from(headers.len()).unwrap_or(c_int::MAX);
        let mut unit = Self { calls, handle: ptr::null_mut(), source };
        // SAFETY: all strings and both arrays of `count` live through the call, which copies them.
        let code = unsafe {
            (calls.create)(
                &raw mut unit.handle,
                text.as_ptr(),
                name.as_ptr(),
                count,
                text_pointers.as_ptr(),
                name_pointers.as_ptr(),
            )
        };
        unit.check("nvrtcCreateProgram", code)?;
        Ok(unit)
    }

    fn compile(&self, options: &[String]) -> Result<Compiled, DeviceError> {
        let strings =
            options.iter().map(|o| c_string(self.source, o)).collect::<Result<Vec<_>, _>>()?;
        let count = c_int::try_from(strings.len()).unwrap_or(c_int::MAX);
        // SAFETY: the program is valid, and the array holds `count` strings.
        let code = unsafe { (self.calls.compile)(self.handle, count, pointers(&strings).as_ptr()) };
        let log = self.bytes("the log", self.calls.log_size, self.calls.log);
        let log =
            log.map(|bytes| String::from_utf8_lossy(&bytes).trim_matches(['\0', '\n']).to_owned());
        match code {
            COMPILATION_ERROR => return Err(self.error(log?)),
            BUILTIN_OPERATION_FAILURE => {
                return Err(DeviceError::NoCompiler(
                    "the run-time compiler (NVRTC) is not whole: libnvrtc-builtins is missing \
                     from its folder (install it anew)"
                        .into(),
                ));
            }
            _ => {}
        }
        self.check("nvrtcCompileProgram", code)?;
        let cubin = self.bytes("the code", self.calls.cubin_size, self.calls.cubin)?;
        Ok(Compiled { cubin, log: log? })
    }

    /// Returns a result of the compiler, such as the log, in bytes. The library has two functions
    /// for each result: `size` for its length, `read` for its content. `what` names the result in
    /// an error.
    fn bytes(
        &self,
        what: &str,
        size: unsafe extern "C" fn(Program, *mut usize) -> Code,
        read: unsafe extern "C" fn(Program, *mut c_char) -> Code,
    ) -> Result<Vec<u8>, DeviceError> {
        let mut bytes = 0;
        // SAFETY: the program is valid; the call writes one size.
        self.check(what, unsafe { size(self.handle, &raw mut bytes) })?;
        let mut content = vec![0_u8; bytes];
        // SAFETY: the call writes as many bytes as it has just said.
        self.check(what, unsafe { read(self.handle, content.as_mut_ptr().cast()) })?;
        Ok(content)
    }

    fn check(&self, what: &str, code: Code) -> Result<(), DeviceError> {
        if code == SUCCESS {
            return Ok(());
        }
        // SAFETY: the function returns a constant string for every code.
        let text = unsafe { CStr::from_ptr((self.calls.error_text)(code)) };
        Err(self.error(format!("{what}: {}", text.to_string_lossy())))
    }

    fn error(&self, log: String) -> DeviceError {
        DeviceError::Compile { source_title: self.source.title(), log }
    }
}

impl Drop for Unit<'_> {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: it is valid, and not used again.
            unsafe { (self.calls.destroy)(&raw mut self.handle) };
        }
    }
}

fn c_string(source: &Source, text: &str) -> Result<CString, DeviceError> {
    CString::new(text).map_err(|_| DeviceError::Compile {
        source_title: source.title(),
        log: "a zero byte in its text, headers or constants".into(),
    })
}

fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|s| s.as_ptr()).collect()
}
