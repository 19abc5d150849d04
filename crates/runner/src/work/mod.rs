//! Workers that share a directory and its list of assignments.
//!
//! An assignment is a line in the form of GIMPS or a candidate, a number k·b^n ± 1.
//! A worker takes the first assignment that it can do and that no other worker has claimed
//! ([`Claim`]), runs it as a [`Job`](crate::Job), removes its line from the list, and continues.
//! Workers are processes of their own ([`Crew`]) or threads of one process ([`Team`]), or both.
//! The table lists the files in the directory for worker N of several. If a directory has only one
//! worker, `-N` is left out of the names, except in `status-0.json` and `worker-0.lock`:
//!
//! | file | content |
//! |---|---|
//! | `worktodo-N.txt` | lines for this worker only, done before those of `worktodo.txt` |
//! | `results-N.txt` | its results of assignments of GIMPS |
//! | `candidates-N.jsonl`, `lresults-N.txt` | its results of candidates, as JSON objects and in the form of LLR |
//! | `warpint-N.log` | its actions with their times |
//! | `status-N.json` | its present state ([`WorkerStatus`]) |
//! | `worker-N.lock` | the claim of its number |
//! | `M<p>/claim`, `k_b_n+1/claim`, `k_b_n-1/claim` | the claim of all assignments of a number |
//! | `M<p>.cert` | the start residue of a certification ([`StartFile`]) |

mod advance;
mod claim;
mod common;
mod crew;
mod entry;
mod header;
mod list;
mod log;
mod log_line;
mod overview;
mod shift;
mod start_file;
mod status;
mod task;
mod team;
mod tests_of;
mod unclear;
mod watch;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use claim::Claim;
pub use crew::{Crew, MOST_WORKERS, Seat, seats, share_of};
pub use list::{Appended, append, check_line};
pub use log_line::{LogLine, Logged, Progress};
pub use overview::{ListStatus, Overview};
pub use start_file::{StartFile, StartFileError};
pub use status::{ErrorStatus, RoundOffStatus, State, TestStatus, WorkerStatus};
pub use team::{MOST_TOGETHER, Team};
pub use tests_of::spec_of;
pub use unclear::UnclearLine;
pub use watch::Watch;
pub use worker::{Ended, Tally, Worker};

/// The longest wait for the lock of a list. Other programs may lock a list while they talk to a
/// server.
const PATIENCE: Duration = Duration::from_secs(120);

/// Returns the path of the results file: `results.txt` for the only worker, or `results-N.txt` for
/// worker N of several, where N starts from zero. PRPLL uses the same names for its workers, and
/// AutoPrimeNet watches these files.
pub(crate) fn results_path(dir: &Path, worker: Option<u32>) -> PathBuf {
    numbered(dir, "results", worker, "txt")
}

/// Returns the paths of the files for results of candidates: JSON objects, and lines of text in the form
/// of LLR, whose own file has the same name.
pub(crate) fn candidate_paths(dir: &Path, worker: Option<u32>) -> [PathBuf; 2] {
    [numbered(dir, "candidates", worker, "jsonl"), numbered(dir, "lresults", worker, "txt")]
}

/// Returns `DIR/stem.extension` for the only worker, `DIR/stem-N.extension` for worker N of
/// several.
fn numbered(dir: &Path, stem: &str, worker: Option<u32>, extension: &str) -> PathBuf {
    dir.join(match worker {
        None => format!("{stem}.{extension}"),
        Some(n) => format!("{stem}-{n}.{extension}"),
    })
}
