//! Claims: locks that ensure that only one worker at a time uses a worker number or tests a
//! number.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use warpint_files::{FileError, Folder, Lock};
use warpint_mersenne::Number;

/// The claim of a process on a worker number or on a number: a lock of the operating system on
/// an empty file. The operating system releases the lock when the process ends, even if it crashes.
/// The file is not removed.
#[derive(Debug)]
pub struct Claim {
    _lock: Lock,
}

/// The name of the lock file of a number in its directory, [`Number::file_name`].
const OF_NUMBER: &str = "claim";

impl Claim {
    /// Locks the file; returns `None` if another process has locked it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be created or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let take = || {
            let (folder, name) = place(path)?;
            folder.try_lock(name)?.map(Lock::enforced).transpose()
        };
        let lock = take().map_err(|e: FileError| e.in_message_of(path))?;
        Ok(lock.map(|lock| Self { _lock: lock }))
    }

    /// Returns whether some process has locked the file. Returns false if the file does not exist
    /// or cannot be opened. Does not create the file.
    #[must_use]
    pub fn is_taken(path: &Path) -> bool {
        place(path).is_ok_and(|(folder, name)| folder.is_locked(name))
    }

    /// Returns the path of the lock file of a worker number.
    #[must_use]
    pub fn of_worker(dir: &Path, worker: u32) -> PathBuf {
        dir.join(format!("worker-{worker}.lock"))
    }

    /// Returns the path of the lock file for all assignments of a number.
    #[must_use]
    pub fn of_number(dir: &Path, number: impl Into<Number>) -> PathBuf {
        dir.join(number.into().file_name()).join(OF_NUMBER)
    }
}

/// Splits the path of a lock file into its directory and its name. The directory of a number is
/// created by this program. If it is a symbolic link, every later access to the lock file through
/// the returned folder fails.
fn place(path: &Path) -> Result<(Folder, &OsStr), FileError> {
    let (folder, name) = Folder::of(path)?;
    let own = name == OF_NUMBER;
    Ok((if own { Folder::not_linked(folder.path()) } else { folder }, name))
}

#[cfg(test)]
mod tests {
    #[cfg(unix)]
    use std::fs;

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

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_is_refused_at_once() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("elsewhere")).unwrap();
        let (link, fifo) = (Claim::of_worker(dir.path(), 1), Claim::of_worker(dir.path(), 2));
        std::os::unix::fs::symlink("elsewhere/lock", &link).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        std::os::unix::fs::symlink("elsewhere", dir.path().join("M7")).unwrap();
        for (path, says) in [
            (link, "it is a symbolic link, not a regular file"),
            (fifo, "it is a FIFO, not a regular file"),
            (Claim::of_number(dir.path(), 7), "M7 is a symbolic link, not a directory"),
        ] {
            let error = Claim::try_take(&path).unwrap_err().to_string();
            assert!(error.ends_with(says), "{error}");
            assert!(!Claim::is_taken(&path));
        }
        assert_eq!(fs::read_dir(dir.path().join("elsewhere")).unwrap().count(), 0);
    }
}
