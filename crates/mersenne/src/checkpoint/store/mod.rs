//! The checkpoint directory of one number, with its lock and the checkpoints of several
//! iterations.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use warpint_files::{Disk, ErrorKind, FileError, Folder};

use super::format::{FormatError, State};
use super::lock::{Attempt, DirectoryLock};
use crate::{Event, Number, TestKind};

/// The number of newest checkpoints that are always kept. Verified and unverified checkpoints are
/// counted separately.
const GENERATIONS: usize = 3;
/// The ratio that spaces the older checkpoints, which are kept in addition to the newest ones. The
/// iteration of each older checkpoint is at least this many times the iteration of the preceding
/// one. So the number of older checkpoints grows only with the logarithm of the iteration.
const SPREAD: u64 = 4;
const UNVERIFIED: &str = "ckpt";
const VERIFIED: &str = "verified";

/// The checkpoints of one test in the directory `DIR/M<p>`, or `DIR/<k>_<b>_<n>+1` for a number that
/// is not a Mersenne number ([`Number::file_name`]). The directory is locked for this
/// process until the store is dropped.
///
/// Files are named `<test>-<iteration, ten digits>.ckpt`, or `.verified` if a check has confirmed
/// them. `….tmp` is a file that is being written, `….bad` a file that was found invalid or wrong.
/// Symbolic links are not followed. This also holds if `M<p>` is a link.
///
/// If the directory is removed during the test, the next save creates and locks it again.
#[derive(Debug)]
pub struct CheckpointStore {
    folder: Folder,
    number: Number,
    kind: TestKind,
    notices: Vec<Event>,
    lock: DirectoryLock,
}

/// The reason why the checkpoint directory or a checkpoint in it cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckpointError {
    /// The directory cannot be created, read or written.
    #[error("cannot use the checkpoint directory {}: {source}; choose another directory", path.display())]
    Directory {
        /// The path of the directory.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A checkpoint exists but cannot be read.
    #[error("cannot read the checkpoint {}: {source}; nothing has been changed", path.display())]
    Unreadable {
        /// The path of the checkpoint file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// A later version of this program wrote the checkpoint.
    #[error("{}: {reason}; use that version, or another directory", path.display())]
    Later {
        /// The path of the checkpoint file.
        path: PathBuf,
        /// The error message, which states the version of the checkpoint.
        reason: String,
    },
    /// Another process uses the directory.
    #[error(
        "{} is in use by another warpint (process {pid}): wait for it, stop it, or use another directory",
        path.display()
    )]
    Locked {
        /// The path of the directory.
        path: PathBuf,
        /// The id of the process that holds the lock (0 if the lock file does not name it).
        pid: u32,
    },
}

impl CheckpointError {
    /// Returns the kind of the error: the kind of the underlying error of the file system, or bad
    /// input.
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
    /// The path of the file.
    pub path: PathBuf,
    /// Whether a check has confirmed the checkpoint.
    pub verified: bool,
}

/// A checkpoint file. `iteration` and `verified` are taken from its name.
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
    /// Opens the directory of the number in `root`, creates it if necessary, and locks it for this
    /// process. Removes incomplete files that a killed process has left.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be created, locked or read, or if another process
    /// holds the lock.
    pub fn open(
        root: &Path,
        number: impl Into<Number>,
        kind: TestKind,
    ) -> Result<Self, CheckpointError> {
        let number = number.into();
        let folder = Folder::at(root).inside(number.file_name());
        let path = || folder.path().to_owned();
        let directory_error =
            |source: io::Error| CheckpointError::Directory { path: path(), source };
        folder.make().map_err(|e| directory_error(e.into()))?;
        let (lock, stale) = match DirectoryLock::try_take(&folder).map_err(directory_error)? {
            Attempt::Taken { lock, stale } => (lock, stale),
            Attempt::Held { pid } => return Err(CheckpointError::Locked { path: path(), pid }),
        };
        let notices = stale.map(|pid| Event::StaleLock { pid }).into_iter().collect();
        let store = Self { folder, number, kind, notices, lock };
        for entry in store.folder.list().map_err(|e| store.directory_error(e.into()))? {
            if Path::new(&entry.name).extension().is_some_and(|e| e == "tmp") {
                // A file that cannot be removed does no harm, because it is never read.
                let _ = store.folder.remove(entry.name);
            }
        }
        Ok(store)
    }

    /// Makes the store write its files to `disk` from now on. Tests use this to simulate a full
    /// disk and to record operations.
    pub fn set_disk(&mut self, disk: Arc<dyn Disk>) {
        self.folder = self.folder.clone().with_disk(disk);
    }

    /// Makes the store read and write the checkpoints of another kind of test of the same number.
    pub(crate) fn set_kind(&mut self, kind: TestKind) {
        self.kind = kind;
    }

    /// Returns the path of the directory.
    #[must_use]
    pub fn dir(&self) -> &Path {
        self.folder.path()
    }

    /// Returns the directory of the store, in which other files of the test may be stored.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Returns the events that opening the store and loading checkpoints have produced since the
    /// last call, and clears them.
    pub fn take_notices(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.notices)
    }

    /// Writes a state to a new file, syncs it and renames it into place. Then removes checkpoints
    /// that are no longer needed. If writing fails, the older files are untouched.
    ///
    /// A state whose present residue is verified is written as a `.verified` file, which replaces
    /// the unverified file of the same iteration.
    ///
    /// # Errors
    /// Returns errors of the file system. Also returns an error if this store's lock file was
    /// removed and another process has locked the directory since.
    pub fn save(&mut self, state: &State) -> io::Result<Saved> {
        let verified = state.is_verified();
        let extension = if verified { VERIFIED } else { UNVERIFIED };
        let name = |extension| format!("{}-{:010}.{extension}", self.kind.slug(), state.iteration);
        let (own, twin) = (name(extension), name(UNVERIFIED));
        self.hold_lock()?;
        let mut file = self.folder.begin(&own)?;
        state.write_to(|piece| file.write(piece))?;
        file.finish()?;
        if verified {
            // If the unverified file stays, the verified one takes precedence.
            let _ = self.folder.remove(twin);
        }
        let path = self.folder.file(own);
        // An old generation that cannot be removed does no harm.
        let _ = self.prune(&path);
        Ok(Saved { path, verified })
    }

    /// Acquires the lock again if its file was removed, alone or together with the directory.
    /// Returns an error if another process has acquired the lock, and errors of the file system.
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

    /// Loads the newest valid checkpoint and returns its state and path. Returns `None` if no
    /// checkpoint is valid. The search goes from newer to older checkpoints. It renames every
    /// invalid checkpoint that it finds to `….bad`, with a notice for each.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read. Also returns an error if a checkpoint
    /// cannot be read, or was written by a later version of the program, because continuing from an
    /// older checkpoint would lose work.
    pub fn load_newest(&mut self) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        self.load_newest_of(|_| true)
    }

    /// Loads the newest valid checkpoint among the verified ones, like
    /// [`CheckpointStore::load_newest`].
    pub fn load_newest_verified(&mut self) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        self.load_newest_of(|entry| entry.verified)
    }

    /// Loads the newest valid checkpoint of an iteration before `iteration`, like
    /// [`CheckpointStore::load_newest`]. If `only_verified` is true, considers only verified
    /// checkpoints.
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
            let limit = State::max_file_size(self.number);
            let bytes = match self.folder.read(entry.name(), limit) {
                Ok(bytes) => bytes,
                Err(e @ (FileError::NotAFile { .. } | FileError::TooLarge { .. }))
                    // A directory may contain anything, so it is left in place.
                    if !entry.path.is_dir() =>
                {
                    self.set_aside(&entry.path, &io::Error::from(e).to_string());
                    continue;
                }
                Err(e) => {
                    return Err(CheckpointError::Unreadable { path: entry.path, source: e.into() });
                }
            };
            match State::from_bytes(&bytes, self.kind, self.number) {
                // A checkpoint with a wrong name could stay the newest for ever, or count as
                // verified.
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

    /// Renames a checkpoint to `….bad`, and adds a notice with the reason.
    pub(crate) fn set_aside(&mut self, path: &Path, reason: &str) {
        let path = self.renamed_as_bad(path);
        self.notices.push(Event::BadCheckpoint { path, reason: reason.into() });
    }

    /// Renames all checkpoints of this iteration and of later iterations to `….bad`, verified or
    /// not, with a notice for each.
    pub fn set_aside_from(&mut self, iteration: u64, reason: &str) -> Result<(), CheckpointError> {
        let entries = self.entries().map_err(|source| self.directory_error(source))?;
        for entry in entries.into_iter().filter(|entry| entry.iteration >= iteration) {
            self.set_aside(&entry.path, reason);
        }
        Ok(())
    }

    /// Removes the unverified checkpoints of iterations after `verified_iteration`, because a
    /// failed check has shown that some of them may be wrong.
    pub fn discard_after(&mut self, verified_iteration: u64) -> io::Result<()> {
        for entry in self.entries()? {
            if !entry.verified && entry.iteration > verified_iteration {
                self.folder.remove(entry.name())?;
            }
        }
        Ok(())
    }

    /// Removes all checkpoints of this test, for the tests of Pocklington and Morrison those of all runs. Call
    /// this only when the result is stored elsewhere.
    pub fn remove_all(&mut self) -> Result<(), CheckpointError> {
        let entries = self.entries_of(|slug| self.kind.owns(self.number, slug));
        for entry in entries.map_err(|source| self.directory_error(source))? {
            self.folder.remove(entry.name()).map_err(|e| self.directory_error(e.into()))?;
        }
        Ok(())
    }

    fn directory_error(&self, source: io::Error) -> CheckpointError {
        CheckpointError::Directory { path: self.dir().to_owned(), source }
    }

    /// Renames a file to `….bad` and returns its new path. If renaming fails, returns the old path.
    fn renamed_as_bad(&self, path: &Path) -> PathBuf {
        let name = path.file_name().unwrap_or_default();
        let mut bad = name.to_owned();
        bad.push(".bad");
        let renamed = self.folder.rename(name, &bad);
        self.folder.file(if renamed.is_ok() { &bad } else { name })
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let own = self.kind.slug();
        self.entries_of(|slug| slug == own)
    }

    /// Returns the checkpoints of the tests whose slug is wanted.
    fn entries_of(&self, wanted: impl Fn(&str) -> bool) -> io::Result<Vec<Entry>> {
        let entry = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let (slug, rest) = name.rsplit_once('-')?;
            if !wanted(slug) {
                return None;
            }
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

    /// Removes checkpoints that are no longer needed. Keeps the newest [`GENERATIONS`] verified
    /// checkpoints, the newest [`GENERATIONS`] unverified checkpoints, and the checkpoint just
    /// saved.
    ///
    /// Also keeps some older checkpoints, spread over the whole test, where going far back can be
    /// useful: verified ones in every test, and unverified ones in a test without Gerbicz–Li
    /// checks.
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
