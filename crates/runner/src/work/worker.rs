//! A worker that does the assignments of a directory.

use std::fmt::{self, Display};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use serde::Serialize;
use warpint_gimps::{self as gimps, ResultsFile, WorkFile};
use warpint_mersenne::{PlanRequest, StopToken};
use warpint_progress::units;

use super::common::{Common, Member};
use super::shift::{Shift, Until};
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
    /// `warpint_mersenne::proof`), and no proofs of candidates.
    pub proof_power: Option<u32>,
    /// The time between checkpoints.
    pub checkpoint_interval: Duration,
    /// Whether plans may be measured ([`Job::measures`](crate::Job::measures)).
    pub measures: bool,
}

/// The report of a worker, or of the workers of a [`Team`](super::Team), when no work is left: how many lines
/// were done, for each reason how many lines were not done, and how much was computed.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Tally {
    /// The text `no work left`.
    pub status: &'static str,
    /// The number of the worker, or of the first worker of a team; absent for the only worker of a directory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worker: Option<u32>,
    /// The number of workers of the team; absent for a worker that is a process of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub together: Option<u32>,
    /// The number of assignments, with candidates, that were done.
    pub done: u32,
    /// The number of assignments that failed. Their lines are kept in the list.
    pub failed: u32,
    /// The number of lines that are neither valid assignments nor valid candidates. They are kept in the
    /// list.
    pub malformed: u32,
    /// The number of assignments that only other programs can do. Their lines are kept in the list.
    pub foreign: u32,
    /// The number of assignments whose numbers workers of other processes have claimed. Their lines are kept
    /// in the list.
    pub busy: u32,
    /// The number of tests that were computed to their end. Assignments done without a test, because of a
    /// factor or an earlier result, do not count.
    pub tests: u32,
    /// The number of squarings (iterations) computed, of finished and of other tests. Squarings that were
    /// repeated after an error count once.
    pub squarings: u64,
    /// The time in seconds during which there was work: from the start to the end of the last assignment,
    /// without waits for new lines. `seconds` divided by `squarings` is the time of a squaring in the long run.
    pub seconds: f64,
    /// The errors with which assignments failed.
    #[serde(skip)]
    pub errors: Vec<RunError>,
}

/// Formats the counts as `3 assignments done, 1 failed, 2 malformed; 3 tests with 28671 squarings in 1.2 s, 42.10
/// µs/it`.
impl Display for Tally {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} done", units::count(self.done, "assignment"))?;
        for (n, what) in [
            (self.failed, "failed"),
            (self.busy, "taken by other workers"),
            (self.malformed, "malformed"),
            (self.foreign, "for other programs"),
        ] {
            if n > 0 {
                write!(f, ", {n} {what}")?;
            }
        }
        if self.squarings > 0 {
            let (tests, squarings) = (units::count(self.tests, "test"), self.squarings);
            let time =
                units::elapsed(Duration::try_from_secs_f64(self.seconds).unwrap_or_default());
            let each = self.seconds * 1e6 / squarings as f64;
            write!(f, "; {tests} with {squarings} squarings in {time}, {each:.2} µs/it")?;
        }
        Ok(())
    }
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
            measures: true,
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
        let tally = Tally { worker: self.number, ..Tally::default() };
        let common = Common::new(self.wait, tally);
        Ok(match self.run_as(Member::of(&common), observer, stop)? {
            Until::NoWorkLeft => Ended::NoWorkLeft(common.take_tally()),
            Until::Stopped => Ended::Stopped,
        })
    }

    /// Does assignments as [`Worker::run`] does, as a member of the workers of the process.
    pub(super) fn run_as(
        &self,
        member: Member,
        observer: &Arc<dyn Observer>,
        stop: &StopToken,
    ) -> Result<Until, RunError> {
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
        let ended = Shift::new(self, lists, &watch, reporter, stop, member).all();
        if let Err(e) = &ended {
            watch.log(&format!("error: {}", with_causes(e)));
        }
        watch.leave(match &ended {
            Ok(Until::Stopped) => State::Stopped,
            Ok(Until::NoWorkLeft) => State::Finished,
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
