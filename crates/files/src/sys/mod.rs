//! Operations of the operating system, relative to a directory.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::io;

#[cfg(not(unix))]
pub(crate) use other::{Handle, look_at_given, open_given};
#[cfg(unix)]
pub(crate) use unix::{Handle, look_at_given, open_given};

/// How to open a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// Read an existing file.
    Read,
    /// Read and write an existing file.
    Update,
    /// Read and write a file, which is created empty if missing.
    Make,
    /// Read and write a file that must not exist yet.
    New,
    /// Write at the end of a file, which is created empty if missing.
    Append,
}

/// The reason why a file was not opened.
#[derive(Debug)]
pub(crate) enum Trouble {
    Io(io::Error),
    /// The name belongs to an object of the wrong kind. The value is the kind in words: `a FIFO`,
    /// `a directory` …
    Special(&'static str),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The words in messages for a regular file.
pub(crate) const FILE: &str = "a file";
/// The words in messages for `/dev/null` and similar devices.
pub(crate) const CHARACTER_DEVICE: &str = "a character device";
