//! The lock that reserves a checkpoint directory for one process.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use warpint_files::{FileError, Folder, Lock};

/// The name of the lock file.
pub(super) const LOCK_FILE: &str = "lock";

/// An advisory lock on a file that contains the process id of its holder.
///
/// The operating system releases the lock when the process ends, even if the process is killed. So
/// a dead process never blocks another one. If the lock is free but the file contains a process id,
/// the process with this id died without releasing the lock itself.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    lock: Lock,
}

/// The result of an attempt to take the lock.
pub(super) enum Attempt {
    /// The lock was taken. `stale` is the id of a dead process that did not release it.
    Taken { lock: DirectoryLock, stale: Option<u32> },
    /// A running process holds the lock. `pid` is its process id, or 0 if the lock file contains no
    /// process id.
    Held { pid: u32 },
}

impl DirectoryLock {
    pub(super) fn try_take(folder: &Folder) -> io::Result<Attempt> {
        let named = |error: FileError| error.in_message_of(folder.path());
        let Some(lock) = folder.try_lock(LOCK_FILE).map_err(named)? else {
            let pid = folder.open(LOCK_FILE).ok().and_then(|file| pid(&file));
            return Ok(Attempt::Held { pid: pid.unwrap_or(0) });
        };
        let lock = lock.enforced().map_err(named)?;
        let mut file = lock.file();
        let stale = pid(file);
        // The lock is effective even if the process id cannot be written, for example because the
        // disk is full.
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        Ok(Attempt::Taken { lock: Self { lock }, stale })
    }

    /// Returns whether the lock file still exists under its name. If it does not, another process
    /// can take the lock.
    pub(super) fn is_in_place(&self) -> bool {
        self.lock.is_in_place()
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // An empty file shows that its last holder released the lock. If emptying it fails, the
        // next process reports a stale lock and continues.
        let _ = self.lock.file().set_len(0);
    }
}

/// Reads the process id in a lock file. Reads at most 32 bytes, and returns `None` if they contain
/// no process id.
fn pid(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
