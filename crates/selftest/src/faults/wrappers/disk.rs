//! Disks that are full, and files that change while nobody looks.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use warpint_mersenne::checkpoint::{FileWriter, SyncedFiles};

/// A disk that is full for the next so many files, and keeps half of each.
#[derive(Debug, Clone)]
pub struct FullDisk {
    left: Arc<AtomicU64>,
}

impl FullDisk {
    /// Full for so many files.
    #[must_use]
    pub fn new(files: u64) -> Self {
        Self { left: Arc::new(AtomicU64::new(files)) }
    }

    /// The files that it will refuse yet.
    #[must_use]
    pub fn left(&self) -> u64 {
        self.left.load(Ordering::Relaxed)
    }
}

impl FileWriter for FullDisk {
    fn write(&mut self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let refuse = |left: u64| left.checked_sub(1);
        if self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, refuse).is_ok() {
            fs::write(path, &bytes[..bytes.len() / 2])?;
            return Err(io::ErrorKind::StorageFull.into());
        }
        SyncedFiles.write(path, bytes)
    }
}

/// Flips a bit of a file, taken mod its length.
///
/// # Errors
/// Those of the file system; an empty file has no bit.
pub fn flip_bit_of_file(path: &Path, bit: u64) -> io::Result<()> {
    let mut file = OpenOptions::new().read(true).write(true).open(path)?;
    let bits = file.metadata()?.len() * 8;
    let bit = bit.checked_rem(bits).ok_or(io::ErrorKind::UnexpectedEof)?;
    let mut byte = [0];
    file.seek(SeekFrom::Start(bit / 8))?;
    file.read_exact(&mut byte)?;
    byte[0] ^= 1 << (bit % 8);
    file.seek(SeekFrom::Start(bit / 8))?;
    file.write_all(&byte)
}

/// Cuts a file to `bytes`, taken mod its length: to less than it has.
///
/// # Errors
/// Those of the file system; an empty file cannot be cut.
pub fn cut_file(path: &Path, bytes: u64) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    let bytes = bytes.checked_rem(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    File::options().write(true).open(path)?.set_len(bytes)
}
