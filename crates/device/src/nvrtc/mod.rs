//! The run-time compiler NVRTC. The library is located and loaded when it is first needed; the
//! program is not linked with it.

mod fit;
mod library;
mod places;

use std::path::Path;

use crate::cuda;
use crate::{DeviceError, Source};

use fit::Fit;
use library::Library;
use places::Places;

/// A loaded run-time compiler for CUDA C++.
#[derive(Debug)]
pub struct Nvrtc {
    library: Library,
}

/// The machine code and the messages of a successful compilation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Compiled {
    /// Machine code for one architecture, in the driver's format.
    pub cubin: Vec<u8>,
    /// Warnings, and the assembler's report for each kernel: registers, stack frame, spilled bytes,
    /// shared memory (in the format of `ptxas --verbose`).
    pub log: String,
}

impl Nvrtc {
    /// Finds and loads a suitable compiler. If this machine has a driver, a compiler is suitable
    /// only if the driver accepts its code. If `compute_capability` (major, minor) is given, a
    /// compiler is suitable only if it can compile for this compute capability.
    ///
    /// The search order is: `WARPINT_NVRTC` (a file, its folder or a toolkit folder; if it is set,
    /// nothing else is tried), `CUDA_PATH` and `CUDA_HOME`, the loader's search path,
    /// `/usr/local/cuda*` and `/opt/cuda`, and the wheels of virtual environments and Python
    /// installations.
    ///
    /// # Errors
    /// [`DeviceError::NoCompiler`]: no suitable compiler was found. The message says in one line
    /// how to install a suitable compiler.
    pub fn find(compute_capability: Option<(u32, u32)>) -> Result<Self, DeviceError> {
        let driver = cuda::driver_version();
        find_in(&Places::of_this_process(), &Fit { driver, compute_capability })
    }

    /// Adds a Python installation or virtual environment to the places that [`Self::find`] searches.
    /// `root` is its root folder, Python's `sys.prefix`. Its wheels are searched before those of
    /// other Python installations, so that a program which runs in Python finds the wheels of this
    /// Python.
    pub fn also_search_python(root: &Path) {
        places::register_python(root);
    }

    /// Returns the path of the library's file, or its bare name if the file cannot be determined.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.library.path
    }

    /// Returns the compiler's version (major, minor).
    #[must_use]
    pub fn version(&self) -> (u32, u32) {
        self.library.version
    }

    /// Returns the architectures that the compiler supports, ascending. Architecture 75 has compute
    /// capability 7.5.
    #[must_use]
    pub fn architectures(&self) -> &[u32] {
        &self.library.architectures
    }

    /// Returns the newest architecture whose code runs on a device of the given compute capability
    /// (major, minor). It is the device's own architecture, or else the nearest earlier
    /// architecture with the same major number. Returns `None` if the compiler supports no such
    /// architecture.
    #[must_use]
    pub fn architecture_for(&self, compute_capability: (u32, u32)) -> Option<u32> {
        fit::architecture_for(self.architectures(), compute_capability)
    }

    /// Compiles a source for an architecture, such as 90 for compute capability 9.0. Needs no
    /// device.
    ///
    /// # Errors
    /// [`DeviceError::Compile`] with the compiler's log; [`DeviceError::NoCompiler`] if the file
    /// with the compiler's built-in functions is missing.
    pub fn compile(&self, source: &Source, architecture: u32) -> Result<Compiled, DeviceError> {
        self.library.compile(source, &options(source, architecture))
    }
}

/// Returns the compiler's options for a source and an architecture, such as 90 for compute
/// capability 9.0.
///
/// With `--fmad=false` the compiler does not fuse products and sums by itself. Kernels call `fma`
/// explicitly, so that the simulator and the CPU engines round identically.
pub(crate) fn options(source: &Source, architecture: u32) -> Vec<String> {
    let mut options = vec![
        format!("--gpu-architecture=sm_{architecture}"),
        "--std=c++17".into(),
        "--fmad=false".into(),
        "--device-as-default-execution-space".into(),
        "--generate-line-info".into(),
        "--ptxas-options=--verbose".into(),
    ];
    options.extend(
        source.defines().iter().map(|(name, value)| format!("--define-macro={name}={value}")),
    );
    options
}

/// Loads the first compiler among the candidates of `places` that satisfies the requirements of
/// `fit`.
fn find_in(places: &Places, fit: &Fit) -> Result<Nvrtc, DeviceError> {
    let mut unfit = None;
    let newest = fit.driver.map(|(major, _)| major);
    for path in places.candidates(newest) {
        match Library::load(&path) {
            Ok(library) => match fit.refusal(library.version, &library.architectures) {
                None => return Ok(Nvrtc { library }),
                Some(reason) => unfit = unfit.or(Some(format!("{} {reason}", path.display()))),
            },
            // A name that the loader does not find is not worth reporting.
            Err(_) if path.is_relative() => {}
            Err(reason) => unfit = unfit.or(Some(format!("{} {reason}", path.display()))),
        }
    }
    Err(fit.missing(places.chosen(), unfit.as_deref()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const TRIPLE: &str = "extern \"C\" __global__ void triple(unsigned *x) {\n\
                          x[threadIdx.x] *= FACTOR;\n}\n";

    fn triple() -> Source {
        Source::new("triple.cu", TRIPLE, &["triple"]).define("FACTOR", 3)
    }

    /// Compiles a source for every architecture of this machine's compiler, and passes each
    /// architecture and result to `check`. Does nothing if there is no compiler.
    fn each_compiled(source: &Source, check: impl Fn(u32, Result<Compiled, DeviceError>)) {
        let Ok(nvrtc) = find_in(&Places::of_this_process(), &Fit::default()) else {
            return;
        };
        for &architecture in nvrtc.architectures() {
            check(architecture, nvrtc.compile(source, architecture));
        }
    }

    #[test]
    fn a_kernel_compiles_for_every_architecture() {
        each_compiled(&triple(), |architecture, compiled| {
            let Compiled { cubin, log } = compiled.unwrap();
            assert!(cubin.starts_with(b"\x7fELF"), "sm_{architecture}");
            assert!(log.contains("triple") && log.contains("registers"), "{log}");
        });
    }

    #[test]
    fn what_does_not_compile_is_told_with_its_file_and_line() {
        let wrong = Source::new("wrong.cu", "\nint x = y;\n", &[]);
        each_compiled(&wrong, |_, compiled| {
            let error = compiled.unwrap_err();
            assert!(
                matches!(&error, DeviceError::Compile { log, .. } if log.contains("wrong.cu(2)"))
            );
            assert!(error.to_string().starts_with("wrong.cu() does not compile: "), "{error}");
        });
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn what_was_loaded_by_name_is_known_by_its_file() {
        let Ok(nvrtc) = find_in(&Places::of_this_process(), &Fit::default()) else { return };
        // Already loaded, so that the loader knows the name.
        let (major, _) = nvrtc.version();
        let by_name = Library::load(format!("libnvrtc.so.{major}").as_ref()).unwrap();
        let file = |path: &Path| path.canonicalize().unwrap();
        assert_eq!(file(&by_name.path), file(nvrtc.path()));
    }

    #[test]
    fn headers_are_those_of_the_source() {
        let text =
            "#include \"answer.cuh\"\nextern \"C\" __global__ void f(int *x) { *x = answer(); }\n";
        let source =
            Source::new("f.cu", text, &["f"]).header("answer.cuh", "int answer() { return 42; }");
        each_compiled(&source, |architecture, compiled| {
            assert!(compiled.is_ok(), "sm_{architecture}: {compiled:?}");
        });
    }

    #[test]
    fn options_hold_the_constants() {
        let options = options(&triple(), 90);
        assert_eq!(options.first().map(String::as_str), Some("--gpu-architecture=sm_90"));
        assert_eq!(options.last().map(String::as_str), Some("--define-macro=FACTOR=3"));
        assert!(options.iter().any(|o| o == "--fmad=false"));
    }

    #[test]
    fn a_file_that_is_no_library_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("libnvrtc.so.13");
        fs::write(&file, "not a library").unwrap();
        let places = Places { chosen: Some(file.clone()), ..Places::default() };
        let error = find_in(&places, &Fit::default()).unwrap_err().to_string();
        assert!(error.contains(&*file.to_string_lossy()), "{error}");
        assert!(error.contains("WARPINT_NVRTC") && error.lines().count() == 1, "{error}");
    }

    #[test]
    fn a_chosen_place_without_it_is_named() {
        let folder = tempfile::tempdir().unwrap();
        for chosen in [folder.path().to_owned(), folder.path().join("absent")] {
            let places = Places { chosen: Some(chosen.clone()), ..Places::default() };
            let error = find_in(&places, &Fit::default()).unwrap_err().to_string();
            assert!(error.contains(&*chosen.to_string_lossy()), "{error}");
            assert!(error.contains("WARPINT_NVRTC") && error.lines().count() == 1, "{error}");
        }
    }
}
