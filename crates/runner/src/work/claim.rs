//! Claims: only one worker at a time uses a number or works on an exponent.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use warpint_files::{FileError, Folder, Lock};

/// A lock of the operating system on an empty file. The file stays; the lock is released when the
/// process ends, however it ends.
#[derive(Debug)]
pub struct Claim {
    _lock: Lock,
}

/// The name of the claim file of an exponent.
const OF_EXPONENT: &str = "claim";

impl Claim {
    /// Takes the claim; returns `None` if another process has it.
    ///
    /// # Errors
    /// Returns an error if the file cannot be made or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        let take = || {
            let (folder, name) = place(path)?;
            folder.try_lock(name)?.map(Lock::enforced).transpose()
        };
        let lock = take().map_err(|e: FileError| e.in_message_of(path))?;
        Ok(lock.map(|lock| Self { _lock: lock }))
    }

    /// Returns whether some process has the claim. Does not make the file.
    #[must_use]
    pub fn is_taken(path: &Path) -> bool {
        place(path).is_ok_and(|(folder, name)| folder.is_locked(name))
    }

    /// Returns the path of the claim file of a worker's number.
    #[must_use]
    pub fn of_worker(dir: &Path, worker: u32) -> PathBuf {
        dir.join(format!("worker-{worker}.lock"))
    }

    /// Returns the path of the claim file for all assignments of the exponent p.
    #[must_use]
    pub fn of_exponent(dir: &Path, p: u32) -> PathBuf {
        dir.join(format!("M{p}")).join(OF_EXPONENT)
    }
}

/// Returns the directory of a claim, and the file's name in it. This program makes the directory of
/// an exponent, which must not be a symbolic link.
fn place(path: &Path) -> Result<(Folder, &OsStr), FileError> {
    let (folder, name) = Folder::of(path)?;
    let own = name == OF_EXPONENT;
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
            (Claim::of_exponent(dir.path(), 7), "M7 is a symbolic link, not a directory"),
        ] {
            let error = Claim::try_take(&path).unwrap_err().to_string();
            assert!(error.ends_with(says), "{error}");
            assert!(!Claim::is_taken(&path));
        }
        assert_eq!(fs::read_dir(dir.path().join("elsewhere")).unwrap().count(), 0);
    }
}
