//! Access to directories that the program owns, and to files that the user names.
//!
//! | what | function | after it returns | after a power cut or a kill during it |
//! |---|---|---|---|
//! | read a file whole | [`Folder::read`], [`given::read`] | | |
//! | replace a file | [`Folder::replace`], [`Unfinished::finish`] | the new file is on disk | the old file or the new one, whole; perhaps a temporary file |
//! | make a file that must not exist | [`Unfinished::finish_new`] | the file is on disk | no file or the whole one; perhaps a temporary file |
//! | replace a file that may be lost | [`Unfinished::finish_unsynced`] | readers see the new file | after a kill, old or new; after a power cut, anything |
//! | append to a file | [`Folder::append`] | the bytes are on disk | a part of the bytes |
//! | one process at a time | [`Folder::try_lock`], [`Folder::lock`] | the lock is held | the lock is free |
//!
//! A [`Folder`] is a directory that the program owns: its work directory, its cache, a directory of
//! units. Its path comes from the user and may be a symbolic link. Below it no link is followed,
//! neither for inner directories nor for files, and only regular files are opened: a link, FIFO,
//! socket, device or directory in place of a file is a [`FileError::NotAFile`] at once.
//!
//! On Unix every operation opens the directory first and works relative to that handle (`openat`,
//! `O_NOFOLLOW`, `O_NONBLOCK`, `fstat`), so that no link can be inserted between the check and the
//! use. On other systems the check precedes the use, and a file that is swapped in between is not
//! noticed.
//!
//! An input file that the user names ([`given`]) may be a link, but must lead to a regular file. A
//! path that the user names for results ([`WholeFile`]) may be a link too: the target of the link
//! is replaced.
//!
//! There is no protection against users with write access to the directory: they can remove,
//! replace or change files like the program itself. Formats that must detect changes contain a
//! digest.

mod digest;
mod disk;
mod error;
mod folder;
pub mod given;
mod kind;
mod lock;
mod name;
mod sys;
pub mod testing;
mod unfinished;
mod whole_file;

pub use digest::sha256;
pub use disk::{Disk, RealDisk, Step};
pub use error::FileError;
pub use folder::{Entry, Folder};
pub use kind::ErrorKind;
pub use lock::Lock;
pub use unfinished::Unfinished;
pub use whole_file::{Draft, WholeFile};
