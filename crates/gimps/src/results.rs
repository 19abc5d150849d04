//! The file `results.txt`, with one JSON object per line. Lines are appended and never rewritten.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::Value;
use warpint_files::given::{self, Found};
use warpint_files::{ErrorKind, FileError, Folder};

use crate::ResultLine;

/// The return value of [`append_result`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The line was written.
    Written,
    /// The file already contained this result, possibly with another timestamp.
    AlreadyThere,
}

/// The reason why a result could not be appended.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ResultsError {
    /// The path leads to an object, such as a directory, that can never receive results.
    #[error("the results file {} is {what}, not a file", path.display())]
    NotAFile {
        /// The path that was given.
        path: PathBuf,
        /// The kind of object, for example `a directory` or `a FIFO`.
        what: &'static str,
    },
    /// The file cannot be read, so it is unknown whether the file contains the result.
    #[error("cannot read the results file {}: {source}", path.display())]
    Read {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The file cannot be created, written or flushed to disk.
    #[error("cannot write the results file {}: {source}", path.display())]
    Write {
        /// The path of the file.
        path: PathBuf,
        /// The underlying error.
        source: io::Error,
    },
    /// The line cannot be formatted as JSON.
    #[error("cannot write the result of M{exponent} as JSON: {source}")]
    Format {
        /// The exponent p of the number M_p to which the result belongs.
        exponent: u32,
        /// The underlying error.
        source: serde_json::Error,
    },
    /// An object cannot be formatted as JSON.
    #[error("cannot write the result as JSON: {0}")]
    Json(serde_json::Error),
}

impl ResultsError {
    /// Returns the kind of the error, by which a program chooses an exit code.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotAFile { .. } => ErrorKind::BadInput,
            Self::Read { source, .. } | Self::Write { source, .. } => source.into(),
            Self::Format { .. } | Self::Json(_) => ErrorKind::Other,
        }
    }
}

/// The length in bytes of the longest line that is compared with a new result. The newline is
/// counted. Lines of this program have less than 1 KiB.
const LONGEST_LINE: usize = 64 << 10;

/// A file to which results are appended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultsFile<'a> {
    /// A file named by the user. Symbolic links are followed. A character device such as
    /// `/dev/null` is written, but not read.
    Given(&'a Path),
    /// A file in a directory of the program. Symbolic links are refused. The directory is created
    /// if missing.
    Own(&'a Path),
}

impl<'a> ResultsFile<'a> {
    /// Returns the path of the file.
    #[must_use]
    pub fn path(self) -> &'a Path {
        match self {
            Self::Given(path) | Self::Own(path) => path,
        }
    }

    /// Returns the kind of object at the path without opening the object.
    fn look(self) -> Result<Found, ResultsError> {
        let looked = match self {
            Self::Given(path) => given::look(path),
            Self::Own(path) => Folder::of(path).and_then(|(folder, name)| {
                Ok(folder.size(name)?.map_or(Found::Nothing, |_| Found::File))
            }),
        };
        looked.map_err(|error| match error {
            FileError::NotAFile { path, what } => ResultsError::NotAFile { path, what },
            error => self.read_error(error),
        })
    }

    fn open(self) -> Result<File, FileError> {
        match self {
            Self::Given(path) => given::open(path),
            Self::Own(path) => Folder::of(path).and_then(|(folder, name)| folder.open(name)),
        }
    }

    /// Appends bytes to the file and flushes them to disk. The file is created if missing, even if
    /// `bytes` is empty.
    fn append(self, bytes: &[u8]) -> Result<(), FileError> {
        let path = match self {
            Self::Own(path) => {
                let (folder, name) = Folder::of(path)?;
                return folder.append(name, bytes);
            }
            Self::Given(path) => path,
        };
        let mut file = given::open_to_append(path)?;
        let written = file.write_all(bytes).and_then(|()| match file.sync_all() {
            // Many devices cannot be flushed and report EINVAL.
            Err(e) if e.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        });
        let path = path.to_owned();
        written.map_err(|source| FileError::Io { action: "write", path, source })
    }

    fn read_error(self, error: FileError) -> ResultsError {
        let path = self.path();
        ResultsError::Read { path: path.into(), source: error.in_message_of(path) }
    }

    fn write_error(self, error: FileError) -> ResultsError {
        let path = self.path();
        ResultsError::Write { path: path.into(), source: error.in_message_of(path) }
    }
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for ResultsFile<'a> {
    fn from(path: &'a P) -> Self {
        Self::Given(path.as_ref())
    }
}

/// Checks that a path can lead to a results file. Opens nothing and changes nothing. A path that
/// cannot be examined is accepted.
///
/// # Errors
/// Returns [`ResultsError::NotAFile`] for a directory, a FIFO, a socket or a block device. For a
/// [`ResultsFile::Own`] file, returns it also for a symbolic link.
pub fn check_results_path<'a>(file: impl Into<ResultsFile<'a>>) -> Result<(), ResultsError> {
    match file.into().look() {
        Err(error @ ResultsError::NotAFile { .. }) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Tests whether results can be appended, by opening the file. The file is created empty if
/// missing. Nothing is written to it.
///
/// # Errors
/// Returns an error if the path leads to an object that is not a results file, or if the file
/// cannot be examined, opened, created or flushed to disk.
pub fn try_results_file<'a>(file: impl Into<ResultsFile<'a>>) -> Result<(), ResultsError> {
    let file = file.into();
    file.look()?;
    file.append(&[]).map_err(|e| file.write_error(e))
}

/// Appends a line to a results file, which is created if missing.
///
/// A result that the file already contains, possibly with another timestamp, is not appended again.
/// Existing lines longer than 64 KiB are not compared with the result.
///
/// The line is written in one write in append mode and flushed to disk, so lines of two writers are
/// not mixed. Then the file is closed, so programs that wait for the file to be closed see the
/// line.
///
/// The existing contents are not changed. If they do not end in a newline, because a write was
/// incomplete, a newline is appended first.
///
/// Cost: one pass over the file, and memory for its longest line up to 64 KiB.
///
/// # Errors
/// Returns an error if the path leads to an object that is not a results file, if the file cannot
/// be read or written, or if the line cannot be formatted as JSON.
pub fn append_result<'a>(
    file: impl Into<ResultsFile<'a>>,
    line: &ResultLine,
) -> Result<Appended, ResultsError> {
    let exponent = line.exponent;
    append_json(file.into(), line, |source| ResultsError::Format { exponent, source })
}

/// Appends an object to a file of JSON objects, one per line, as [`append_result`] does.
///
/// # Errors
/// Returns the same errors as [`append_result`].
pub fn append_object<'a>(
    file: impl Into<ResultsFile<'a>>,
    object: &impl Serialize,
) -> Result<Appended, ResultsError> {
    append_json(file.into(), object, ResultsError::Json)
}

/// Appends a line of text to a file, as [`append_result`] does, unless the file already contains the
/// same line. The line is given without its line ending.
///
/// # Errors
/// Returns the same errors as [`append_result`].
pub fn append_text<'a>(
    file: impl Into<ResultsFile<'a>>,
    line: &str,
) -> Result<Appended, ResultsError> {
    let is_same = |found: &[u8]| found.strip_suffix(b"\n").unwrap_or(found) == line.as_bytes();
    append(file.into(), line.as_bytes(), is_same)
}

fn append_json(
    file: ResultsFile<'_>,
    object: &impl Serialize,
    error: impl Fn(serde_json::Error) -> ResultsError,
) -> Result<Appended, ResultsError> {
    let wanted = without_timestamp(serde_json::to_value(object).map_err(&error)?);
    let line = serde_json::to_vec(object).map_err(&error)?;
    append(file, &line, |found| {
        serde_json::from_slice::<Value>(found).is_ok_and(|value| without_timestamp(value) == wanted)
    })
}

/// Appends a line, unless `is_same` returns true for a line of the file, with its newline.
fn append(
    file: ResultsFile<'_>,
    line: &[u8],
    is_same: impl Fn(&[u8]) -> bool,
) -> Result<Appended, ResultsError> {
    let found = match file.look()? {
        Found::File => {
            let opened = file.open().map_err(|e| file.read_error(e))?;
            scan(opened, is_same)
                .map_err(|source| ResultsError::Read { path: file.path().into(), source })?
        }
        Found::Nothing | Found::Device => Scan { has_line: false, torn: false },
    };

    let mut bytes = Vec::new();
    if found.torn {
        bytes.push(b'\n');
    }
    if !found.has_line {
        bytes.extend_from_slice(line);
        bytes.push(b'\n');
    }
    if !bytes.is_empty() {
        file.append(&bytes).map_err(|e| file.write_error(e))?;
    }
    Ok(if found.has_line { Appended::AlreadyThere } else { Appended::Written })
}

/// The properties of a results file that must be known before a line is appended to it.
struct Scan {
    /// Whether the file already contains the result, possibly with another timestamp.
    has_line: bool,
    /// Whether the last line does not end in a newline.
    torn: bool,
}

/// Searches a results file for a line for which `is_same` returns true.
///
/// Lines are read as bytes, because incomplete lines and lines of other programs may be invalid
/// UTF-8 or invalid JSON. A line longer than [`LONGEST_LINE`] is read in pieces and is not
/// compared.
fn scan(file: File, is_same: impl Fn(&[u8]) -> bool) -> io::Result<Scan> {
    let mut reader = BufReader::new(file);
    let mut scan = Scan { has_line: false, torn: false };
    let mut piece = Vec::new();
    while reader.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut piece)? > 0 {
        let starts_a_line = !scan.torn;
        scan.torn = piece.last() != Some(&b'\n');
        let ends_a_line = !scan.torn || piece.len() < LONGEST_LINE;
        scan.has_line |= starts_a_line && ends_a_line && is_same(&piece);
        piece.clear();
    }
    Ok(scan)
}

fn without_timestamp(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.remove("timestamp");
    }
    value
}
