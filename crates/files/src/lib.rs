//! Access to directories that the program owns, and to files that the user names.
//!
//! | task | function | after it returns | after a power failure or a kill during it |
//! |---|---|---|---|
//! | read a whole file | [`Folder::read`], [`given::read`] | | |
//! | replace a file | [`Folder::replace`], [`Unfinished::finish`] | the new file is on disk | the whole old or the whole new file; perhaps a temporary file |
//! | create a file that must not exist | [`Unfinished::finish_new`] | the file is on disk | no file or the whole file; perhaps a temporary file |
//! | replace a file that may be lost | [`Unfinished::finish_unsynced`] | readers see the new file | after a kill, the old or the new file; after a power failure, any contents |
//! | append to a file | [`Folder::append`] | the bytes are on disk | perhaps only a part of the bytes |
//! | one process at a time | [`Folder::try_lock`], [`Folder::lock`] | the lock is held | the lock is free |
//!
//! A [`Folder`] is a directory that the program owns, such as its work directory or its cache. The
//! path of this directory comes from the user and may be a symbolic link. Below the directory no
//! link is followed, neither for inner directories nor for files. Only regular files are opened.
//! For a link, FIFO, socket, device or directory in place of a file, the error
//! [`FileError::NotAFile`] is returned without waiting. For an object in place of a directory, the
//! error is [`FileError::NotAFolder`].
//!
//! On Unix, every operation on a [`Folder`] opens the directory first and works relative to its
//! handle (`openat`, `O_NOFOLLOW`, `O_NONBLOCK`, `fstat`). So no link can be inserted between the
//! check and the use of a file. On other systems, the check precedes the use, and a replacement of
//! the file between the two is not noticed.
//!
//! An input file that the user names (module [`given`]) may be a symbolic link, but must lead to a
//! regular file. A path that the user names for results ([`WholeFile`]) may be a symbolic link too;
//! the target of the link is replaced.
//!
//! There is no protection against users with write access to the directory. They can remove,
//! replace or change files like the program itself. File formats that must detect changes contain a
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
