//! One process at a time in a checkpoint directory.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use warpint_files::{FileError, Folder, Lock};

/// The lock's file in the directory.
pub(super) const LOCK_FILE: &str = "lock";

/// An advisory lock on a file that holds the process id of its holder.
///
/// The operating system drops the lock with the process, however it dies, so
/// a stale lock never blocks anybody; the id left in the file tells of it.
#[derive(Debug)]
pub(super) struct DirectoryLock {
    lock: Lock,
}

/// What came of trying to take the lock.
pub(super) enum Attempt {
    /// Taken; `stale` is the dead process that never gave it back.
    Taken { lock: DirectoryLock, stale: Option<u32> },
    /// Held by a living process (0 if the file does not say which).
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
        // The lock holds whether or not its file can say for whom: a full disk
        // is no reason not to go on.
        let _ = file
            .set_len(0)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .and_then(|_| writeln!(file, "{}", std::process::id()));
        Ok(Attempt::Taken { lock: Self { lock }, stale })
    }

    /// Whether its file still has its name: if not, another process can take the lock.
    pub(super) fn is_in_place(&self) -> bool {
        self.lock.is_in_place()
    }
}

impl Drop for DirectoryLock {
    fn drop(&mut self) {
        // An empty file says that its last holder left in good order. Should
        // this fail, the next process reports a stale lock and goes on.
        let _ = self.lock.file().set_len(0);
    }
}

/// The process id in a lock's file. Whatever stands there, a few bytes are enough for one.
fn pid(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(32).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
