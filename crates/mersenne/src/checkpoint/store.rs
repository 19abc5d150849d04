//! The directory of one exponent: generations of checkpoints, and its lock.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::format::{FormatError, State};
use super::lock::{Attempt, DirectoryLock};
use crate::{Event, TestKind, durable};

/// The newest generations, kept of each sort, verified and unverified.
const GENERATIONS: usize = 3;
/// Where older ones are worth keeping, each is this many times as far as the
/// one before it: less than ten in the longest test.
const SPREAD: u64 = 4;
const LOCK_FILE: &str = "lock";
const UNVERIFIED: &str = "ckpt";
const VERIFIED: &str = "verified";

/// The checkpoints of one test in the directory `DIR/M<p>`, locked for this
/// process as long as the store lives.
///
/// Files are `<test>-<iteration, ten digits>.ckpt`, or `.verified` if a
/// Gerbicz–Li check covers them; `….tmp` is being written, `….bad` was found
/// unsound and set aside.
#[derive(Debug)]
pub struct CheckpointStore {
    dir: PathBuf,
    exponent: u32,
    kind: TestKind,
    notices: Vec<Event>,
    _lock: DirectoryLock,
}

/// What can go wrong with the directory itself.
#[derive(Debug, thiserror::Error)]
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

/// A checkpoint that is on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Saved {
    /// Its file.
    pub path: PathBuf,
    /// Whether a Gerbicz–Li check covers it.
    pub verified: bool,
}

/// A checkpoint file by its name.
struct Entry {
    path: PathBuf,
    iteration: u64,
    verified: bool,
}

impl CheckpointStore {
    /// Makes `root/M<p>` if need be, locks it for this process, and clears
    /// away what a killed process was writing.
    pub fn open(root: &Path, exponent: u32, kind: TestKind) -> Result<Self, CheckpointError> {
        let dir = root.join(format!("M{exponent}"));
        let directory_error = |source| CheckpointError::Directory { path: dir.clone(), source };
        fs::create_dir_all(&dir).map_err(directory_error)?;
        let (lock, stale) =
            match DirectoryLock::try_take(&dir.join(LOCK_FILE)).map_err(directory_error)? {
                Attempt::Taken { lock, stale } => (lock, stale),
                Attempt::Held { pid } => {
                    return Err(CheckpointError::Locked { path: dir, pid });
                }
            };
        let notices = stale.map(|pid| Event::StaleLock { pid }).into_iter().collect();
        let store = Self { dir, exponent, kind, notices, _lock: lock };
        for path in store.files().map_err(|source| store.directory_error(source))? {
            if path.extension().is_some_and(|e| e == "tmp") {
                // What cannot be removed does no harm: it is never read.
                let _ = fs::remove_file(path);
            }
        }
        Ok(store)
    }

    /// `root/M<p>`.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// What happened while opening and loading, once.
    pub fn take_notices(&mut self) -> Vec<Event> {
        std::mem::take(&mut self.notices)
    }

    /// Writes a state to a new file, syncs it, renames it into place, and then
    /// drops the oldest generations. On an error the older files are untouched.
    ///
    /// A state whose own iteration is verified makes a `.verified` file.
    pub fn save(&mut self, state: &State) -> io::Result<Saved> {
        let verified =
            state.gerbicz.as_ref().is_some_and(|g| g.verified_iteration == state.iteration);
        let extension = if verified { VERIFIED } else { UNVERIFIED };
        let name = format!("{}-{:010}.{extension}", self.kind.slug(), state.iteration);
        let path = self.dir.join(&name);
        let tmp = self.dir.join(format!("{name}.tmp"));
        let written = durable::write_synced(&tmp, &[&state.to_bytes()])
            .and_then(|()| fs::rename(&tmp, &path));
        if let Err(e) = written {
            let _ = fs::remove_file(&tmp);
            return Err(e);
        }
        let synced = durable::sync_directory(&self.dir);
        // An old generation that cannot be removed does no harm.
        let _ = self.prune(&path);
        synced?;
        Ok(Saved { path, verified })
    }

    /// The newest sound checkpoint. Unsound ones that are newer are set aside
    /// as `.bad`, each with a notice. One that cannot be read at all, or is of a
    /// later version, is an error: going back further would throw work away.
    pub fn load_newest(&mut self) -> Result<Option<(State, PathBuf)>, CheckpointError> {
        let mut entries = self.entries().map_err(|source| self.directory_error(source))?;
        entries.sort_by_key(|e| (e.iteration, e.verified));
        for entry in entries.into_iter().rev() {
            let bytes = self.read(&entry.path)?;
            match State::from_bytes(&bytes, self.kind, self.exponent) {
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
        let path = set_aside(path);
        self.notices.push(Event::BadCheckpoint { path, reason: reason.into() });
    }

    /// Removes the unverified checkpoints after a verified iteration: a failed
    /// check has shown that some of them are wrong.
    pub fn discard_after(&mut self, verified_iteration: u64) -> io::Result<()> {
        for entry in self.entries()? {
            if !entry.verified && entry.iteration > verified_iteration {
                fs::remove_file(entry.path)?;
            }
        }
        Ok(())
    }

    /// Removes the checkpoints of this test, once its result is safely elsewhere.
    pub fn remove_all(&mut self) -> Result<(), CheckpointError> {
        let remove = || self.entries()?.into_iter().try_for_each(|e| fs::remove_file(e.path));
        remove().map_err(|source| self.directory_error(source))
    }

    fn directory_error(&self, source: io::Error) -> CheckpointError {
        CheckpointError::Directory { path: self.dir.clone(), source }
    }

    /// At most as many bytes as a checkpoint can have, and one.
    fn read(&self, path: &Path) -> Result<Vec<u8>, CheckpointError> {
        let limit = State::max_file_size(self.exponent);
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|f| f.take(limit + 1).read_to_end(&mut bytes))
            .map_err(|source| CheckpointError::Unreadable { path: path.to_owned(), source })?;
        Ok(bytes)
    }

    fn files(&self) -> io::Result<Vec<PathBuf>> {
        fs::read_dir(&self.dir)?.map(|entry| Ok(entry?.path())).collect()
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let entry = |path: PathBuf| {
            let name = path.file_name()?.to_str()?;
            let rest = name.strip_prefix(self.kind.slug())?.strip_prefix('-')?;
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
        Ok(self.files()?.into_iter().filter_map(entry).collect())
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
            let spread = verified || self.kind != TestKind::Prp;
            let mut next_kept = 0;
            for old in &entries[..older] {
                if spread && old.iteration >= next_kept {
                    next_kept = old.iteration.saturating_mul(SPREAD).max(1);
                } else if old.path != just_saved {
                    fs::remove_file(&old.path)?;
                }
            }
        }
        Ok(())
    }
}

/// Renames to `….bad`; where that fails, the file stays under its name.
fn set_aside(path: &Path) -> PathBuf {
    let mut bad = path.as_os_str().to_owned();
    bad.push(".bad");
    let bad = PathBuf::from(bad);
    if fs::rename(path, &bad).is_ok() { bad } else { path.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::GerbiczState;
    use crate::{ErrorCounts, LlStart, Residue, Sealed};
    use sha2::{Digest, Sha256};
    use std::time::Duration;

    const P: u32 = 127;

    fn ll(iteration: u64) -> State {
        State {
            kind: TestKind::Ll(LlStart::Four),
            exponent: P,
            iteration,
            residue: Residue::from_u64(P, iteration + 1000),
            shift: 0,
            elapsed: Duration::from_secs(iteration),
            errors: ErrorCounts::default(),
            least_length: None,
            gerbicz: None,
        }
    }

    fn prp(iteration: u64, verified_iteration: u64) -> State {
        let residue = Residue::from_u64(P, iteration + 1000);
        let product = Residue::from_u64(P, verified_iteration + 1000);
        let gerbicz = GerbiczState {
            block: 100,
            verified_iteration,
            product_iteration: verified_iteration,
            verified: Sealed::new(product.clone()),
            product,
        };
        State { kind: TestKind::Prp, residue, gerbicz: Some(gerbicz), ..ll(iteration) }
    }

    fn open(root: &Path, kind: TestKind) -> CheckpointStore {
        CheckpointStore::open(root, P, kind).unwrap()
    }

    fn names(store: &CheckpointStore) -> Vec<String> {
        let mut names: Vec<_> = store
            .files()
            .unwrap()
            .iter()
            .map(|p| p.file_name().unwrap().to_string_lossy().into_owned())
            .filter(|n| n != LOCK_FILE)
            .collect();
        names.sort();
        names
    }

    /// The iterations that are on disk.
    fn kept(store: &CheckpointStore) -> Vec<u64> {
        let mut kept: Vec<u64> = store.entries().unwrap().iter().map(|e| e.iteration).collect();
        kept.sort_unstable();
        kept
    }

    #[test]
    fn keeps_the_newest_generations_and_loads_the_newest() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), TestKind::Prp);
        assert_eq!(store.load_newest().unwrap(), None);
        for k in [10, 20, 30, 40] {
            assert!(!store.save(&prp(k, 0)).unwrap().verified);
        }
        assert_eq!(kept(&store), [20, 30, 40]);
        assert_eq!(store.load_newest().unwrap().unwrap().0, prp(40, 0));
        store.remove_all().unwrap();
        assert_eq!(store.load_newest().unwrap(), None);
    }

    #[test]
    fn a_test_without_checks_also_keeps_some_from_long_ago() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), ll(0).kind);
        for k in 1..=125 {
            store.save(&ll(k)).unwrap();
        }
        assert_eq!(kept(&store), [1, 4, 16, 64, 123, 124, 125]);
    }

    #[test]
    fn what_was_just_saved_stays_even_if_later_ones_are_there() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), TestKind::Prp);
        for k in [90, 91, 92, 30] {
            store.save(&prp(k, 0)).unwrap();
        }
        assert_eq!(kept(&store), [30, 90, 91, 92]);
    }

    #[test]
    fn an_unreadable_or_later_checkpoint_is_an_error_and_stays() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), ll(0).kind);
        store.save(&ll(10)).unwrap();
        // A directory under a checkpoint's name can be opened but not read.
        let unreadable = store.dir().join("ll-0000000020.ckpt");
        fs::create_dir(&unreadable).unwrap();
        assert!(matches!(store.load_newest(), Err(CheckpointError::Unreadable { .. })));
        fs::remove_dir(&unreadable).unwrap();

        let mut later = ll(30).to_bytes();
        let at = later.windows(10).position(|w| w == b"version: 1").unwrap();
        later[at + 9] = b'2';
        let content = later.len() - 32;
        let checksum = Sha256::digest(&later[..content]);
        later[content..].copy_from_slice(&checksum);
        let path = store.dir().join("ll-0000000030.ckpt");
        fs::write(&path, later).unwrap();
        assert!(matches!(store.load_newest(), Err(CheckpointError::Later { .. })));
        assert!(path.exists());
        assert!(store.take_notices().is_empty());
    }

    #[test]
    fn unverified_generations_never_displace_a_verified_one() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), TestKind::Prp);
        assert!(store.save(&prp(20, 20)).unwrap().verified);
        for k in 21..=30 {
            store.save(&prp(k, 20)).unwrap();
        }
        assert!(names(&store).contains(&"prp-0000000020.verified".to_owned()));
        assert_eq!(store.load_newest().unwrap().unwrap().0, prp(30, 20));
        store.discard_after(20).unwrap();
        assert_eq!(store.load_newest().unwrap().unwrap().0, prp(20, 20));
    }

    #[test]
    fn unsound_files_are_set_aside_and_the_next_older_is_used() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), ll(0).kind);
        store.save(&ll(10)).unwrap();
        store.save(&ll(20)).unwrap();
        let newest = store.save(&ll(30)).unwrap().path;
        let mut bytes = fs::read(&newest).unwrap();
        let middle = bytes.len() - 40;
        bytes[middle] ^= 4;
        fs::write(&newest, bytes).unwrap();
        let second = store.dir().join("ll-0000000020.ckpt");
        let half = fs::read(&second).unwrap();
        fs::write(&second, &half[..half.len() / 2]).unwrap();

        assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
        let reasons: Vec<String> = store.take_notices().iter().map(|n| format!("{n:?}")).collect();
        assert_eq!(reasons.len(), 2);
        assert!(reasons[0].contains("0000000030.ckpt.bad") && reasons[0].contains("checksum"));
        assert!(reasons[1].contains("0000000020.ckpt.bad") && reasons[1].contains("truncated"));
        assert_eq!(
            names(&store),
            ["ll-0000000010.ckpt", "ll-0000000020.ckpt.bad", "ll-0000000030.ckpt.bad"]
        );
    }

    #[test]
    fn tests_of_one_exponent_do_not_see_each_others_files() {
        let root = tempfile::tempdir().unwrap();
        let ten = TestKind::Ll(LlStart::Ten);
        let mut state = ll(50);
        state.kind = ten;
        open(root.path(), ten).save(&state).unwrap();
        assert_eq!(open(root.path(), ll(0).kind).load_newest().unwrap(), None);
        assert_eq!(open(root.path(), ten).load_newest().unwrap().unwrap().0, state);
    }

    #[test]
    fn the_second_process_is_told_who_holds_the_lock() {
        let root = tempfile::tempdir().unwrap();
        let store = open(root.path(), TestKind::Prp);
        match CheckpointStore::open(root.path(), P, TestKind::Prp) {
            Err(CheckpointError::Locked { pid, .. }) => assert_eq!(pid, std::process::id()),
            other => panic!("{other:?}"),
        }
        drop(store);
        assert!(open(root.path(), TestKind::Prp).take_notices().is_empty());
    }

    #[test]
    fn a_dead_process_leaves_a_stale_lock_and_its_half_written_file() {
        let root = tempfile::tempdir().unwrap();
        let dir = open(root.path(), TestKind::Prp).dir().to_owned();
        fs::write(dir.join(LOCK_FILE), "999999999\n").unwrap();
        fs::write(dir.join("prp-0000000001.ckpt.tmp"), "half").unwrap();
        let mut store = open(root.path(), TestKind::Prp);
        assert_eq!(store.take_notices(), [Event::StaleLock { pid: 999_999_999 }]);
        assert!(names(&store).is_empty());
    }

    #[test]
    fn a_file_where_the_directory_should_be_is_an_error_that_names_it() {
        let root = tempfile::tempdir().unwrap();
        let file = root.path().join("file");
        fs::write(&file, "").unwrap();
        let error = CheckpointStore::open(&file, P, TestKind::Prp).unwrap_err().to_string();
        assert!(error.contains("M127") && error.contains("--dir"), "{error}");
    }

    #[test]
    fn a_failed_save_keeps_what_is_there() {
        let root = tempfile::tempdir().unwrap();
        let mut store = open(root.path(), ll(0).kind);
        store.save(&ll(10)).unwrap();
        // A directory in the way of the temporary file makes the write fail.
        fs::create_dir(store.dir().join("ll-0000000020.ckpt.tmp")).unwrap();
        assert!(store.save(&ll(20)).is_err());
        assert_eq!(store.load_newest().unwrap().unwrap().0, ll(10));
    }
}
