//! One process at a time at a unit.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How often a file that goes meanwhile is opened anew: so often at once, so often in all, with pauses.
const AT_ONCE: u32 = 100;
const MOST_ATTEMPTS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(1);

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
    ///
    /// # Errors
    /// Of the file system; [`io::ErrorKind::AlreadyExists`] if something else than a regular file is there.
    pub(crate) fn try_take(path: &Path) -> io::Result<Option<Self>> {
        for attempt in 0..MOST_ATTEMPTS {
            if attempt >= AT_ONCE {
                std::thread::sleep(PAUSE);
            }
            let Some(file) = open(path)? else { continue };
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
        Err(io::Error::other("it is replaced again and again"))
    }

    /// Whether nobody else can have it; false where the file system has no locks.
    pub(crate) fn is_locked(&self) -> bool {
        self.is_locked
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        // Only who holds the lock removes the file, and only where another can tell that it is gone. One with
        // something in it is somebody's.
        let is_empty = self.file.metadata().is_ok_and(|found| found.len() == 0);
        if cfg!(unix) && is_empty && is_at(&self.file, &self.path) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Opens the regular file at the path, which is made if nothing is there; nothing if it has gone meanwhile.
fn open(path: &Path) -> io::Result<Option<File>> {
    // What is made new is never behind a symbolic link.
    match OpenOptions::new().write(true).create_new(true).open(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
        made => return made.map(Some),
    }
    let gone = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => Ok(None),
        _ => Err(error),
    };
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => {}
        Ok(_) => {
            let what = "it is not a regular file";
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, what));
        }
        Err(error) => return gone(error),
    }
    // To read, too: a FIFO that has come meanwhile then waits for nobody.
    OpenOptions::new().read(true).write(true).open(path).map(Some).or_else(gone)
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
    #[cfg(unix)]
    fn what_is_no_regular_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let path = |name: &str| dir.path().join(name);
        fs::create_dir(path("folder")).unwrap();
        fs::write(path("file"), "").unwrap();
        std::os::unix::fs::symlink(path("nothing"), path("dangling")).unwrap();
        std::os::unix::fs::symlink(path("file"), path("link")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(path("fifo")).status().unwrap();
        assert!(fifo.success());
        for name in ["folder", "dangling", "link", "fifo"] {
            let error = Claim::try_take(&path(name)).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::AlreadyExists, "{name}");
            assert!(fs::symlink_metadata(path(name)).is_ok());
        }
        assert!(!path("nothing").exists());
        // Not ours, though it can be locked.
        fs::write(path("text"), "x").unwrap();
        assert!(Claim::try_take(&path("text")).unwrap().is_some());
        assert!(path("text").exists());
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
