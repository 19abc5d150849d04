//! Files that change while no process uses them.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

pub use warpint_files::testing::FullDisk;

/// Flips a bit of a file; its number is taken mod the length of the file in bits.
///
/// # Errors
/// Returns errors of the file system, and an error for an empty file.
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

/// Cuts a file to `bytes` bytes, taken mod its length, so that it becomes shorter.
///
/// # Errors
/// Returns errors of the file system, and an error for an empty file.
pub fn cut_file(path: &Path, bytes: u64) -> io::Result<()> {
    let length = fs::metadata(path)?.len();
    let bytes = bytes.checked_rem(length).ok_or(io::ErrorKind::UnexpectedEof)?;
    File::options().write(true).open(path)?.set_len(bytes)
}
