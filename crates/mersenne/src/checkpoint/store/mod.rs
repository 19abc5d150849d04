//! The directory of one exponent: generations of checkpoints, and its lock.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpint_files::{Disk, ErrorKind, FileError, Folder};

use super::format::{FormatError, State};
use super::lock::{Attempt, DirectoryLock};
use crate::{Event, TestKind};

/// The newest generations, kept of each sort, verified and unverified.
const GENERATIONS: usize = 3;
/// Where older ones are worth keeping, each is this many times as far as the
/// one before it: less than ten in the longest test.
const SPREAD: u64 = 4;
const UNVERIFIED: &str = "ckpt";
const VERIFIED: &str = "verified";

/// The checkpoints of one test in the directory `DIR/M<p>`, locked for this
/// process as long as the store lives.
///
/// Files are `<test>-<iteration, ten digits>.ckpt`, or `.verified` if a check
/// has confirmed them; `….tmp` is being written, `….bad` was found
/// unsound and set aside. No link is followed, not `M<p>` either.
///
/// A directory that is removed during the test is made again by the next save, with its lock.
#[derive(Debug)]
pub struct CheckpointStore {
    folder: Folder,
    exponent: u32,
    kind: TestKind,
    notices: Vec<Event>,
    lock: DirectoryLock,
}

/// What can go wrong with the directory itself.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The directory cannot be made, read or written.
    #[error("cannot use the checkpoint directory {}: {source}; choose another with --dir", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint is there but cannot be read.
    #[error("cannot read the checkpoint {}: {source}; nothing has been changed", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A checkpoint of a later version of this program.
    #[error("{}: {reason}; use that version, or another --dir", path.display())]
    Later {
        /// The file.
        path: PathBuf,
        /// Which.
        reason: String,
    },
    /// Another process works there.
    #[error(
        "{} is in use by another warpint (process {pid}): wait for it, stop it, or use another --dir",
        path.display()
    )]
    Locked {
        /// The directory.
        path: PathBuf,
        /// The process that holds the lock (0 if it does not say).
        pid: u32,
    },
}

impl CheckpointError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Directory { source, .. } | Self::Unreadable { source, .. } => source.into(),
            Self::Later { .. } | Self::Locked { .. } => ErrorKind::BadInput,
        }
    }
}

/// A checkpoint that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its file.
    pub path: PathBuf,
    /// Whether a check has confirmed it.
    pub verified: bool,
}

/// A checkpoint file by its name.
struct Entry {
    path: PathBuf,
    iteration: u64,
    verified: bool,
}

impl Entry {
    fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }
}

impl CheckpointStore {
    /// Makes `root/M<p>` if need be, locks it for this process, and clears
    /// away what a killed process was writing.
    pub fn open(root: &Path, exponent: u32, kind: TestKind) -> Result<Self, CheckpointError> {
        let folder = Folder::at(root).inside(format!("M{exponent}"));
        let path = || folder.path().to_owned();
        let directory_error =
            |source: io::Error| CheckpointError::Directory { path: path(), source };
        folder.make().map_err(|e| directory_error(e.into()))?;
        let (lock, stale) = match DirectoryLock::try_take(&folder).map_err(directory_error)? {
            Attempt::Taken { lock, stale } => (lock, stale),
            Attempt::Held { pid } => return Err(CheckpointError::Locked { path: path(), pid }),
        };
        let notices = stale.map(|pid| Event::StaleLock { pid }).into_iter().collect();
        let store = Self { folder, exponent, kind, notices, lock };
        for entry in store.folder.list().map_err(|e| store.directory_error(e.into()))? {
            if Path::new(&entry.name).extension().is_some_and(|e| e == "tmp") {
                // What cannot be removed does no harm: it is never read.
                let _ = store.folder.remove(entry.name);
            }
        }
        Ok(store)
    }

    /// Brings checkpoints to disk another way from now on.
    pub fn set_disk(&mut self, disk: Arc<dyn Disk>) {
        self.folder = self.folder.clone().with_disk(disk);
    }

    /// `root/M<p>`.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// The directory, for other files of the test.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// What happened while opening and loading, once.
    pub fn take_notices(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.notices)
    }

    /// Writes a state to a new file, syncs it, renames it into place, and then
    /// drops the oldest generations. On an error the older files are untouched.
    ///
    /// A state that is itself verified makes a `.verified` file, in place of the
    /// unverified one of its iteration.
    ///
    /// # Errors
    /// Those of the file system; another process has the directory, since this one's lock was
    /// removed.
    pub fn save(&mut self, state: &State) -> io::Result<Saved> {
        let verified = state.is_verified();
        let extension = if verified { VERIFIED } else { UNVERIFIED };
        let name = |extension| format!("{}-{:010}.{extension}", self.kind.slug(), state.iteration);
        let (own, twin) = (name(extension), name(UNVERIFIED));
        self.hold_lock()?;
        self.folder.replace(&own, &[&state.to_bytes()])?;
        if verified {
            // Should it stay, the verified one is taken first.
            let _ = self.folder.remove(twin);
        }
        let path = self.folder.file(own);
        // An old generation that cannot be removed does no harm.
        let _ = self.prune(&path);
        Ok(Saved { path, verified })
    }

    /// Takes the lock again if its file was removed, alone or with the directory.
    fn hold_lock(&mut self) -> io::Result<()> {
        if self.lock.is_in_place() {
            return Ok(());
        }
        match DirectoryLock::try_take(&self.folder)? {
            Attempt::Taken { lock, .. } => self.lock = lock,
            Attempt::Held { pid } => {
                let dir = self.folder.path().display();
                let what = format!("{dir} was removed, and is now in use by process {pid}");
                return Err(io::Error::other(what));
            }
        }
        Ok(())
    }

    /// The newest sound checkpoint. Unsound ones that are newer are set aside
    /// as `.bad`, each with a notice. One that cannot be read at all, or is of a
    /// later version, is an error: going back further would throw work away.
    pub fn load_newest(&mut self) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        self.load_newest_of(|_| true)
    }

    /// The same among the verified ones.
    pub fn load_newest_verified(&mut self) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        self.load_newest_of(|entry| entry.verified)
    }

    /// The same among those of earlier iterations, all or only the verified ones.
    pub fn load_newest_before(
        &mut self,
        iteration: u64,
        only_verified: bool,
    ) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        self.load_newest_of(|e| e.iteration < iteration && (e.verified || !only_verified))
    }

    fn load_newest_of(
        &mut self,
        wanted: impl Fn(&Entry) -> bool,
    ) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        let mut entries = self.entries().map_err(|source| self.directory_error(source))?;
        entries.retain(wanted);
        entries.sort_by_key(|e| (e.iteration, e.verified));
        for entry in entries.into_iter().rev() {
            let limit = State::max_file_size(self.exponent);
            let bytes = match self.folder.read(entry.name(), limit) {
                Ok(bytes) => bytes,
                Err(e @ (FileError::NotAFile { .. } | FileError::TooLarge { .. }))
                    // A directory may hold anything, and stays where it is.
                    if !entry.path.is_dir() =>
                {
                    self.set_aside(&entry.path, &io::Error::from(e).to_string());
                    continue;
                }
                Err(e) => {
                    return Err(CheckpointError::Unreadable { path: entry.path, source: e.into() });
                }
            };
            match State::from_bytes(&bytes, self.kind, self.exponent) {
                // Under another name it would be the newest for ever, or pass for verified.
                Ok(state)
                    if state.iteration != entry.iteration
                        || entry.verified && !state.is_verified() =>
                {
                    self.set_aside(&entry.path, "its name says another state than it holds");
                }
                Ok(state) => return Ok(Some((state, entry.path))),
                Err(FormatError::Version { found }) => {
                    let reason = FormatError::Version { found }.to_string();
                    return Err(CheckpointError::Later { path: entry.path, reason });
                }
                Err(unsound) => {
                    self.set_aside(&entry.path, &unsound.to_string());
                }
            }
        }
        Ok(None)
    }

    /// Sets a checkpoint aside as `.bad`, with a notice.
    pub(crate) fn set_aside(&mut self, path: &Path, reason: &str) {
        let path = self.renamed_as_bad(path);
        self.notices.push(Event::BadCheckpoint { path, reason: reason.into() });
    }

    /// Sets aside the checkpoints of an iteration and all later ones, verified or not, as `.bad`,
    /// each with a notice.
    pub fn set_aside_from(&mut self, iteration: u64, reason: &str) -> Result<(), CheckpointError> {
        let entries = self.entries().map_err(|source| self.directory_error(source))?;
        for entry in entries.into_iter().filter(|entry| entry.iteration >= iteration) {
            self.set_aside(&entry.path, reason);
        }
        Ok(())
    }

    /// Removes the unverified checkpoints after a verified iteration: a failed
    /// check has shown that some of them are wrong.
    pub fn discard_after(&mut self, verified_iteration: u64) -> io::Result<()> {
        for entry in self.entries()? {
            if !entry.verified && entry.iteration > verified_iteration {
                self.folder.remove(entry.name())?;
            }
        }
        Ok(())
    }

    /// Removes the checkpoints of this test, once its result is safely elsewhere.
    pub fn remove_all(&mut self) -> Result<(), CheckpointError> {
        for entry in self.entries().map_err(|source| self.directory_error(source))? {
            self.folder.remove(entry.name()).map_err(|e| self.directory_error(e.into()))?;
        }
        Ok(())
    }

    fn directory_error(&self, source: io::Error) -> CheckpointError {
        CheckpointError::Directory { path: self.dir().to_owned(), source }
    }

    /// Renames to `….bad`; where that fails, the file stays under its name.
    fn renamed_as_bad(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default();
        let mut bad = name.to_owned();
        bad.push(".bad");
        let renamed = self.folder.rename(name, &bad);
        self.folder.file(if renamed.is_ok() { &bad } else { name })
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let entry = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let rest = name.strip_prefix(&self.kind.slug())?.strip_prefix('-')?;
            let (digits, extension) = rest.split_once('.')?;
            let verified = match extension {
                VERIFIED => true,
                UNVERIFIED => false,
                _ => return None,
            };
            let all_digits = digits.len() == 10 && digits.bytes().all(|b| b.is_ascii_digit());
            let iteration = digits.parse().ok().filter(|_| all_digits)?;
            Some(Entry { path, iteration, verified })
        };
        let paths = self.folder.list()?.into_iter().map(|found| self.folder.file(found.name));
        Ok(paths.filter_map(entry).collect())
    }

    /// Keeps the newest generations of each sort, the one just saved, and of
    /// the states worth going back to far (verified ones, and all of a test
    /// without checks) some that are spread over the whole run.
    fn prune(&self, just_saved: &Path) -> io::Result<()> {
        for verified in [false, true] {
            let mut entries = self.entries()?;
            entries.retain(|e| e.verified == verified);
            entries.sort_by_key(|e| e.iteration);
            let older = entries.len().saturating_sub(GENERATIONS);
            let spread = verified || !self.kind.is_checked();
            let mut next_kept = 0;
            for old in &entries[..older] {
                if spread && old.iteration >= next_kept {
                    next_kept = old.iteration.saturating_mul(SPREAD).max(1);
                } else if old.path != just_saved {
                    self.folder.remove(old.name())?;
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
