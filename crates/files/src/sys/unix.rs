//! Unix: everything is relative to the handle of a directory.

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
    /// Opens the directory at `base`, links followed, and from there those inside, no link followed.
    /// An error comes with the path that it is about.
    pub(crate) fn open(base: &Path, inner: &[OsString]) -> Result<Self, (PathBuf, Trouble)> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let mut path = base.to_owned();
        let opened = sys::openat(CWD, or_here(base), flags, Mode::empty());
        let mut folder = match opened {
            Ok(fd) => Self(fd),
            Err(Errno::NOTDIR) => {
                // If something on the way there is no directory, the error is the system's.
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

    /// Makes a directory inside; whether it was not there.
    pub(crate) fn make_folder(&self, name: &OsStr) -> io::Result<bool> {
        match sys::mkdirat(&self.0, name, Mode::from_bits_truncate(0o777)) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Opens a regular file.
    pub(crate) fn file(&self, name: &OsStr, access: Access) -> Result<File, Trouble> {
        // To open a device may act on it: look first. What comes in between is found below.
        if access != Access::New
            && let Some(what) = self.what(name).filter(|what| *what != FILE)
        {
            return Err(Trouble::Special(what));
        }
        let flags = match access {
            Access::Read => OFlags::RDONLY,
            Access::Update => OFlags::RDWR,
            Access::Make => OFlags::RDWR | OFlags::CREATE,
            Access::New => OFlags::RDWR | OFlags::CREATE | OFlags::EXCL,
            Access::Append => OFlags::WRONLY | OFlags::CREATE | OFlags::APPEND,
        };
        let mode = Mode::from_bits_truncate(0o666);
        match sys::openat(&self.0, name, flags | OFlags::NOFOLLOW | CAREFUL, mode) {
            Ok(fd) => opened(fd, |found| found == FILE),
            Err(Errno::LOOP) => Err(Trouble::Special("a symbolic link")),
            Err(Errno::ISDIR) => Err(Trouble::Special(FOLDER)),
            // A FIFO without a reader, or a socket.
            Err(Errno::NXIO) => Err(Trouble::Special("something else")),
            Err(errno) => Err(Trouble::Io(errno.into())),
        }
    }

    /// Whether a name is that of a regular file, and its size; `None` if nothing has the name.
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

    /// Whether anything has a name.
    pub(crate) fn has(&self, name: &OsStr) -> bool {
        self.what(name).is_some()
    }

    fn what(&self, name: &OsStr) -> Option<&'static str> {
        sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW).ok().map(|found| what(&found))
    }

    /// What is inside.
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

    /// A link that has the name `to` is replaced, not followed.
    pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::renameat(&self.0, from, &self.0, to)?)
    }

    /// Gives a file a second name, which must be free.
    pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(sys::linkat(&self.0, from, &self.0, to, AtFlags::empty())?)
    }

    /// Of a link the link goes.
    pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
        Ok(sys::unlinkat(&self.0, name, AtFlags::empty())?)
    }

    /// Brings the names inside to disk, where the file system can.
    pub(crate) fn sync(&self) -> io::Result<()> {
        match sys::fsync(&self.0) {
            Err(Errno::INVAL | Errno::NOTSUP | Errno::ROFS) => Ok(()),
            synced => Ok(synced?),
        }
    }

    /// Whether an open file is the one that has a name.
    pub(crate) fn is_at(&self, file: &File, name: &OsStr) -> bool {
        let there = sys::statat(&self.0, name, AtFlags::SYMLINK_NOFOLLOW);
        let (Ok(there), Ok(here)) = (there, sys::fstat(file)) else { return false };
        (here.st_dev, here.st_ino) == (there.st_dev, there.st_ino)
    }
}

/// What a path leads to, links followed.
pub(crate) fn look_at_given(path: &Path) -> io::Result<&'static str> {
    Ok(what(&sys::stat(path)?))
}

/// Opens the file at a path, links followed: a regular one, or to append to a character device.
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
/// Opening waits for nobody, and makes no terminal this process's own.
const CAREFUL: OFlags = OFlags::NONBLOCK.union(OFlags::CLOEXEC).union(OFlags::NOCTTY);

/// What was opened, if it is what is wanted. From here on, reading and writing wait.
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

/// The empty path means the current directory.
fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}
