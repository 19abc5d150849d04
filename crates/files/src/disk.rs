//! The steps of writing a file to disk, and the trait [`Disk`] that executes them. Tests implement
//! this trait to record steps or to make steps fail.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

/// One step of writing a file to disk.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Writes bytes at the current position in the file.
    Write {
        /// The final path of the file, even while the file has a temporary name.
        path: &'a Path,
        /// The open file.
        file: &'a File,
        /// The bytes to write.
        bytes: &'a [u8],
    },
    /// Flushes the contents of a file to disk (`fsync`).
    SyncFile {
        /// The final path of the file, even while the file has a temporary name.
        path: &'a Path,
    },
    /// Renames a temporary file to its final name. A file that has this name is replaced.
    Rename {
        /// The path of the temporary file.
        from: &'a Path,
        /// The path with the final name.
        to: &'a Path,
    },
    /// Links a temporary file to its final name, which must be free.
    Link {
        /// The path of the temporary file.
        from: &'a Path,
        /// The path with the final name.
        to: &'a Path,
    },
    /// Flushes the names in a directory to disk (`fsync` of the directory).
    SyncFolder {
        /// The path of the directory.
        path: &'a Path,
    },
}

/// Executes the steps of writing files. The program uses [`RealDisk`]. A test may give a folder
/// another disk by [`crate::Folder::with_disk`], to record steps or to make steps fail.
pub trait Disk: Debug + Send + Sync {
    /// Executes a step by calling `go`, which performs the step on the file system. If `step`
    /// returns an error, the operation fails as for an error of the file system.
    ///
    /// # Errors
    /// The errors of `go`, and errors that a test injects.
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// The disk that the program uses. It performs each step on the file system and does nothing else.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn step(&self, _: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        go()
    }
}
