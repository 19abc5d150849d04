//! The operations on systems other than Unix. They use paths and the standard library. An object is
//! checked before it is used. A replacement of the object between the check and the use is not
//! noticed.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, FileType, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use super::{Access, FILE, Trouble};
use crate::Entry;

/// The path of a directory that existed when it was checked.
#[derive(Debug)]
pub(crate) struct Handle(PathBuf);

impl Handle {
    /// Checks that the directory at `base` exists, following symbolic links. Then checks that the
    /// directories `inner`, each inside the previous directory, exist and are not links. An error
    /// contains the path for which the check failed.
    pub(crate) fn open(base: &Path, inner: &[OsString]) -> Result<Self, (PathBuf, Trouble)> {
        let mut path = if base.as_os_str().is_empty() { ".".into() } else { base.to_owned() };
        check(fs::metadata(&path)).map_err(|trouble| (path.clone(), trouble))?;
        for name in inner {
            path.push(name);
            check(fs::symlink_metadata(&path)).map_err(|trouble| (path.clone(), trouble))?;
        }
        Ok(Self(path))
    }

    /// Creates a directory inside this directory if it is missing. Returns true if it was missing.
    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<bool> {
        match fs::create_dir(self.0.join(name)) {
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => Ok(false),
            made => made.map(|()| true),
        }
    }

    /// Opens a regular file. Any other object is an error.
    pub(crate) fn file(&self, name: &OsStr, access: Access) -> Result<File, Trouble> {
        let path = self.0.join(name);
        if !access.is_new()
            && let Ok(found) = fs::symlink_metadata(&path)
            && let Some(what) = special(found.file_type())
        {
            return Err(Trouble::Special(what));
        }
        open(&path, access)
    }

    /// Returns the size of a regular file in bytes. Returns `None` if the name is free. Any other
    /// object is an error.
    pub(crate) fn size(&self, name: &OsStr) -> Result<Option<u64>, Trouble> {
        match fs::symlink_metadata(self.0.join(name)) {
            Ok(found) => match special(found.file_type()) {
                Some(what) => Err(Trouble::Special(what)),
                None => Ok(Some(found.len())),
            },
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(e) => Err(Trouble::Io(e)),
        }
    }

    /// Returns whether an object of this name exists in the directory.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        fs::symlink_metadata(self.0.join(name)).is_ok()
    }

    /// Returns the entries of the directory, in no particular order.
    pub(crate) fn list(&self) -> io::Result<Vec<Entry>> {
        fs::read_dir(&self.0)?
            .map(|entry| {
                let entry = entry?;
                let kind = entry.file_type()?;
                let (name, is_file, is_folder) = (entry.file_name(), kind.is_file(), kind.is_dir());
                Ok(Entry { name, is_file, is_folder })
            })
            .collect()
    }

    /// Renames `from` to `to`. An object named `to` is replaced.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::rename(self.0.join(from), self.0.join(to))
    }

    /// Gives the file `from` the second name `to`, which must be free.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        fs::hard_link(self.0.join(from), self.0.join(to))
    }

    /// Removes a file or a symbolic link. The target of a link is not removed.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        fs::remove_file(self.0.join(name))
    }

    /// Does nothing. Systems other than Unix cannot flush a directory; there, the file system
    /// itself keeps its changes in order.
    pub(crate) fn sync(&self) -> io::Result<()> {
        Ok(())
    }

    /// Returns whether the name is taken. Systems other than Unix cannot determine whether the name
    /// belongs to the given file.
    pub(crate) fn is_at(&self, _file: &File, name: &OsStr) -> bool {
        self.has(name)
    }
}

/// Returns the kind of object at a path, in words for messages. Symbolic links are followed.
pub(crate) fn look_at_given(path: &Path) -> io::Result<&'static str> {
    Ok(special(fs::metadata(path)?.file_type()).unwrap_or(FILE))
}

/// Opens the regular file at a path. Symbolic links are followed.
pub(crate) fn open_given(path: &Path, access: Access) -> Result<File, Trouble> {
    if let Ok(found) = fs::metadata(path)
        && let Some(what) = special(found.file_type())
    {
        return Err(Trouble::Special(what));
    }
    open(path, access)
}

fn open(path: &Path, access: Access) -> Result<File, Trouble> {
    let mut options = OpenOptions::new();
    match access {
        Access::Read => options.read(true),
        Access::Update => options.read(true).write(true),
        Access::Make => options.read(true).write(true).create(true).truncate(false),
        Access::New | Access::NewPrivate => options.read(true).write(true).create_new(true),
        Access::Append => options.append(true).create(true),
    };
    let file = options.open(path)?;
    match special(file.metadata()?.file_type()) {
        Some(what) => Err(Trouble::Special(what)),
        None => Ok(file),
    }
}

fn check(found: io::Result<fs::Metadata>) -> Result<(), Trouble> {
    let found = found?;
    if found.is_dir() {
        return Ok(());
    }
    Err(Trouble::Special(special(found.file_type()).unwrap_or(FILE)))
}

/// Returns the kind of an object in words for messages. Returns `None` for a regular file.
fn special(kind: FileType) -> Option<&'static str> {
    match kind {
        kind if kind.is_file() => None,
        kind if kind.is_symlink() => Some("a symbolic link"),
        kind if kind.is_dir() => Some("a directory"),
        _ => Some("something else"),
    }
}
