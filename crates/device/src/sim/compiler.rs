//! Calls the machine's C++ compiler, and caches its output in a folder.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io};

use sha2::{Digest, Sha256};

use super::replay::Sanitizer;
use super::unit::{MAIN, Unit};
use crate::{DeviceError, folders};

/// The names and texts of the source files of the simulator's run-time library.
const RUNTIME: &[(&str, &str)] = &[
    ("atomics.h", include_str!("../../sim/atomics.h")),
    ("barrier.cpp", include_str!("../../sim/barrier.cpp")),
    ("fiber.cpp", include_str!("../../sim/fiber.cpp")),
    ("interface.h", include_str!("../../sim/interface.h")),
    ("intrinsics.h", include_str!("../../sim/intrinsics.h")),
    ("kernel_table.h", include_str!("../../sim/kernel_table.h")),
    ("memory_order.cpp", include_str!("../../sim/memory_order.cpp")),
    ("replay.cpp", include_str!("../../sim/replay.cpp")),
    ("runtime.cpp", include_str!("../../sim/runtime.cpp")),
    ("runtime.h", include_str!("../../sim/runtime.h")),
    ("scheduler.cpp", include_str!("../../sim/scheduler.cpp")),
    ("shared.ld", include_str!("../../sim/shared.ld")),
    ("shared_memory.cpp", include_str!("../../sim/shared_memory.cpp")),
    ("simt.h", include_str!("../../sim/simt.h")),
    ("stage.cpp", include_str!("../../sim/stage.cpp")),
    ("vector_types.h", include_str!("../../sim/vector_types.h")),
    ("warp.cpp", include_str!("../../sim/warp.cpp")),
    ("warp.h", include_str!("../../sim/warp.h")),
];

/// The compiler's flags for kernels and for the run-time library. With `-ffp-contract=off` the
/// compiler does not fuse products and sums by itself; kernels call `fma` explicitly.
const COMMON: &[&str] = &[
    "-std=c++17",
    "-g1",
    "-fPIC",
    "-fvisibility=hidden",
    "-fno-exceptions",
    "-ffp-contract=off",
    "-DWARPINT_SIM",
    "-w",
];

/// A C++ compiler, and the folder in which its output is cached.
#[derive(Debug, Clone)]
pub(super) struct Compiler {
    program: PathBuf,
    /// The output of the compiler's option `--version`. It is part of the key of each compiled
    /// file.
    version: String,
    folder: PathBuf,
}

impl Compiler {
    /// Finds the compiler that the environment variable `WARPINT_CXX` or `CXX` names. If neither is
    /// set, finds the first of `c++`, `g++` and `clang++` that runs.
    pub(super) fn find() -> Result<Self, DeviceError> {
        let named = ["WARPINT_CXX", "CXX"].into_iter().find_map(|variable| {
            Some((variable, env::var_os(variable).filter(|value| !value.is_empty())?))
        });
        match named {
            Some((variable, program)) => Self::named(variable, program.into()),
            None => Self::first_of(&["c++", "g++", "clang++"]),
        }
    }

    fn named(variable: &str, program: PathBuf) -> Result<Self, DeviceError> {
        let version = version(&program).ok_or_else(|| {
            DeviceError::NoCompiler(format!(
                "the C++ compiler `{}`, which {variable} names, does not run",
                program.display()
            ))
        })?;
        Ok(Self { program, version, folder: folder() })
    }

    fn first_of(names: &[&str]) -> Result<Self, DeviceError> {
        names
            .iter()
            .find_map(|name| Some((PathBuf::from(name), version(Path::new(name))?)))
            .map(|(program, version)| Self { program, version, folder: folder() })
            .ok_or_else(|| {
                DeviceError::NoCompiler(
                    "no C++ compiler was found, which the simulator needs: \
                     install g++ or clang++, or set WARPINT_CXX to one"
                        .to_owned(),
                )
            })
    }

    /// Returns the path of a shared object with the kernels of a unit. Compiles it if it is not in
    /// the cache.
    pub(super) fn module(
        &self,
        unit: &Unit,
        sanitizer: Option<Sanitizer>,
    ) -> Result<PathBuf, DeviceError> {
        let runtime = self.runtime(sanitizer)?;
        let runtime_folder = runtime.parent().unwrap_or(&runtime).to_owned();
        let mut flags = self.flags(sanitizer);
        flags.extend(unit.defines.iter().map(|define| format!("-D{define}")));
        flags.extend(["-include", "simt.h", "-shared"].map(str::to_owned));
        if !self.is_clang() {
            let script = runtime_folder.join("shared.ld");
            flags.extend(["-fdata-sections".to_owned(), format!("-Wl,-T,{}", script.display())]);
        }
        let mut instrumentation = vec![];
        if let Some(sanitizer) = sanitizer {
            instrumentation.extend(sanitizer.flags(self.is_clang()));
        }
        let key = self.key(&[&runtime.display(), unit], &flags, &instrumentation);
        self.kept(&key, "module.so", &unit.title, |folder, output| {
            unit.write(folder)?;
            let mut command = self.command(folder, &flags);
            command.args(&instrumentation).arg("-I").arg(&runtime_folder);
            command.args([MAIN.as_ref(), runtime.as_os_str()]).arg("-o").arg(output);
            Ok(command)
        })
    }

    /// Returns the path of the program that replays a record under a sanitizer. Compiles it if it
    /// is not in the cache.
    pub(super) fn replayer(&self, sanitizer: Sanitizer) -> Result<PathBuf, DeviceError> {
        let mut flags = self.flags(Some(sanitizer));
        flags.extend(sanitizer.flags(self.is_clang()));
        flags.extend(["-ldl", "-rdynamic"].map(str::to_owned));
        let key = self.key(&[&RUNTIME], &flags, &[]);
        self.kept(&key, "replay", "replay.cpp", |folder, output| {
            write_runtime(folder)?;
            let mut command = self.command(folder, &["replay.cpp".to_owned()]);
            command.args(&flags).arg("-o").arg(output);
            Ok(command)
        })
    }

    /// Returns the path of an object file with the simulator's run-time library, whose headers are
    /// in the same folder. If a sanitizer is given, the library's code is not instrumented, but the
    /// library reports fiber switches and memory-ordering operations to the sanitizer.
    fn runtime(&self, sanitizer: Option<Sanitizer>) -> Result<PathBuf, DeviceError> {
        let mut flags = self.flags(sanitizer);
        // The run time takes part in every barrier.
        flags.retain(|flag| flag != "-O1");
        flags.extend(["-O2", "-c"].map(str::to_owned));
        let key = self.key(&[&RUNTIME], &flags, &[]);
        self.kept(&key, "runtime.o", "runtime.cpp", |folder, output| {
            write_runtime(folder)?;
            let mut command = self.command(folder, &flags);
            command.args(["runtime.cpp", "-o"]).arg(output);
            Ok(command)
        })
    }

    fn flags(&self, sanitizer: Option<Sanitizer>) -> Vec<String> {
        let mut flags: Vec<_> = COMMON.iter().map(|&flag| flag.to_owned()).collect();
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("fma") {
            flags.push("-mfma".to_owned());
        }
        // Most kernels run for less time than it takes to compile them: with -O2, compiling takes a
        // quarter longer and suites run no faster.
        flags.push("-O1".to_owned());
        flags.extend(sanitizer.map(|sanitizer| format!("-DSIMT_{}", sanitizer.short())));
        flags
    }

    fn is_clang(&self) -> bool {
        self.version.contains("clang")
    }

    fn command(&self, folder: &Path, flags: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.current_dir(folder).args(flags);
        command
    }

    fn key(&self, parts: &[&dyn Describe], flags: &[String], more: &[String]) -> String {
        let mut hash = Sha256::new();
        hash.update(self.program.as_os_str().as_encoded_bytes());
        hash.update(&self.version);
        for part in parts {
            hash.update([0]);
            hash.update(part.describe());
        }
        for flag in flags.iter().chain(more) {
            hash.update([0]);
            hash.update(flag);
        }
        hash.finalize().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
    }

    /// Returns the path of the file `name` in the cache's folder for `key`. If the file does not
    /// exist, creates a temporary folder, and runs the compiler command that `make` returns for
    /// this folder. The folder is renamed when it is complete, so that concurrent programs see the
    /// complete folder or none. `title` names the source in an error.
    fn kept(
        &self,
        key: &str,
        name: &str,
        title: &str,
        make: impl FnOnce(&Path, &OsStr) -> io::Result<Command>,
    ) -> Result<PathBuf, DeviceError> {
        let home = self.folder.join(key);
        let file = home.join(name);
        if file.is_file() {
            return Ok(file);
        }
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let unique = COUNT.fetch_add(1, Ordering::Relaxed);
        let work = self.folder.join(format!("{key}.{}.{unique}", std::process::id()));
        let failed = |error: io::Error| DeviceError::Failed {
            what: format!("compiling {title} in {}", work.display()),
            message: error.to_string(),
        };
        fs::create_dir_all(&work).map_err(failed)?;
        let mut command = make(&work, OsStr::new(name)).map_err(failed)?;
        // Reports name the folder in which the sources will be.
        command.arg(format!("-fdebug-prefix-map={}={}", work.display(), home.display()));
        let output = command.output().map_err(failed)?;
        if !output.status.success() {
            // Nothing depends on whether this succeeds.
            let _ = fs::remove_dir_all(&work);
            return Err(DeviceError::Compile {
                source_title: title.to_owned(),
                log: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
            });
        }
        if let Err(error) = fs::rename(&work, &home) {
            let other_was_first = file.is_file();
            let _ = fs::remove_dir_all(&work);
            if !other_was_first {
                return Err(failed(error));
            }
        }
        Ok(file)
    }
}

/// An input of a compilation. Its description is hashed into the key of the compiled file, so
/// different inputs must have different descriptions.
trait Describe {
    fn describe(&self) -> String;
}

impl<T: std::fmt::Debug> Describe for T {
    fn describe(&self) -> String {
        format!("{self:?}")
    }
}

fn write_runtime(folder: &Path) -> io::Result<()> {
    RUNTIME.iter().try_for_each(|(name, text)| fs::write(folder.join(name), text))
}

fn version(program: &Path) -> Option<String> {
    let output = Command::new(program).arg("--version").output().ok()?;
    output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
}

fn folder() -> PathBuf {
    folders::cache().unwrap_or_else(|| env::temp_dir().join("warpint")).join("simulator")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_compiler_is_told_in_one_line() {
        let error = Compiler::named("CXX", "no-such-compiler".into()).unwrap_err();
        let expected = "the C++ compiler `no-such-compiler`, which CXX names, does not run";
        assert_eq!(error, DeviceError::NoCompiler(expected.to_owned()));
        let error = Compiler::first_of(&["no-such-compiler"]).unwrap_err().to_string();
        assert!(error.ends_with("install g++ or clang++, or set WARPINT_CXX to one"), "{error}");
        assert!(!error.contains('\n'), "{error}");
    }

    #[test]
    fn programs_that_compile_the_same_at_one_time_share_the_result() {
        let folder = tempfile::tempdir().unwrap();
        let mut compiler = Compiler::find().unwrap();
        compiler.folder = folder.path().to_owned();
        let text = "#include \"kernel_table.h\"\nextern \"C\" void one() {}\n\
                    SIMT_MODULE(SIMT_KERNEL(one, 0))\n";
        let files = vec![(MAIN.to_owned(), text.to_owned())];
        let unit = Unit { files, defines: vec![], title: "one.cu".to_owned() };
        let made: Vec<_> = std::thread::scope(|scope| {
            let threads: Vec<_> =
                (0..4).map(|_| scope.spawn(|| compiler.module(&unit, None).unwrap())).collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert!(made.iter().all(|path| *path == made[0] && path.is_file()));
        // The run time and the module; no incomplete folder remains.
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    }
}
