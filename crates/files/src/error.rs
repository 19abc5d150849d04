//! Errors of file operations. The messages contain the path.

use std::io;
use std::path::{Path, PathBuf};

use crate::ErrorKind;

/// An error of a file operation. Each message contains the path.
///
/// The conversion to an [`io::Error`] by `From` is for callers whose own messages contain the path:
/// the message of the result states only the reason. An exception is [`FileError::NotAFolder`], for
/// which the message of the result contains the path. [`FileError::Io`] is converted to the error
/// of the operating system that it contains.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FileError {
    /// The path leads to an object that is not a regular file.
    #[error("{} is {what}, not a regular file", path.display())]
    NotAFile {
        /// The path of the object.
        path: PathBuf,
        /// The kind of object found, for example `a symbolic link`, `a FIFO` or `a directory`.
        what: &'static str,
    },
    /// The path leads to an object that is not a directory, but the program needs a directory of
    /// its own at this path.
    #[error("{} is {what}, not a directory", path.display())]
    NotAFolder {
        /// The path that is not a directory.
        path: PathBuf,
        /// The kind of object found, for example `a file`, `a symbolic link` or `a FIFO`.
        what: &'static str,
    },
    /// No file can be created at the path that the user named for results.
    #[error("cannot write {}: {reason}", path.display())]
    Unwritable {
        /// The path that the user named.
        path: PathBuf,
        /// The reason, possibly a message of the operating system.
        reason: String,
    },
    /// The file is larger than the limit of the caller. The size is checked before the file is
    /// read, and again at the end because the file may grow.
    #[error("{} has {bytes} bytes; at most {most} are read", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The size of the file in bytes, or the number of bytes read if the file grew during the
        /// reading.
        bytes: u64,
        /// The limit, in bytes.
        most: u64,
    },
    /// An error of the operating system. This variant is also used for a file name that is not a
    /// single component of a path, and for a temporary file or lock file that other processes
    /// remove again and again.
    #[error("cannot {action} {}: {source}", path.display())]
    Io {
        /// The failed action, for example `read`, `write` or `lock`.
        action: &'static str,
        /// The path of the file or directory.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// Another process held the lock for longer than the caller was willing to wait.
    #[error("{} is locked by another process", path.display())]
    Locked {
        /// The path of the lock file.
        path: PathBuf,
    },
    /// A stop was requested while another process held the lock.
    #[error("stopped while waiting for the lock {}", path.display())]
    Stopped {
        /// The path of the lock file.
        path: PathBuf,
    },
}

impl FileError {
    /// Creates the error for a failure of the operating system at a path.
    pub(crate) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_owned(), source }
    }

    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile { .. }
            | Self::NotAFolder { .. }
            | Self::Unwritable { .. }
            | Self::TooLarge { .. }
            | Self::Locked { .. } => ErrorKind::BadInput,
            Self::Io { source, .. } => source.into(),
            Self::Stopped { .. } => ErrorKind::Stopped,
        }
    }

    /// Returns the [`io::ErrorKind`] of the operating system's error. For other errors, returns the
    /// most similar kind.
    #[must_use]
    pub fn io_kind(&self) -> io::ErrorKind {
        match self {
            Self::NotAFile { .. } | Self::Unwritable { .. } => io::ErrorKind::InvalidInput,
            Self::NotAFolder { .. } => io::ErrorKind::NotADirectory,
            Self::TooLarge { .. } => io::ErrorKind::InvalidData,
            Self::Io { source, .. } => source.kind(),
            Self::Locked { .. } => io::ErrorKind::WouldBlock,
            Self::Stopped { .. } => io::ErrorKind::Interrupted,
        }
    }

    /// Returns the path of the failed operation.
    #[must_use]
    pub fn path(&self) -> &Path {
        match self {
            Self::NotAFile { path, .. }
            | Self::NotAFolder { path, .. }
            | Self::Unwritable { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Io { path, .. }
            | Self::Locked { path }
            | Self::Stopped { path } => path,
        }
    }

    /// Converts the error to an [`io::Error`] for a message that already contains `path`. If the
    /// failed operation was on `path`, the message of the result is only the reason, as for the
    /// conversion by `From`. Otherwise it is the whole message of this error.
    #[must_use]
    pub fn in_message_of(self, path: &Path) -> io::Error {
        if self.path() == path { self.into() } else { io::Error::new(self.io_kind(), self) }
    }

    /// Returns whether the error is that the file or its directory does not exist.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        self.io_kind() == io::ErrorKind::NotFound
    }
}

impl From<FileError> for io::Error {
    fn from(error: FileError) -> Self {
        let kind = error.io_kind();
        let what = match error {
            FileError::Io { source, .. } => return source,
            FileError::NotAFile { what, .. } => format!("it is {what}, not a regular file"),
            FileError::NotAFolder { path, what } => {
                format!("{} is {what}, not a directory", path.display())
            }
            FileError::Unwritable { reason, .. } => reason,
            FileError::TooLarge { bytes, most, .. } => {
                format!("it has {bytes} bytes; at most {most} are read")
            }
            FileError::Locked { .. } => "it is locked by another process".into(),
            FileError::Stopped { .. } => "stopped while waiting for its lock".into(),
        };
        Self::new(kind, what)
    }
}
