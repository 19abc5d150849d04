//! One worker of a directory.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use warpint_gimps::{self as gimps, ResultsFile, WorkFile};
use warpint_mersenne::{PlanRequest, StopToken};

use super::shift::Shift;
use super::{Claim, PATIENCE, State, Watch, results_path};
use crate::RunError;
use crate::error::with_causes;
use crate::observer::{Observer, Reporter};

/// The number of attempts to take a claim. There are several because a process that looks at the
/// workers may hold it for an instant.
const CLAIM_TRIES: u32 = 20;

/// A worker on the lists of a directory. [`Worker::new`] sets defaults; the fields can then be
/// changed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Worker {
    /// The path of the directory for lists, results, checkpoints, log and status.
    pub dir: PathBuf,
    /// The worker's number, if there are several workers. It is below
    /// [`MOST_WORKERS`](super::MOST_WORKERS).
    pub number: Option<u32>,
    /// How and where to compute.
    pub request: PlanRequest,
    /// Whether the worker waits for new lines when no line is left that it can do.
    pub wait: bool,
    /// The user's name on the GIMPS server, for results.
    pub user: Option<String>,
    /// The name of the computer, for results.
    pub computer: Option<String>,
    /// Whether proofs of PRP tests are made.
    pub proofs: bool,
    /// The power of proofs; `None` for the power that GIMPS uses.
    pub proof_power: Option<u32>,
    /// The time between checkpoints.
    pub checkpoint_interval: Duration,
}

/// How many lines had which outcome when a worker ended.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// The text `no work left`.
    pub status: &'static str,
    /// The number of the worker; absent for the only worker of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// The number of assignments that this worker has done.
    pub done: u32,
    /// The number of assignments that failed. Their lines are kept, as are the lines that the
    /// following fields count.
    pub failed: u32,
    /// The number of lines that no program can interpret.
    pub malformed: u32,
    /// The number of lines for other programs.
    pub foreign: u32,
    /// The number of lines that other workers have taken.
    pub busy: u32,
    /// The errors with which assignments failed.
    #[serde(skip)]
    pub errors: Vec<RunError>,
}

/// How a worker ended without an error.
#[derive(Debug)]
pub enum Ended {
    /// No line is left that the worker can do.
    NoWorkLeft(Tally),
    /// The worker was stopped by the stop token.
    Stopped,
}

impl Worker {
    /// Creates the only worker of an existing directory, with proofs, and checkpoints every 60 s.
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

    /// Works until no line is left that this worker can do or, if [`Worker::wait`] is set, until
    /// `stop` is set.
    ///
    /// If an assignment fails, it is reported, its line is kept, and the worker continues with the
    /// next line.
    ///
    /// # Errors
    /// Returns an error if the path of the results file or of a list is unusable, if another worker
    /// has this number, if a list cannot be read, or if a tally could not be delivered.
    pub fn run(&self, observer: &Arc<dyn Observer>, stop: &StopToken) -> Result<Ended, RunError> {
        gimps::check_results_path(ResultsFile::Own(&results_path(&self.dir, self.number)))?;
        // The same applies to paths that cannot be lists: a folder, a FIFO.
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
            _ => State::Finished,
        });
        ended
    }

    /// Returns the lists that the worker works on: its own list, if it has a number, and the shared
    /// list.
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
