//! Adds lines to the list of assignments `DIR/worktodo.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use warpint_gimps::{Line, NumberedLine, WorkFile};
use warpint_mersenne::Exponent;

use super::PATIENCE;
use super::entry::{Entry, entries};
use super::header::Header;
use crate::RunError;

/// Checks that a line is an assignment for this program. Returns the line to be appended to a list:
/// instead of a line of integers, the number that it names, because headers of the list would change
/// the meaning of the integers.
///
/// # Errors
/// Returns [`RunError::Exponent`] if the exponent of the assignment cannot be tested, and
/// [`RunError::NoAssignment`] for any other reason.
pub fn check_line(line: &str) -> Result<String, RunError> {
    let line = line.trim();
    let bytes = line.as_bytes().to_vec();
    let numbered = NumberedLine { number: 1, line: Line::parse(&bytes), bytes };
    let refused = match entries(&[numbered]).next() {
        Some(Entry::Assignment(assignment)) => {
            Exponent::new(assignment.work.exponent().into())?;
            return Ok(line.into());
        }
        Some(Entry::Candidate(candidate)) => return Ok(candidate.name().into()),
        Some(Entry::Foreign(why) | Entry::Malformed(why)) => why,
        _ if Header::is_meant(line) => {
            "it is a header: write headers and the lines below them into the list".into()
        }
        _ => "it is not an assignment".into(),
    };
    Err(RunError::NoAssignment(refused))
}

/// The outcome of [`append`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Appended {
    /// The path of the list.
    pub path: PathBuf,
    /// A line of text for each lock that was taken over from a process that no longer exists.
    pub notices: Vec<String>,
}

/// Appends lines to the list of a directory, either all of them or none. Creates the directory if
/// it is missing.
///
/// # Errors
/// Returns an error if the directory cannot be created or the list cannot be written.
pub fn append(dir: &Path, lines: &[String]) -> Result<Appended, RunError> {
    fs::create_dir_all(dir)
        .map_err(|source| RunError::Directory { path: dir.to_owned(), source })?;
    let mut list = WorkFile::new(dir, PATIENCE);
    let lines: Vec<&[u8]> = lines.iter().map(|line| line.trim().as_bytes()).collect();
    list.append(&lines)?;
    Ok(Appended { path: list.path().to_owned(), notices: list.take_notices() })
}
