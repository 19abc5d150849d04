//! Workers on a list of assignments, beside each other on one directory.
//!
//! A worker takes the first line that it can do and that nobody else has ([`Claim`]), runs it as a
//! [`Job`](crate::Job), removes the line, and goes on. Its files in the directory, for worker N of
//! several (N is left out for the only one, but in its claim and status, where it is 0):
//!
//! | file | content |
//! |---|---|
//! | `worktodo-N.txt` | lines for this worker alone, done before those of `worktodo.txt` |
//! | `results-N.txt` | its results |
//! | `warpint-N.log` | what it did and when |
//! | `status-N.json` | what it is doing ([`WorkerStatus`]) |
//! | `worker-N.lock` | the claim of its number |
//! | `M<p>/claim` | the claim of all assignments of an exponent |
//! | `M<p>.cert` | the residue that a certification begins with ([`StartFile`]) |

mod claim;
mod crew;
mod list;
mod log;
mod overview;
mod shift;
mod start_file;
mod status;
mod tests_of;
mod watch;
mod worker;

use std::path::{Path, PathBuf};
use std::time::Duration;

pub use claim::Claim;
pub use crew::{Crew, MOST_WORKERS, Seat, seats};
pub use list::{Appended, append, check_line};
pub use overview::{ListStatus, Overview};
pub use start_file::{StartFile, StartFileError};
pub use status::{ErrorStatus, RoundOffStatus, State, TestStatus, WorkerStatus};
pub use tests_of::spec_of;
pub use watch::Watch;
pub use worker::{Ended, Tally, Worker};

/// Other programs hold their lock while they talk to a server.
const PATIENCE: Duration = Duration::from_secs(120);

/// `results.txt`, and `results-N.txt` for worker N of several, N from 0: PRPLL names the files of
/// its workers so, and AutoPrimeNet watches them there.
pub(crate) fn results_path(dir: &Path, worker: Option<u32>) -> PathBuf {
    numbered(dir, "results", worker, "txt")
}

/// `DIR/stem.extension` for the only worker, `DIR/stem-N.extension` for worker N of several.
fn numbered(dir: &Path, stem: &str, worker: Option<u32>, extension: &str) -> PathBuf {
    dir.join(match worker {
        None => format!("{stem}.{extension}"),
        Some(n) => format!("{stem}-{n}.{extension}"),
    })
}
