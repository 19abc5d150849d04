//! What the operating system does, relative to a directory.

#[cfg(not(unix))]
mod other;
#[cfg(unix)]
mod unix;

use std::io;

#[cfg(not(unix))]
pub(crate) use other::{Handle, look_at_given, open_given};
#[cfg(unix)]
pub(crate) use unix::{Handle, look_at_given, open_given};

/// How a file is opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// To read a file that is there.
    Read,
    /// To read and write a file that is there.
    Update,
    /// To read and write a file, which is made empty if it is not there.
    Make,
    /// To read and write a file that must not be there yet.
    New,
    /// To write at the end of a file, which is made empty if it is not there.
    Append,
}

/// Why something was not opened.
#[derive(Debug)]
pub(crate) enum Trouble {
    Io(io::Error),
    /// It is this.
    Special(&'static str),
}

impl From<io::Error> for Trouble {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}

/// What a regular file is called where it is in the way.
pub(crate) const FILE: &str = "a file";
/// `/dev/null` and the like.
pub(crate) const CHARACTER_DEVICE: &str = "a character device";
