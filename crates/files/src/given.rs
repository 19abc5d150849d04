//! Access to files that the user names. Symbolic links are followed. For reading, a path must lead
//! to a regular file. For appending, it must lead to a regular file, a character device or no
//! object.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};

use crate::FileError;
use crate::folder::{read_bounded, trouble_at};
use crate::sys::{self, Access};

/// The kind of object to which a path leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Found {
    /// No object. The path may be a dangling symbolic link.
    Nothing,
    /// A regular file.
    File,
    /// A character device, such as `/dev/null`.
    Device,
}

/// Returns the kind of object to which a path leads, without opening the object.
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

/// Opens a regular file for reading. For a FIFO, socket, device or directory, returns an error
/// without waiting.
///
/// # Errors
/// [`FileError::NotAFile`]; errors of the operating system.
pub fn open(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Read).map_err(|trouble| trouble_at("read", path, trouble))
}

/// Returns the path itself if it leads to a regular file, and the regular files below it if it leads
/// to a directory. The files of a directory are in the order of their paths. Symbolic links and
/// special files inside the directory are left out.
///
/// # Errors
/// [`FileError::NotAFile`] if the path leads to neither a file nor a directory; errors of the
/// operating system.
pub fn files_below(path: &Path) -> Result<Vec<PathBuf>, FileError> {
    let found = fs::metadata(path).map_err(|e| FileError::io("read", path, e))?;
    if !found.is_dir() {
        return match look(path)? {
            Found::File => Ok(vec![path.to_owned()]),
            _ => Err(FileError::NotAFile { path: path.to_owned(), what: "a character device" }),
        };
    }
    let (mut files, mut folders) = (vec![], vec![path.to_owned()]);
    while let Some(folder) = folders.pop() {
        let unread = |e| FileError::io("read", &folder, e);
        for entry in fs::read_dir(&folder).map_err(unread)? {
            let entry = entry.map_err(unread)?;
            let kind = entry.file_type().map_err(unread)?;
            if kind.is_dir() {
                folders.push(entry.path());
            } else if kind.is_file() {
                files.push(entry.path());
            }
        }
    }
    files.sort();
    Ok(files)
}

/// Reads a whole regular file of at most `most` bytes.
///
/// # Errors
/// [`FileError::TooLarge`] for more than `most` bytes; the errors of [`open`]. The size is checked
/// before memory is allocated.
pub fn read(path: &Path, most: u64) -> Result<Vec<u8>, FileError> {
    read_bounded(&open(path)?, path, most)
}

/// Opens a regular file or a character device, such as `/dev/null`, for appending. A missing file
/// is created.
///
/// # Errors
/// [`FileError::NotAFile`]; errors of the operating system.
pub fn open_to_append(path: &Path) -> Result<File, FileError> {
    sys::open_given(path, Access::Append).map_err(|trouble| trouble_at("write", path, trouble))
}
