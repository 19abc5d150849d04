//! A worker that does the assignments of a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use warpint_gimps::{self as gimps, ResultsFile, WorkFile};
use warpint_mersenne::{PlanRequest, StopToken};

use super::shift::Shift;
use super::{Claim, PATIENCE, State, Watch, candidate_paths, results_path};
use crate::RunError;
use crate::error::with_causes;
use crate::observer::{Observer, Reporter};

/// The number of attempts to claim the worker number. A single attempt might fail, because a
/// process that lists the workers locks the file for an instant.
const CLAIM_TRIES: u32 = 20;

/// The settings of a worker that does the assignments in the lists of a directory. [`Worker::new`]
/// sets defaults; the fields can then be changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Worker {
    /// The path of the directory for lists, results, checkpoints, log and status.
    pub dir: PathBuf,
    /// The number of the worker, which is less than [`MOST_WORKERS`](super::MOST_WORKERS); `None`
    /// for the only worker of the directory.
    pub number: Option<u32>,
    /// The requested device, engine, transform length and number of threads.
    pub request: PlanRequest,
    /// Whether the worker waits for new lines, instead of ending, when no line is left that it can
    /// do.
    pub wait: bool,
    /// The user's name on the GIMPS server. Results contain this name.
    pub user: Option<String>,
    /// The name of the computer. Results contain this name.
    pub computer: Option<String>,
    /// Whether proofs of PRP tests are made.
    pub proofs: bool,
    /// The power of proofs; `None` selects the default power for each exponent (`power_for` of
    /// `warpint_mersenne::proof`).
    pub proof_power: Option<u32>,
    /// The time between checkpoints.
    pub checkpoint_interval: Duration,
}

/// The report of a worker that has no work left: how many lines it has done, and for each reason
/// how many lines it has not done.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// The text `no work left`.
    pub status: &'static str,
    /// The number of the worker; absent for the only worker of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// The number of assignments, with candidates, that this worker has done.
    pub done: u32,
    /// The number of assignments that failed. Their lines are kept in the list.
    pub failed: u32,
    /// The number of lines that are neither valid assignments nor valid candidates. They are kept in the
    /// list.
    pub malformed: u32,
    /// The number of assignments that only other programs can do. Their lines are kept in the list.
    pub foreign: u32,
    /// The number of assignments whose numbers other workers have claimed. Their lines are kept
    /// in the list.
    pub busy: u32,
    /// The errors with which assignments failed.
    #[serde(skip)]
    pub errors: Vec<RunError>,
}

/// The way in which a worker ended without an error.
#[derive(Debug)]
pub enum Ended {
    /// No line is left that the worker can do.
    NoWorkLeft(Tally),
    /// The worker was stopped by the stop token.
    Stopped,
}

impl Worker {
    /// Creates the settings of the only worker of an existing directory. The worker makes proofs,
    /// saves a checkpoint every 60 s, and ends when no work is left.
    #[must_use]
    pub fn new(dir: &Path) -> Self {
        Self {
            dir: dir.to_owned(),
            number: None,
            request: PlanRequest::default(),
            wait: false,
            user: None,
            computer: None,
            proofs: true,
            proof_power: None,
            checkpoint_interval: Duration::from_secs(60),
        }
    }

    /// Does assignments until no line is left that this worker can do, or until `stop` is set. If
    /// [`Worker::wait`] is true and no line is left, the worker waits for new lines instead of
    /// ending.
    ///
    /// If an assignment fails, the worker reports the error, keeps the line in the list, and
    /// continues with the next line.
    ///
    /// # Errors
    /// Returns an error if the results file, a list or the lock file cannot be used, if another
    /// worker has the same number, or if the observer could not deliver the tally.
    pub fn run(&self, observer: &Arc<dyn Observer>, stop: &StopToken) -> Result<Ended, RunError> {
        let own = candidate_paths(&self.dir, self.number);
        for path in [results_path(&self.dir, self.number)].iter().chain(&own) {
            gimps::check_results_path(ResultsFile::Own(path))?;
        }
        // Paths that cannot be lists, such as a folder or a FIFO, are refused before any work, too.
        let lists = self.lists(stop);
        for list in &lists {
            list.read()?;
        }
        let _claim = self.claim()?;
        let watch = Watch::new(&self.dir, self.number, Arc::clone(observer));
        watch.log("begins");
        let reporter = Reporter { observer: Arc::clone(observer), watch: Some(watch.clone()) };
        let ended = Shift::new(self, lists, &watch, reporter, stop).all();
        if let Err(e) = &ended {
            watch.log(&format!("error: {}", with_causes(e)));
        }
        watch.leave(match &ended {
            Ok(Ended::Stopped) => State::Stopped,
            Ok(Ended::NoWorkLeft(_)) => State::Finished,
            Err(_) => State::Failed,
        });
        ended
    }

    /// Returns the lists of the worker: its own list, if it has a number, then the list of all
    /// workers.
    fn lists(&self, stop: &StopToken) -> Vec<WorkFile> {
        let own = self.number.map(|worker| WorkFile::of_worker(&self.dir, worker, PATIENCE));
        let stopped_by = |list: WorkFile| {
            let stop = stop.clone();
            list.stopped_by(move || stop.is_stopped())
        };
        own.into_iter().chain([WorkFile::new(&self.dir, PATIENCE)]).map(stopped_by).collect()
    }

    fn claim(&self) -> Result<Claim, RunError> {
        let worker = self.number.unwrap_or(0);
        let path = Claim::of_worker(&self.dir, worker);
        for _ in 0..CLAIM_TRIES {
            let claim = Claim::try_take(&path)
                .map_err(|source| RunError::WorkerLock { path: path.clone(), source })?;
            if let Some(claim) = claim {
                return Ok(claim);
            }
            thread::sleep(Duration::from_millis(50));
        }
        Err(RunError::WorkerAtWork { worker, dir: self.dir.clone() })
    }
}
