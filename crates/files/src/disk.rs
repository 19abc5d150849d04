//! The steps that write a file to disk, behind an interface that tests replace.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

/// One step of writing a file to disk.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Writes bytes at the file's position.
    Write {
        /// Its path.
        path: &'a Path,
        /// The open file.
        file: &'a File,
        /// The bytes to write.
        bytes: &'a [u8],
    },
    /// Flushes the contents of a file to disk: `fsync`.
    SyncFile {
        /// Its path.
        path: &'a Path,
    },
    /// Renames a temporary file to its final name and replaces the file that has this name.
    Rename {
        /// The temporary file.
        from: &'a Path,
        /// The final name.
        to: &'a Path,
    },
    /// Gives a temporary file its final name, which must be free.
    Link {
        /// The temporary file.
        from: &'a Path,
        /// The final name.
        to: &'a Path,
    },
    /// Flushes the names in a directory to disk: `fsync` of the directory.
    SyncFolder {
        /// The directory.
        path: &'a Path,
    },
}

/// Executes the steps of a replacement or an append. The program uses [`RealDisk`]. Tests install one
/// that records the steps or fails below a [`crate::Folder`].
pub trait Disk: Debug + Send + Sync {
    /// Executes a step; `go` executes it on the file system. An error ends the operation like an error
    /// of the file system.
    ///
    /// # Errors
    /// Those of `go`, and those injected by a test.
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// The file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn step(&self, _: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        go()
    }
}
