//! Files that are being written, under temporary names.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::sys::{Access, Handle};
use crate::{FileError, Folder, Step, name};

/// Temporary names that somebody else has, or that went before they could be locked.
const TRIES: usize = 100;
/// Without locks, a temporary file that has been left alone for so long has no writer.
const STALE: Duration = Duration::from_secs(3600);

/// A file that is being written, as `NAME.<six letters and digits>.tmp` beside its place.
///
/// It is made anew (`O_CREAT | O_EXCL | O_NOFOLLOW`), and its writer holds the operating system's
/// lock on it, by which [`Folder::clear_away`] knows it from one that a killed process has left.
/// Dropped before it is finished, it is removed, and the file that has the name stays as it is.
#[derive(Debug)]
pub struct Unfinished {
    folder: Folder,
    handle: Handle,
    file: File,
    temporary: OsString,
    name: OsString,
    path: PathBuf,
    has_its_name: bool,
}

impl Unfinished {
    /// The directory is made if it is missing.
    pub(crate) fn begin(folder: &Folder, name: &OsStr) -> Result<Self, FileError> {
        folder.check(name)?;
        let (path, name) = (folder.file(name), name.to_owned());
        for _ in 0..TRIES {
            let handle = folder.handle_made()?;
            let temporary = name::temporary(&name);
            let file = match handle.file(&temporary, Access::New) {
                Ok(file) => file,
                Err(crate::sys::Trouble::Io(e))
                    // A name that is taken, or a directory that has gone meanwhile.
                    if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) =>
                {
                    continue;
                }
                Err(trouble) => return Err(folder.trouble("write", &name, trouble)),
            };
            // Who clears away may have been faster with the lock. A file system without locks
            // (any other error) is used without.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if taken || !handle.is_at(&file, &temporary) {
                continue;
            }
            let folder = folder.clone();
            return Ok(Self { folder, handle, file, temporary, name, path, has_its_name: false });
        }
        let source = io::Error::other("temporary files vanish again and again");
        Err(FileError::io("write", &path, source))
    }

    /// Writes the next bytes, straight to the file.
    ///
    /// # Errors
    /// Those of the system.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.folder.write(&self.file, &self.path, bytes)
    }

    /// The open file: to set its permissions, or to write to it some other way.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Brings what has been written to disk now, so that little is left to do in
    /// [`Unfinished::finish`].
    ///
    /// # Errors
    /// Those of the system.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.sync_file()
    }

    /// Brings the content to disk, gives the file its name, in place of the file or link that has it,
    /// and brings the name to disk. On an error the old file is untouched, except where the last
    /// step has failed: then the new file has the name, and a power cut may bring the old one back.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.sync_file()?;
        self.rename()?;
        self.folder.sync(&self.handle)
    }

    /// As [`Unfinished::finish`], but nothing is brought to disk: readers find the old file or the
    /// new one, and after a power cut anything.
    ///
    /// # Errors
    /// Those of the system.
    pub fn finish_unsynced(mut self) -> Result<(), FileError> {
        self.rename()
    }

    /// As [`Unfinished::finish`], for a name that must be free: by a hard link, of which one alone
    /// succeeds. A file system without hard links looks first and renames then; there two writers
    /// at one time need a lock.
    ///
    /// # Errors
    /// Those of the system; [`io::ErrorKind::AlreadyExists`] if anything has the name.
    pub fn finish_new(mut self) -> Result<(), FileError> {
        self.sync_file()?;
        let (temporary, handle) = (self.folder.file(&self.temporary), &self.handle);
        let linked = self.folder.step(
            Step::Link { from: &temporary, to: &self.path },
            &self.path,
            &mut || handle.link(&self.temporary, &self.name),
        );
        match linked {
            // Dropping removes the temporary name.
            Ok(()) => {}
            Err(error) if error.io_kind() == io::ErrorKind::AlreadyExists => return Err(error),
            Err(_) if self.handle.has(&self.name) => {
                let source = io::ErrorKind::AlreadyExists.into();
                return Err(FileError::io("write", &self.path, source));
            }
            Err(_) => self.rename()?,
        }
        self.folder.sync(&self.handle)
    }

    fn sync_file(&self) -> Result<(), FileError> {
        let step = Step::SyncFile { path: &self.path };
        self.folder.step(step, &self.path, &mut || self.file.sync_all())
    }

    fn rename(&mut self) -> Result<(), FileError> {
        let temporary = self.folder.file(&self.temporary);
        let step = Step::Rename { from: &temporary, to: &self.path };
        let rename = &mut || self.handle.rename(&self.temporary, &self.name);
        self.folder.step(step, &self.path, rename)?;
        self.has_its_name = true;
        Ok(())
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if !self.has_its_name {
            // Should it stay, it is cleared away later.
            let _ = self.handle.remove(&self.temporary);
        }
    }
}

/// Removes a temporary file whose writer is gone.
pub(crate) fn remove_if_left(folder: &Folder, temporary: &OsStr) {
    let Ok(file) = folder.open_as(temporary, Access::Update, "remove") else { return };
    let is_left = match file.try_lock() {
        Ok(()) => true,
        Err(TryLockError::WouldBlock) => false,
        Err(TryLockError::Error(_)) => {
            let modified = file.metadata().and_then(|found| found.modified()).ok();
            modified.and_then(|time| time.elapsed().ok()).is_some_and(|age| age > STALE)
        }
    };
    // The lock is held until the name is gone.
    if is_left && folder.is_at(&file, temporary) {
        let _ = folder.remove(temporary);
    }
}
