//! `results.txt`: one JSON object a line, appended and never rewritten.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::ResultLine;

/// What [`append_result`] found to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The line was written.
    Written,
    /// The file had this result already, perhaps with another timestamp.
    AlreadyThere,
}

/// Why a result could not be appended.
#[derive(Debug, thiserror::Error)]
pub enum ResultsError {
    /// What is at this path can never take results.
    #[error("the results file {} is {what}, not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
        /// What is there: `a directory`, `a FIFO` …
        what: &'static str,
    },
    /// The file cannot be read: whether it has the result is not known.
    #[error("cannot read the results file {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The file cannot be made, written or brought to disk.
    #[error("cannot write the results file {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The line has no JSON form.
    #[error("cannot write the result of M{exponent} as JSON: {source}")]
    Format {
        /// p.
        exponent: u32,
        /// Why.
        source: serde_json::Error,
    },
}

/// The longest line that is compared with a new result; lines of this program
/// have less than 1 KiB.
const LONGEST_LINE: usize = 64 << 10;

/// Where an append goes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Target {
    /// Nothing is there yet.
    New,
    /// A regular file.
    File,
    /// A character device: it takes lines and gives none back.
    Device,
}

/// Refuses a path at which there is something that can never be a results
/// file: [`ResultsError::NotAFile`] for a directory, a FIFO (whose opening
/// waits for a reader), a socket or a block device.
///
/// Opens and changes nothing; a path that cannot be examined passes.
pub fn check_results_path(path: &Path) -> Result<(), ResultsError> {
    match target(path) {
        Err(error @ ResultsError::NotAFile { .. }) => Err(error),
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Sees whether results can be appended: opens the file, which is made empty
/// if it is not there. Writes nothing.
pub fn try_results_file(path: &Path) -> Result<(), ResultsError> {
    target(path)?;
    open(path).map(drop)
}

/// Appends a line to a results file, which is made if it is not there.
///
/// One write in append mode, brought to disk, and the file closed at once:
/// programs that watch the file wait for the close, and two writers do not mix
/// their lines. What is in the file stays byte for byte. If it does not end in
/// a newline (a torn write), the new line starts on a line of its own. A result
/// that the file already has, but for the timestamp, is not written again;
/// lines of 64 KiB and more are taken for something else. A character device
/// (`/dev/null`) is written to without being read.
///
/// Cost: one pass over the file, in memory for its longest line up to 64 KiB.
pub fn append_result(path: &Path, line: &ResultLine) -> Result<Appended, ResultsError> {
    let read_error = |source| ResultsError::Read { path: path.into(), source };
    let write_error = |source| ResultsError::Write { path: path.into(), source };
    let format_error = |source| ResultsError::Format { exponent: line.exponent, source };

    let target = target(path)?;
    let found = match target {
        Target::File => {
            let wanted = without_timestamp(serde_json::to_value(line).map_err(format_error)?);
            let file = File::open(path).map_err(read_error)?;
            scan(file, &wanted).map_err(read_error)?
        }
        Target::New | Target::Device => Scan { has_line: false, torn: false },
    };

    let mut bytes = Vec::new();
    if found.torn {
        bytes.push(b'\n');
    }
    if !found.has_line {
        serde_json::to_writer(&mut bytes, line).map_err(format_error)?;
        bytes.push(b'\n');
    }
    if !bytes.is_empty() {
        let mut file = open(path)?;
        file.write_all(&bytes).map_err(write_error)?;
        match file.sync_all() {
            // Many a device has nothing to bring to disk and says so by EINVAL.
            Err(e) if target == Target::Device && e.kind() == io::ErrorKind::InvalidInput => {}
            synced => synced.map_err(write_error)?,
        }
    }
    Ok(if found.has_line { Appended::AlreadyThere } else { Appended::Written })
}

fn open(path: &Path) -> Result<File, ResultsError> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .open(path)
        .map_err(|source| ResultsError::Write { path: path.into(), source })
}

fn target(path: &Path) -> Result<Target, ResultsError> {
    let kind = match fs::metadata(path) {
        Ok(metadata) => metadata.file_type(),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(Target::New),
        Err(source) => return Err(ResultsError::Read { path: path.into(), source }),
    };
    if kind.is_file() {
        return Ok(Target::File);
    }
    match special(kind) {
        None => Ok(Target::Device),
        Some(what) => Err(ResultsError::NotAFile { path: path.into(), what }),
    }
}

/// What a path leads to that is no regular file; `None` for a character device.
pub(crate) fn special(kind: FileType) -> Option<&'static str> {
    if kind.is_dir() {
        return Some("a directory");
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;
        if kind.is_char_device() {
            return None;
        }
        for (is, what) in [
            (kind.is_fifo(), "a FIFO"),
            (kind.is_socket(), "a socket"),
            (kind.is_block_device(), "a block device"),
        ] {
            if is {
                return Some(what);
            }
        }
    }
    Some("something else")
}

/// What a results file holds as far as an append cares.
struct Scan {
    /// The wanted line is there.
    has_line: bool,
    /// The last line has no newline.
    torn: bool,
}

/// Lines are read as bytes: a torn or foreign one need not be UTF-8 or JSON.
/// One that is too long comes in pieces, none of which is looked at.
fn scan(file: File, wanted: &Value) -> io::Result<Scan> {
    let mut reader = BufReader::new(file);
    let mut scan = Scan { has_line: false, torn: false };
    let mut piece = Vec::new();
    while reader.by_ref().take(LONGEST_LINE as u64).read_until(b'\n', &mut piece)? > 0 {
        let starts_a_line = !scan.torn;
        scan.torn = piece.last() != Some(&b'\n');
        let ends_a_line = !scan.torn || piece.len() < LONGEST_LINE;
        scan.has_line |= starts_a_line
            && ends_a_line
            && serde_json::from_slice::<Value>(&piece)
                .is_ok_and(|value| without_timestamp(value) == *wanted);
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
