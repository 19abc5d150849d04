//! The steps that bring a file to disk, behind a seam for tests.

use std::fmt::Debug;
use std::fs::File;
use std::io;
use std::path::Path;

/// One step of bringing a file to disk.
#[derive(Debug, Clone, Copy)]
pub enum Step<'a> {
    /// Writes bytes at the file's position.
    Write {
        /// Its path.
        path: &'a Path,
        /// The open file.
        file: &'a File,
        /// What is written.
        bytes: &'a [u8],
    },
    /// Brings the content of a file to disk: `fsync`.
    SyncFile {
        /// Its path.
        path: &'a Path,
    },
    /// Gives a temporary file its name, in place of the file that has it.
    Rename {
        /// The temporary file.
        from: &'a Path,
        /// Its name.
        to: &'a Path,
    },
    /// Gives a temporary file its name, which must be free.
    Link {
        /// The temporary file.
        from: &'a Path,
        /// Its name.
        to: &'a Path,
    },
    /// Brings the names in a directory to disk: `fsync` of the directory.
    SyncFolder {
        /// The directory.
        path: &'a Path,
    },
}

/// Does the steps of a replacement or an append. Tests put one that records them, or one that fails,
/// below a [`crate::Folder`]; the program uses [`RealDisk`].
pub trait Disk: Debug + Send + Sync {
    /// Does a step: `go` does it as the file system does. An error is the step's own, and ends the
    /// operation as that of the file system would.
    ///
    /// # Errors
    /// Those of `go`, and those that a test makes.
    fn step(&self, step: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()>;
}

/// The file system itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct RealDisk;

impl Disk for RealDisk {
    fn step(&self, _: Step<'_>, go: &mut dyn FnMut() -> io::Result<()>) -> io::Result<()> {
        go()
    }
}
