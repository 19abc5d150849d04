//! Errors of jobs.

use std::env::temp_dir;
use std::io;

use warpint_files::{ErrorKind, FileError};
use warpint_integer::IntegerError;

/// Why numbers cannot be read, computed or written. Each message is one sentence and includes its
/// cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Operands, outputs or options that are invalid, or cannot be used together.
    #[error("{0}")]
    Request(String),
    /// An operand whose contents contradict its format or width.
    #[error("{name}: {reason}")]
    Operand {
        /// The name of the operand, as given.
        name: String,
        /// A description of the error in the operand.
        reason: String,
    },
    /// An operand that cannot be opened or inspected, before anything is computed.
    #[error("cannot read {name}: {source}")]
    Unreadable {
        /// The name of the operand, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A read that failed after an operand was opened.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The name of the operand, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An operand whose width cannot be determined.
    #[error("cannot read {name}: {source}")]
    Survey {
        /// The name of the operand, as given.
        name: String,
        /// The error that prevents it.
        source: IntegerError,
    },
    /// An operand that had more numbers when it was counted.
    #[error("{name} became shorter while it was read")]
    Shortened {
        /// The name of the operand, as given.
        name: String,
    },
    /// A temporary file that failed, in the directory for temporary files.
    #[error("cannot {action} in {}: {source}", temp_dir().display())]
    Temporary {
        /// The failed action: `make a file`, `keep a.txt`, `keep results`.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The error of a file of results, or of the file with a job's state.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output cannot be written, or is a pipe without a reader: for a pipe the kind of the
    /// source is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// Another stream cannot be written.
    #[error("cannot write to {name}: {source}")]
    Stream {
        /// The name of the output, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The error of a computation.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// Results that contradict their operands twice: the device computes wrongly.
    #[error(
        "check failed: {operation} of {number}: the result contradicts its operands, computed \
         twice on {device}"
    )]
    Contradiction {
        /// The name of the operation.
        operation: &'static str,
        /// The position of the first such result: `a.txt: line 5`.
        number: String,
        /// The name of the device.
        device: String,
    },
    /// A result of the sample that differs when recomputed.
    #[error("check failed (seed {seed}): {operation} of {number}: {what}; nothing is written")]
    Differs {
        /// The seed of the sample; with it, the same sample is drawn again.
        seed: u64,
        /// The name of the operation.
        operation: &'static str,
        /// The position of the result: `a.txt: line 5`.
        number: String,
        /// A description of the bits that differ.
        what: String,
    },
    /// A job that ended early, with its results so far kept.
    #[error(
        "{source}; {done} of {} are kept in {path}, and the same command goes on from there",
        crate::words::count(*count, "number")
    )]
    Kept {
        /// The error that ended the job.
        source: Box<BatchError>,
        /// The count of numbers that are done.
        done: u64,
        /// The count of all numbers.
        count: u64,
        /// The path of the file with the results.
        path: String,
    },
}

impl BatchError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Request(_) | Self::Operand { .. } | Self::Output(_) => ErrorKind::BadInput,
            Self::Contradiction { .. } | Self::Differs { .. } => ErrorKind::Finding,
            Self::Shortened { .. } => ErrorKind::Io,
            Self::Unreadable { source, .. }
            | Self::Read { source, .. }
            | Self::Temporary { source, .. }
            | Self::Stream { source, .. } => source.into(),
            Self::Survey { source: e, .. } | Self::Integer(e) => e.kind(),
            Self::File(e) => e.kind(),
            Self::Kept { source, .. } => source.kind(),
        }
    }
}

impl BatchError {
    pub(crate) fn request(line: impl Into<String>) -> Self {
        Self::Request(line.into())
    }
}
