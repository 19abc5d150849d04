//! Damages files on disk.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub use warpint_files::testing::FullDisk;

/// Flips one bit of a file. The index `bit` is taken modulo the number of bits of the file.
///
/// # Errors
/// The file cannot be read or written, or is empty.
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

/// Shortens a file to its first `bytes` bytes, where `bytes` is taken modulo the length of the
/// file.
///
/// # Errors
/// The file cannot be read or written, or is empty.
pub fn cut_file(path: &Path, bytes: u64) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    let bytes = bytes.checked_rem(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    File::options().write(true).open(path)?.set_len(bytes)
}
