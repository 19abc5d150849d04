//! Replays the record of a simulator under a sanitizer, in a process without Rust code.

use std::io;
use std::path::Path;
use std::process::{Command, Output};

use super::compiler::Compiler;
use super::unit::Unit;
use crate::DeviceError;

/// A sanitizer of the C++ compiler, under which a record is replayed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Sanitizer {
    /// Detects accesses outside of allocated memory, and undefined behaviour (ASan, UBSan).
    Address,
    /// Detects data races (TSan).
    Thread,
}

impl Sanitizer {
    /// Returns the short name `ASAN` or `TSAN`.
    #[must_use]
    pub fn short(self) -> &'static str {
        match self {
            Self::Address => "ASAN",
            Self::Thread => "TSAN",
        }
    }

    pub(super) fn flags(self, clang: bool) -> Vec<String> {
        let flags: &[_] = match (self, clang) {
            (Self::Address, _) => &[
                "-fsanitize=address,undefined",
                // Excludes checks that the address and bounds checks cover: each doubles the
                // compilation time of unrolled kernels.
                "-fno-sanitize=null,object-size,pointer-overflow",
                "-fno-sanitize-recover=all",
                "-fno-omit-frame-pointer",
            ],
            (Self::Thread, false) => &["-fsanitize=thread", "--param=tsan-distinguish-volatile=1"],
            (Self::Thread, true) => {
                &["-fsanitize=thread", "-mllvm", "-tsan-distinguish-volatile=1"]
            }
        };
        flags.iter().map(|&flag| flag.to_owned()).collect()
    }
}

/// Replays the operations that a simulator recorded in `folder` ([`super::SimOptions::record`])
/// under a sanitizer. Every download must give the recorded bytes, no launch may fault, and the
/// sanitizer must report nothing. `seed` determines the order of blocks and threads, like
/// [`super::SimOptions::seed`].
///
/// # Errors
/// Returns [`DeviceError::Fault`] with the output of the replay if a download differed, a launch
/// faulted or the sanitizer reported something. Returns another error if the replay could not be
/// built or started.
pub fn replay(folder: &Path, sanitizer: Sanitizer, seed: u64) -> Result<(), DeviceError> {
    let compiler = Compiler::find()?;
    let replayer = compiler.replayer(sanitizer)?;
    let mut modules = vec![];
    for id in 0.. {
        let sources = folder.join("programs").join(id.to_string());
        if !sources.is_dir() {
            break;
        }
        let unit = Unit::read(&sources).map_err(|error| unreadable(&sources, &error))?;
        modules.push(compiler.module(&unit, Some(sanitizer))?);
    }
    let run = |mut command: Command| {
        command
            .arg(folder.join("trace.bin"))
            .arg(seed.to_string())
            .args(&modules)
            .env("ASAN_OPTIONS", "detect_leaks=0")
            .env("UBSAN_OPTIONS", "print_stacktrace=1")
            .env("TSAN_OPTIONS", "halt_on_error=1 history_size=4")
            .output()
            .map_err(|error| unreadable(&replayer, &error))
    };
    let mut output = run(Command::new(&replayer))?;
    if said(&output).contains("unexpected memory mapping") {
        // The thread sanitizer does not work with the address layout of systems with strong
        // randomisation.
        let mut fixed = Command::new("setarch");
        fixed.arg("-R").arg(&replayer);
        output = run(fixed).map_err(|_| DeviceError::Failed {
            what: "the thread sanitizer".to_owned(),
            message: "it cannot map its memory: install setarch (util-linux), or lower \
                      vm.mmap_rnd_bits to 28"
                .to_owned(),
        })?;
    }
    if output.status.success() {
        return Ok(());
    }
    Err(DeviceError::Fault {
        kernel: format!("in {} under {}", folder.display(), sanitizer.short()),
        report: format!("{}\n{}", output.status, said(&output)),
    })
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

fn unreadable(path: &Path, error: &io::Error) -> DeviceError {
    DeviceError::Failed {
        what: format!("replaying {}", path.display()),
        message: error.to_string(),
    }
}
