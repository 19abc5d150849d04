//! Files that the user names: links are followed, and must lead to a regular file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::FileError;
use crate::folder::{read_bounded, trouble_at};
use crate::sys::{self, Access};

/// What a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing; perhaps a link that leads nowhere.
    Nothing,
    /// A regular file.
    File,
    /// A character device, such as `/dev/null`.
    Device,
}

/// Looks at what a path leads to. Opens nothing.
///
/// # Errors
/// [`FileError::NotAFile`] for anything else; those of the system.
pub fn look(path: &Path) -> Result<Found, FileError> {
    match sys::look_at_given(path) {
        Ok(sys::FILE) => Ok(Found::File),
        Ok(sys::CHARACTER_DEVICE) => Ok(Found::Device),
        Ok(what) => Err(FileError::NotAFile { path: path.to_owned(), what }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(e) => Err(FileError::io("read", path, e)),
    }
}

/// Opens a file to read it. A FIFO, socket, device or directory is an error at once.
///
/// # Errors
/// [`FileError::NotAFile`]; those of the system.
pub fn open(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Read).map_err(|trouble| trouble_at("read", path, trouble))
}

/// The bytes of a file.
///
/// # Errors
/// [`FileError::TooLarge`] for more than `most` bytes, before anything is allocated; those of
/// [`open`].
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    read_bounded(&open(path)?, path, most)
}

/// Opens a file to append to it; it is made empty if it is not there. A character device, such as
/// `/dev/null`, is taken too.
///
/// # Errors
/// [`FileError::NotAFile`]; those of the system.
pub fn open_to_append(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Append).map_err(|trouble| trouble_at("write", path, trouble))
}
