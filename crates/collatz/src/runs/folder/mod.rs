//! A directory of units, with one file per unit; each file is complete or absent.
//!
//! A file is written next to its final place, flushed to disk, and then moved there. A sound file
//! is never replaced. A file that is not sound is renamed to `….bad`. A process removes only its
//! own unfinished files and locks, and the unfinished files and locks that killed processes left.
//! It recognises these files by the form of their names. So a file holds a whole unit at every
//! moment, even after a power cut. Symbolic links are not followed. If the directory disappears, it
//! is created again for the next unit.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use warpint_files::{ErrorKind, FileError, Lock};

use crate::runs::name::{LOCK, Name, UNFINISHED};
use crate::runs::{Layout, Unit, UnitError};

/// The largest size of a unit's file, in bytes.
const MOST_BYTES: u64 = 64 << 20;

/// An error of a directory of units or of a file in it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FolderError {
    /// The path is not a directory.
    #[error("{} is not a directory: give one for the files of units", path.display())]
    NotADirectory {
        /// The path that was given.
        path: PathBuf,
    },
    /// The directory does not exist, or it cannot be created or listed.
    #[error("cannot use the directory {}: {source}", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}; finished units are kept; run the same command again to continue", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The lock of a unit is not a regular file.
    #[error("the lock of a unit, {}, is not a regular file: move it away", path.display())]
    NoLock {
        /// The path of the lock.
        path: PathBuf,
    },
    /// A file was written by a later version of the program, and this program must not change it.
    #[error("{}: {source}: left as it is; use the newer program or another directory", path.display())]
    Later {
        /// The path of the file.
        path: PathBuf,
        /// The error that says what this program does not know.
        source: UnitError,
    },
}

impl FolderError {
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotADirectory { .. } | Self::NoLock { .. } | Self::Later { .. } => {
                ErrorKind::BadInput
            }
            Self::Directory { source, .. }
            | Self::Read { source, .. }
            | Self::Write { source, .. } => source.into(),
        }
    }
}

/// The content of the file of a unit.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Sound(Box<Unit>),
    /// A file that is damaged or does not contain this unit; contains the reason.
    Bad(String),
}

/// A directory of unit files.
#[derive(Debug, Clone)]
pub struct Folder {
    files: warpint_files::Folder,
}

impl Folder {
    /// Opens the directory at a path. Creates it if the path does not exist.
    ///
    /// # Errors
    /// The path is not a directory, or the directory cannot be created.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        if fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(FolderError::NotADirectory { path: path.into() });
        }
        let folder = Self::at(path);
        match folder.files.make() {
            Ok(_) => Ok(folder),
            Err(e) => {
                Err(FolderError::Directory { path: path.into(), source: e.in_message_of(path) })
            }
        }
    }

    fn at(path: &Path) -> Self {
        Self { files: warpint_files::Folder::at(path) }
    }

    /// Opens the directory at a path, which must exist.
    ///
    /// # Errors
    /// The path does not exist, cannot be examined, or is not a directory.
    pub fn existing(path: &Path) -> Result<Self, FolderError> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(Self::at(path)),
            Ok(_) => Err(FolderError::NotADirectory { path: path.into() }),
            Err(source) => Err(FolderError::Directory { path: path.into(), source }),
        }
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    /// Returns the path of a unit's file: `below-2p40-u32-007.json`, `from-5-to-700-u32-0.json`.
    #[must_use]
    pub fn place(&self, layout: &Layout, unit: u64) -> PathBuf {
        self.files.file(Name::new(layout, unit).file())
    }

    /// Returns log2 of the size of the units of a range, according to the names of the files. If
    /// the sizes differ, returns the size that occurs most often, and of several such sizes the
    /// largest. Returns `None` if there are no files of the range.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn unit_bits(&self, from: u128, to: u128) -> Result<Option<u32>, FolderError> {
        let mut files: BTreeMap<u32, usize> = BTreeMap::new();
        for name in self.files()?.iter().filter_map(|path| Name::of_unit(path)) {
            if (name.from, name.to) == (from, to) {
                *files.entry(name.unit_bits).or_default() += 1;
            }
        }
        Ok(files.into_iter().max_by_key(|(_, count)| *count).map(|(bits, _)| bits))
    }

    /// Returns the paths of all entries of the directory whose names end in `.json`, in ascending
    /// order. An entry may be an object other than a regular file.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn files(&self) -> Result<Vec<PathBuf>, FolderError> {
        self.list(".json")
    }

    fn list(&self, end: &str) -> Result<Vec<PathBuf>, FolderError> {
        let entries = self.files.list().map_err(|e| FolderError::Directory {
            path: self.path().into(),
            source: e.in_message_of(self.path()),
        })?;
        let ends = |name: &OsStr| name.to_string_lossy().ends_with(end);
        let names = entries.into_iter().map(|entry| entry.name).filter(|name| ends(name));
        let mut files: Vec<_> = names.map(|name| self.files.file(name)).collect();
        files.sort();
        Ok(files)
    }

    /// Reads a file and returns the unit in it.
    ///
    /// # Errors
    /// [`FolderError::Read`] for errors of the file system. The inner error says why the file is
    /// not a valid unit.
    pub fn read(path: &Path) -> Result<Result<Unit, UnitError>, FolderError> {
        let read = warpint_files::Folder::of(path)
            .and_then(|(folder, name)| folder.read(name, MOST_BYTES));
        let text = read
            .map_err(|e| FolderError::Read { path: path.into(), source: e.in_message_of(path) })?;
        Ok(Unit::from_text(&text))
    }

    /// Returns the content of the file of a unit. Returns an error if the file cannot be read or
    /// was written by a later version of the program.
    pub(crate) fn find(&self, layout: &Layout, unit: u64) -> Result<Found, FolderError> {
        let path = self.place(layout, unit);
        match Self::read(&path) {
            Err(FolderError::Read { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                Ok(Found::Nothing)
            }
            Err(error) => Err(error),
            Ok(Ok(found)) if found.is(layout, unit) => Ok(Found::Sound(found.into())),
            Ok(Ok(_)) => Ok(Found::Bad("it is another unit".into())),
            Ok(Err(source @ UnitError::Later { .. })) => Err(FolderError::Later { path, source }),
            Ok(Err(reason)) => Ok(Found::Bad(reason.to_string())),
        }
    }

    /// Locks a unit against other processes. Returns `None` if another process holds the lock.
    pub(crate) fn claim(&self, layout: &Layout, unit: u64) -> Result<Option<Lock>, FolderError> {
        let name = lock_of(&Name::new(layout, unit));
        match self.files.try_lock(&name) {
            Ok(lock) => Ok(lock.map(Lock::with_its_file)),
            Err(FileError::NotAFile { path, .. }) => Err(FolderError::NoLock { path }),
            Err(e) => {
                let path = self.files.file(name);
                Err(FolderError::Write { source: e.in_message_of(&path), path })
            }
        }
    }

    /// Renames the file of a unit to a free name, and returns the new path. The caller holds the
    /// lock of the unit.
    pub(crate) fn set_aside(&self, layout: &Layout, unit: u64) -> Result<PathBuf, FolderError> {
        let name = Name::new(layout, unit).file();
        let bad = |n| if n == 1 { format!("{name}.bad") } else { format!("{name}.bad-{n}") };
        let aside = (1..).map(bad).find(|bad| !self.files.has(bad)).unwrap_or_default();
        let path = self.files.file(&aside);
        match self.files.rename(&name, &aside) {
            Ok(()) => Ok(path),
            Err(e) => Err(FolderError::Write { path, source: e.into() }),
        }
    }

    /// Writes the file of a unit. It is an error if the file exists. The caller holds the lock of
    /// the unit.
    pub(crate) fn keep(&self, layout: &Layout, unit: &Unit) -> Result<(), FolderError> {
        let path = self.place(layout, unit.unit);
        let written = unit.to_text().map_err(io::Error::from).and_then(|text| {
            let write = || {
                let mut file = self.files.begin(Name::new(layout, unit.unit).file())?;
                file.write(text.as_bytes())?;
                file.finish_new()
            };
            write().map_err(|e: FileError| e.in_message_of(&path))
        });
        written.map_err(|source| FolderError::Write { path, source })
    }

    /// Removes the unfinished files and the empty locks that killed processes left. Files with
    /// names of another form, and objects other than regular files, stay.
    pub(crate) fn clear_away(&self) -> Result<(), FolderError> {
        let size =
            |path: &Path| path.file_name().and_then(|name| self.files.size(name).ok().flatten());
        for path in self.list(UNFINISHED)? {
            let Some(name) = Name::of_unfinished(&path).filter(|_| size(&path).is_some()) else {
                continue;
            };
            // The owner of the lock made the file. The lock is held while the file is removed; a
            // file that cannot be removed does no harm.
            if let Ok(Some(claim)) = self.files.try_lock(lock_of(&name))
                && claim.is_enforced()
            {
                let _claim = claim.with_its_file();
                let _ = self.files.remove(path.file_name().unwrap_or_default());
            }
        }
        for path in self.list(LOCK)? {
            // Releasing a lock removes its file.
            if let Some(name) = Name::of_lock(&path).filter(|_| size(&path) == Some(0))
                && let Ok(lock) = self.files.try_lock(lock_of(&name))
            {
                drop(lock.map(Lock::with_its_file));
            }
        }
        Ok(())
    }
}

/// Returns the name of a unit's lock: `below-2p40-u32-007.json.lock`.
fn lock_of(name: &Name) -> String {
    format!("{name}{LOCK}")
}
