//! `FILE.lck`: the lock file by which programs around GIMPS exclude each other from a file.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use warpint_files::{ErrorKind, FileError, Folder};

/// The time between two attempts to take a lock that another program holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// The text with which this program's lock files begin. Lock files of other programs are empty.
const OWN: &str = "warpint ";
/// The largest number of attempts to create a lock. An attempt fails if another process locks or
/// removes the file with the private name before this process has locked it.
const TRIES: usize = 10;

/// The lock of a file `FILE`, which this process holds until the value is dropped.
///
/// The lock is the existence of `FILE.lck`. Other programs create it with O_CREAT|O_EXCL; the
/// holder removes it in the end. `warpint` additionally holds the operating system's lock on the
/// file, which is released when the process dies, and writes its process id into it. Therefore a
/// file left by a killed `warpint` can be recognised and taken over. The system's lock is acquired
/// before the id is written, so a file with an id but without the system's lock belongs to a dead
/// process. Files left by other programs are not touched.
///
/// The file is created under the private name `FILE.lck.<process>-<n>`, locked, given its id, and
/// only then linked to `FILE.lck`. The link fails if `FILE.lck` exists, in one atomic step like
/// O_EXCL, so the lock never exists without an id. The private name is removed at once; if a killed
/// process left it, the next holder of the lock removes it. On a file system without hard links,
/// the lock is created with O_EXCL and the id is written afterwards.
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
        /// The path of the lock file.
        path: PathBuf,
        /// A description of the program that holds the lock.
        holder: String,
        /// The time since the lock file was created or last changed.
        age: Duration,
    },
    /// The lock file can be neither created nor examined.
    #[error("cannot make the lock {}: {source}", path.display())]
    Make {
        /// The path of the lock file.
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
    /// Returns the kind of the error.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Held { .. } => ErrorKind::BadInput,
            Self::Stopped { .. } => ErrorKind::Stopped,
            Self::Make { source, .. } => source.into(),
        }
    }
}

/// The directory of a lock file, the name of the lock file in it, and its path.
#[derive(Debug)]
struct Place {
    folder: Folder,
    name: OsString,
    path: PathBuf,
}

impl Place {
    /// Returns the directory, name and path of the lock file of `file`.
    fn of(file: &Path) -> Result<Self, FileError> {
        let (folder, name) = Folder::of(file)?;
        let mut name = name.to_owned();
        name.push(".lck");
        Ok(Self { path: folder.file(&name), folder, name })
    }
}

impl LockFile {
    /// Acquires and returns the lock of `file`. Waits for at most `patience` while another program
    /// holds it. Calls `stop` every 20 ms during the wait, and returns [`LockError::Stopped`] once
    /// `stop` returns true.
    ///
    /// Any object with the name of the lock file counts as a lock, as for all programs that create
    /// the file with O_EXCL. Objects other than regular files are not opened.
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

    /// Returns the id of the dead process whose lock was taken over, if any.
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

/// Creates the lock file: creates a file under a private name, writes the id of this process into
/// it, and links `FILE.lck` to it. Returns `None` if this is not possible, for example on a file
/// system without hard links.
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

/// Creates the lock file with O_EXCL, and writes the id of this process afterwards.
fn make_at_once(Place { folder, name, .. }: &Place) -> Result<File, FileError> {
    let mut file = folder.create_new(name)?;
    // On systems without such locks nobody can take this lock over. A lock without an id is a lock,
    // too.
    let _ = file.try_lock();
    let _ = write_own_id(&mut file);
    Ok(file)
}

/// Returns a private name `FILE.lck.<process>-<n>` for the lock `FILE.lck`, different at each call.
fn private_name(lock: &OsStr) -> OsString {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = lock.to_owned();
    name.push(format!(".{}-{n}", std::process::id()));
    name
}

/// Returns whether a file's name is a private name of this lock.
fn is_private_name(name: &OsStr, lock: &OsStr) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = || {
        let rest = name.to_str()?.strip_prefix(lock.to_str()?)?;
        rest.strip_prefix('.')?.split_once('-')
    };
    numbers().is_some_and(|(process, n)| number(process) && number(n))
}

/// Removes the files that killed processes left under private names of this lock. Only the holder
/// of the lock may call this.
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

/// Writes the id of this process into the lock file. The number of bytes is always the same, so
/// that an earlier id is overwritten completely, and the file is never without an id.
fn write_own_id(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{OWN}{:>10}\n", std::process::id()).as_bytes())
}

/// Reads the process id from a lock file. Returns `None` if the file was not written by this
/// program.
fn own_id(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.strip_prefix(OWN)?.trim().parse().ok()
}

/// Takes over the lock left by a killed process of this program. Returns the lock file and the id
/// of the killed process. Returns `None` if the lock cannot be taken over.
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
