//! Results of an unfinished job, in a file next to each output. For the output OUT, this file is
//! `OUT.partial`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crc32fast::Hasher;
use serde::{Deserialize, Serialize};
use warpint_files::{FileError, WholeFile};

use crate::BatchError;

/// The file of the unfinished results of an output. It is locked against other processes. When the
/// value is dropped, the file is removed, unless it was moved to the output or its results are
/// kept.
pub(crate) struct Partial {
    file: File,
    /// The path of the output, as the user gave it.
    out: PathBuf,
    /// The path of the output, after following symbolic links.
    place: PathBuf,
    path: PathBuf,
    /// The length and checksum of the bytes written so far. The last of these bytes may belong to a
    /// piece that is not completely written.
    written: Mark,
    hasher: Hasher,
    /// Whether the file stays on disk when this value is dropped.
    stays: bool,
}

/// A description of the beginning of a file: its length in bytes, and the CRC-32 of these bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
}

/// Returns the path of the file that contains the unfinished results of the output `out`.
pub(crate) fn partial_path(out: &WholeFile) -> PathBuf {
    let mut name = out.place().file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    out.place().with_file_name(name)
}

/// Returns whether a regular file exists at the path. Returns an error for an object of another
/// kind, such as a symbolic link, and also if the path cannot be inspected.
pub(crate) fn is_there(path: &Path) -> Result<bool, BatchError> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => {
            let line = format!("{} is in the way: it is not a regular file", path.display());
            Err(BatchError::Request(line))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(BatchError::Request(format!("cannot look at {}: {e}", path.display()))),
    }
}

impl Partial {
    /// Opens or creates the file for the unfinished results of the output `out`, and locks it.
    pub(crate) fn open(out: &WholeFile) -> Result<Self, BatchError> {
        let (path, place, out) = (partial_path(out), out.place().to_owned(), out.path().to_owned());
        is_there(&path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.map_err(|e| failed("write", &path, e))?;
        match file.try_lock() {
            // Some file systems do not support locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                let line = format!("another process is writing {}", out.display());
                return Err(BatchError::Request(line));
            }
        }
        let (written, hasher) = (Mark::default(), Hasher::new());
        Ok(Self { file, out, place, path, written, hasher, stays: true })
    }

    /// Removes all results from the file, so that the job starts again.
    pub(crate) fn clear(&mut self) -> Result<(), BatchError> {
        let cleared = self.file.set_len(0).and_then(|()| self.file.rewind());
        cleared.map_err(|e| self.unwritten(e))?;
        if let Ok(replaced) = fs::metadata(&self.place) {
            // Everyone who could read the old file can read the new one. Not every file system
            // supports this.
            drop(self.file.set_permissions(replaced.permissions()));
        }
        (self.written, self.hasher, self.stays) = (Mark::default(), Hasher::new(), false);
        Ok(())
    }

    /// Truncates the file after the bytes that `mark` describes, so that writing continues there.
    /// Returns `false` if the file does not begin with these bytes.
    pub(crate) fn go_on(&mut self, mark: Mark) -> Result<bool, BatchError> {
        let unread = |e| failed("read", &self.path, e);
        self.file.rewind().map_err(unread)?;
        let mut hasher = Hasher::new();
        let mut left = BufReader::with_capacity(1 << 18, &self.file).take(mark.bytes);
        let mut block = vec![0; 1 << 18];
        let mut bytes = 0;
        loop {
            let some = left.read(&mut block).map_err(unread)?;
            if some == 0 {
                break;
            }
            hasher.update(&block[..some]);
            bytes += some as u64;
        }
        if (Mark { bytes, crc32: hasher.clone().finalize() }) != mark {
            return Ok(false);
        }
        let cut = self.file.set_len(bytes).and_then(|()| self.file.seek(SeekFrom::Start(bytes)));
        cut.map_err(|e| self.unwritten(e))?;
        (self.written, self.hasher) = (mark, hasher);
        Ok(true)
    }

    pub(crate) fn written(&self) -> Mark {
        self.written
    }

    /// Appends bytes to the file.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        self.file.write_all(bytes).map_err(|e| self.unwritten(e))?;
        self.hasher.update(bytes);
        self.written.bytes += bytes.len() as u64;
        self.written.crc32 = self.hasher.clone().finalize();
        Ok(())
    }

    /// Flushes the contents of the file to disk. From now on, the file is not removed when this
    /// value is dropped.
    pub(crate) fn sync(&mut self) -> Result<(), BatchError> {
        self.file.sync_data().map_err(|e| self.unwritten(e))?;
        self.stays = true;
        Ok(())
    }

    /// Flushes the contents and the metadata of the file to disk.
    pub(crate) fn sync_all(&self) -> Result<(), BatchError> {
        self.file.sync_all().map_err(|e| self.unwritten(e))
    }

    /// Renames the file to its output. The caller must have flushed the contents to disk, so that
    /// the output is complete even after a power failure.
    pub(crate) fn finish(mut self) -> Result<(), BatchError> {
        fs::rename(&self.path, &self.place).map_err(|e| self.unwritten(e))?;
        self.stays = true;
        Ok(())
    }

    /// Removes the file.
    pub(crate) fn discard(mut self) {
        self.stays = false;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn unwritten(&self, source: io::Error) -> BatchError {
        failed("write", &self.out, source)
    }
}

/// Creates the error for a failed action of the operating system at a path.
pub(crate) fn failed(action: &'static str, path: &Path, source: io::Error) -> BatchError {
    FileError::Io { action, path: path.to_owned(), source }.into()
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.stays {
            drop(fs::remove_file(&self.path));
        }
    }
}
