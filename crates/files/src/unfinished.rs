//! Files that are being written under temporary names.

use std::ffi::{OsStr, OsString};
use std::fs::{File, TryLockError};
use std::io;
use std::path::PathBuf;
use std::time::Duration;

use crate::sys::{Access, Handle};
use crate::{FileError, Folder, Step, name};

/// The largest number of attempts to create a temporary file. An attempt fails if its name is
/// taken, if the directory is removed, or if another process locks or removes the file before this
/// process has locked it.
const TRIES: usize = 100;
/// The time since the last modification after which a temporary file is stale. On a file system
/// without locks, a stale temporary file is assumed to have no writer.
const STALE: Duration = Duration::from_secs(3600);

/// A file that is being written under the temporary name `NAME.<six letters and digits>.tmp`. Its
/// final name is `NAME` in the same directory.
///
/// The temporary file is created with `O_CREAT | O_EXCL | O_NOFOLLOW`. Its writer holds the
/// operating system's lock on it, if the file system has locks. There, a temporary file without
/// this lock was left by a killed process, and [`Folder::clear_away`] can remove it.
///
/// If an `Unfinished` is dropped before it is finished, the temporary file is removed, and the
/// existing file `NAME` is unchanged.
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
    /// Creates the temporary file for the final name `name`. Creates the directory if it is
    /// missing. `access` is [`Access::New`] or [`Access::NewPrivate`].
    pub(crate) fn begin(folder: &Folder, name: &OsStr, access: Access) -> Result<Self, FileError> {
        folder.check(name)?;
        let (path, name) = (folder.file(name), name.to_owned());
        for _ in 0..TRIES {
            let handle = folder.handle_made()?;
            let temporary = name::temporary(&name);
            let file = match handle.file(&temporary, access) {
                Ok(file) => file,
                Err(crate::sys::Trouble::Io(e))
                    // The name is taken, or the directory was removed meanwhile.
                    if matches!(e.kind(), io::ErrorKind::AlreadyExists | io::ErrorKind::NotFound) =>
                {
                    continue;
                }
                Err(trouble) => return Err(folder.trouble("write", &name, trouble)),
            };
            // `clear_away` may have locked the file first. On a file system without locks (any
            // other error) the file is used without a lock.
            let taken = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
            if taken || !handle.is_at(&file, &temporary) {
                continue;
            }
            let folder = folder.clone();
            return Ok(Self { folder, handle, file, temporary, name, path, has_its_name: false });
        }
        let source = io::Error::other("temporary files vanish repeatedly");
        Err(FileError::io("write", &path, source))
    }

    /// Writes the next bytes of the file, without buffering.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), FileError> {
        self.folder.write(&self.file, &self.path, bytes)
    }

    /// Returns the open temporary file, for example to set its permissions or to write to it in
    /// another way.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Flushes the bytes written so far to disk. This shortens the time that [`Unfinished::finish`]
    /// takes.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn sync(&mut self) -> Result<(), FileError> {
        self.sync_file()
    }

    /// Flushes the contents to disk, renames the file to its final name, and flushes the name to
    /// disk. A file or symbolic link of this name is replaced.
    ///
    /// After an error, the old file is unchanged, unless the last step failed. In this case the new
    /// file has the name, but a power failure may restore the old file.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn finish(mut self) -> Result<(), FileError> {
        self.sync_file()?;
        self.rename()?;
        self.folder.sync(&self.handle)
    }

    /// Renames the file to its final name like [`Unfinished::finish`], but flushes nothing to disk.
    /// Readers find either the old or the new file. After a power failure, the file may have any
    /// contents.
    ///
    /// # Errors
    /// Errors of the operating system.
    pub fn finish_unsynced(mut self) -> Result<(), FileError> {
        self.rename()
    }

    /// Gives the file its final name like [`Unfinished::finish`], but fails if the name is taken.
    /// The name is given by a hard link, so that only one of several concurrent writers succeeds.
    ///
    /// On a file system without hard links, the call checks that the name is free, and then renames
    /// the file. There, concurrent writers need a lock.
    ///
    /// # Errors
    /// Errors of the operating system; the kind is [`io::ErrorKind::AlreadyExists`] if the name is
    /// taken.
    pub fn finish_new(mut self) -> Result<(), FileError> {
        self.sync_file()?;
        let (temporary, handle) = (self.folder.file(&self.temporary), &self.handle);
        let linked = self.folder.step(
            Step::Link { from: &temporary, to: &self.path },
            &self.path,
            &mut || handle.link(&self.temporary, &self.name),
        );
        match linked {
            // Dropping `self` removes the temporary name.
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
            // If this fails, the file is cleared away later.
            let _ = self.handle.remove(&self.temporary);
        }
    }
}

/// Removes a temporary file unless a process is writing it.
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
    // The lock is held until the name is removed.
    if is_left && folder.is_at(&file, temporary) {
        let _ = folder.remove(temporary);
    }
}
