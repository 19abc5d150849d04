//! One process at a time in a checkpoint directory.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::Path;

/// An advisory lock on a file that holds the process id of its holder.
///
/// The operating system drops the lock with the process, however it dies, so
/// a stale lock never blocks anybody; the id left in the file tells of it.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    file: File,
}

/// What came of trying to take the lock.
pub(super) enum Attempt {
    /// Taken; `stale` is the dead process that never gave it back.
    Taken { lock: DirectoryLock, stale: Option<u32> },
    /// Held by a living process (0 if the file does not say which).
    Held { pid: u32 },
}

impl DirectoryLock {
    pub(super) fn try_take(path: &Path) -> std::io::Result<Attempt> {
        let mut file =
            OpenOptions::new().create(true).truncate(false).read(true).write(true).open(path)?;
        let taken = match file.try_lock() {
            Ok(()) => true,
            Err(TryLockError::WouldBlock) => false,
            Err(TryLockError::Error(e)) => return Err(e),
        };
        let mut text = String::new();
        // Whatever stands there, a few bytes are enough for a process id.
        let readable = (&file).take(32).read_to_string(&mut text).is_ok();
        let pid = if readable { text.trim().parse::<u32>().ok() } else { None };
        if !taken {
            return Ok(Attempt::Held { pid: pid.unwrap_or(0) });
        }
        // The lock holds whether or not its file can say for whom: a full disk
        // is no reason not to go on.
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        Ok(Attempt::Taken { lock: Self { file }, stale: pid })
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // An empty file says that its last holder left in good order. Should
        // this fail, the next process reports a stale lock and goes on.
        let _ = self.file.set_len(0);
    }
}
