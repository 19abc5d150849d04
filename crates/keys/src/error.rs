//! Errors that end an audit.

use warpint_files::{ErrorKind, FileError};
use warpint_progress::units;

/// An error that ends the reading of keys or an audit. Entries that cannot be read are no errors of
/// this type; they are reported one by one as [`Problem`](crate::read::Problem).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeysError {
    /// A file or directory cannot be read.
    #[error(transparent)]
    File(#[from] FileError),
    /// Standard input cannot be read.
    #[error("cannot read standard input: {0}")]
    Input(#[source] std::io::Error),
    /// The keys do not fit in the memory that the caller allows, even in small groups.
    #[error(
        "the audit needs at least {}, and the limit is {}: raise the limit, or audit fewer keys at a time",
        units::memory(*needed), units::memory(*limit)
    )]
    Memory {
        /// The least amount of memory in bytes.
        needed: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// The work was stopped.
    #[error("stopped before the audit was complete")]
    Stopped,
}

impl KeysError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::File(e) => e.kind(),
            Self::Input(e) => ErrorKind::from(e),
            Self::Memory { .. } => ErrorKind::BadInput,
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}
