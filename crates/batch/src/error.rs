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
        /// The operand, as given.
        name: String,
        /// The error in it.
        reason: String,
    },
    /// An operand that cannot be opened or inspected, before anything is computed.
    #[error("cannot read {name}: {source}")]
    Unreadable {
        /// The operand, as given.
        name: String,
        /// The reason.
        source: io::Error,
    },
    /// A read that failed after an operand was opened.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The operand, as given.
        name: String,
        /// The reason.
        source: io::Error,
    },
    /// An operand whose width cannot be determined.
    #[error("cannot read {name}: {source}")]
    Survey {
        /// The operand, as given.
        name: String,
        /// The reason.
        source: IntegerError,
    },
    /// An operand that had more numbers when it was counted.
    #[error("{name} became shorter while it was read")]
    Shortened {
        /// The operand, as given.
        name: String,
    },
    /// A temporary file that failed, in the directory for temporary files.
    #[error("cannot {action} in {}: {source}", temp_dir().display())]
    Temporary {
        /// `make a file`, `keep a.txt`, `keep results`.
        action: String,
        /// The reason.
        source: io::Error,
    },
    /// A file of results, or the state of a job, that failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output that cannot be written, or a pipe without a reader: for a pipe the kind of
    /// the source is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// Another stream that failed.
    #[error("cannot write to {name}: {source}")]
    Stream {
        /// The output, as given.
        name: String,
        /// The reason.
        source: io::Error,
    },
    /// A computation that failed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// Results that contradict their operands twice: the device computes wrongly.
    #[error(
        "check failed: {operation} of {number}: the result contradicts its operands, computed \
         twice on {device}"
    )]
    Contradiction {
        /// The operation.
        operation: &'static str,
        /// The position of the first such result: `a.txt: line 5`.
        number: String,
        /// The device.
        device: String,
    },
    /// A result of the sample that differs when recomputed.
    #[error("check failed (seed {seed}): {operation} of {number}: {what}; nothing is written")]
    Differs {
        /// The seed, which draws the same sample again.
        seed: u64,
        /// The operation.
        operation: &'static str,
        /// The position of the result: `a.txt: line 5`.
        number: String,
        /// The bits that differ.
        what: String,
    },
    /// A job that ended early, with its results so far kept.
    #[error(
        "{source}; {done} of {} are kept in {path}, and the same command goes on from there",
        crate::words::count(*count, "number")
    )]
    Kept {
        /// The reason.
        source: Box<BatchError>,
        /// The numbers that are done.
        done: u64,
        /// The count of all numbers.
        count: u64,
        /// The file with the results.
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
