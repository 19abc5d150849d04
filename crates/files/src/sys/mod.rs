//! Operations of the operating system on files: relative to a directory of the program
//! ([`Handle`]), or at a path that the user names.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::io;

#[cfg(not(unix))]
pub(crate) use other::{Handle, look_at_given, open_given};
#[cfg(unix)]
pub(crate) use unix::{Handle, look_at_given, open_given};

/// The purpose for which a file is opened, and whether it may or must exist.
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
    /// The same as [`Self::New`]. On Unix, only the owner can read or write the file (mode 0600).
    NewPrivate,
    /// Write at the end of a file, which is created empty if missing.
    Append,
}

/// The reason why a file or directory was not opened.
#[derive(Debug)]
pub(crate) enum Trouble {
    Io(io::Error),
    /// The name belongs to an object of the wrong kind. The value is the kind in words, for example
    /// `a FIFO` or `a directory`.
    Special(&'static str),
}

impl Access {
    /// Returns whether the file must not exist yet.
    fn is_new(self) -> bool {
        matches!(self, Self::New | Self::NewPrivate)
    }
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// The description of a regular file in messages.
pub(crate) const FILE: &str = "a file";
/// The description of `/dev/null` and similar devices in messages.
pub(crate) const CHARACTER_DEVICE: &str = "a character device";
