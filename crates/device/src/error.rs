//! The errors of devices.

use warpint_files::ErrorKind;

/// An error of a device. Each message says what is missing or failed and, where possible, what to
/// do. A message is one line, except that compiler messages and reports of faults may have several
/// lines.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The requested device does not exist: there is no usable driver, no GPU, or no GPU with the
    /// requested index.
    #[error("{0}")]
    NoDevice(String),
    /// No usable run-time compiler was found: NVRTC for GPUs, a C++ compiler for the simulator.
    #[error("{0}")]
    NoCompiler(String),
    /// A kernel does not compile.
    #[error("{source_title} does not compile: {log}")]
    Compile {
        /// The source's file name and constants.
        source_title: String,
        /// The messages of the compiler.
        log: String,
    },
    /// The device does not have enough free memory.
    #[error(
        "out of memory on {device}: {requested} bytes were requested, {free} of {total} bytes are free"
    )]
    OutOfMemory {
        /// The name of the device, with its model for a GPU: `cuda:0 (NVIDIA H200)`.
        device: String,
        /// The number of bytes requested.
        requested: u64,
        /// The number of free bytes of the device's memory.
        free: u64,
        /// The total number of bytes of the device's memory.
        total: u64,
    },
    /// A kernel, a call to the driver, or another operation failed.
    #[error("{what} failed: {message}")]
    Failed {
        /// The kernel, call or operation that failed.
        what: String,
        /// The reason. For a call to the driver, it is the driver's name for the error and its
        /// explanation.
        message: String,
    },
    /// The simulator found a fault in a kernel, such as a barrier that not all threads reach.
    #[error("kernel {kernel}: {report}")]
    Fault {
        /// The name of the kernel.
        kernel: String,
        /// The fault, with file and line where they are known.
        report: String,
    },
}

impl DeviceError {
    /// Returns the kind of the error, which says what a caller can do about it.
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

/// Returns the messages of an error and of its chain of causes in one line, separated by colons.
pub(crate) fn one_line(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |e| e.source());
    let text: Vec<_> = causes.map(ToString::to_string).collect();
    text.join(": ").split_whitespace().collect::<Vec<_>>().join(" ")
}
