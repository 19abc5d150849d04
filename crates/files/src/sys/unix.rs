//! The operations on Unix. The methods of [`Handle`] work relative to the file descriptor of a
//! directory. The functions for files that the user names take paths.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{self as sys, AtFlags, CWD, FileType, Mode, OFlags, Stat};
use rustix::io::Errno;

use super::{Access, CHARACTER_DEVICE, FILE, Trouble};
use crate::Entry;

/// An open directory.
#[derive(Debug)]
pub(crate) struct Handle(OwnedFd);

impl Handle {
    /// Opens the directory at `base`, following symbolic links. Then opens the directories `inner`,
    /// each inside the previous directory, without following links. An error contains the path that
    /// could not be opened.
    pub(crate) fn open(base: &Path, inner: &[OsString]) -> Result<Self, (PathBuf, Trouble)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut path = base.to_owned();
        let opened = sys::openat(CWD, or_here(base), flags, Mode::empty());
        let mut folder = match opened {
            Ok(fd) => Self(fd),
            Err(Errno::NOTDIR) => {
                // If a component of the path is not a directory, the system's error is returned.
                let found = sys::stat(base).map(|found| what(&found));
                return Err((path, found.map_or_else(|e| Trouble::Io(e.into()), Trouble::Special)));
            }
            Err(errno) => return Err((path, Trouble::Io(errno.into()))),
        };
        for name in inner {
            path.push(name);
            folder = match sys::openat(&folder.0, name, flags | OFlags::NOFOLLOW, Mode::empty()) {
                Ok(fd) => Self(fd),
                Err(Errno::NOTDIR | Errno::LOOP) => {
                    let what = folder.what(name).unwrap_or("something else");
                    return Err((path, Trouble::Special(what)));
                }
                Err(errno) => return Err((path, Trouble::Io(errno.into()))),
            };
        }
        Ok(folder)
    }

    /// Creates a directory inside this directory if it is missing. Returns true if it was missing.
    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<bool> {
        match sys::mkdirat(&self.0, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a regular file. Any other object is an error.
    pub(crate) fn file(&self, name: &OsStr, access: Access) -> Result<File, Trouble> {
        // Opening a device may act on it, so check first. Changes in between are detected below.
        if !access.is_new()
            && let Some(what) = self.what(name).filter(|what| *what != FILE)
        {
            return Err(Trouble::Special(what));
        }
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Update => OFlags::RDWR,
            Access::Make => OFlags::RDWR | OFlags::CREATE,
            Access::New | Access::NewPrivate => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Access::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
        };
        let bits = if access == Access::NewPrivate { 0o600 } else { 0o666 };
        let mode = Mode::from_bits_truncate(bits);
        match sys::openat(&self.0, name, flags | OFlags::NOFOLLOW | CAREFUL, mode) {
            Ok(fd) => opened(fd, |found| found == FILE),
            Err(Errno::LOOP) => Err(Trouble::Special("a symbolic link")),
            Err(Errno::ISDIR) => Err(Trouble::Special(FOLDER)),
            // A FIFO without a reader, or a socket.
            Err(Errno::NXIO) => Err(Trouble::Special("something else")),
            Err(errno) => Err(Trouble::Io(errno.into())),
        }
    }

    /// Returns the size of a regular file in bytes. Returns `None` if the name is free. Any other
    /// object is an error.
    pub(crate) fn size(&self, name: &OsStr) -> Result<Option<u64>, Trouble> {
        match sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => match what(&found) {
                FILE => Ok(Some(u64::try_from(found.st_size).unwrap_or(0))),
                what => Err(Trouble::Special(what)),
            },
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(Trouble::Io(errno.into())),
        }
    }

    /// Returns whether an object of this name exists in the directory.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        self.what(name).is_some()
    }

    fn what(&self, name: &OsStr) -> Option<&'static str> {
        sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|found| what(&found))
    }

    /// Returns the entries of the directory except `.` and `..`, in no particular order.
    pub(crate) fn list(&self) -> io::Result<Vec<Entry>> {
        let mut entries = vec![];
        for entry in sys::Dir::read_from(&self.0)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            if name == "." || name == ".." {
                continue;
            }
            let found = match entry.file_type() {
                FileType::Unknown => self.what(name).unwrap_or("nothing"),
                kind => describe(kind),
            };
            let name = name.to_owned();
            entries.push(Entry { name, is_file: found == FILE, is_folder: found == FOLDER });
        }
        Ok(entries)
    }

    /// Renames `from` to `to`. A symbolic link named `to` is replaced, not followed.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::renameat(&self.0, from, &self.0, to)?)
    }

    /// Gives the file `from` the second name `to`, which must be free.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    /// Removes a file or a symbolic link. The target of a link is not removed.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Flushes the names in the directory to disk. Does nothing if the file system does not support
    /// this.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match sys::fsync(&self.0) {
            Err(Errno::INVAL | Errno::NOTSUP | Errno::ROFS) => Ok(()),
            synced => Ok(synced?),
        }
    }

    /// Returns whether `name` is a name of the open file `file`.
    pub(crate) fn is_at(&self, file: &File, name: &OsStr) -> bool {
        let there = sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(there), Ok(here)) = (there, sys::fstat(file)) else { return false };
        (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    }
}

/// Returns the kind of object at a path, in words for messages. Symbolic links are followed.
pub(crate) fn look_at_given(path: &Path) -> io::Result<&'static str> {
    Ok(what(&sys::stat(path)?))
}

/// Opens the regular file at a path, following symbolic links. For appending, a character device is
/// accepted too, and a missing file is created.
pub(crate) fn open_given(path: &Path, access: Access) -> Result<File, Trouble> {
    let is_taken = |found| found == FILE || access == Access::Append && found == CHARACTER_DEVICE;
    if let Ok(found) = look_at_given(path)
        && !is_taken(found)
    {
        return Err(Trouble::Special(found));
    }
    let flags = match access {
        Access::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
        _ => OFlags::RDONLY,
    };
    let fd = sys::openat(CWD, path, flags | CAREFUL, Mode::from_bits_truncate(0o666));
    opened(fd.map_err(io::Error::from)?, is_taken)
}

const FOLDER: &str = "a directory";
/// The flags with which every file is opened: the call does not block, child processes do not
/// inherit the descriptor, and a terminal does not become the controlling terminal.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// Converts a descriptor to a file if `is_wanted` returns true for the kind of its object. Clears
/// `O_NONBLOCK`, so that reads and writes block as usual.
fn opened(fd: OwnedFd, is_wanted: impl Fn(&'static str) -> bool) -> Result<File, Trouble> {
    let found = what(&sys::fstat(&fd).map_err(io::Error::from)?);
    if !is_wanted(found) {
        return Err(Trouble::Special(found));
    }
    let flags = sys::fcntl_getfl(&fd).map_err(io::Error::from)?;
    sys::fcntl_setfl(&fd, flags - OFlags::NONBLOCK).map_err(io::Error::from)?;
    Ok(File::from(fd))
}

fn what(found: &Stat) -> &'static str {
    describe(FileType::from_raw_mode(found.st_mode))
}

fn describe(kind: FileType) -> &'static str {
    match kind {
        FileType::RegularFile => FILE,
        FileType::Symlink => "a symbolic link",
        FileType::Directory => FOLDER,
        FileType::Fifo => "a FIFO",
        FileType::Socket => "a socket",
        FileType::BlockDevice => "a block device",
        FileType::CharacterDevice => CHARACTER_DEVICE,
        FileType::Unknown => "something else",
    }
}

/// Returns `path`, or `.` for the empty path, which denotes the current directory.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
