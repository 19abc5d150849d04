//! The file `worktodo.txt`, which is read anew at each use, and changed by replacement.

use std::ffi::OsStr;
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use warpint_files::{ErrorKind, FileError, Folder};

use crate::lock_file::{LockError, LockFile};
use crate::worktodo::Line;

/// The size in bytes of the largest file that is read as a list of assignments: 16 MiB.
const MOST_BYTES: u64 = 16 << 20;
/// The time for which the size of `worktodo.add` must be constant before its lines are moved.
const QUIET: Duration = Duration::from_millis(100);

/// The file `worktodo.txt` of a directory. The file `worktodo.add` belongs to it and contains lines
/// that are to be moved to `worktodo.txt`. The files of a single worker have other names (see
/// [`WorkFile::of_worker`]).
///
/// Other programs replace `worktodo.txt` by renaming, append to it, and lock it by the lock file
/// `worktodo.txt.lck`. Every change through this type uses the same lock file. A change writes a
/// new file, flushes it to disk and renames it. So a process killed at any time leaves either the
/// old or the new file.
///
/// A change preserves all other bytes of the file: comments, other lines and line endings. Only if
/// lines are appended after a last line without a line ending, that line gets one. A symbolic link
/// or a FIFO in place of a file is refused.
#[derive(Debug)]
pub struct WorkFile {
    path: PathBuf,
    patience: Duration,
    stop: Stop,
    notices: Vec<String>,
}

/// A function that returns true when waiting for a lock must end.
struct Stop(Box<dyn Fn() -> bool + Send + Sync>);

impl fmt::Debug for Stop {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Stop")
    }
}

/// A line of `worktodo.txt` and its number.
#[derive(Debug, Clone, PartialEq)]
pub struct NumberedLine {
    /// The number of the line. The first line has number 1.
    pub number: usize,
    /// The line without its line ending, which is LF or CR LF.
    pub bytes: Vec<u8>,
    /// The parsed line.
    pub line: Line,
}

/// The reason why a file could not be read or changed. The file that the error names is unchanged,
/// unless only the last step of its replacement failed, the flush of its name to disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorkFileError {
    /// The lock of the file could not be acquired.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// The path leads to an object that is not a regular file, such as a directory.
    #[error("{} is {what}, not a file: move it away", path.display())]
    NotAFile {
        /// The path of the object.
        path: PathBuf,
        /// The kind of object found, for example `a directory`.
        what: &'static str,
    },
    /// The file is larger than 16 MiB, which is too large for a list of assignments.
    #[error("{} has {bytes} bytes: a list of assignments has at most {MOST_BYTES}", path.display())]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The size of the file, in bytes.
        bytes: u64,
    },
    /// A line of a file of additions has a meaning that depends on the lines above it.
    #[error(
        "the meaning of line {line} of {} depends on the lines above it: add candidates as k*b^n+1 or \
         k*b^n-1",
        path.display()
    )]
    Stays {
        /// The path of the file of additions.
        path: PathBuf,
        /// The number of the line.
        line: usize,
    },
    /// The file cannot be read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file cannot be written.
    #[error("cannot write {}: {source}; unless only the final flush failed, the file is unchanged", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// Another program changed the file during each of 50 attempts of an edit. That program does
    /// not use the lock file.
    #[error("{} was changed repeatedly by another program during the edit; it is left unchanged", path.display())]
    Restless {
        /// The path of the file.
        path: PathBuf,
    },
}

impl WorkFileError {
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile { .. }
            | Self::TooLarge { .. }
            | Self::Stays { .. }
            | Self::Restless { .. } => ErrorKind::BadInput,
            Self::Lock(e) => e.kind(),
            Self::Read { source, .. } | Self::Write { source, .. } => source.into(),
        }
    }
}

impl WorkFile {
    /// Creates the value for `worktodo.txt` in the directory `dir`. Each change of the file waits
    /// for at most `patience` while another program holds the lock. Does not access the disk.
    #[must_use]
    pub fn new(dir: &Path, patience: Duration) -> Self {
        let stop = Stop(Box::new(|| false));
        Self { path: dir.join("worktodo.txt"), patience, stop, notices: vec![] }
    }

    /// Sets a function that ends waiting for locks. When `stop` returns true, a change that waits
    /// for a lock fails with [`LockError::Stopped`].
    #[must_use]
    pub fn stopped_by(mut self, stop: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        self.stop = Stop(Box::new(stop));
        self
    }

    /// Creates the value for the files of a single worker, `worktodo-<worker>.txt` and
    /// `worktodo-<worker>.add` in the directory `dir`. PRPLL uses the same names. Each change waits
    /// for at most `patience` while another program holds the lock. Does not access the disk.
    #[must_use]
    pub fn of_worker(dir: &Path, worker: u32, patience: Duration) -> Self {
        let path = dir.join(format!("worktodo-{worker}.txt"));
        Self { path, ..Self::new(dir, patience) }
    }

    /// Returns the path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns and clears the messages about locks that were taken over from dead processes. Each
    /// message is a text for the user.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Reads all lines of the file. Returns an empty list if the file does not exist.
    ///
    /// Cost: one pass over at most 16 MiB.
    pub fn read(&self) -> Result<Vec<NumberedLine>, WorkFileError> {
        Ok(numbered(&read(&self.path)?))
    }

    /// Appends lines to the file, which is created if missing. The lines are given without line
    /// endings. If the last line of the file has no line ending, one is added to it. Each line is
    /// written with the line ending that the first line of the file has, or with LF if the file is
    /// empty.
    pub fn append(&mut self, lines: &[&[u8]]) -> Result<(), WorkFileError> {
        if lines.is_empty() {
            return Ok(());
        }
        let _lock = self.lock(&self.path.clone())?;
        self.edit(|old| Some(with_lines(old, lines))).map(drop)
    }

    /// Removes the first line whose bytes, without the line ending, equal `line`. Its line ending
    /// is removed too. Returns whether there was such a line.
    pub fn remove_line(&mut self, line: &[u8]) -> Result<bool, WorkFileError> {
        self.remove_chosen(|lines| lines.iter().position(|found| found.bytes == line))
    }

    /// Removes one line, with its line ending. `choose` gets all lines and returns the index of that
    /// line, or `None` to remove no line. It is called again if another program changes the file
    /// meanwhile. Returns whether a line was removed.
    pub fn remove_chosen(
        &mut self,
        mut choose: impl FnMut(&[NumberedLine]) -> Option<usize>,
    ) -> Result<bool, WorkFileError> {
        let _lock = self.lock(&self.path.clone())?;
        self.edit(|old| {
            let index = choose(&numbered(old))?;
            let mut lines = old.split_inclusive(|&b| b == b'\n');
            let start: usize = lines.by_ref().take(index).map(<[u8]>::len).sum();
            let end = start + lines.next()?.len();
            Some([old.get(..start)?, old.get(end..)?].concat())
        })
    }

    /// Moves the lines of `worktodo.add` to the end of `worktodo.txt`. Blank lines are dropped.
    /// Returns the number of lines moved.
    ///
    /// While another program still writes `worktodo.add`, the call waits, for at most about ten
    /// seconds. Then it renames `worktodo.add` to `worktodo.add.taken`, appends the lines to
    /// `worktodo.txt`, and removes the renamed file.
    ///
    /// If the process is killed between these steps, the next call finds `worktodo.add.taken`. From
    /// this file, it appends only the lines that `worktodo.txt` does not yet contain.
    pub fn merge_added(&mut self) -> Result<usize, WorkFileError> {
        self.merge_added_unless(|_| false)
    }

    /// Moves lines as [`Self::merge_added`] does, unless `stays` returns true for a line of
    /// `worktodo.add`, because its meaning depends on the lines
    /// above it.
    ///
    /// # Errors
    /// Returns [`WorkFileError::Stays`] for the first such line. Then both files are unchanged.
    pub fn merge_added_unless(
        &mut self,
        stays: impl Fn(&[u8]) -> bool,
    ) -> Result<usize, WorkFileError> {
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
            let lines = numbered(&read(&added)?);
            if let Some(line) = lines.iter().find(|line| stays(&line.bytes)) {
                return Err(WorkFileError::Stays { path: added, line: line.number });
            }
            let (folder, name) = place(&added)?;
            folder
                .rename(name, taken.file_name().unwrap_or_default())
                .map_err(|e| WorkFileError::Write { path: added.clone(), source: e.into() })?;
            merged += self.take_in(&taken, false)?;
        }
        Ok(merged)
    }

    /// Appends the lines of the file `taken`, except blank lines, and removes `taken`. If
    /// `only_new` is true, leaves out lines that the work file already contains. Returns the number
    /// of lines appended.
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

    /// Replaces the contents of the file by the result of `change`, which is called with the
    /// current contents. Changes nothing if `change` returns `None`. Returns whether the file was
    /// replaced.
    ///
    /// The caller must hold the lock. Programs that do not use the lock may write to the file
    /// during the edit. Their changes are detected until just before the renaming; then the edit is
    /// repeated.
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
            // The slow steps precede the last check.
            new.sync().map_err(write_error)?;
            if read(&self.path)? == old {
                new.finish().map_err(write_error)?;
                return Ok(true);
            }
        }
        Err(WorkFileError::Restless { path: self.path.clone() })
    }
}

/// Returns the directory of the file at `path`, and the name of the file in this directory.
fn place(path: &Path) -> Result<(Folder, &OsStr), WorkFileError> {
    Folder::of(path).map_err(|e| WorkFileError::Read { path: path.to_owned(), source: e.into() })
}

/// Returns whether anything exists at this path.
fn is_there(path: &Path) -> bool {
    place(path).is_ok_and(|(folder, name)| folder.has(name))
}

/// Splits the bytes of a file into its lines, and parses each of them.
fn numbered(bytes: &[u8]) -> Vec<NumberedLine> {
    let lines = bytes.split_inclusive(|&b| b == b'\n').enumerate();
    lines
        .map(|(i, line)| {
            let bytes = without_ending(line).to_vec();
            NumberedLine { number: i + 1, line: Line::parse(&bytes), bytes }
        })
        .collect()
}

fn without_ending(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn has_line(bytes: &[u8], line: &[u8]) -> bool {
    bytes.split_inclusive(|&b| b == b'\n').any(|found| without_ending(found) == line)
}

/// Returns the bytes `old`, followed by the lines. Each line gets the line ending of the first line
/// of `old`, or LF if that line has none. If the last line of `old` has no line ending, it gets the
/// same.
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

/// Reads the whole file of at most 16 MiB. Returns an empty vector if the file does not exist.
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

/// Waits until the size of a file has been constant for 100 ms, but for at most about ten seconds.
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
