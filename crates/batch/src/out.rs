//! Outputs of results.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Seek, Write};
use std::path::{Path, PathBuf};

use warpint_files::{FileError, WholeFile};

use crate::BatchError;
use crate::spool::{ERRORS, Id, Kind, OUTPUT, nameless, standard};

/// An output for results, which is a file or a stream.
#[derive(Debug)]
pub struct Out(Place);

#[derive(Debug)]
enum Place {
    /// A regular file, which is replaced at the end of the job.
    File(WholeFile),
    /// A pipe, a device or a standard stream. It can only be written sequentially.
    Stream { name: String, to: To },
}

/// The destination of a stream.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum To {
    Output,
    Errors,
    /// `/dev/null`, where results are discarded.
    Nothing,
    /// A pipe or a device.
    Place {
        path: PathBuf,
        pipe: Option<Id>,
    },
}

impl Out {
    /// Inspects the output `path`, or standard output for `-`. For a file, tests whether it can be
    /// created. Does not open streams.
    ///
    /// # Errors
    /// Returns an error if the output cannot be written.
    pub fn new(path: &Path) -> Result<Self, BatchError> {
        let name = path.display().to_string();
        let place = |pipe| To::Place { path: path.to_owned(), pipe };
        let refused = |reason: &str| {
            let reason = format!("it {reason}");
            Err(FileError::Unwritable { path: path.to_owned(), reason }.into())
        };
        let to = match (standard(path, OUTPUT), fs::metadata(path).map(|found| Kind::of(&found))) {
            (Some(OUTPUT), _) => {
                let name = if path == Path::new("-") { "standard output".into() } else { name };
                return Ok(Self(Place::Stream { name, to: To::Output }));
            }
            (Some(ERRORS), _) => To::Errors,
            (_, Ok(Kind::Pipe(id))) => place(Some(id)),
            (_, Ok(Kind::Null)) => To::Nothing,
            (_, Ok(Kind::Device(_))) => place(None),
            (_, Ok(Kind::Other(what))) => return refused(what),
            (_, Ok(Kind::File)) if is_descriptor(path) => place(None),
            (_, Ok(Kind::File) | Err(_)) => {
                return Ok(Self(Place::File(WholeFile::new(path)?)));
            }
        };
        Ok(Self(Place::Stream { name, to }))
    }

    pub(crate) fn file(&self) -> Option<&WholeFile> {
        match &self.0 {
            Place::File(file) => Some(file),
            Place::Stream { .. } => None,
        }
    }

    /// Opens the output if it is a stream. If it is a pipe, waits until a process opens it for
    /// reading. Returns `None` for a file, which is opened when the job starts.
    pub(crate) fn open_stream(&self) -> Result<Option<Output>, BatchError> {
        match &self.0 {
            Place::File(_) => Ok(None),
            Place::Stream { name, to } => Output::new(name, to).map(Some),
        }
    }

    /// Returns whether the output is standard output.
    #[must_use]
    pub fn is_standard(&self) -> bool {
        matches!(&self.0, Place::Stream { to: To::Output, .. })
    }

    /// Returns whether results written to this output and results written to `other` would
    /// overwrite each other or be mixed.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        match (&self.0, &other.0) {
            (Place::File(a), Place::File(b)) => a.is_same(b),
            (Place::Stream { to: To::Nothing, .. }, _) => false,
            (Place::Stream { to: a, .. }, Place::Stream { to: b, .. }) => {
                a == b || (self.pipe().is_some() && self.pipe() == other.pipe())
            }
            _ => false,
        }
    }

    /// Returns the identity of the pipe. Returns `None` if the output is not a pipe.
    pub(crate) fn pipe(&self) -> Option<Id> {
        match &self.0 {
            Place::Stream { to: To::Place { pipe, .. }, .. } => *pipe,
            _ => None,
        }
    }

    /// Returns the name of the output in messages: the path as given, or `standard output`.
    #[must_use]
    pub fn name(&self) -> String {
        match &self.0 {
            Place::File(file) => file.path().display().to_string(),
            Place::Stream { name, .. } => name.clone(),
        }
    }
}

/// Returns whether a path names an open file descriptor, such as `/dev/fd/3`.
fn is_descriptor(path: &Path) -> bool {
    let folder = path.parent().and_then(|folder| fs::canonicalize(folder).ok());
    folder.is_some_and(|folder| folder.starts_with("/proc") && folder.ends_with("fd"))
}

/// The results for a stream. They are collected in a temporary file. The stream receives all
/// results at the end of the job, or none.
pub(crate) struct Output {
    name: String,
    /// The temporary file that contains the results until the end. `None` if the results are
    /// discarded.
    kept: Option<File>,
    to: Target,
    bytes: u64,
}

enum Target {
    Output,
    Errors,
    Open(File),
}

impl Output {
    /// Opens the stream. If it is a pipe, waits until a process opens it for reading.
    pub(crate) fn new(name: &str, to: &To) -> Result<Self, BatchError> {
        let kept = if *to == To::Nothing { None } else { Some(nameless()?) };
        let to = match to {
            To::Output => Target::Output,
            To::Errors | To::Nothing => Target::Errors,
            To::Place { path, .. } => {
                let opened = OpenOptions::new().append(true).open(path);
                Target::Open(opened.map_err(|e| FileError::Unwritable {
                    path: path.clone(),
                    reason: e.to_string(),
                })?)
            }
        };
        Ok(Self { name: name.to_owned(), kept, to, bytes: 0 })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    pub(crate) fn write(&mut self, bytes: &[u8]) -> Result<(), BatchError> {
        self.bytes += bytes.len() as u64;
        let Some(kept) = &mut self.kept else { return Ok(()) };
        kept.write_all(bytes)
            .map_err(|source| BatchError::Temporary { action: "keep results".into(), source })
    }

    /// Writes all results to the stream.
    pub(crate) fn finish(self) -> Result<(), BatchError> {
        let Some(mut kept) = self.kept else { return Ok(()) };
        let mut copy = |mut to: &mut dyn Write| {
            kept.rewind()?;
            io::copy(&mut kept, &mut to)?;
            to.flush()
        };
        let is_standard = matches!(self.to, Target::Output);
        let copied = match self.to {
            Target::Output => copy(&mut io::stdout().lock()),
            Target::Errors => copy(&mut io::stderr().lock()),
            Target::Open(mut file) => copy(&mut file),
        };
        copied.map_err(|e| match is_standard || e.kind() == io::ErrorKind::BrokenPipe {
            // If the reader of any pipe has gone, the program ends silently.
            true => BatchError::Output(e),
            false => BatchError::Stream { name: self.name, source: e },
        })
    }
}
