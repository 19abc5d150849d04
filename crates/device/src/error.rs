//! What can go wrong with a device.

use warpint_files::ErrorKind;

/// What can go wrong with a device. Each message is one line that says what
/// is missing or failed and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// There is no such device: no driver, no GPU, or none of that number.
    #[error("{0}")]
    NoDevice(String),
    /// The run-time compiler (NVRTC, or a C++ compiler for the simulator) is missing.
    #[error("{0}")]
    NoCompiler(String),
    /// A kernel does not compile.
    #[error("{source_title} does not compile: {log}")]
    Compile {
        /// File and constants.
        source_title: String,
        /// What the compiler said.
        log: String,
    },
    /// The device has not enough memory.
    #[error(
        "the device {device} has no room for {requested} bytes: {free} of {total} bytes are free"
    )]
    OutOfMemory {
        /// Its name.
        device: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes free.
        free: u64,
        /// Bytes in all.
        total: u64,
    },
    /// A call to the driver failed, or a kernel did.
    #[error("{what} failed: {message}")]
    Failed {
        /// The call or the kernel.
        what: String,
        /// The driver's name for the error, and its explanation.
        message: String,
    },
    /// The simulator found a fault in a kernel (divergent barrier, lane missing …).
    #[error("kernel {kernel}: {report}")]
    Fault {
        /// The kernel.
        kernel: String,
        /// What it did wrong, with file and line where they are known.
        report: String,
    },
}

impl DeviceError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoDevice(_) | Self::NoCompiler(_) => ErrorKind::BadInput,
            Self::Compile { .. }
            | Self::OutOfMemory { .. }
            | Self::Failed { .. }
            | Self::Fault { .. } => ErrorKind::Device,
        }
    }
}

/// An error and its causes as one line.
pub(crate) fn one_line(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |e| e.source());
    let text: Vec<_> = causes.map(ToString::to_string).collect();
    text.join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}
