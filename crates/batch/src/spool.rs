//! Temporary files for streams that can be read or written only sequentially: pipes, standard input
//! and standard output.
//!
//! The data of a stream are stored in an unnamed file in the directory for temporary files.
//! Operands are stored because the numbers are counted before the computation begins. Results are
//! stored because they are written to the stream only when all are complete.

use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::path::Path;

use sha2::{Digest, Sha256};

use crate::{BatchError, words};

/// The kind of object that a path leads to, as far as it matters for reading and writing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(unix), allow(dead_code, reason = "only Unix tells these kinds apart"))]
pub(crate) enum Kind {
    File,
    /// A FIFO, or a file descriptor of a FIFO. The value is the identity of the FIFO.
    Pipe(Id),
    /// `/dev/null`. As an operand it is empty.
    Null,
    /// A character device other than `/dev/null`. The value is the identity of the device.
    Device(Id),
    /// An object that can be neither an operand nor an output. The value describes it, for example
    /// `is a directory`.
    Other(&'static str),
}

/// The identity of an object in the file system: its device number and inode number.
pub(crate) type Id = (u64, u64);

impl Kind {
    #[cfg(unix)]
    pub(crate) fn of(found: &Metadata) -> Self {
        use std::os::unix::fs::{FileTypeExt, MetadataExt};

        let (kind, id) = (found.file_type(), (found.dev(), found.ino()));
        let is_null =
            || std::fs::metadata("/dev/null").is_ok_and(|null| null.rdev() == found.rdev());
        match () {
            () if kind.is_file() => Self::File,
            () if kind.is_fifo() => Self::Pipe(id),
            () if kind.is_char_device() && is_null() => Self::Null,
            () if kind.is_char_device() => Self::Device(id),
            () if kind.is_dir() => Self::Other("is a directory"),
            () if kind.is_block_device() => Self::Other("is a block device"),
            () if kind.is_socket() => Self::Other("is a socket"),
            () => Self::Other("is neither a file nor a pipe"),
        }
    }

    #[cfg(not(unix))]
    pub(crate) fn of(found: &Metadata) -> Self {
        if found.is_file() { Self::File } else { Self::Other("is not a file") }
    }
}

/// The file descriptor of standard input.
pub(crate) const INPUT: u32 = 0;
/// The file descriptor of standard output.
pub(crate) const OUTPUT: u32 = 1;
/// The file descriptor of standard error.
pub(crate) const ERRORS: u32 = 2;

/// Returns the file descriptor of the standard stream that a path names. Returns `None` for other
/// paths.
///
/// The path `-` names the descriptor `dash`. Paths such as `/dev/stdin` and `/dev/fd/1` are
/// recognised, and so are symbolic links to them.
pub(crate) fn standard(path: &Path, dash: u32) -> Option<u32> {
    if path == Path::new("-") {
        return Some(dash);
    }
    let mut place = path.to_owned();
    // As many links as Linux follows.
    for _ in 0..40 {
        let number = match place.to_str() {
            Some("/dev/stdin") => Some(INPUT),
            Some("/dev/stdout") => Some(OUTPUT),
            Some("/dev/stderr") => Some(ERRORS),
            Some(text) => ["/dev/fd/", "/proc/self/fd/"]
                .iter()
                .find_map(|folder| text.strip_prefix(folder)?.parse().ok()),
            None => None,
        };
        if let Some(number) = number {
            return Some(number).filter(|&number| number <= ERRORS);
        }
        let target = std::fs::read_link(&place).ok()?;
        place = place.parent().unwrap_or(Path::new("")).join(target);
    }
    None
}

/// Copies all data of `from` to a temporary file. Returns the file, its size in bytes, and the
/// SHA-256 of the data as hexadecimal digits. `name` is used in error messages only.
pub(crate) fn keep(mut from: impl Read, name: &str) -> Result<(File, u64, String), BatchError> {
    let mut kept = nameless()?;
    let mut digest = Sha256::new();
    let mut size = 0;
    let mut block = vec![0; 1 << 18];
    loop {
        let some = match from.read(&mut block) {
            Ok(0) => break,
            Ok(some) => some,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => return Err(BatchError::Read { name: name.to_owned(), source }),
        };
        let bytes = &block[..some];
        digest.update(bytes);
        size += some as u64;
        kept.write_all(bytes)
            .map_err(|source| BatchError::Temporary { action: format!("keep {name}"), source })?;
    }
    Ok((kept, size, words::hex(&digest.finalize())))
}

/// Creates a temporary file without a name. The operating system removes it when it is closed.
pub(crate) fn nameless() -> Result<File, BatchError> {
    tempfile::tempfile()
        .map_err(|source| BatchError::Temporary { action: "make a file".into(), source })
}
