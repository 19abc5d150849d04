//! `FILE.lck`: the lock by which programs around GIMPS take turns at a file.

#[cfg(test)]
mod tests;

use std::ffi::OsStr;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};

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
    path: PathBuf,
    file: File,
    taken_over: Option<u32>,
}

/// Why a lock could not be had.
#[derive(Debug, thiserror::Error)]
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
}

impl LockFile {
    /// Takes the lock of `file`, waiting at most `patience` for it.
    pub fn take(file: &Path, patience: Duration) -> Result<Self, LockError> {
        let mut path = file.as_os_str().to_owned();
        path.push(".lck");
        let path = PathBuf::from(path);
        let begin = Instant::now();
        loop {
            match make_linked(&path).unwrap_or_else(|| make_at_once(&path)) {
                Ok(file) => {
                    clear_away(&path, &file);
                    return Ok(Self { path, file, taken_over: None });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(LockError::Make { path, source }),
            }
            if let Some((file, holder)) = take_over(&path) {
                clear_away(&path, &file);
                return Ok(Self { path, file, taken_over: Some(holder) });
            }
            if begin.elapsed() >= patience {
                return Err(held(path));
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
        &self.path
    }
}

impl Drop for LockFile {
    fn drop(&mut self) {
        // Not if a person has removed it and it is now another's.
        if is_at(&self.file, &self.path).unwrap_or(true) {
            let _ = fs::remove_file(&self.path);
        }
    }
}

/// Makes the lock with its id in it, under a private name first; `None` where that
/// cannot be done.
fn make_linked(path: &Path) -> Option<io::Result<File>> {
    for _ in 0..TRIES {
        let private = private_name(path);
        let mut file = match create(&private) {
            Ok(file) => file,
            // Left by a killed process that had our id.
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => continue,
            Err(_) => return None,
        };
        // Whoever clears away holds it for an instant and removes it.
        let locked = !matches!(file.try_lock(), Err(TryLockError::WouldBlock));
        let linked = locked.then(|| {
            let _ = write_own_id(&mut file);
            fs::hard_link(&private, path)
        });
        let _ = fs::remove_file(&private);
        match linked {
            None => {}
            Some(Ok(())) => return Some(Ok(file)),
            Some(Err(e)) if e.kind() == io::ErrorKind::AlreadyExists => return Some(Err(e)),
            Some(Err(e)) if e.kind() == io::ErrorKind::NotFound => {}
            Some(Err(_)) => return None,
        }
    }
    None
}

/// Makes the lock by O_EXCL, and its id after.
fn make_at_once(path: &Path) -> io::Result<File> {
    let mut file = create(path)?;
    // Where the system has no such locks, nobody can take this one over; and one
    // without an id locks as well.
    let _ = file.try_lock();
    let _ = write_own_id(&mut file);
    Ok(file)
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

/// `FILE.lck.<process>-<n>`, another one each time.
fn private_name(path: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let n = NEXT.fetch_add(1, Ordering::Relaxed);
    let mut name = path.as_os_str().to_owned();
    name.push(format!(".{}-{n}", std::process::id()));
    name.into()
}

/// Whether a file's name is a private one of this lock.
fn is_private_name(name: &OsStr, lock: &Path) -> bool {
    let number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let numbers = || {
        let lock = lock.file_name()?.to_str()?;
        name.to_str()?.strip_prefix(lock)?.strip_prefix('.')?.split_once('-')
    };
    numbers().is_some_and(|(process, n)| number(process) && number(n))
}

/// Removes the private names that killed processes have left of a lock, by who holds it.
fn clear_away(path: &Path, lock: &File) {
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if !is_private_name(&entry.file_name(), path) {
            continue;
        }
        let private = entry.path();
        // A second name of the lock that was taken over, or a file whose maker is gone. One that
        // is alive and loses its name so makes another.
        let left_behind = is_at(lock, &private) == Some(true)
            || open_regular(&private, true).is_some_and(|file| {
                file.try_lock().is_ok() && is_at(&file, &private).unwrap_or(true)
            });
        if left_behind {
            let _ = fs::remove_file(private);
        }
    }
}

/// Opens what is a regular file: another, as a FIFO, might wait for somebody.
fn open_regular(path: &Path, to_write: bool) -> Option<File> {
    fs::metadata(path).ok().filter(fs::Metadata::is_file)?;
    OpenOptions::new().read(true).write(to_write).open(path).ok()
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
fn take_over(path: &Path) -> Option<(File, u32)> {
    let mut file = open_regular(path, true)?;
    let holder = own_id(&file)?;
    file.try_lock().ok()?;
    // Meanwhile its holder, or who took it over, may have removed it.
    if !is_at(&file, path)? {
        return None;
    }
    let _ = write_own_id(&mut file);
    Some((file, holder))
}

/// Whether this file is the one at the path; `None` where that cannot be told.
fn is_at(file: &File, path: &Path) -> Option<bool> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        let Ok(there) = fs::symlink_metadata(path) else { return Some(false) };
        let here = file.metadata().ok()?;
        Some((here.dev(), here.ino()) == (there.dev(), there.ino()))
    }
    #[cfg(not(unix))]
    {
        let _ = (file, path);
        None
    }
}

fn held(path: PathBuf) -> LockError {
    let age = fs::metadata(&path)
        .and_then(|m| m.modified())
        .ok()
        .and_then(|t| t.elapsed().ok())
        .unwrap_or_default();
    let id = open_regular(&path, false).and_then(|file| own_id(&file));
    let holder = id.map_or_else(
        || format!("another program ({})", path.display()),
        |pid| format!("process {pid} ({})", path.display()),
    );
    let path = path.with_extension("");
    LockError::Held { path, holder, age }
}
