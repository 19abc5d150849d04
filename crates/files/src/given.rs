//! Files that the user names. Links are followed, and must lead to a regular file.

use std::fs::File;
use std::io;
use std::path::Path;

use crate::FileError;
use crate::folder::{read_bounded, trouble_at};
use crate::sys::{self, Access};

/// The object that a path leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// Nothing; the path may be a dangling link.
    Nothing,
    /// A regular file.
    File,
    /// A character device, such as `/dev/null`.
    Device,
}

/// Returns the kind of object that a path leads to, without opening the object.
///
/// # Errors
/// [`FileError::NotAFile`] for an object that is neither a regular file nor a character device;
/// errors of the operating system.
pub fn look(path: &Path) -> Result<Found, FileError> {
    match sys::look_at_given(path) {
        Ok(sys::FILE) => Ok(Found::File),
        Ok(sys::CHARACTER_DEVICE) => Ok(Found::Device),
        Ok(what) => Err(FileError::NotAFile { path: path.to_owned(), what }),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(Found::Nothing),
        Err(e) => Err(FileError::io("read", path, e)),
    }
}

/// Opens a file for reading. A FIFO, socket, device or directory is an error at once.
///
/// # Errors
/// [`FileError::NotAFile`]; errors of the operating system.
pub fn open(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Read).map_err(|trouble| trouble_at("read", path, trouble))
}

/// Reads a file of at most `most` bytes and returns its bytes.
///
/// # Errors
/// [`FileError::TooLarge`] for more than `most` bytes, before memory is allocated; the errors of
/// [`open`].
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    read_bounded(&open(path)?, path, most)
}

/// Opens a file for appending; a missing file is created. A character device, such as `/dev/null`,
/// is accepted too.
///
/// # Errors
/// [`FileError::NotAFile`]; errors of the operating system.
pub fn open_to_append(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Append).map_err(|trouble| trouble_at("write", path, trouble))
}
