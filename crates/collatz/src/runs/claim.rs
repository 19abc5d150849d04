//! One process at a time at a unit.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};

/// A lock of the operating system on an empty file. The lock goes with the process, however that ends, so a
/// file that a killed process left is free; the file goes when the claim is given back.
#[derive(Debug)]
pub(crate) struct Claim {
    path: PathBuf,
    file: File,
    is_locked: bool,
}

impl Claim {
    /// Takes it; nothing if somebody has it. Where the file system has no locks, everybody gets it:
    /// then a unit may be done twice, and the first file stays.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = OpenOptions::new().create(true).truncate(false).write(true).open(path)?;
            let is_locked = match file.try_lock() {
                Ok(()) => true,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(_)) => false,
            };
            // Between opening and locking, its holder may have removed it.
            if is_at(&file, path) {
                return Ok(Some(Self { path: path.to_owned(), file, is_locked }));
            }
        }
    }

    /// Whether nobody else can have it; false where the file system has no locks.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_locked
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Only who holds the lock removes the file, and only where another can tell that it is gone.
        if cfg!(unix) && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Whether the file is the one at the path. Taken for granted where that cannot be told.
fn is_at(file: &File, path: &Path) -> bool {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(there) = fs::symlink_metadata(path) else { return false };
        file.metadata().is_ok_and(|here| (here.dev(), here.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        true
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn one_has_it_until_it_goes() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("unit.lock");
        let first = Claim::try_take(&path).unwrap().unwrap();
        assert!(first.is_locked());
        assert!(Claim::try_take(&path).unwrap().is_none());
        drop(first);
        assert!(!cfg!(unix) || !path.exists());
        // What a killed process left behind.
        fs::write(&path, "").unwrap();
        assert!(Claim::try_take(&path).unwrap().is_some());
    }

    #[test]
    fn never_two_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("unit.lock");
        let (inside, had) = (AtomicU32::new(0), AtomicU32::new(0));
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..300 {
                        let Some(_claim) = Claim::try_take(&path).unwrap() else { continue };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        had.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!(had.load(Ordering::SeqCst) > 0);
    }
}
