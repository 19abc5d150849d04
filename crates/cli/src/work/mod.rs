//! What a worker on a list of assignments needs beside the test itself.

mod claim;
mod log;
mod status;
mod tests_of;
mod watch;

use std::path::{Path, PathBuf};

pub(crate) use claim::Claim;
#[cfg(test)]
pub(crate) use status::{ErrorStatus, TestStatus};
pub(crate) use status::{State, WorkerStatus};
pub(crate) use tests_of::spec_of;
pub(crate) use watch::Watch;

/// `results.txt` for worker 0, `results-N.txt` for the others.
pub(crate) fn results_path(dir: &Path, worker: u32) -> PathBuf {
    numbered(dir, "results", worker, "txt")
}

/// `DIR/stem.extension` for worker 0, `DIR/stem-N.extension` for the others.
fn numbered(dir: &Path, stem: &str, worker: u32, extension: &str) -> PathBuf {
    dir.join(match worker {
        0 => format!("{stem}.{extension}"),
        n => format!("{stem}-{n}.{extension}"),
    })
}
