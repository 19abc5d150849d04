//! The steps that write a file to disk, behind a trait that tests implement to record steps or to
//! make them fail.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

/// One step of writing a file to disk.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Writes bytes at the file's position.
    Write {
        /// The path of the file.
        path: &'a Path,
        /// The open file.
        file: &'a File,
        /// The bytes to write.
        bytes: &'a [u8],
    },
    /// Flushes the contents of a file to disk: `fsync`.
    SyncFile {
        /// The path of the file.
        path: &'a Path,
    },
    /// Renames a temporary file to its final name and replaces the file that has this name.
    Rename {
        /// The path of the temporary file.
        from: &'a Path,
        /// The path with the final name.
        to: &'a Path,
    },
    /// Gives a temporary file its final name, which must be free.
    Link {
        /// The path of the temporary file.
        from: &'a Path,
        /// The path with the final name.
        to: &'a Path,
    },
    /// Flushes the names in a directory to disk: `fsync` of the directory.
    SyncFolder {
        /// The path of the directory.
        path: &'a Path,
    },
}

/// Executes the steps that write files. The program uses [`RealDisk`]. A test may set another disk
/// for a folder ([`crate::Folder::with_disk`]), which records the steps or makes them fail.
pub trait Disk: Debug + Send + Sync {
    /// Executes a step by calling `go`, which performs it on the file system. An error ends the
    /// operation like an error of the file system.
    ///
    /// # Errors
    /// The errors of `go`, and errors that a test injects.
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// The disk that the program uses: it only performs each step on the file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn step(&self, _: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        go()
    }
}
