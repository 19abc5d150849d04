//! Errors that end an audit.

use std::path::PathBuf;

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
    /// Another process has opened the store.
    #[error("another audit uses the store {}: wait until it ends, or use another store", path.display())]
    StoreInUse {
        /// The path of the store.
        path: PathBuf,
    },
    /// A file of a store is damaged.
    #[error("{} is damaged ({what}): remove the file, and audit its keys again", path.display())]
    Damaged {
        /// The path of the file.
        path: PathBuf,
        /// What is wrong.
        what: &'static str,
    },
    /// A file of a store has another version of the format.
    #[error("{} has version {version} of the format, which this program does not know", path.display())]
    LaterVersion {
        /// The path of the file.
        path: PathBuf,
        /// The version.
        version: u32,
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
            Self::Memory { .. } | Self::StoreInUse { .. } | Self::LaterVersion { .. } => {
                ErrorKind::BadInput
            }
            Self::Damaged { .. } => ErrorKind::Io,
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}
