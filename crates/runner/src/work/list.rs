//! Adds lines to the list of assignments `DIR/worktodo.txt`.

use std::fs;
use std::path::{Path, PathBuf};

use warpint_gimps::{Line, WorkFile};
use warpint_mersenne::Exponent;

use super::PATIENCE;
use crate::RunError;

/// Checks that a line is an assignment for this program.
///
/// # Errors
/// Returns [`RunError::Exponent`] if the exponent of the assignment cannot be tested, and
/// [`RunError::NoAssignment`] for any other reason.
pub fn check_line(line: &str) -> Result<(), RunError> {
    let refused = match Line::parse(line.as_bytes()) {
        Line::Work(assignment) => {
            Exponent::new(assignment.work.exponent().into())?;
            return Ok(());
        }
        Line::Foreign(why) => why.to_string(),
        Line::Malformed(why) => why.to_string(),
        Line::Blank | Line::Comment => "it is not an assignment".into(),
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
