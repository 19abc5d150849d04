//! Errors that end an audit.

use std::path::PathBuf;

use warpint_device::DeviceError;
use warpint_files::{ErrorKind, FileError};
use warpint_integer::huge::device::HugeError;
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
    /// A device failed, or computed a wrong product.
    #[error(transparent)]
    Device(#[from] HugeError),
    /// Not even the smallest group of keys fits in the memory of the device.
    #[error("{device} has {} for trees, which is too little", units::memory(*limit))]
    DeviceMemory {
        /// The identifier of the device.
        device: String,
        /// The memory that may be used, in bytes.
        limit: u64,
    },
    /// A device failed in a long product, or computed it wrong.
    #[error("{device} failed at the root of a tree: {why}")]
    Root {
        /// The identifier of the device.
        device: String,
        /// What has failed.
        why: String,
    },
    /// A device computed a wrong result. The host noticed it.
    #[error("{device} computed {what}")]
    Unsound {
        /// The identifier of the device.
        device: String,
        /// What is wrong.
        what: &'static str,
    },
    /// A modulus is a multiple of 2^61 − 1, so that results of a device cannot be checked.
    #[error(
        "a modulus is a multiple of 2^61 - 1, the prime by which results of {device} are checked"
    )]
    Blind {
        /// The identifier of the device.
        device: String,
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
            Self::Device(e) => e.kind(),
            Self::DeviceMemory { .. } | Self::Root { .. } | Self::Blind { .. } => ErrorKind::Device,
            Self::Unsound { .. } => ErrorKind::Unsound,
            Self::Stopped => ErrorKind::Stopped,
        }
    }
}

impl KeysError {
    /// Returns whether a device failed or cannot be used, so that the CPU may do the work.
    #[must_use]
    pub fn is_of_device(&self) -> bool {
        use KeysError::{Blind, Device, DeviceMemory, Root, Unsound};
        matches!(
            self,
            Device(_) | DeviceMemory { .. } | Root { .. } | Unsound { .. } | Blind { .. }
        )
    }
}

impl From<DeviceError> for KeysError {
    fn from(error: DeviceError) -> Self {
        Self::Device(error.into())
    }
}
