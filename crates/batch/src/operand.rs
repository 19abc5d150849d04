//! The operands that the command line names: files, pipes, standard input and numbers.

use std::fs::{self, File};
use std::io::{self, Cursor, IsTerminal, Read, Seek};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use num_bigint::BigUint;
use warpint_integer::Width;

use crate::BatchError;
use crate::expression::large_natural;
use crate::out::Out;
use crate::spool::{self, INPUT, Id, Kind, standard};

/// The kind of source from which an operand is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OperandKind {
    /// A regular file.
    File,
    /// A pipe, standard input, a terminal or `/dev/null`. It is read to its end.
    Pipe,
    /// A single number, which is given in place of a path.
    Number,
}

/// The content of an operand. It can be read from its beginning repeatedly.
#[derive(Debug)]
pub(crate) enum Content {
    File(PathBuf),
    /// The data read from a pipe, in a temporary file.
    Kept(File),
    /// The hexadecimal digits of a number given on the command line.
    Number(Arc<[u8]>),
}

/// An operand of a job, with its content.
#[derive(Debug)]
pub(crate) struct Operand {
    /// The name of the operand in messages.
    pub(crate) name: String,
    pub(crate) content: Content,
    pub(crate) bytes: u64,
    /// The origin of the operand: the canonical path of a file, the path of a pipe, `-` for
    /// standard input, or the number as given.
    pub(crate) place: String,
    /// A text that changes if the content of the operand changes. It contains the size and
    /// modification time of a file, or the SHA-256 of the data of a pipe. It is empty for a number.
    pub(crate) stamp: String,
    /// Whether the operand is a file whose name could also be read as a number.
    pub(crate) hides_number: bool,
}

/// The object that an argument names. Its content has not been read yet.
enum Named {
    File,
    Standard(Option<Id>),
    Pipe(Id),
    Terminal,
    Null,
    Number(BigUint),
}

/// Inspects all arguments and returns the operands. The data of arguments that can be read only
/// once, such as pipes, are copied to temporary files.
///
/// # Errors
/// Returns an error if two operands are the same pipe or both are standard input, if an output is a
/// pipe that is also an operand, if an operand is neither a valid number nor an object that can be
/// read, or if its data cannot be copied to a temporary file.
pub(crate) fn operands(paths: &[&Path], outs: &[Out]) -> Result<Vec<Operand>, BatchError> {
    let named = paths.iter().map(|path| named(path)).collect::<Result<Vec<_>, _>>()?;
    let pipe = |named: &Named| match named {
        Named::Pipe(id) => Some(*id),
        Named::Standard(id) => Some(id.unwrap_or_default()),
        _ => None,
    };
    for (i, one) in named.iter().enumerate() {
        let same = |other: &Named| pipe(other).is_some() && pipe(other) == pipe(one);
        if named[..i].iter().any(same) {
            let name = match one {
                Named::Standard(_) => "standard input".to_owned(),
                _ => paths.get(i).map(|path| path.display().to_string()).unwrap_or_default(),
            };
            let line = format!("two operands are {name}, which can be read only once");
            return Err(BatchError::Request(line));
        }
        let id = pipe(one);
        if let Some(out) = outs.iter().find(|out| id.is_some() && out.pipe() == id) {
            let line = format!("{} cannot be read and written: it is a pipe", out.name());
            return Err(BatchError::Request(line));
        }
    }
    paths.iter().zip(named).map(|(path, named)| Operand::read(path, named)).collect()
}

fn named(path: &Path) -> Result<Named, BatchError> {
    let name = || path.display().to_string();
    let refused = |reason: &str| BatchError::Operand { name: name(), reason: reason.to_owned() };
    if standard(path, INPUT) == Some(INPUT) {
        return match standard_input() {
            Some(Kind::Other(what)) => Err(BatchError::Request(format!("standard input {what}"))),
            Some(Kind::Device(_)) if !io::stdin().is_terminal() => {
                Err(BatchError::request("standard input is a device without an end"))
            }
            Some(Kind::Pipe(id)) => Ok(Named::Standard(Some(id))),
            _ => Ok(Named::Standard(None)),
        };
    }
    match fs::metadata(path) {
        Ok(found) => match Kind::of(&found) {
            Kind::File => Ok(Named::File),
            Kind::Pipe(id) => Ok(Named::Pipe(id)),
            Kind::Null => Ok(Named::Null),
            // A terminal ends when the user types the end of input.
            Kind::Device(_) if File::open(path).is_ok_and(|file| file.is_terminal()) => {
                Ok(Named::Terminal)
            }
            Kind::Device(_) => Err(refused("is a device without an end")),
            Kind::Other(what) => Err(refused(what)),
        },
        Err(e) => match path.to_str().filter(|text| is_like_a_number(text)) {
            Some(text) if e.kind() == io::ErrorKind::NotFound => number(text).map(Named::Number),
            _ => Err(BatchError::Unreadable { name: name(), source: e }),
        },
    }
}

/// Returns the kind of standard input. Returns `None` if the operating system does not report it.
#[cfg(unix)]
fn standard_input() -> Option<Kind> {
    use std::os::fd::AsFd;

    let file = File::from(io::stdin().as_fd().try_clone_to_owned().ok()?);
    Some(Kind::of(&file.metadata().ok()?))
}

#[cfg(not(unix))]
fn standard_input() -> Option<Kind> {
    None
}

/// Returns whether a text looks more like a number than like a file name. The number need not be
/// well-formed.
fn is_like_a_number(text: &str) -> bool {
    let good = |c: char| c.is_ascii_hexdigit() || "xX_^*+-− ".contains(c);
    let begins = |c: char| c.is_ascii_digit() || "+-−".contains(c);
    text.starts_with(begins) && text.chars().all(good)
}

/// Parses a number given on the command line. The error message is one sentence for the user.
fn number(text: &str) -> Result<BigUint, BatchError> {
    if text.starts_with(['+', '-', '−']) {
        let line = format!("'{text}' is signed; batches hold unsigned integers");
        return Err(BatchError::Request(line));
    }
    let most = format!("at most 2^{} bits are allowed", Width::MAX_BITS.ilog2());
    let number = large_natural(text).map_err(|e| {
        BatchError::Request(format!("there is no file '{text}', and as a number: {e}"))
    })?;
    match number.bits() {
        bits if bits > u64::from(Width::MAX_BITS) => {
            Err(BatchError::Request(format!("'{text}' has {bits} bits; {most}")))
        }
        _ => Ok(number),
    }
}

impl Operand {
    fn read(path: &Path, named: Named) -> Result<Self, BatchError> {
        let name = path.display().to_string();
        let unread = |source| BatchError::Unreadable { name: path.display().to_string(), source };
        let place = name.clone();
        let hides_number = false;
        let (file, name) = match named {
            Named::Number(number) => {
                let digits = format!("{number:x}");
                let content = Content::Number(digits.as_bytes().into());
                let (bytes, stamp) = (digits.len() as u64, String::new());
                return Ok(Self { name, content, bytes, place, stamp, hides_number });
            }
            Named::File => {
                let found = fs::metadata(path).map_err(unread)?;
                let time = found.modified().ok();
                let time = time.and_then(|time| time.duration_since(UNIX_EPOCH).ok());
                let bytes = found.len();
                let stamp = format!("{bytes} bytes of {}", time.unwrap_or_default().as_nanos());
                let place = fs::canonicalize(path).map_err(unread)?.display().to_string();
                let hides_number = path
                    .to_str()
                    .is_some_and(|text| is_like_a_number(text) && number(text).is_ok());
                let content = Content::File(path.to_owned());
                return Ok(Self { name, content, bytes, place, stamp, hides_number });
            }
            Named::Standard(_) => {
                let name = "standard input".to_owned();
                let (file, bytes, stamp) = spool::keep(io::stdin().lock(), &name)?;
                let (content, place) = (Content::Kept(file), "-".to_owned());
                return Ok(Self { name, content, bytes, place, stamp, hides_number });
            }
            Named::Pipe(_) | Named::Terminal | Named::Null => {
                (File::open(path).map_err(unread)?, name)
            }
        };
        let (file, bytes, stamp) = spool::keep(file, &name)?;
        Ok(Self { name, content: Content::Kept(file), bytes, place, stamp, hides_number })
    }

    /// Opens the content of the operand and returns a reader at its beginning.
    pub(crate) fn open(&self) -> io::Result<Box<dyn Bytes>> {
        Ok(match &self.content {
            Content::File(path) => Box::new(File::open(path)?),
            Content::Kept(kept) => {
                let mut file = kept.try_clone()?;
                file.rewind()?;
                Box::new(file)
            }
            Content::Number(digits) => Box::new(Cursor::new(Arc::clone(digits))),
        })
    }

    /// Returns the path if the operand is a regular file, and otherwise `None`. The extension of a
    /// file name can determine the format.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.content {
            Content::File(path) => Some(path),
            Content::Kept(_) | Content::Number(_) => None,
        }
    }

    pub(crate) fn kind(&self) -> OperandKind {
        match &self.content {
            Content::File(_) => OperandKind::File,
            Content::Kept(_) => OperandKind::Pipe,
            Content::Number(_) => OperandKind::Number,
        }
    }

    pub(crate) fn is_number(&self) -> bool {
        self.kind() == OperandKind::Number
    }
}

/// A reader of an operand's content that can move to any position.
pub(crate) trait Bytes: Read + Seek + Send {}

impl<T: Read + Seek + Send> Bytes for T {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_told_from_names() {
        for (text, expected) in [
            ("5", true),
            ("0x10001", true),
            ("2^127-1", true),
            ("-5", true),
            ("12x", true),
            ("a.txt", false),
            ("ff", false),
            ("5.txt", false),
            ("", false),
        ] {
            assert_eq!(is_like_a_number(text), expected, "{text}");
        }
        assert_eq!(number("2^127-1").unwrap(), (BigUint::from(1u8) << 127) - 1u8);
        assert_eq!(number("2^1048576-1").unwrap().bits(), 1 << 20);
        for (text, says) in [
            ("-5", "'-5' is signed; batches hold unsigned integers"),
            ("+0x5", "'+0x5' is signed; batches hold unsigned integers"),
            ("2^1048576", "'2^1048576' has 1048577 bits; at most 2^20 bits are allowed"),
            (
                "12x",
                "there is no file '12x', and as a number: '12x' is not a number: write it like",
            ),
        ] {
            let error = number(text).unwrap_err().to_string();
            assert!(error.starts_with(says), "{error}");
        }
    }
}
