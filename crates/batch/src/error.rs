//! Why a job is refused, or ends early.

use std::env::temp_dir;
use std::io;

use warpint_files::{ErrorKind, FileError};
use warpint_integer::IntegerError;

/// Why numbers cannot be read, computed or written. Each message is one sentence and includes its
/// cause.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BatchError {
    /// Operands, places of results and options that cannot be used together, or at all.
    #[error("{0}")]
    Request(String),
    /// An operand that does not hold numbers as its format and its width say.
    #[error("{name}: {reason}")]
    Operand {
        /// The operand, as it was given.
        name: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An operand that cannot be opened or looked at, before anything is computed.
    #[error("cannot read {name}: {source}")]
    Unreadable {
        /// The operand, as it was given.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Reading failed after an operand was opened.
    #[error("cannot read {name}: {source}")]
    Read {
        /// The operand, as it was given.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The width of an operand's numbers cannot be found.
    #[error("cannot read {name}: {source}")]
    Survey {
        /// The operand, as it was given.
        name: String,
        /// Why.
        source: IntegerError,
    },
    /// An operand had more numbers when it was counted.
    #[error("{name} became shorter while it was read")]
    Shortened {
        /// The operand, as it was given.
        name: String,
    },
    /// A temporary file, in the directory for such, failed.
    #[error("cannot {action} in {}: {source}", temp_dir().display())]
    Temporary {
        /// `make a file`, `keep a.txt`, `keep results`.
        action: String,
        /// Why.
        source: io::Error,
    },
    /// A file of results, or the record of a job, failed.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard output, or the reader of a pipe, takes nothing more: of a pipe the kind of the
    /// source is [`io::ErrorKind::BrokenPipe`].
    #[error("cannot write to standard output: {0}")]
    Output(#[source] io::Error),
    /// Another stream failed.
    #[error("cannot write to {name}: {source}")]
    Stream {
        /// The place, as it was given.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Computing failed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// Results contradict their operands, twice: the device computes wrongly.
    #[error(
        "check failed: {operation} of {number}: the result contradicts its operands, computed \
         twice on {device}"
    )]
    Contradiction {
        /// The operation.
        operation: &'static str,
        /// Where the first of them stands: `a.txt: line 5`.
        number: String,
        /// Where it was computed.
        device: String,
    },
    /// A result that was drawn to be computed once more is another one.
    #[error("check failed (seed {seed}): {operation} of {number}: {what}; nothing is written")]
    Differs {
        /// It draws the same sample again.
        seed: u64,
        /// The operation.
        operation: &'static str,
        /// Where it stands: `a.txt: line 5`.
        number: String,
        /// Which bits differ.
        what: String,
    },
    /// A job ended early, and what it had done is kept.
    #[error(
        "{source}; {done} of {} are kept in {path}, and the same command goes on from there",
        crate::words::count(*count, "number")
    )]
    Kept {
        /// Why it ended.
        source: Box<BatchError>,
        /// Numbers that are done.
        done: u64,
        /// All numbers.
        count: u64,
        /// The file that has them.
        path: String,
    },
}

impl BatchError {
    /// What kind of error it is.
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
