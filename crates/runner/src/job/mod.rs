//! Runs a test from its request to its report. A [`Job`] describes the test and says whether it is
//! done for an assignment.

mod relay;
mod result;

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use warpint_gimps::{self as gimps, ResultsFile};
use warpint_mersenne::checkpoint::CheckpointStore;
use warpint_mersenne::proof::{Points, ProofError, Subject};
use warpint_mersenne::{
    Factor, Finished, Number, Outcome, Plan, PlanRequest, ResidueSink, RunOptions, StopToken,
    StoredTimes as _, TestSpec, TunedTimes, trial_factor,
};

use crate::RunError;
use crate::error::with_causes;
use crate::note::Note;
use crate::observer::{Observer, Reporter, RunEvent};
use crate::place::{or_on_cpu, resolved, two_plans};
use crate::proofs::{MakeError, ProofWork};
use crate::report::{Credit, FactorReport, Report, StopReport, TestReport};
use crate::stored::StoredResult;
use crate::warning::Warning;
use crate::work::{self, Watch};

/// The number of bits above which the choice of a transform length takes seconds. For longer numbers a
/// note announces the choice.
const SLOW_TO_PLAN: u32 = 10_000_000;

/// A reasonable limit of k in the search for factors 2kp + 1 of M_p before a test. The search takes
/// about a tenth of a second at the largest exponents p.
pub const TF_LIMIT: u64 = 2_000_000;

/// Whether each squaring of a Lucas–Lehmer test is checked by sums over its words.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum CheckSquarings {
    /// As the engine does by default ([`Plan::checks_by_default`]).
    #[default]
    Auto,
    /// Always: [`Job::run`] returns an error if the engine cannot do so.
    Every,
    /// Never.
    Never,
}

/// A test to be run: what is tested, with which engine and device, and where the result is written.
/// [`Job::new`] sets defaults; the fields can then be changed.
#[derive(Debug)]
#[non_exhaustive]
pub struct Job<'a> {
    /// The kind, the number and the other parameters of the test.
    pub spec: TestSpec,
    /// The requested device, engine, transform length and number of threads.
    pub request: PlanRequest,
    /// The power of the proof to be made; `None` for no proof. [`Job::run`] returns an error if the test has
    /// no proofs ([`Subject::new`]), or if [`Points::new`] returns `None` for this power.
    pub proof: Option<u32>,
    /// For Lucas–Lehmer: the request for a second engine, which recomputes the test; `None` for a
    /// single engine.
    pub verify_with: Option<PlanRequest>,
    /// For Lucas–Lehmer: whether each squaring is checked.
    pub check_squarings: CheckSquarings,
    /// The path of the directory for checkpoints, stored results, proofs and the results file.
    pub dir: &'a Path,
    /// The path of the results file; `None` selects the results file in [`Job::dir`].
    pub results: Option<&'a Path>,
    /// The time between checkpoints.
    pub checkpoint_interval: Duration,
    /// The limit of k in the search for factors 2kp + 1 of M_p before the test, or, for other numbers,
    /// the limit of the search of [`Number::find_factor`]; `None` for no search.
    pub tf_limit: Option<u64>,
    /// Whether the choice of a plan for a number other than a Mersenne number may measure times of squarings.
    /// Without measurements the shortest transform is used that is not known to be slower than a longer one.
    pub measures: bool,
    /// Whether to remove the checkpoints and the stored result of this test first, so that the test
    /// starts from the beginning.
    pub restart: bool,
    /// The assignment for which the test is done; `None` for a test without an assignment.
    pub order: Option<Order<'a>>,
}

/// The assignment of a job, with the log and the status file of its worker.
#[derive(Debug)]
pub struct Order<'a> {
    /// The assignment and the user to whom the result is credited.
    pub credit: Credit,
    /// Whether the assignment is a double check. For a double check, a stored result is used only
    /// if it was computed for the same assignment.
    pub double_check: bool,
    /// The log and the status file of the worker.
    pub watch: &'a Watch,
    /// The name of the number if the assignment is a candidate. The result of a candidate is written to
    /// the files for candidates; a result of M_p is also written to the results file.
    pub candidate: Option<&'a str>,
}

/// A job in progress.
struct Run<'a> {
    job: &'a Job<'a>,
    number: Number,
    reporter: Reporter,
    stop: &'a StopToken,
    stored: StoredResult,
    store: CheckpointStore,
}

/// The plan of a test, and the plan of the second engine if one was requested.
struct Plans {
    first: Plan,
    second: Option<Plan>,
}

/// Returns a random shift of the residue for a test of 2^p − 1: a number of bits from 0 to p − 1.
#[must_use]
pub fn random_shift(p: u32) -> u32 {
    // The keys of `RandomState` are random numbers from the operating system.
    let drawn = RandomState::new().hash_one(p) % u64::from(p.max(1));
    // The value is below p.
    drawn as u32
}

impl<'a> Job<'a> {
    /// Creates a job with a checkpoint every 60 s. The job has no assignment, proof, second engine
    /// or search for factors.
    #[must_use]
    pub fn new(spec: TestSpec, dir: &'a Path) -> Self {
        Self {
            spec,
            request: PlanRequest::default(),
            proof: None,
            verify_with: None,
            check_squarings: CheckSquarings::Auto,
            dir,
            results: None,
            checkpoint_interval: Duration::from_secs(60),
            tf_limit: None,
            measures: true,
            restart: false,
            order: None,
        }
    }

    /// Runs the test until its result is stored and recorded, or until `stop` is set. If a
    /// checkpoint exists, the test resumes from the newest. If the search before the test finds a
    /// factor, the job records the factor and does not run the test. The files, where `DIR` is
    /// [`Job::dir`], are:
    ///
    /// | | |
    /// |---|---|
    /// | `DIR/M<p>/`, or [`Number::file_name`] | checkpoints, residues for the proof, the stored result |
    /// | `DIR/results.txt` | a line of JSON for each result of a Mersenne number |
    /// | `DIR/candidates.jsonl`, `DIR/lresults.txt` | lines for each result of a candidate |
    /// | `DIR/proof/` | proofs |
    ///
    /// A result is stored, delivered to the observer and recorded in the results file, in this
    /// order; then the checkpoints are removed. If the process is killed in between, running the
    /// job again does the remaining steps.
    ///
    /// # Errors
    /// Returns an error and changes no file if the request is impossible. Also returns an error if
    /// the test cannot continue, or if the result could not be stored, delivered or recorded.
    pub fn run(&self, observer: &Arc<dyn Observer>, stop: &StopToken) -> Result<Report, RunError> {
        let (kind, number) = (self.spec.kind, self.spec.number);
        let observer = Arc::clone(observer);
        let reporter = Reporter { observer, watch: self.watch().cloned() };
        if number == Number::mersenne(2) {
            if self.order.is_some() && self.candidate().is_none() {
                return Err(RunError::NoTestOfM2);
            }
            return result::finish_untested(TestReport::of_m2(kind), self, &reporter);
        }
        if let Some(report) = TestReport::of_small(number) {
            return result::finish_untested(report, self, &reporter);
        }
        // An impossible request is refused before any file is changed.
        if let Some(power) = self.proof.filter(|_| !number.is_even()) {
            let subject = Subject::new(kind, number).ok_or(RunError::NoProofs { kind, number })?;
            if Points::new(subject.iterations(), power).is_none() {
                return Err(ProofError::Power { number, power: power as usize }.into());
            }
        }
        let request = match self.candidate() {
            Some(_) => or_on_cpu(&self.request, number)?,
            None => self.request,
        };
        let request = resolved(&request, number, &*reporter.observer)?;
        let plan = Plan::new(number, &request).map_err(|e| e.of_request(&request))?;
        self.can_check(&plan)?;
        self.check_results_paths()?;
        if let Some(factor) = self.small_factor() {
            return result::finish_by_factor(FactorReport::new(number, factor), self, &reporter);
        }
        // With a second engine, both plans are made before any file is changed.
        let both = match &self.verify_with {
            Some(second) => {
                self.say_choosing(&request, &reporter);
                Some(two_plans(number, [&request, second], &*reporter.observer)?)
            }
            None => None,
        };
        let store = CheckpointStore::open(self.dir, number, kind)?;
        let stored = StoredResult::new(store.dir(), &self.spec);
        let mut run = Run { job: self, number, reporter, stop, stored, store };
        if self.is_whole()
            && !self.restart
            && let Some(finished) = run.load()?
        {
            return run.again(finished, both.map(|(_, second)| second));
        }
        run.compute(&request, both)
    }

    /// Returns an error if each squaring is to be checked, but the engine of the plan cannot do so.
    fn can_check(&self, plan: &Plan) -> Result<(), RunError> {
        if self.check_squarings == CheckSquarings::Every && !plan.checks_squarings() {
            let (engine, length) = (plan.engine(), plan.length());
            return Err(RunError::Unchecked { engine, length });
        }
        Ok(())
    }

    /// Returns the path of the results file. `credit` names the worker that did the assignment. If
    /// [`Job::results`] is `None`, the result belongs in the file of that worker, even if another
    /// worker later finds the test finished.
    fn results_path(&self, credit: Option<&Credit>) -> PathBuf {
        match self.results {
            Some(path) => path.to_owned(),
            None => work::results_path(self.dir, credit.and_then(Credit::results_number)),
        }
    }

    /// Returns the results file, marked as the user's if [`Job::results`] names the file, and as
    /// the program's own otherwise.
    fn results_file<'p>(&self, path: &'p Path) -> ResultsFile<'p> {
        match self.results {
            Some(_) => ResultsFile::Given(path),
            None => ResultsFile::Own(path),
        }
    }

    /// Returns the paths of the files for the result of a candidate, which [`Order::candidate`] names:
    /// those of the worker that did the assignment. Returns `None` for another job.
    fn candidate_paths(&self, credit: Option<&Credit>) -> Option<[PathBuf; 2]> {
        self.candidate()?;
        Some(work::candidate_paths(self.dir, credit.and_then(Credit::results_number)))
    }

    /// Returns an error if something that is not a file is in the place of a file for results.
    fn check_results_paths(&self) -> Result<(), RunError> {
        gimps::check_results_path(self.results_file(&self.results_path(self.credit())))?;
        let own = self.candidate_paths(self.credit());
        Ok(own.iter().flatten().try_for_each(|p| gimps::check_results_path(ResultsFile::Own(p)))?)
    }

    fn candidate(&self) -> Option<&str> {
        self.order.as_ref().and_then(|order| order.candidate)
    }

    fn credit(&self) -> Option<&Credit> {
        self.order.as_ref().map(|order| &order.credit)
    }

    fn watch(&self) -> Option<&Watch> {
        self.order.as_ref().map(|order| order.watch)
    }

    /// Returns whether the job runs the whole test, which gives a verdict, and not only its first
    /// iterations.
    fn is_whole(&self) -> bool {
        let total = self.spec.kind.iterations(self.spec.number);
        self.spec.iterations.is_none_or(|k| k >= total)
    }

    /// Searches for a factor of the number, and returns it. Does not search if factors are already
    /// known, or if the specification names a number of iterations: the user wants the residue at
    /// that iteration even if the number has a factor.
    fn small_factor(&self) -> Option<Factor> {
        let wanted = self.spec.iterations.is_none() && self.spec.known_factors.is_empty();
        let (number, limit) = (self.spec.number, self.tf_limit.filter(|_| wanted)?);
        match number.mersenne_exponent() {
            Some(exponent) => trial_factor(exponent, limit).map(Factor::Small),
            None => number.find_factor(limit),
        }
    }

    fn say_choosing(&self, request: &PlanRequest, reporter: &Reporter) {
        let number = self.spec.number;
        let slow = number.is_mersenne() && number.bits() > SLOW_TO_PLAN;
        if slow && request.length.is_none() {
            let (kind, device) = (self.spec.kind, request.device);
            reporter.say(&Note::ChoosingLength { number, kind, device });
        }
    }

    /// Says that a whole test on a device will use a plan without a stored time.
    fn say_untuned(&self, plan: Plan, tuned: &TunedTimes, reporter: &Reporter) {
        let is_long = self.spec.number.is_mersenne() && self.spec.number.bits() > SLOW_TO_PLAN;
        let is_stored = tuned.get(&plan.timing_key()).is_some();
        if is_long && self.is_whole() && !plan.is_on_cpu() && !is_stored {
            reporter.say(&Note::Untuned { plan });
        }
    }
}

impl Run<'_> {
    /// Delivers and records the stored result of a test that an earlier run finished. Afterwards,
    /// for a job without an assignment, returns an error if the job requests a proof or a second
    /// engine and the stored result lacks it.
    fn again(mut self, finished: TestReport, second: Option<Plan>) -> Result<Report, RunError> {
        let job = self.job;
        let report = Report::Test(Box::new(finished.clone()));
        let delivered = self.reporter.deliver(report);
        self.record(&finished)?;
        self.clear_leftovers(&finished);
        let lacks = match () {
            () if job.order.is_some() => None,
            () if job.proof.is_some() && !finished.has_proof() => Some("a proof"),
            () if second.is_some_and(|plan| !finished.is_doubled_with(plan.engine())) => {
                Some("this second engine")
            }
            () => None,
        };
        match lacks {
            Some(lacks) => Err(RunError::TestedWithout { number: self.number, lacks }),
            None => delivered,
        }
    }

    /// Computes the test, with its proof if one is requested, and returns the report.
    fn compute(
        mut self,
        request: &PlanRequest,
        both: Option<(Plan, Plan)>,
    ) -> Result<Report, RunError> {
        let (job, kind) = (self.job, self.job.spec.kind);
        if job.is_whole() {
            self.try_results();
        }
        let proof = job.proof.filter(|_| job.is_whole()).and_then(|power| {
            let subject = Subject::new(kind, self.number)?;
            ProofWork::reporting(job.dir, subject, power, self.reporter.clone())
        });
        if let Some(proof) = &proof {
            proof.check_folders()?;
        }
        let plans = self.plans(self.number, request, both)?;
        // Nothing refuses the request after this point.
        if job.restart {
            self.store.remove_all()?;
            self.stored.forget()?;
        }
        // Before this point there was nothing new to save.
        self.reporter.event(&RunEvent::Saves(true));
        if let Some(watch) = job.watch() {
            watch.planned(&plans.first, kind);
        }
        self.reporter.say(&Note::Planned { plan: plans.first, kind });
        let proof = proof.map(Arc::new);
        if let Some(proof) = &proof {
            self.reporter.say(&proof.room());
            proof.warn_of_what_is_in_the_way(&job.spec.known_factors);
        }
        let options = RunOptions {
            checkpoint_interval: job.checkpoint_interval,
            verify_with: plans.second,
            residues: proof.clone().map(|proof| proof as Arc<dyn ResidueSink>),
            check_squarings: match job.check_squarings {
                CheckSquarings::Auto => None,
                CheckSquarings::Every => Some(true),
                CheckSquarings::Never => Some(false),
            },
            only_checked: job.check_squarings == CheckSquarings::Every,
            ..RunOptions::default()
        };
        match self.test(plans.first, &options)? {
            Finished::Done(outcome) => self.finish_test(&outcome, &plans, proof.as_deref()),
            Finished::Stopped { iteration, saved } => self.stopped(iteration, saved),
        }
    }

    fn plans(
        &self,
        number: Number,
        request: &PlanRequest,
        both: Option<(Plan, Plan)>,
    ) -> Result<Plans, RunError> {
        let tuned = TunedTimes::open();
        let plans = match both {
            Some((first, second)) => Plans { first, second: Some(second) },
            None => {
                self.job.say_choosing(request, &self.reporter);
                let plan = if self.job.measures || number.is_mersenne() {
                    Plan::fastest(number, request, &tuned)
                } else {
                    Plan::new(number, request)
                };
                let first = plan.map_err(|e| e.of_request(request))?;
                self.job.say_untuned(first, &tuned, &self.reporter);
                Plans { first, second: None }
            }
        };
        for warning in tuned.take_warnings() {
            self.reporter.warn(&Warning::OfPlan(warning));
        }
        self.job.can_check(&plans.first)?;
        Ok(plans)
    }

    /// Makes the proof of a finished test, then stores, delivers and records the result. An interim
    /// residue is only delivered.
    fn finish_test(
        mut self,
        outcome: &Outcome,
        plans: &Plans,
        proof: Option<&ProofWork>,
    ) -> Result<Report, RunError> {
        let (job, number) = (self.job, self.number);
        let mut report = TestReport::new(outcome)
            .credited(job.credit().cloned())
            .doubled_by(plans.second.filter(|_| outcome.twice).map(|plan| plan.engine()));
        if !report.is_final() {
            return self.reporter.deliver(Report::Test(Box::new(report)));
        }
        if let Some(proof) = proof {
            match proof.make(plans.first, outcome, &job.spec.known_factors, self.stop) {
                Ok(Some(made)) => report = report.proven(made),
                Ok(None) => return self.stopped(outcome.iterations, true),
                // The remaining residues are removed with the result.
                Err(e @ MakeError::GivenUp(_)) => {
                    let reason = with_causes(&e);
                    self.reporter.warn(&Warning::NoProof { number, reason });
                }
                Err(source) => return Err(RunError::NotProven { number, source }),
            }
        }
        self.finish(report)
    }

    fn stopped(&self, iteration: u64, saved: bool) -> Result<Report, RunError> {
        let report = StopReport::new(self.job.spec.kind, self.number, iteration, saved);
        let stopped = Report::Stopped(report.clone());
        let delivered = self.reporter.observer.result(&stopped);
        self.reporter.say(&Note::Stopped(report));
        self.reporter.undelivered(delivered).map(|()| stopped)
    }
}
