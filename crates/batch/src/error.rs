//! Errors of jobs.

use std::env::temp_dir;
use std::io;

use warpint_files::{ErrorKind, FileError};
use warpint_integer::IntegerError;

/// An error of a job, which could not read, compute or write its numbers. Each message is one
/// sentence and includes the cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// The operands, outputs or options are invalid, or cannot be used together. The value is the
    /// message.
    #[error("{0}")]
    Request(String),
    /// An operand is invalid. For example, its content does not agree with its format or width, it
    /// is a directory, or the width of a raw file is not given.
    #[error("{name}: {reason}")]
    Operand {
        /// The name of the operand in messages.
        name: String,
        /// A description of the error in the operand.
        reason: String,
    },
    /// An operand cannot be opened or inspected. Nothing was computed.
    #[error("cannot read {name}: {source}")]
    Unreadable {
        /// The name of the operand in messages.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// An operand was opened, but reading it failed.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The name of the operand in messages.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The width of the numbers of an operand cannot be determined.
    #[error("cannot read {name}: {source}")]
    Survey {
        /// The name of the operand in messages.
        name: String,
        /// The error of the computation that determines the width.
        source: IntegerError,
    },
    /// An operand became shorter: it has fewer numbers than when its numbers were counted.
    #[error("{name} became shorter while it was read")]
    Shortened {
        /// The name of the operand in messages.
        name: String,
    },
    /// A temporary file cannot be created or written in the directory for temporary files.
    #[error("cannot {action} in {}: {source}", temp_dir().display())]
    Temporary {
        /// The failed action, which follows "cannot" in the message. Examples: `make a file`,
        /// `keep a.txt`, `keep results`.
        action: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of results, or the state file of a job, cannot be used.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output cannot be written, or an output is a pipe without a reader. For a pipe
    /// without a reader, the kind of the contained error is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// An output that is a stream other than standard output cannot be written.
    #[error("cannot write to {name}: {source}")]
    Stream {
        /// The name of the output, as given by the user.
        name: String,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A computation failed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// Results contradicted their operands, and so did the results of a second computation. The
    /// device computes incorrectly.
    #[error(
        "check failed: {operation} of {number}: the result contradicts its operands, computed \
         twice on {device}"
    )]
    Contradiction {
        /// The name of the operation.
        operation: &'static str,
        /// The position of the first number with a wrong result, for example `a.txt: line 5`, in the
        /// first operand that has as many numbers as the job has results.
        number: String,
        /// The name of the device.
        device: String,
    },
    /// A calculation needs more memory than is available.
    #[error(
        "{calculation} needs about {} of memory, but only {} are available",
        warpint_progress::units::memory(*needed),
        warpint_progress::units::memory(*available)
    )]
    Memory {
        /// The name of the calculation.
        calculation: &'static str,
        /// The memory that the calculation needs, in bytes.
        needed: u64,
        /// The memory that is available, in bytes.
        available: u64,
    },
    /// The result of a calculation with single numbers failed its check.
    #[error(
        "check failed: {calculation}: the result contradicts the operands: {what}; nothing is written"
    )]
    Wrong {
        /// The name of the calculation.
        calculation: &'static str,
        /// The property that does not hold.
        what: String,
    },
    /// A result of the random sample differs from the recomputed result.
    #[error("check failed (seed {seed}): {operation} of {number}: {what}; nothing is written")]
    Differs {
        /// The seed of the sample. A job with the same seed draws the same sample.
        seed: u64,
        /// The name of the operation.
        operation: &'static str,
        /// The position of the number with the wrong result, for example `a.txt: line 5`, in the
        /// first operand that has as many numbers as the job has results.
        number: String,
        /// A description of the error. If the written number differs from the recomputed number,
        /// the description contains the position of the lowest 64-bit limb that differs, and both
        /// values of this limb.
        what: String,
    },
    /// The job ended early. The results so far are kept, and the same request resumes the job.
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
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Request(_) | Self::Operand { .. } | Self::Output(_) => ErrorKind::BadInput,
            Self::Contradiction { .. } | Self::Differs { .. } | Self::Wrong { .. } => {
                ErrorKind::Finding
            }
            Self::Memory { .. } => ErrorKind::Resources,
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
