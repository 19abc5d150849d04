//! `status-N.json`: the state of a worker, for other programs.

use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use warpint_device::Telemetry;
use warpint_files::{FileError, Folder};

/// The largest number of bytes of a status file that is read. Real status files are shorter.
const MOST_BYTES: u64 = 64 << 10;

/// The content of `status-N.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct WorkerStatus {
    /// The worker's number.
    pub worker: u32,
    /// The worker's process id.
    pub pid: u32,
    /// The present state of the worker.
    pub state: State,
    /// The time at which the worker's process started, as `YYYY-MM-DD HH:MM:SS` in UTC.
    pub since: String,
    /// The time at which the file was written, as `YYYY-MM-DD HH:MM:SS` in UTC.
    pub updated: String,
    /// The number of assignments that the worker's process has finished.
    pub done: u32,
    /// The number of assignments that failed in the worker's process.
    pub failed: u32,
    /// The present test, or the test during which the worker stopped; absent between assignments.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<TestStatus>,
}

/// The state of a worker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum State {
    /// The worker is between two assignments, or is choosing the plan of a test.
    Preparing,
    /// The worker is running a test.
    Testing,
    /// The worker is building the proof of a finished test.
    Proving,
    /// The worker is waiting for work, because none is left.
    Waiting,
    /// The worker has ended because no work was left.
    Finished,
    /// The worker has ended because of an error, which is in its log.
    Failed,
    /// The user has stopped the worker; the same command resumes its work.
    Stopped,
    /// The process of the worker ended without updating its status.
    Killed,
}

/// The state of the present test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct TestStatus {
    /// The number k·b^n ± 1, such as `3*2^189+1`; absent for M_p with prime p.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub number: Option<String>,
    /// The exponent n of k·b^n ± 1, which is p for M_p.
    pub exponent: u32,
    /// The work type: `PRP-3`, `LL` or `Cert`, and for candidates also `PRP-a`, `Proth-a` or `LLR`.
    pub worktype: String,
    /// The identifier of the assignment (AID); absent for an assignment without an identifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub aid: Option<String>,
    /// The device, such as `cuda:0`, or `cpu`; absent while the plan is being chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<String>,
    /// The name of the engine; absent while the plan is being chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub engine: Option<String>,
    /// The transform length in words; absent while the plan is being chosen.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fft_length: Option<usize>,
    /// The time at which the present process started or resumed the test, as `YYYY-MM-DD HH:MM:SS`
    /// in UTC.
    pub since: String,
    /// The number of iterations done.
    pub iteration: u64,
    /// The number of iterations of the whole test.
    pub total: u64,
    /// The number of iterations done, in percent of `total`.
    pub percent: f64,
    /// The progress of building the proof, in percent; absent before the end of the test.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub proof_percent: Option<f64>,
    /// The recent mean time of an iteration, in µs; absent until it is measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub us_per_iteration: Option<f64>,
    /// The estimated remaining time in seconds: of the test or, while the proof is being built, of
    /// the proof. Absent until it can be estimated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub eta_seconds: Option<u64>,
    /// The iteration of the last checkpoint that the present process has saved; absent if there is
    /// none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<u64>,
    /// The last iteration whose state a check has verified; absent if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub verified: Option<u64>,
    /// The round-off; absent until it is measured, and for engines that compute in integers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub round_off: Option<RoundOffStatus>,
    /// The last readings of the device's sensors; absent for a device without sensors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sensors: Option<Telemetry>,
    /// The errors from which the test has recovered since the present process started or resumed
    /// it.
    pub errors: ErrorStatus,
}

impl TestStatus {
    /// Returns the name of the number, such as `M127` or `3*2^189+1`.
    #[must_use]
    pub fn name(&self) -> String {
        self.number.clone().unwrap_or_else(|| format!("M{}", self.exponent))
    }
}

/// The round-off of the engine's products since the engine was built.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct RoundOffStatus {
    /// The largest round-off.
    pub max: f64,
    /// Z = (½ − μ)/β, where μ is the mode and β the scale of the distribution of the largest
    /// round-off of a product. Absent if the engine has computed too few products to estimate it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub z: Option<f64>,
}

/// The numbers of errors from which a test has recovered, by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ErrorStatus {
    /// The number of checks that failed.
    pub checks: u32,
    /// The number of times that the round-off was too large and a longer transform was chosen.
    pub round_off: u32,
    /// The number of times that the device failed.
    pub device: u32,
}

impl WorkerStatus {
    /// Returns the path of the status file of a worker.
    #[must_use]
    pub fn path(dir: &Path, worker: u32) -> PathBuf {
        dir.join(format!("status-{worker}.json"))
    }

    /// Writes the status to its file. The file is replaced atomically, so that readers find either
    /// the old or the new content.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn write(&self, dir: &Path) -> io::Result<()> {
        let path = Self::path(dir, self.worker);
        let mut text = serde_json::to_string(self)?;
        text.push('\n');
        let write = || {
            let (folder, name) = Folder::of(&path)?;
            let mut file = folder.begin(name)?;
            file.write(text.as_bytes())?;
            // The next write comes soon, so that this one need not survive a power cut.
            file.finish_unsynced()
        };
        write().map_err(|e: FileError| e.in_message_of(&path))
    }

    /// Removes incomplete status files that killed processes have left in a directory.
    pub fn clear_away(dir: &Path) {
        Folder::at(dir).clear_away(|name| name.starts_with("status-") && name.ends_with(".json"));
    }

    /// Reads all status files of a directory. Returns the states in the order of the worker
    /// numbers, and a line of text for each file that cannot be read.
    ///
    /// # Errors
    /// Returns an error if the directory cannot be read.
    pub fn all(dir: &Path) -> io::Result<(Vec<Self>, Vec<String>)> {
        let (mut found, mut unreadable) = (vec![], vec![]);
        let folder = Folder::at(dir);
        for entry in folder.list()? {
            let path = folder.file(&entry.name);
            let number = path
                .file_name()
                .and_then(|name| name.to_str())
                .and_then(|name| name.strip_prefix("status-")?.strip_suffix(".json"))
                .and_then(|digits| digits.parse::<u32>().ok());
            let Some(number) = number else { continue };
            match Self::read(&path) {
                Ok(status) if status.worker == number => found.push(status),
                Ok(_) => unreadable.push(format!("{}: it is of another worker", path.display())),
                Err(e) => unreadable.push(format!("{}: {e}", path.display())),
            }
        }
        found.sort_by_key(|status| status.worker);
        unreadable.sort();
        Ok((found, unreadable))
    }

    fn read(path: &Path) -> io::Result<Self> {
        let (folder, name) = Folder::of(path)?;
        Ok(serde_json::from_slice(&folder.read(name, MOST_BYTES)?)?)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let status = |worker| WorkerStatus {
            worker,
            pid: 7,
            state: State::Preparing,
            since: "2026-01-02 03:04:05".into(),
            updated: "2026-01-02 03:04:06".into(),
            done: 1,
            failed: 0,
            test: None,
        };
        for worker in [10, 0] {
            status(worker).write(dir.path()).unwrap();
        }
        fs::write(dir.path().join("status-3.json"), "{\"worker\":3").unwrap();
        fs::copy(WorkerStatus::path(dir.path(), 0), dir.path().join("status-4.json")).unwrap();
        fs::write(dir.path().join("status-x.json"), "").unwrap();
        fs::write(dir.path().join("status-0.json.0aZ9bb.tmp"), "half").unwrap();
        WorkerStatus::clear_away(dir.path());
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 5);
        let (found, unreadable) = WorkerStatus::all(dir.path()).unwrap();
        assert_eq!(found, [status(0), status(10)]);
        assert_eq!(unreadable.len(), 2);
        assert!(unreadable[0].contains("status-3.json: EOF"), "{unreadable:?}");
        assert!(unreadable[1].contains("status-4.json: it is of another"), "{unreadable:?}");
    }

    #[cfg(unix)]
    #[test]
    fn what_is_no_file_in_place_of_a_status_is_replaced_by_its_worker_and_read_by_nobody() {
        let dir = tempfile::tempdir().unwrap();
        let at = |worker| WorkerStatus::path(dir.path(), worker);
        std::os::unix::fs::symlink("/dev/zero", at(0)).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(at(1)).status().unwrap().success());
        let (found, unreadable) = WorkerStatus::all(dir.path()).unwrap();
        assert!(found.is_empty() && unreadable.len() == 2);
        assert!(unreadable[0].ends_with("it is a symbolic link, not a regular file"));
        assert!(unreadable[1].ends_with("it is a FIFO, not a regular file"));
    }
}
