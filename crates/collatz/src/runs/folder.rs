//! A directory of units: one file each, whole or not there.
//!
//! A file is written beside its place, brought to disk and moved there, and never replaced: what is there and is
//! sound stays, what is there and is not is renamed to `….bad`, and nothing is removed but what a killed process
//! left unfinished, under names of this program's form. So at every instant, power cuts included, a file has a whole unit.

#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::runs::claim::Claim;
use crate::runs::name::{LOCK, Name, RANDOM, UNFINISHED};
use crate::runs::{Layout, Unit, UnitError};

/// More bytes than a unit has.
const MOST_BYTES: u64 = 64 << 20;

/// Why a directory of units cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum FolderError {
    /// Something else is there.
    #[error("{} is not a directory: give one for the files of units", path.display())]
    NotADirectory {
        /// The path.
        path: PathBuf,
    },
    /// It cannot be made, or not be listed.
    #[error("cannot use the directory {}: {source}", path.display())]
    Directory {
        /// The path.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A file cannot be written.
    #[error("cannot write {}: {source}; what is there is kept, and the same command goes on", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something else is where the lock of a unit must be.
    #[error("{} is not a regular file, as the lock of a unit must be: move it away", path.display())]
    NoLock {
        /// The path.
        path: PathBuf,
    },
    /// A file that this program must not touch.
    #[error("{}: {source}: left as it is; use the newer program or another directory", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Why.
        source: UnitError,
    },
}

/// What a place has.
#[derive(Debug)]
pub(crate) enum Found {
    Nothing,
    Sound(Box<Unit>),
    /// Damaged, or something else.
    Bad(String),
}

/// A directory of units.
#[derive(Debug, Clone)]
pub struct Folder {
    path: PathBuf,
}

impl Folder {
    /// The directory at a path, which is made if nothing is there.
    ///
    /// # Errors
    /// Something else is there, or it cannot be made.
    pub fn open(path: &Path) -> Result<Self, FolderError> {
        if fs::metadata(path).is_ok_and(|found| !found.is_dir()) {
            return Err(FolderError::NotADirectory { path: path.into() });
        }
        fs::create_dir_all(path)
            .map_err(|source| FolderError::Directory { path: path.into(), source })?;
        Ok(Self { path: path.into() })
    }

    /// The directory at a path, where one must be.
    ///
    /// # Errors
    /// There is none.
    pub fn existing(path: &Path) -> Result<Self, FolderError> {
        match fs::metadata(path) {
            Ok(found) if found.is_dir() => Ok(Self { path: path.into() }),
            Ok(_) => Err(FolderError::NotADirectory { path: path.into() }),
            Err(source) => Err(FolderError::Directory { path: path.into(), source }),
        }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file of a unit: `below-2p40-u32-007.json`, `from-5-to-700-u32-0.json`.
    #[must_use]
    pub fn place(&self, layout: &Layout, unit: u64) -> PathBuf {
        self.path.join(Name::new(layout, unit).file())
    }

    /// log2 of the size of units of a range, by the names of the files; that of most files, if there are several.
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

    /// Every file that may be a unit, by name.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn files(&self) -> Result<Vec<PathBuf>, FolderError> {
        self.list(".json")
    }

    fn list(&self, end: &str) -> Result<Vec<PathBuf>, FolderError> {
        let unlisted = |source| FolderError::Directory { path: self.path.clone(), source };
        let mut files = vec![];
        for entry in fs::read_dir(&self.path).map_err(unlisted)? {
            let entry = entry.map_err(unlisted)?;
            if entry.file_name().to_string_lossy().ends_with(end) {
                files.push(entry.path());
            }
        }
        files.sort();
        Ok(files)
    }

    /// The unit in a file.
    ///
    /// # Errors
    /// [`FolderError::Read`] of the file system; inside, why it is no unit.
    pub fn read(path: &Path) -> Result<Result<Unit, UnitError>, FolderError> {
        let text = read(path).map_err(|source| FolderError::Read { path: path.into(), source })?;
        Ok(Unit::from_text(&text))
    }

    /// What is at the place of a unit.
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

    /// Lets no other process do a unit; nothing if one does.
    pub(crate) fn claim(&self, layout: &Layout, unit: u64) -> Result<Option<Claim>, FolderError> {
        let path = lock_of(&self.place(layout, unit));
        Claim::try_take(&path).map_err(|source| match source.kind() {
            io::ErrorKind::AlreadyExists => FolderError::NoLock { path },
            _ => FolderError::Write { path, source },
        })
    }

    /// Renames what is at the place of a unit that is claimed, to a name that is free.
    pub(crate) fn set_aside(&self, layout: &Layout, unit: u64) -> Result<PathBuf, FolderError> {
        let path = self.place(layout, unit);
        let aside = (1..)
            .map(|n| {
                path.with_extension(if n == 1 {
                    "json.bad".into()
                } else {
                    format!("json.bad-{n}")
                })
            })
            .find(|aside| fs::symlink_metadata(aside).is_err())
            .unwrap_or_default();
        fs::rename(&path, &aside)
            .map_err(|source| FolderError::Write { path: aside.clone(), source })?;
        Ok(aside)
    }

    /// Puts a unit that is claimed into its place, where nothing is.
    pub(crate) fn keep(&self, layout: &Layout, unit: &Unit) -> Result<(), FolderError> {
        let path = self.place(layout, unit.unit);
        let written = unit
            .to_text()
            .map_err(io::Error::from)
            .and_then(|text| self.write_new(&path, text.as_bytes()));
        written.map_err(|source| FolderError::Write { path, source })
    }

    fn write_new(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut prefix = path.file_name().unwrap_or_default().to_owned();
        prefix.push(".");
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(UNFINISHED).rand_bytes(RANDOM);
        // As other files: what the user's mask leaves.
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        let mut file = builder.tempfile_in(&self.path)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        if let Err(failed) = file.persist_noclobber(path) {
            // Not every file system can rename so; the claim sees to it that nobody else writes there.
            let taken = failed.error.kind() == io::ErrorKind::AlreadyExists;
            if taken || fs::symlink_metadata(path).is_ok() {
                return Err(failed.error);
            }
            failed.file.persist(path).map_err(|e| e.error)?;
        }
        // The rename is on disk once the directory is; not every file system can say so.
        let _ = File::open(&self.path).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Removes what killed processes left unfinished, and nothing that has another name or is something else.
    pub(crate) fn clear_away(&self) -> Result<(), FolderError> {
        let is_file = |path: &Path| fs::symlink_metadata(path).is_ok_and(|found| found.is_file());
        for path in self.list(UNFINISHED)? {
            let Some(name) = Name::of_unfinished(&path).filter(|_| is_file(&path)) else {
                continue;
            };
            // Made by who had the claim. Held while the file goes; one that cannot be removed is in nobody's way.
            if let Ok(Some(claim)) = Claim::try_take(&lock_of(&self.path.join(name.file())))
                && claim.is_locked()
            {
                let _ = fs::remove_file(&path);
            }
        }
        for lock in self.list(LOCK)? {
            let is_empty = || fs::symlink_metadata(&lock).is_ok_and(|found| found.len() == 0);
            if Name::of_lock(&lock).is_some() && is_file(&lock) && is_empty() {
                // A claim that is given back takes its file along.
                drop(Claim::try_take(&lock));
            }
        }
        Ok(())
    }
}

fn lock_of(place: &Path) -> PathBuf {
    place.with_extension("json.lock")
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    // A FIFO, for one, would wait for somebody.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("it is not a file"));
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST_BYTES).read_to_end(&mut bytes)?;
    Ok(bytes)
}
