//! The operating system's locks, on files of their own.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

use crate::sys::Access;
use crate::{FileError, Folder};

/// Between two looks at a lock that somebody holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// How often a file that vanishes between opening and locking is opened anew: at once, and in all.
const AT_ONCE: u32 = 100;
const MOST_ATTEMPTS: u32 = 1000;
const PAUSE: Duration = Duration::from_millis(1);

/// A lock that this process holds for as long as it lives.
///
/// The operating system frees it with the process, however that ends: a lock file that a killed
/// process has left blocks nobody.
#[derive(Debug)]
pub struct Lock {
    folder: Folder,
    name: OsString,
    file: File,
    refused: Option<io::Error>,
    is_removed_with_it: bool,
}

impl Folder {
    /// Takes the lock on a file, which is made empty if it is not there; `None` if somebody holds it.
    /// On a file system without locks everybody gets it: see [`Lock::enforced`].
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; those of the system.
    pub fn try_lock(&self, name: impl AsRef<OsStr>) -> Result<Option<Lock>, FileError> {
        let name = name.as_ref();
        for attempt in 0..MOST_ATTEMPTS {
            if attempt >= AT_ONCE {
                std::thread::sleep(PAUSE);
            }
            self.check(name)?;
            let handle = self.handle_made()?;
            let file = match handle.file(name, Access::Make) {
                Ok(file) => file,
                // The directory has gone meanwhile.
                Err(crate::sys::Trouble::Io(e)) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(trouble) => return Err(self.trouble("make the lock", name, trouble)),
            };
            let refused = match file.try_lock() {
                Ok(()) => None,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(e)) => Some(e),
            };
            // Between opening and locking, its holder may have removed it.
            if handle.is_at(&file, name) {
                let (folder, name) = (self.clone(), name.to_owned());
                return Ok(Some(Lock { folder, name, file, refused, is_removed_with_it: false }));
            }
        }
        let source = io::Error::other("it is replaced again and again");
        Err(FileError::io("make the lock", &self.file(name), source))
    }

    /// Takes the lock, waiting at most `patience` for whoever holds it. `stop` is asked every 20 ms:
    /// once it says so, the wait ends.
    ///
    /// # Errors
    /// [`FileError::Locked`] after `patience`, [`FileError::Stopped`]; those of [`Folder::try_lock`].
    pub fn lock(
        &self,
        name: impl AsRef<OsStr>,
        patience: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Lock, FileError> {
        let (name, begin) = (name.as_ref(), Instant::now());
        loop {
            if let Some(lock) = self.try_lock(name)? {
                return Ok(lock);
            }
            if stop() {
                return Err(FileError::Stopped { path: self.file(name) });
            }
            if begin.elapsed() >= patience {
                return Err(FileError::Locked { path: self.file(name) });
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Whether somebody holds the lock on a file. Makes no file. Holds the lock itself for an
    /// instant, shared: who tries to take it then fails, and should try again.
    #[must_use]
    pub fn is_locked(&self, name: impl AsRef<OsStr>) -> bool {
        self.open(name)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Lock {
    /// The lock, if the file system keeps others from it.
    ///
    /// # Errors
    /// That of the file system that has no locks.
    pub fn enforced(mut self) -> Result<Self, FileError> {
        match self.refused.take() {
            Some(e) => Err(FileError::io("lock", &self.folder.file(&self.name), e)),
            None => Ok(self),
        }
    }

    /// Whether nobody else can have it; false where the file system has no locks.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.refused.is_none()
    }

    /// Its file, open to be read and written: to say whose the lock is.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Whether the locked file still has its name. If not (somebody has removed it, or the whole
    /// directory), another process can take a lock of the same name.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.folder.is_at(&self.file, &self.name)
    }

    /// The lock, whose file goes when it is dropped, if that is empty and the system can tell that it
    /// is still this lock's (Unix); else the file stays.
    #[must_use]
    pub fn with_its_file(mut self) -> Self {
        self.is_removed_with_it = true;
        self
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let is_empty = || self.file.metadata().is_ok_and(|found| found.len() == 0);
        // Only who holds the lock removes the file. One with something in it is somebody's.
        if cfg!(unix) && self.is_removed_with_it && is_empty() && self.is_in_place() {
            let _ = self.folder.remove(&self.name);
        }
    }
}
