//! The states of the workers of a directory, and the work that is left for them.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use serde::Serialize;
use warpint_gimps::{WorkFile, WorkFileError};

use super::entry::{Entry, entries};
use super::{Claim, State, WorkerStatus};
use crate::RunError;

/// The states of the workers of a directory, and the contents of its lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// All workers that have run in the directory, in the order of their numbers. A worker whose
    /// process ended without updating its status has [`State::Killed`].
    pub workers: Vec<WorkerStatus>,
    /// The counts of lines in `worktodo.txt`, the list for all workers.
    pub lines: ListStatus,
    /// The counts of lines in the lists `worktodo-N.txt`. Each list is for one worker.
    #[serde(rename = "own-lists", skip_serializing_if = "Vec::is_empty")]
    pub own_lists: Vec<ListStatus>,
}

/// The counts of lines in a list, by kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ListStatus {
    /// The path of the list.
    pub file: String,
    /// The number of assignments of GIMPS that are still to be done.
    pub assignments: u32,
    /// The number of candidates that are still to be tested.
    pub candidates: u32,
    /// The number of lines that are neither valid assignments nor valid candidates.
    pub malformed: u32,
    /// The number of assignments that only other programs can do.
    pub foreign: u32,
}

impl Overview {
    /// Reads the status files and lists of a directory. Also returns a line of text for each status
    /// file that cannot be read. Changes no file.
    ///
    /// # Errors
    /// Returns an error if the directory or a list cannot be read.
    pub fn of(dir: &Path) -> Result<(Self, Vec<String>), RunError> {
        let unreadable = |source| RunError::Unreadable { path: dir.to_owned(), source };
        let (mut workers, warnings) = WorkerStatus::all(dir).map_err(unreadable)?;
        for worker in &mut workers {
            let runs = matches!(
                worker.state,
                State::Preparing | State::Testing | State::Proving | State::Waiting
            );
            if runs && !Claim::is_taken(&Claim::of_worker(dir, worker.worker)) {
                worker.state = State::Killed;
            }
        }
        let lines = ListStatus::of(&WorkFile::new(dir, Duration::ZERO))?;
        let own_lists = numbers(dir)
            .map_err(unreadable)?
            .into_iter()
            .map(|worker| ListStatus::of(&WorkFile::of_worker(dir, worker, Duration::ZERO)))
            .collect::<Result<_, _>>()?;
        Ok((Self { workers, lines, own_lists }, warnings))
    }
}

impl ListStatus {
    fn of(list: &WorkFile) -> Result<Self, WorkFileError> {
        let mut lines = Self { file: list.path().display().to_string(), ..Self::default() };
        for entry in entries(&list.read()?) {
            match entry {
                Entry::Assignment(_) => lines.assignments += 1,
                Entry::Candidate(_) => lines.candidates += 1,
                Entry::Foreign(_) => lines.foreign += 1,
                Entry::Malformed(_) | Entry::BelowMalformed => lines.malformed += 1,
                Entry::Nothing => {}
            }
        }
        Ok(lines)
    }
}

/// Returns the numbers of the workers that have lists of their own, in ascending order.
pub(super) fn numbers(dir: &Path) -> io::Result<Vec<u32>> {
    let number = |name: OsString| {
        name.to_str()?.strip_prefix("worktodo-")?.strip_suffix(".txt")?.parse::<u32>().ok()
    };
    let mut numbers = vec![];
    for entry in fs::read_dir(dir)? {
        numbers.extend(number(entry?.file_name()));
    }
    numbers.sort_unstable();
    Ok(numbers)
}
