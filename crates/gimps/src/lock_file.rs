//! `FILE.lck`: the lock by which programs around GIMPS take turns at a file.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Between two looks at a lock that somebody holds.
const LOOK_EVERY: Duration = Duration::from_millis(20);
/// What the lock of this program begins with; others leave theirs empty.
const OWN: &str = "warpint ";

/// Held as long as it lives.
///
/// The file is made with O_CREAT|O_EXCL, which is the lock, and removed in the
/// end. Beside that its maker holds the operating system's own lock on it, which
/// goes when the process dies, and leaves its process id there: so that a file
/// that a killed `warpint` left behind is known for what it is, and taken over.
/// That lock comes before the id, so whoever finds an id without it knows that
/// the holder is gone. What another program left behind is not touched.
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
            match OpenOptions::new().write(true).create_new(true).open(&path) {
                Ok(mut file) => {
                    // Where the system has no such locks, nobody can take this
                    // one over; and one without an id locks as well.
                    let _ = file.try_lock();
                    let _ = write_own_id(&mut file);
                    return Ok(Self { path, file, taken_over: None });
                }
                Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => return Err(LockError::Make { path, source }),
            }
            if let Some((file, holder)) = take_over(&path) {
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
    let mut file = OpenOptions::new().read(true).write(true).open(path).ok()?;
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
    let holder = File::open(&path).ok().and_then(|file| own_id(&file)).map_or_else(
        || format!("another program ({})", path.display()),
        |pid| format!("process {pid} ({})", path.display()),
    );
    let path = path.with_extension("");
    LockError::Held { path, holder, age }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOON: Duration = Duration::from_millis(60);

    #[test]
    fn one_at_a_time_and_nothing_is_left() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("worktodo.txt");
        let first = LockFile::take(&file, SOON).unwrap();
        let error = LockFile::take(&file, SOON).unwrap_err().to_string();
        let id = std::process::id();
        assert!(error.contains("worktodo.txt is locked by process"), "{error}");
        assert!(error.contains(&format!("process {id} (")), "{error}");
        assert!(error.contains("worktodo.txt.lck"), "{error}");
        drop(first);
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
        assert_eq!(LockFile::take(&file, SOON).unwrap().taken_over(), None);
    }

    #[cfg(unix)]
    #[test]
    fn what_a_killed_process_left_is_taken_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("worktodo.txt");
        let lock = dir.path().join("worktodo.txt.lck");
        fs::write(&lock, format!("{OWN}{:>10}\n", 999_999_999)).unwrap();
        let taken = LockFile::take(&file, SOON).unwrap();
        assert_eq!(taken.taken_over(), Some(999_999_999));
        assert!(LockFile::take(&file, SOON).is_err());
        assert_eq!(fs::metadata(&lock).unwrap().len(), 19);
        drop(taken);
        assert!(!lock.exists());
    }

    #[test]
    fn the_lock_of_another_program_stays() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("worktodo.txt");
        let lock = dir.path().join("worktodo.txt.lck");
        fs::write(&lock, "").unwrap();
        let error = LockFile::take(&file, SOON).unwrap_err().to_string();
        assert!(error.contains("locked by another program"), "{error}");
        assert!(error.contains("remove the lock"), "{error}");
        assert!(lock.exists());
        // It is waited for.
        let other = std::thread::spawn(move || {
            std::thread::sleep(SOON);
            fs::remove_file(lock).unwrap();
        });
        LockFile::take(&file, Duration::from_secs(20)).unwrap();
        other.join().unwrap();
    }

    #[test]
    fn a_lock_that_a_person_removed_is_not_taken_from_the_next() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("worktodo.txt");
        let first = LockFile::take(&file, SOON).unwrap();
        fs::remove_file(first.path()).unwrap();
        let second = LockFile::take(&file, SOON).unwrap();
        drop(first);
        assert!(second.path().exists());
    }

    #[test]
    fn many_threads_take_turns() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("count");
        fs::write(&file, "0").unwrap();
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..25 {
                        let _lock = LockFile::take(&file, Duration::from_secs(60)).unwrap();
                        let n: u32 = fs::read_to_string(&file).unwrap().parse().unwrap();
                        fs::write(&file, (n + 1).to_string()).unwrap();
                    }
                });
            }
        });
        assert_eq!(fs::read_to_string(&file).unwrap(), "100");
    }
}
