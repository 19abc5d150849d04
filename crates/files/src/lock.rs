//! Locks of the operating system on separate lock files.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::time::{Duration, Instant};

use crate::sys::Access;
use crate::{FileError, Folder};

/// The time between two attempts to acquire a lock that another process holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The number of attempts to lock a file that are made without a pause. An attempt is repeated if
/// the file or its directory is removed before the file is locked.
const AT_ONCE: u32 = 100;
/// The total number of attempts to lock a file, with and without a pause.
const MOST_ATTEMPTS: u32 = 1000;
/// The pause before each attempt to lock a file, except for the first [`AT_ONCE`] attempts.
const PAUSE: Duration = Duration::from_millis(1);

/// A lock that this process holds until the value is dropped.
///
/// The operating system releases the lock when the process ends for any reason. So a lock file left
/// by a killed process does not block other processes.
#[derive(Debug)]
pub struct Lock {
    folder: Folder,
    name: OsString,
    file: File,
    refused: Option<io::Error>,
    is_removed_with_it: bool,
}

impl Folder {
    /// Tries to lock the file `name`, which is created empty if missing. Returns `None` if another
    /// process, or another [`Lock`] of this process, holds the lock. On a file system without
    /// locks, every attempt succeeds (see [`Lock::enforced`]).
    ///
    /// # Errors
    /// [`FileError::NotAFile`]; [`FileError::NotAFolder`]; errors of the operating system.
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
                // The directory was removed meanwhile.
                Err(crate::sys::Trouble::Io(e)) if e.kind() == io::ErrorKind::NotFound => continue,
                Err(trouble) => return Err(self.trouble("make the lock", name, trouble)),
            };
            let refused = match file.try_lock() {
                Ok(()) => None,
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(e)) => Some(e),
            };
            // The holder may have removed the file between opening and locking.
            if handle.is_at(&file, name) {
                let (folder, name) = (self.clone(), name.to_owned());
                return Ok(Some(Lock { folder, name, file, refused, is_removed_with_it: false }));
            }
        }
        let source = io::Error::other("it is replaced repeatedly");
        Err(FileError::io("make the lock", &self.file(name), source))
    }

    /// Locks the file `name`, which is created empty if missing. Waits for the lock for at most
    /// `patience`. During the wait, calls `stop` every 20 ms, and returns an error when `stop`
    /// returns true.
    ///
    /// # Errors
    /// [`FileError::Locked`] after `patience`; [`FileError::Stopped`] if `stop` returned true; the
    /// errors of [`Folder::try_lock`].
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

    /// Returns whether any process holds the lock on the file `name`. Does not create the file.
    /// Returns false if the file cannot be opened, or if the file system has no locks.
    ///
    /// The call holds a shared lock for an instant. An attempt to lock the file at this instant
    /// fails and should be repeated.
    #[must_use]
    pub fn is_locked(&self, name: impl AsRef<OsStr>) -> bool {
        self.open(name)
            .is_ok_and(|file| matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)))
    }
}

impl Lock {
    /// Returns the lock unchanged if the file system enforces it, that is, if no other process can
    /// hold it too.
    ///
    /// # Errors
    /// The error with which a file system without locks refused to lock.
    pub fn enforced(mut self) -> Result<Self, FileError> {
        match self.refused.take() {
            Some(e) => Err(FileError::io("lock", &self.folder.file(&self.name), e)),
            None => Ok(self),
        }
    }

    /// Returns whether the lock excludes other processes. The result is false on file systems
    /// without locks.
    #[must_use]
    pub fn is_enforced(&self) -> bool {
        self.refused.is_none()
    }

    /// Returns the lock file, open for reading and writing. The holder can, for example, write its
    /// process id to it.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Returns whether the locked file still has its name. If it does not, because the file or its
    /// directory was removed, another process can lock a new file of the same name. On systems
    /// other than Unix, the result is whether any file has the name.
    #[must_use]
    pub fn is_in_place(&self) -> bool {
        self.folder.is_at(&self.file, &self.name)
    }

    /// Returns the lock with the property that its file is removed when the lock is dropped. The
    /// file is removed only if it is empty and still belongs to this lock. On systems other than
    /// Unix, this cannot be determined, and the file is not removed.
    #[must_use]
    pub fn with_its_file(mut self) -> Self {
        self.is_removed_with_it = true;
        self
    }
}

impl Drop for Lock {
    fn drop(&mut self) {
        let is_empty = || self.file.metadata().is_ok_and(|found| found.len() == 0);
        // Only the holder of the lock removes the file, and only if it is empty: contents belong to
        // somebody.
        if cfg!(unix) && self.is_removed_with_it && is_empty() && self.is_in_place() {
            let _ = self.folder.remove(&self.name);
        }
    }
}
