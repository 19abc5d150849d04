//! Errors of jobs.

use std::env::temp_dir;
use std::io;

use warpint_files::{ErrorKind, FileError};
use warpint_integer::IntegerError;

/// An error of a job: its numbers cannot be read, computed or written. Each message is one sentence
/// and includes the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The operands, outputs or options are invalid, or cannot be used together. Contains the
    /// message.
    #[error("{0}")]
    Request(String),
    /// The contents of an operand contradict its format or width.
    #[error("{name}: {reason}")]
    Operand {
        /// The name of the operand, as given.
        name: String,
        /// A description of the error in the operand.
        reason: String,
    },
    /// An operand cannot be opened or inspected. Nothing was computed.
    #[error("cannot read {name}: {source}")]
    Unreadable {
        /// The name of the operand, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An operand was opened, but it cannot be read.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The name of the operand, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The width of an operand's numbers cannot be determined.
    #[error("cannot read {name}: {source}")]
    Survey {
        /// The name of the operand, as given.
        name: String,
        /// The error of the computation that determines the width.
        source: IntegerError,
    },
    /// An operand became shorter: it has fewer numbers now than at the time when its numbers were
    /// counted.
    #[error("{name} became shorter while it was read")]
    Shortened {
        /// The name of the operand, as given.
        name: String,
    },
    /// A temporary file cannot be created or written in the directory for temporary files.
    #[error("cannot {action} in {}: {source}", temp_dir().display())]
    Temporary {
        /// The failed action, as it follows "cannot" in the message: `make a file`, `keep a.txt`,
        /// `keep results`.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of results, or the file with a job's state, cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output cannot be written, or an output is a pipe without a reader. For a pipe
    /// without a reader the kind of the source is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// An output that is a stream, but not standard output, cannot be written.
    #[error("cannot write to {name}: {source}")]
    Stream {
        /// The name of the output, as given.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A computation failed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// Results contradicted their operands, and the results of a second computation contradicted
    /// them too: the device computes wrongly.
    #[error(
        "check failed: {operation} of {number}: the result contradicts its operands, computed \
         twice on {device}"
    )]
    Contradiction {
        /// The name of the operation.
        operation: &'static str,
        /// The position of the first number with a wrong result, in the operand that contains it:
        /// `a.txt: line 5`.
        number: String,
        /// The name of the device.
        device: String,
    },
    /// A result of the random sample differs from its recomputed value.
    #[error("check failed (seed {seed}): {operation} of {number}: {what}; nothing is written")]
    Differs {
        /// The seed of the sample; with it, the same sample is drawn again.
        seed: u64,
        /// The name of the operation.
        operation: &'static str,
        /// The position of the number with the wrong result, in the operand that contains it:
        /// `a.txt: line 5`.
        number: String,
        /// A description of the error. If two numbers differ, it gives the position of the lowest
        /// 64-bit limb that differs, and both values of this limb.
        what: String,
    },
    /// The job ended early. Its results so far are kept, and the same request resumes it.
    #[error(
        "{source}; {done} of {} are kept in {path}, and the same command goes on from there",
        crate::words::count(*count, "number")
    )]
    Kept {
        /// The error that ended the job.
        source: Box<BatchError>,
        /// The count of numbers whose results are kept.
        done: u64,
        /// The count of all numbers of the job.
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
