//! One worker at a time at a number or at an assignment.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A lock of the operating system on an empty file, which stays; the lock goes
/// with the process, however that ends.
#[derive(Debug)]
pub(crate) struct Claim {
    _file: File,
}

impl Claim {
    /// Takes it; `None` if another process has it.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(Self { _file: file })),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(e)) => Err(e),
        }
    }

    /// Whether some process has it. Makes no file.
    pub(crate) fn is_taken(path: &Path) -> bool {
        OpenOptions::new()
            .read(true)
            .open(path)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }

    /// The claim of a worker's number.
    pub(crate) fn of_worker(dir: &Path, worker: u32) -> PathBuf {
        dir.join(format!("worker-{worker}.lock"))
    }

    /// The claim of all assignments of one exponent.
    pub(crate) fn of_exponent(dir: &Path, p: u32) -> PathBuf {
        dir.join(format!("M{p}")).join("claim")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_has_it_until_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = Claim::of_worker(dir.path(), 3);
        assert!(!Claim::is_taken(&path) && !path.exists());
        let first = Claim::try_take(&path).unwrap().unwrap();
        assert!(Claim::try_take(&path).unwrap().is_none());
        assert!(Claim::is_taken(&path));
        drop(first);
        assert!(!Claim::is_taken(&path));
        assert!(Claim::try_take(&path).unwrap().is_some());
    }
}
