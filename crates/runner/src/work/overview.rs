//! The state of the workers of a directory, and the work left for them.

use std::ffi::OsString;
use std::path::Path;
use std::time::Duration;
use std::{fs, io};

use serde::Serialize;
use warpint_gimps::{Line, WorkFile, WorkFileError};

use super::{Claim, State, WorkerStatus};
use crate::RunError;

/// The workers of a directory, and its lists.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Overview {
    /// All workers that have run in the directory, by number. A worker whose process ended without
    /// notice is [`State::Killed`].
    pub workers: Vec<WorkerStatus>,
    /// The content of `worktodo.txt`, the list shared by all workers.
    pub lines: ListStatus,
    /// The contents of the lists `worktodo-N.txt` of single workers.
    #[serde(rename = "own-lists", skip_serializing_if = "Vec::is_empty")]
    pub own_lists: Vec<ListStatus>,
}

/// The numbers of lines in a list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ListStatus {
    /// The path of the list.
    pub file: String,
    /// The number of lines still to be done.
    pub assignments: u32,
    /// The number of lines that no program can interpret.
    pub malformed: u32,
    /// The number of lines for other programs.
    pub foreign: u32,
}

impl Overview {
    /// Reads the files of a directory; also returns a line of text for each status file that cannot
    /// be read. Changes nothing.
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
        for line in list.read()? {
            match line.line {
                Line::Work(_) => lines.assignments += 1,
                Line::Foreign(_) => lines.foreign += 1,
                Line::Malformed(_) => lines.malformed += 1,
                Line::Blank | Line::Comment => {}
            }
        }
        Ok(lines)
    }
}

/// Returns the numbers of the workers that have lists of their own, ascending.
fn numbers(dir: &Path) -> io::Result<Vec<u32>> {
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
