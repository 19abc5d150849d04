//! Files that the user names: links are followed, and must lead to a regular file.

use std::fs::File;
use std::path::Path;

use crate::FileError;
use crate::folder::{read_bounded, trouble_at};
use crate::sys::{self, Access};

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
