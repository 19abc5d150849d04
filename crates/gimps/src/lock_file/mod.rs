//! `FILE.lck`: the lock by which programs around GIMPS take turns at a file.

#[cfg(test)]
mod tests;

use std::ffi::{OsStr, OsString};
use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

use warpint_files::{ErrorKind, FileError, Folder};

/// Between two looks at a lock that somebody holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What the lock of this program begins with; others leave theirs empty.
const OWN: &str = "warpint ";
/// Private files that somebody has locked or removed before their maker could lock them.
const TRIES: usize = 10;

/// Held as long as it lives.
///
/// That the file is there is the lock; others make it with O_CREAT|O_EXCL, and
/// it is removed in the end. Beside that its maker holds the operating system's
/// own lock on it, which goes when the process dies, and leaves its process id
/// there: so that a file that a killed `warpint` left behind is known for what it
/// is, and taken over. That lock comes before the id, so whoever finds an id
/// without it knows that the holder is gone. What another program left behind is
/// not touched.
///
/// The file is made as `FILE.lck.<process>-<n>`, locked, given its id, and only
/// then linked to `FILE.lck`, which fails if that is there, in one step as
/// O_EXCL does: no instant has a lock without an id. The first name is removed at
/// once; one that a killed process left is removed by the next who has the lock.
/// A file system without hard links gets the lock by O_EXCL, and its id after.
#[derive(Debug)]
pub struct LockFile {
    place: Place,
    file: File,
    taken_over: Option<u32>,
}

/// Why a lock could not be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LockError {
    /// Somebody else holds it.
    #[error(
        "{} is locked by {holder}, {} s old: if no program is at work there, remove the lock",
        path.display(), age.as_secs()
    )]
    Held {
        /// The lock.
        path: PathBuf,
        /// Whose it is, in words.
        holder: String,
        /// Since it was made.
        age: Duration,
    },
    /// It can neither be made nor looked at.
    #[error("cannot make the lock {}: {source}", path.display())]
    Make {
        /// The lock.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A stop was requested while somebody else held it.
    #[error("stopped while waiting for the lock {}", path.display())]
    Stopped {
        /// The lock.
        path: PathBuf,
    },
}

impl LockError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Held { .. } => ErrorKind::BadInput,
            Self::Stopped { .. } => ErrorKind::Stopped,
            Self::Make { source, .. } => source.into(),
        }
    }
}

/// The lock's directory, its name there, and its path.
#[derive(Debug)]
struct Place {
    folder: Folder,
    name: OsString,
    path: PathBuf,
}

impl Place {
    /// That of the lock of a file.
    fn of(file: &Path) -> Result<Self, FileError> {
        let (folder, name) = Folder::of(file)?;
        let mut name = name.to_owned();
        name.push(".lck");
        Ok(Self { path: folder.file(&name), folder, name })
    }
}

impl LockFile {
    /// Takes the lock of `file`, waiting at most `patience` for it. `stop` is asked every 20 ms: once
    /// it says so, the wait ends.
    ///
    /// Whatever has the lock's name is a lock, as for all programs that make it with O_EXCL; what is
    /// no regular file is not opened.
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

    /// The dead process that this lock was taken over from.
    #[must_use]
    pub fn taken_over(&self) -> Option<u32> {
        self.taken_over
    }

    /// The lock's file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.place.path
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        let Place { folder, name, .. } = &self.place;
        // Not if a person has removed it and it is now another's.
        if folder.is_at(&self.file, name) {
            let _ = folder.remove(name);
        }
    }
}

/// Makes the lock with its id in it, under a private name first; `None` where that
/// cannot be done.
fn make_linked(Place { folder, name, .. }: &Place) -> Option<Result<File, FileError>> {
    for _ in 0..TRIES {
        let private = private_name(name);
        let mut file = match folder.create_new(&private) {
            Ok(file) => file,
            // Left by a killed process that had our id.
            Err(e) if e.io_kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => return None,
        };
        // Whoever clears away holds it for an instant and removes it.
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

/// Makes the lock by O_EXCL, and its id after.
fn make_at_once(Place { folder, name, .. }: &Place) -> Result<File, FileError> {
    let mut file = folder.create_new(name)?;
    // Where the system has no such locks, nobody can take this one over; and one
    // without an id locks as well.
    let _ = file.try_lock();
    let _ = write_own_id(&mut file);
    Ok(file)
}

/// `FILE.lck.<process>-<n>`, another one each time.
fn private_name(lock: &OsStr) -> OsString {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = lock.to_owned();
    name.push(format!(".{}-{n}", std::process::id()));
    name
}

/// Whether a file's name is a private one of this lock.
fn is_private_name(name: &OsStr, lock: &OsStr) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = || {
        let rest = name.to_str()?.strip_prefix(lock.to_str()?)?;
        rest.strip_prefix('.')?.split_once('-')
    };
    numbers().is_some_and(|(process, n)| number(process) && number(n))
}

/// Removes the private names that killed processes have left of a lock, by who holds it.
fn clear_away(Place { folder, name, .. }: &Place, lock: &File) {
    for entry in folder.list().unwrap_or_default() {
        let private = &entry.name;
        if !entry.is_file || !is_private_name(private, name) {
            continue;
        }
        // A second name of the lock that was taken over, or a file whose maker is gone. One that
        // is alive and loses its name so makes another.
        let left_behind = cfg!(unix) && folder.is_at(lock, private)
            || folder
                .open_to_change(private)
                .is_ok_and(|file| file.try_lock().is_ok() && folder.is_at(&file, private));
        if left_behind {
            let _ = folder.remove(private);
        }
    }
}

/// Always as many bytes: written over another id it leaves nothing of that, and
/// there is no moment without one.
fn write_own_id(file: &mut File) -> io::Result<()> {
    file.seek(SeekFrom::Start(0))?;
    file.write_all(format!("{OWN}{:>10}\n", std::process::id()).as_bytes())
}

/// The process id in a lock of this program.
fn own_id(file: &File) -> Option<u32> {
    let mut text = String::new();
    file.take(64).read_to_string(&mut text).ok()?;
    text.strip_prefix(OWN)?.trim().parse().ok()
}

/// The lock that a killed process of this program has left behind.
fn take_over(Place { folder, name, .. }: &Place) -> Option<(File, u32)> {
    let mut file = folder.open_to_change(name).ok()?;
    let holder = own_id(&file)?;
    file.try_lock().ok()?;
    // Meanwhile its holder, or who took it over, may have removed it; only Unix can tell.
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
