//! The lock file `FILE.lck`, by which GIMPS programs lock a file `FILE` against changes by other
//! programs.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use warpint_files::{ErrorKind, FileError, Folder};

/// The time between two attempts to acquire a lock that another program holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The text at the beginning of this program's lock files. Lock files of other programs are empty.
const OWN: &str = "warpint ";
/// The largest number of attempts to create a lock. An attempt fails if its private name exists
/// already, or if another process locks or removes the private file before this process has locked
/// it.
const TRIES: usize = 10;

/// The lock of a file `FILE`, which this process holds until the value is dropped.
///
/// A program holds the lock as long as its file `FILE.lck` exists. Other programs create this file
/// with O_CREAT|O_EXCL and remove it when they release the lock. Lock files of other programs are
/// never taken over.
///
/// `warpint` can take over a lock file that a killed `warpint` process left behind. For this
/// purpose, `warpint` writes its process id to the lock file and acquires the operating system's
/// lock on it. The system releases its own lock when the process dies. The system's lock is
/// acquired before the id is written. So a file that contains an id but is not locked by the system
/// belongs to a dead process.
///
/// On a file system with hard links, the lock file never exists without an id, because it is
/// created in several steps. The file is created under the private name `FILE.lck.<process>-<n>`,
/// locked, and given its id. Only then is it linked to `FILE.lck`. Linking is atomic and fails if
/// `FILE.lck` exists, like O_EXCL. Then the private name is removed. If a process is killed before
/// this step, the next holder of the lock removes the private name.
///
/// On a file system without hard links, the lock file is created with O_EXCL, and the id is written
/// afterwards.
#[derive(Debug)]
pub struct LockFile {
    place: Place,
    file: File,
    taken_over: Option<u32>,
}

/// The reason why a lock could not be acquired.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Another program holds the lock.
    #[error(
        "{} is locked by {holder}, {} s old: if no program is at work there, remove the lock",
        path.display(), age.as_secs()
    )]
    Held {
        /// The path of the locked file.
        path: PathBuf,
        /// A description of the program that holds the lock, with the path of the lock file.
        holder: String,
        /// The time since the lock file was created or last changed.
        age: Duration,
    },
    /// The lock file can be neither created nor examined.
    #[error("cannot make the lock {}: {source}", path.display())]
    Make {
        /// The path of the lock file, or of the file to lock if its directory is invalid.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A stop was requested while another program held the lock.
    #[error("stopped while waiting for the lock {}", path.display())]
    Stopped {
        /// The path of the lock file.
        path: PathBuf,
    },
}

impl LockError {
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Held { .. } => ErrorKind::BadInput,
            Self::Stopped { .. } => ErrorKind::Stopped,
            Self::Make { source, .. } => source.into(),
        }
    }
}

/// The location of a lock file: its directory, its name in the directory, and its path.
#[derive(Debug)]
struct Place {
    folder: Folder,
    name: OsString,
    path: PathBuf,
}

impl Place {
    /// Returns the location of the lock file of `file`.
    fn of(file: &Path) -> Result<Self, FileError> {
        let (folder, name) = Folder::of(file)?;
        let mut name = name.to_owned();
        name.push(".lck");
        Ok(Self { path: folder.file(&name), folder, name })
    }
}

impl LockFile {
    /// Acquires the lock of `file`. Waits for at most `patience` while another program holds it.
    /// During the wait, calls `stop` every 20 ms, and returns [`LockError::Stopped`] when `stop`
    /// returns true.
    ///
    /// Any object with the name of the lock file counts as a lock, because programs that create the
    /// lock file with O_EXCL treat it as a lock. Objects other than regular files are not opened.
    ///
    /// # Errors
    /// [`LockError::Held`] if another program still holds the lock after `patience`;
    /// [`LockError::Stopped`] if `stop` returned true before; [`LockError::Make`] if the lock file
    /// can be neither created nor examined.
    pub fn take(
        file: &Path,
        patience: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<Self, LockError> {
        let place = Place::of(file)
            .map_err(|e| LockError::Make { path: file.to_owned(), source: e.into() })?;
        let begin = Instant::now();
        loop {
            match make_linked(&place).unwrap_or_else(|| make_at_once(&place)) {
                Ok(file) => {
                    clear_away(&place, &file);
                    return Ok(Self { place, file, taken_over: None });
                }
                Err(e) if e.io_kind() == io::ErrorKind::AlreadyExists => {}
                Err(e) => {
                    let source = e.in_message_of(&place.path);
                    return Err(LockError::Make { path: place.path, source });
                }
            }
            if let Some((file, holder)) = take_over(&place) {
                clear_away(&place, &file);
                return Ok(Self { place, file, taken_over: Some(holder) });
            }
            if stop() {
                return Err(LockError::Stopped { path: place.path });
            }
            if begin.elapsed() >= patience {
                return Err(held(&place));
            }
            std::thread::sleep(LOOK_EVERY);
        }
    }

    /// Returns the id of the dead process from which the lock was taken over. Returns `None` if the
    /// lock was free.
    #[must_use]
    pub fn taken_over(&self) -> Option<u32> {
        self.taken_over
    }

    /// Returns the path of the lock file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place.path
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let Place { folder, name, .. } = &self.place;
        // Not if a user has removed it and another program has created it again.
        if folder.is_at(&self.file, name) {
            let _ = folder.remove(name);
        }
    }
}

/// Creates the lock file via a private name: creates a private file, writes the id of this process
/// to it, and links `FILE.lck` to it. The error is `AlreadyExists` if `FILE.lck` exists. Returns
/// `None` if the lock file cannot be created in this way, for example on a file system without hard
/// links.
fn make_linked(Place { folder, name, .. }: &Place) -> Option<Result<File, FileError>> {
    for _ in 0..TRIES {
        let private = private_name(name);
        let mut file = match folder.create_new(&private) {
            Ok(file) => file,
            // Left by a killed process that had our process id.
            Err(e) if e.io_kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => return None,
        };
        // A process that clears away holds it for an instant and removes it.
        let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let linked = locked.then(|| {
            let _ = write_own_id(&mut file);
            folder.link(&private, name)
        });
        let _ = folder.remove(&private);
        match linked {
            None => {}
            Some(Ok(())) => return Some(Ok(file)),
            Some(Err(e)) if e.io_kind() == io::ErrorKind::AlreadyExists => return Some(Err(e)),
            Some(Err(e)) if e.is_missing() => {}
            Some(Err(_)) => return None,
        }
    }
    None
}

/// Creates the lock file with O_EXCL, and writes the id of this process to it afterwards. The error
/// is `AlreadyExists` if the lock file exists.
fn make_at_once(Place { folder, name, .. }: &Place) -> Result<File, FileError> {
    let mut file = folder.create_new(name)?;
    // On systems without such locks nobody can take this lock over. A lock without an id is a lock,
    // too.
    let _ = file.try_lock();
    let _ = write_own_id(&mut file);
    Ok(file)
}

/// Returns a private name `FILE.lck.<process>-<n>` for the lock file `FILE.lck`. Each call of a
/// process returns another name.
fn private_name(lock: &OsStr) -> OsString {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = lock.to_owned();
    name.push(format!(".{}-{n}", std::process::id()));
    name
}

/// Returns whether `name` is a private name, of any process, for the lock file `lock`.
fn is_private_name(name: &OsStr, lock: &OsStr) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = || {
        let rest = name.to_str()?.strip_prefix(lock.to_str()?)?;
        rest.strip_prefix('.')?.split_once('-')
    };
    numbers().is_some_and(|(process, n)| number(process) && number(n))
}

/// Removes the files that killed processes left under private names of this lock file. The caller
/// must hold the lock; `lock` is the open lock file.
fn clear_away(Place { folder, name, .. }: &Place, lock: &File) {
    for entry in folder.list().unwrap_or_default() {
        let private = &entry.name;
        if !entry.is_file || !is_private_name(private, name) {
            continue;
        }
        // A second name of the lock that was taken over, or a file whose maker is gone. If its maker is
        // alive, it makes another one.
        let left_behind = cfg!(unix) && folder.is_at(lock, private)
            || folder
                .open_to_change(private)
                .is_ok_and(|file| file.try_lock().is_ok() && folder.is_at(&file, private));
        if left_behind {
            let _ = folder.remove(private);
        }
    }
}

/// Writes the id of this process to the lock file. The number of bytes is always the same, so the
/// write overwrites an earlier id completely, and the file contains an id at any time.
fn write_own_id(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{OWN}{:>10}\n", std::process::id()).as_bytes())
}

/// Reads the process id from a lock file. Returns `None` if this program did not write the file.
fn own_id(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.strip_prefix(OWN)?.trim().parse().ok()
}

/// Takes over the lock file that a killed process of this program left behind. Returns the lock
/// file and the id of the killed process. Returns `None` if the process is alive, if another
/// program created the lock file, or if the operating system is not Unix.
fn take_over(Place { folder, name, .. }: &Place) -> Option<(File, u32)> {
    let mut file = folder.open_to_change(name).ok()?;
    let holder = own_id(&file)?;
    file.try_lock().ok()?;
    // The holder, or another process that took it over, may have removed it meanwhile; only Unix can
    // tell.
    if !cfg!(unix) || !folder.is_at(&file, name) {
        return None;
    }
    let _ = write_own_id(&mut file);
    Some((file, holder))
}

fn held(Place { folder, name, path }: &Place) -> LockError {
    let age = fs::symlink_metadata(path)
        .and_then(|m| m.modified())
        .ok()
        .and_then(|t| t.elapsed().ok())
        .unwrap_or_default();
    let id = folder.open(name).ok().and_then(|file| own_id(&file));
    let holder = id.map_or_else(
        || format!("another program ({})", path.display()),
        |pid| format!("process {pid} ({})", path.display()),
    );
    LockError::Held { path: path.with_extension(""), holder, age }
}
