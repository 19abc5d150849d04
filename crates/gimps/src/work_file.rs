//! `worktodo.txt`: read afresh every time, changed by replacing it.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use warpint_files::{ErrorKind, FileError, Folder};

use crate::lock_file::{LockError, LockFile};
use crate::worktodo::Line;

/// A larger file is no list of assignments: 16 MiB.
const MOST_BYTES: u64 = 16 << 20;
/// How long a file of additions must stay as it is before it is taken.
const QUIET: Duration = Duration::from_millis(100);

/// The file `worktodo.txt` of a directory, and `worktodo.add` beside it; or the same of one
/// worker: see [`WorkFile::of_worker`].
///
/// Other programs replace the file by renaming, append to it, and lock it by
/// `worktodo.txt.lck`, which every change here does too. A change writes a new
/// file, brings it to disk and renames it into place, so that a process killed
/// at any instant leaves the old one or the new one. All bytes that a change is
/// not about stay: comments, other lines, line endings, a last line without one.
/// A link or a FIFO in place of a file is refused.
#[derive(Debug)]
pub struct WorkFile {
    path: PathBuf,
    patience: Duration,
    stop: Stop,
    notices: Vec<String>,
}

/// Whether to give up waiting for a lock.
struct Stop(Box<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

/// A line with its place.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedLine {
    /// From 1.
    pub number: usize,
    /// Without its line ending (`\n` or `\r\n`).
    pub bytes: Vec<u8>,
    /// What it is.
    pub line: Line,
}

/// Why the file could not be read or changed; it is as it was.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkFileError {
    /// Another program is at it.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// Something else is at its path.
    #[error("{} is {what}, not a file: move it away", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// Too large to be what it should be.
    #[error("{} has {bytes} bytes: a list of assignments has at most {MOST_BYTES}", path.display())]
    TooLarge {
        /// The file.
        path: PathBuf,
        /// Its size.
        bytes: u64,
    },
    /// It cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// It cannot be written.
    #[error("cannot write {}: {source}; it is as it was", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Some program without a lock changes it all the time.
    #[error("{} changes again and again while it is being edited; it is left as it is", path.display())]
    Restless {
        /// The file.
        path: PathBuf,
    },
}

impl WorkFileError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile { .. } | Self::TooLarge { .. } | Self::Restless { .. } => {
                ErrorKind::BadInput
            }
            Self::Lock(e) => e.kind(),
            Self::Read { source, .. } | Self::Write { source, .. } => source.into(),
        }
    }
}

impl WorkFile {
    /// That of a directory. A change waits at most `patience` for another
    /// program's lock. Touches nothing.
    #[must_use]
    pub fn new(dir: &Path, patience: Duration) -> Self {
        let stop = Stop(Box::new(|| false));
        Self { path: dir.join("worktodo.txt"), patience, stop, notices: vec![] }
    }

    /// A change gives up waiting for a lock once `stop` says so: [`LockError::Stopped`].
    #[must_use]
    pub fn stopped_by(mut self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.stop = Stop(Box::new(stop));
        self
    }

    /// The list of worker N alone, `worktodo-N.txt`, as PRPLL has it, with `worktodo-N.add` beside
    /// it. Touches nothing.
    #[must_use]
    pub fn of_worker(dir: &Path, worker: u32, patience: Duration) -> Self {
        let path = dir.join(format!("worktodo-{worker}.txt"));
        Self { path, ..Self::new(dir, patience) }
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Locks that were taken over from dead processes, each once, in words.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// All its lines as they are now; none if it is not there.
    ///
    /// Cost: one pass over at most 16 MiB.
    pub fn read(&self) -> Result<Vec<NumberedLine>, WorkFileError> {
        let bytes = read(&self.path)?;
        let lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
        Ok(lines
            .map(|(i, line)| {
                let bytes = without_ending(line).to_vec();
                NumberedLine { number: i + 1, line: Line::parse(&bytes), bytes }
            })
            .collect())
    }

    /// Appends lines, given without line endings, each with the ending that the
    /// file uses. The file is made if it is not there.
    pub fn append(&mut self, lines: &[&[u8]]) -> Result<(), WorkFileError> {
        if lines.is_empty() {
            return Ok(());
        }
        let _lock = self.lock(&self.path.clone())?;
        self.edit(|old| Some(with_lines(old, lines))).map(drop)
    }

    /// Removes the first line of just these bytes, its ending with it; whether
    /// there was one.
    pub fn remove_line(&mut self, line: &[u8]) -> Result<bool, WorkFileError> {
        let _lock = self.lock(&self.path.clone())?;
        self.edit(|old| {
            let mut at = 0;
            for found in old.split_inclusive(|&b| b == b'\n') {
                let end = at + found.len();
                if without_ending(found) == line {
                    return Some([old.get(..at)?, old.get(end..)?].concat());
                }
                at = end;
            }
            None
        })
    }

    /// Moves the lines of `worktodo.add` to the end of the file; how many.
    ///
    /// The file of additions is first renamed, then appended, then removed. A
    /// process killed in between leaves it under its second name, which the next
    /// call finds: lines that the file has by then are not added again. One that
    /// is still being written is waited for.
    pub fn merge_added(&mut self) -> Result<usize, WorkFileError> {
        let added = self.path.with_extension("add");
        let taken = self.path.with_extension("add.taken");
        if !is_there(&added) && !is_there(&taken) {
            return Ok(0);
        }
        let _lock = self.lock(&self.path.clone())?;
        let mut merged = self.take_in(&taken, true)?;
        if is_there(&added) {
            let _added_lock = self.lock(&added)?;
            wait_until_written(&added);
            read(&added)?;
            let (folder, name) = place(&added)?;
            folder
                .rename(name, taken.file_name().unwrap_or_default())
                .map_err(|e| WorkFileError::Write { path: added.clone(), source: e.into() })?;
            merged += self.take_in(&taken, false)?;
        }
        Ok(merged)
    }

    /// Appends the lines of a file and removes it; with `only_new` those that
    /// are not there yet.
    fn take_in(&self, taken: &Path, only_new: bool) -> Result<usize, WorkFileError> {
        if !is_there(taken) {
            return Ok(0);
        }
        let added = read(taken)?;
        let mut count = 0;
        self.edit(|old| {
            let lines: Vec<&[u8]> = added
                .split_inclusive(|&b| b == b'\n')
                .map(without_ending)
                .filter(|line| !line.trim_ascii().is_empty())
                .filter(|&line| !(only_new && has_line(old, line)))
                .collect();
            count = lines.len();
            (count > 0).then(|| with_lines(old, &lines))
        })?;
        let (folder, name) = place(taken)?;
        folder
            .remove(name)
            .map_err(|e| WorkFileError::Write { path: taken.to_owned(), source: e.into() })?;
        Ok(count)
    }

    fn lock(&mut self, file: &Path) -> Result<LockFile, WorkFileError> {
        let lock = LockFile::take(file, self.patience, &self.stop.0)?;
        if let Some(pid) = lock.taken_over() {
            let path = lock.path().display();
            self.notices
                .push(format!("took over the lock {path} of process {pid}, which no longer runs"));
        }
        Ok(lock)
    }

    /// Replaces the file by what `change` makes of its bytes; `None` leaves it.
    /// The lock must be held. Writers that know of no lock are noticed by what
    /// they have written, up to the instant of the renaming.
    fn edit(
        &self,
        mut change: impl FnMut(&[u8]) -> Option<Vec<u8>>,
    ) -> Result<bool, WorkFileError> {
        const TRIES: usize = 50;
        let (folder, name) = place(&self.path)?;
        folder.clear_away(|left| name == left);
        let write_error = |e: FileError| {
            let source = e.in_message_of(&self.path);
            WorkFileError::Write { path: self.path.clone(), source }
        };
        for _ in 0..TRIES {
            let old = read(&self.path)?;
            let Some(bytes) = change(&old) else { return Ok(false) };
            let mut new = folder.begin(name).map_err(write_error)?;
            if let Ok(replaced) =
                folder.open(name).map_err(io::Error::from).and_then(|f| f.metadata())
            {
                let _ = new.file().set_permissions(replaced.permissions());
            }
            new.write(&bytes).map_err(write_error)?;
            // What takes time comes before the last look.
            new.sync().map_err(write_error)?;
            if read(&self.path)? == old {
                new.finish().map_err(write_error)?;
                return Ok(true);
            }
        }
        Err(WorkFileError::Restless { path: self.path.clone() })
    }
}

/// The directory of a file, and its name there.
fn place(path: &Path) -> Result<(Folder, &OsStr), WorkFileError> {
    Folder::of(path).map_err(|e| WorkFileError::Read { path: path.to_owned(), source: e.into() })
}

/// Whether anything has the name.
fn is_there(path: &Path) -> bool {
    place(path).is_ok_and(|(folder, name)| folder.has(name))
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn has_line(bytes: &[u8], line: &[u8]) -> bool {
    bytes.split_inclusive(|&b| b == b'\n').any(|found| without_ending(found) == line)
}

/// The bytes and, each on a line of its own, the lines.
fn with_lines(old: &[u8], lines: &[&[u8]]) -> Vec<u8> {
    let dos = old.split_inclusive(|&b| b == b'\n').next().is_some_and(|l| l.ends_with(b"\r\n"));
    let ending: &[u8] = if dos { b"\r\n" } else { b"\n" };
    let mut new = old.to_vec();
    if old.last().is_some_and(|&b| b != b'\n') {
        new.extend_from_slice(ending);
    }
    for line in lines {
        new.extend_from_slice(line);
        new.extend_from_slice(ending);
    }
    new
}

/// The whole file; nothing if it is not there.
fn read(path: &Path) -> Result<Vec<u8>, WorkFileError> {
    let (folder, name) = place(path)?;
    match folder.read(name, MOST_BYTES) {
        Err(e) if e.is_missing() => Ok(vec![]),
        Err(FileError::NotAFile { path, what }) => Err(WorkFileError::NotAFile { path, what }),
        Err(FileError::TooLarge { path, bytes, .. }) => {
            Err(WorkFileError::TooLarge { path, bytes })
        }
        Err(e) => {
            let source = e.in_message_of(path);
            Err(WorkFileError::Read { path: path.to_owned(), source })
        }
        Ok(bytes) => Ok(bytes),
    }
}

/// Waits until a file has kept its size for a moment; not for ever.
fn wait_until_written(path: &Path) {
    const LOOKS: usize = 100;
    let size = || place(path).ok().and_then(|(folder, name)| folder.size(name).ok());
    let mut last = size();
    for _ in 0..LOOKS {
        std::thread::sleep(QUIET);
        let now = size();
        if now == last {
            return;
        }
        last = now;
    }
}
