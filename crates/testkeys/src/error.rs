//! Errors of the generator.

use std::path::PathBuf;

use warpint_files::{ErrorKind, FileError};
use warpint_integer::IntegerError;
use warpint_progress::units;

/// Why no test moduli were made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TestKeysError {
    /// The request is impossible. The text says why.
    #[error("{0}")]
    Request(String),
    /// An output exists already.
    #[error("{} exists already: choose another name, or replace it with --force", path.display())]
    Exists {
        /// The path of the output.
        path: PathBuf,
    },
    /// Two of the primes drawn are equal.
    #[error(
        "two primes of seed {seed} are equal, which would be a weakness not asked for: give another seed"
    )]
    EqualPrimes {
        /// The seed.
        seed: u64,
    },
    /// A device computed wrong results.
    #[error("{device} computed wrong results: {what}; nothing is written")]
    Wrong {
        /// The name of the device.
        device: String,
        /// The operation, and how many of its checked results are wrong.
        what: String,
    },
    /// A stop was requested.
    #[error("stopped: nothing is written")]
    Stopped,
    /// The machine has too little memory.
    #[error("the moduli need about {} of memory, which could not be allocated: make fewer or shorter moduli", units::memory(*needed))]
    Memory {
        /// The estimated need in bytes.
        needed: u64,
    },
    /// A batch could not be computed.
    #[error(transparent)]
    Integer(#[from] IntegerError),
    /// The list of planted weaknesses cannot be represented as JSON.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// An output cannot be written.
    #[error(transparent)]
    File(#[from] FileError),
}

impl TestKeysError {
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Request(_) | Self::Exists { .. } | Self::EqualPrimes { .. } => {
                ErrorKind::BadInput
            }
            Self::Wrong { .. } => ErrorKind::Finding,
            Self::Memory { .. } => ErrorKind::Resources,
            Self::Stopped => ErrorKind::Stopped,
            Self::Json(_) => ErrorKind::Other,
            Self::Integer(e) => e.kind(),
            Self::File(e) => e.kind(),
        }
    }
}
