//! Results of a job that is not at its end, in files beside their places: `OUT.partial`.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;
use crc32fast::Hasher;
use serde::{Deserialize, Serialize};

use crate::exit::BadRequest;
use crate::whole_file::WholeFile;

/// A file that is locked against other processes, and gone unless it is finished or kept.
pub(crate) struct Partial {
    file: File,
    /// OUT, as it was given.
    name: String,
    /// Where OUT is.
    place: PathBuf,
    path: PathBuf,
    /// What is written so far, of which the last piece may not be known to be whole.
    written: Mark,
    hasher: Hasher,
    stays: bool,
}

/// How much of a file is written, and the CRC-32 of these bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    pub(crate) bytes: u64,
    pub(crate) crc32: u32,
}

/// The path of the unfinished file of OUT.
pub(crate) fn partial_path(out: &WholeFile) -> PathBuf {
    let mut name = out.place().file_name().unwrap_or_default().to_owned();
    name.push(".partial");
    out.place().with_file_name(name)
}

/// Whether a file of the program's own is there; anything else in its place is refused, links too.
pub(crate) fn is_there(path: &Path) -> Result<bool, BadRequest> {
    match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => Ok(true),
        Ok(_) => {
            Err(BadRequest(format!("{} is in the way: it is no regular file", path.display())))
        }
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(e) => Err(BadRequest(format!("cannot look at {}: {e}", path.display()))),
    }
}

impl Partial {
    /// Opens the unfinished file of OUT, or makes it, and locks it.
    pub(crate) fn open(out: &WholeFile) -> anyhow::Result<Self> {
        let (path, name) = (partial_path(out), out.path.display().to_string());
        is_there(&path)?;
        let mut options = OpenOptions::new();
        let file = options.read(true).write(true).create(true).truncate(false).open(&path);
        let file = file.with_context(|| format!("cannot write {}", path.display()))?;
        match file.try_lock() {
            // Not every file system has locks.
            Ok(()) | Err(TryLockError::Error(_)) => {}
            Err(TryLockError::WouldBlock) => {
                return Err(BadRequest(format!("another process is writing {name}")).into());
            }
        }
        let place = out.place().to_owned();
        let (written, hasher) = (Mark::default(), Hasher::new());
        Ok(Self { file, name, place, path, written, hasher, stays: true })
    }

    /// Begins anew.
    pub(crate) fn clear(&mut self) -> anyhow::Result<()> {
        let cleared = self.file.set_len(0).and_then(|()| self.file.rewind());
        cleared.with_context(|| self.unwritten())?;
        if let Ok(replaced) = fs::metadata(&self.place) {
            // Who could read that can read this. Not every file system knows.
            drop(self.file.set_permissions(replaced.permissions()));
        }
        (self.written, self.hasher, self.stays) = (Mark::default(), Hasher::new(), false);
        Ok(())
    }

    /// Goes on behind this mark. `false` if the bytes up to there are not those that were written.
    pub(crate) fn go_on(&mut self, mark: Mark) -> anyhow::Result<bool> {
        let failed = || format!("cannot read {}", self.path.display());
        self.file.rewind().with_context(failed)?;
        let mut hasher = Hasher::new();
        let mut left = BufReader::with_capacity(1 << 18, &self.file).take(mark.bytes);
        let mut block = vec![0; 1 << 18];
        let mut bytes = 0;
        loop {
            let some = left.read(&mut block).with_context(failed)?;
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
        cut.with_context(|| self.unwritten())?;
        (self.written, self.hasher) = (mark, hasher);
        Ok(true)
    }

    pub(crate) fn written(&self) -> Mark {
        self.written
    }

    /// Appends bytes.
    pub(crate) fn write(&mut self, bytes: &[u8]) -> anyhow::Result<()> {
        self.file.write_all(bytes).with_context(|| self.unwritten())?;
        self.hasher.update(bytes);
        self.written.bytes += bytes.len() as u64;
        self.written.crc32 = self.hasher.clone().finalize();
        Ok(())
    }

    /// Brings what is written to the disk; the file stays then.
    pub(crate) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_data()?;
        self.stays = true;
        Ok(())
    }

    /// Brings all of it to the disk.
    pub(crate) fn sync_all(&self) -> anyhow::Result<()> {
        self.file.sync_all().with_context(|| self.unwritten())
    }

    /// Moves it to its place; being on the disk, it is whole for whoever looks.
    pub(crate) fn finish(mut self) -> anyhow::Result<()> {
        fs::rename(&self.path, &self.place).with_context(|| self.unwritten())?;
        self.stays = true;
        Ok(())
    }

    /// Removes it.
    pub(crate) fn discard(mut self) {
        self.stays = false;
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    fn unwritten(&self) -> String {
        format!("cannot write {}", self.name)
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if !self.stays {
            drop(fs::remove_file(&self.path));
        }
    }
}
