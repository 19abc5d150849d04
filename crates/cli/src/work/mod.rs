//! What a worker on a list of assignments needs beside the test itself.

mod claim;
mod log;
mod start_file;
mod status;
mod tests_of;
mod watch;

use std::path::{Path, PathBuf};

pub(crate) use claim::Claim;
pub(crate) use start_file::StartFile;
#[cfg(test)]
pub(crate) use status::{ErrorStatus, TestStatus};
pub(crate) use status::{State, WorkerStatus};
pub(crate) use tests_of::spec_of;
pub(crate) use watch::Watch;

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
