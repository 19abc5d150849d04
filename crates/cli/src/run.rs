//! A test from its arguments to its report: `prp`, `ll` and an assignment differ in their [`Job`].

mod place;
mod result;

use std::hash::{BuildHasher, RandomState};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use warpint::gimps::{self, ResultsFile};
use warpint::mersenne::checkpoint::CheckpointStore;
use warpint::mersenne::{
    Event, Finished, Keeper, Plan, PlanRequest, RunOptions, StopToken, TestKind, TestSpec,
    TunedTimes, test, trial_factor,
};

use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::no_result::{FactorReport, StopReport};
use crate::progress;
use crate::proofs::{GivenUp, ProofWork};
use crate::report::{self, Credit, TestReport};
use crate::signals::Signals;
use crate::stored::StoredResult;
use crate::units;
use crate::work::{self, Watch};
use place::two_plans;
pub(crate) use place::{all_gpus, exponents_for, settle, settle_for_any};
use result::{clear_leftovers, finish, finish_by_factor, load, print, record, try_results};

/// Above this exponent it takes seconds to choose a transform length.
const SLOW_TO_PLAN: u32 = 10_000_000;

/// A test to be run: what is to be computed, how, and what becomes of the result.
pub(crate) struct Job<'a> {
    pub(crate) spec: TestSpec,
    pub(crate) request: PlanRequest,
    /// The power of the proof to be made of a PRP test.
    pub(crate) proof: Option<u32>,
    /// Lucas–Lehmer: with what everything is computed once more.
    pub(crate) verify_with: Option<PlanRequest>,
    /// Where checkpoints, stored results and results are.
    pub(crate) dir: &'a Path,
    /// Another results file than that of the directory.
    pub(crate) results: Option<&'a Path>,
    pub(crate) checkpoint_interval: Duration,
    /// Look for factors 2kp + 1 with k up to this.
    pub(crate) tf_limit: Option<u64>,
    /// Forget what is there of this test.
    pub(crate) restart: bool,
    pub(crate) quiet: bool,
    pub(crate) json: bool,
    /// The assignment that it is done for.
    pub(crate) order: Option<Order<'a>>,
}

/// What an assignment adds to a job.
pub(crate) struct Order<'a> {
    pub(crate) credit: Credit,
    /// An earlier result of this machine is no check of itself.
    pub(crate) double_check: bool,
    pub(crate) watch: &'a Watch,
}

impl Job<'_> {
    /// Where a result goes: one done for an assignment to its worker's file, so
    /// that a worker who finds it done does not report it once more.
    fn results_path(&self, credit: Option<&Credit>) -> PathBuf {
        match self.results {
            Some(path) => path.to_owned(),
            None => work::results_path(self.dir, credit.and_then(Credit::results_number)),
        }
    }

    /// That of the directory is the program's own; another one is named by the user.
    fn results_file<'p>(&self, path: &'p Path) -> ResultsFile<'p> {
        match self.results {
            Some(_) => ResultsFile::Given(path),
            None => ResultsFile::Own(path),
        }
    }

    fn credit(&self) -> Option<&Credit> {
        self.order.as_ref().map(|order| &order.credit)
    }

    fn watch(&self) -> Option<&Watch> {
        self.order.as_ref().map(|order| order.watch)
    }

    /// Told whatever happens.
    fn warn(&self, line: &str) {
        report::notice(line);
        if let Some(watch) = self.watch() {
            watch.log(line);
        }
    }

    /// Told unless it is to be quiet.
    fn say(&self, line: impl FnOnce() -> String) {
        if self.quiet && self.order.is_none() {
            return;
        }
        let line = line();
        if !self.quiet {
            report::notice(&line);
        }
        if let Some(watch) = self.watch() {
            watch.log(&line);
        }
    }
}

/// Runs the one test of `prp` and `ll`.
pub(crate) fn one(job: Job) -> anyhow::Result<Exit> {
    run(&job, &Signals::install()?)
}

/// A shift for a test of M_p, drawn at random.
pub(crate) fn random_shift(p: u32) -> u32 {
    // Keys of hashes are random numbers of the system's.
    let drawn = RandomState::new().hash_one(p) % u64::from(p.max(1));
    // Below p.
    drawn as u32
}

/// Runs a test and prints what came of it: [`Exit::Done`] once the result is
/// where it belongs, or [`Exit::Stopped`].
pub(crate) fn run(job: &Job, signals: &Signals) -> anyhow::Result<Exit> {
    let (kind, exponent) = (job.spec.kind, job.spec.exponent);
    let p = exponent.get();
    if p == 2 {
        if job.order.is_some() {
            let line = "M2 = 3 is prime: no test applies to it, and no result is recorded";
            return Err(BadRequest(line.into()).into());
        }
        report::print(&TestReport::of_m2(kind), job.json)?;
        return Ok(Exit::Done);
    }
    // A request that no plan can meet is refused before anything is touched.
    let request = settle(&job.request, exponent)?;
    Plan::new(exponent, &request).map_err(|e| lengths::explain(e, &request))?;
    gimps::check_results_path(job.results_file(&job.results_path(job.credit())))?;
    if let Some(factor) = small_factor(job) {
        finish_by_factor(&FactorReport::new(p, factor), job)?;
        return Ok(Exit::Done);
    }

    let says_choosing = || {
        if p > SLOW_TO_PLAN && request.length.is_none() {
            job.say(|| format!("M{p}, {kind}: choosing a transform length…"));
        }
    };
    // With a second engine, both are known before anything is touched.
    let both = match &job.verify_with {
        Some(second) => {
            says_choosing();
            Some(two_plans(exponent, [&request, second])?)
        }
        None => None,
    };
    let second = both.map(|(_, second)| second);

    let mut store = CheckpointStore::open(job.dir, p, kind)?;
    let stored = StoredResult::new(store.dir(), &job.spec);
    if job.restart {
        store.remove_all()?;
        stored.forget()?;
    }
    let whole = job.spec.iterations.is_none_or(|k| k >= kind.iterations(p));
    if whole && let Some(finished) = load(&stored, &mut store, job)? {
        let printed = print(&finished, job);
        record(&finished, &stored, job)?;
        clear_leftovers(&finished, &mut store, job);
        let lacks = match () {
            () if job.order.is_some() => None,
            () if job.proof.is_some() && !finished.has_proof() => Some("a proof"),
            () if second.is_some_and(|plan| !finished.is_doubled_with(plan.engine())) => {
                Some("this second engine")
            }
            () => None,
        };
        if let Some(lacks) = lacks {
            let line = format!("M{p} was tested before without {lacks}: --restart tests it anew");
            return Err(BadRequest(line).into());
        }
        return printed.map(|()| Exit::Done);
    }
    if whole && report::is_recorded(kind) {
        try_results(&stored, job);
    }

    let proof = job
        .proof
        .filter(|_| whole)
        .and_then(|power| ProofWork::new(job.dir, p, power, job.watch().cloned()));
    if let Some(proof) = &proof {
        proof.check_folders()?;
    }
    let tuned = TunedTimes::open();
    let plan = match both {
        Some((first, _)) => first,
        None => {
            says_choosing();
            Plan::fastest(exponent, &request, &tuned)?
        }
    };
    for warning in tuned.take_warnings() {
        job.warn(&format!("warning: {warning}"));
    }
    // Until now there was nothing new to save, and a signal ended it at once.
    let stop = signals.save_first();
    if let Some(watch) = job.watch() {
        watch.planned(&plan, kind);
    }
    job.say(|| describe(&plan, kind));
    let proof = proof.map(Arc::new);
    if let Some(proof) = &proof {
        job.say(|| proof.announce());
        proof.warn_of_what_is_in_the_way(&job.spec.known_factors);
    }
    let options = RunOptions {
        checkpoint_interval: job.checkpoint_interval,
        verify_with: second,
        keeper: proof.clone().map(|proof| proof as Arc<dyn Keeper>),
        ..RunOptions::default()
    };
    match compute(plan, &options, &mut store, stop, job)? {
        Finished::Done(outcome) => {
            let mut report = TestReport::new(&outcome)
                .credited(job.credit().cloned())
                .doubled_by(second.filter(|_| outcome.twice).map(|plan| plan.engine()));
            if !report.is_final() {
                report::print(&report, job.json)?;
                return Ok(Exit::Done);
            }
            if let Some(proof) = &proof {
                let factors = &job.spec.known_factors;
                match proof.make(plan, &outcome, factors, stop, job.quiet) {
                    Ok(Some(made)) => report = report.proven(made),
                    Ok(None) => return stopped(job, outcome.iterations, true),
                    // What is left of its residues goes with the result.
                    Err(e) if e.is::<GivenUp>() => job.warn(&format!(
                        "M{p}: warning: no proof was made: {e:#}; the result stands without one"
                    )),
                    Err(e) => {
                        return Err(e.context(format!(
                            "M{p} is tested, but its proof was not made: the same command tries \
                             that again (nothing is lost), and without a proof it ends with the result"
                        )));
                    }
                }
            }
            finish(&report, &stored, &mut store, job)?;
            Ok(Exit::Done)
        }
        Finished::Stopped { iteration, saved } => stopped(job, iteration, saved),
    }
}

fn stopped(job: &Job, iteration: u64, saved: bool) -> anyhow::Result<Exit> {
    let report = StopReport::new(job.spec.kind, job.spec.exponent.get(), iteration, saved);
    if job.json {
        report::print(&report, true)?;
    }
    job.say(|| report.to_string());
    Ok(Exit::Stopped)
}

/// A residue asked for by its iteration is wanted even of a number with a factor, and known
/// factors are no news.
fn small_factor(job: &Job) -> Option<u64> {
    let wanted = job.spec.iterations.is_none() && job.spec.known_factors.is_empty();
    trial_factor(job.spec.exponent, job.tf_limit.filter(|_| wanted)?)
}

fn compute(
    plan: Plan,
    options: &RunOptions,
    store: &mut CheckpointStore,
    stop: &StopToken,
    job: &Job,
) -> anyhow::Result<Finished> {
    let (sender, events) = mpsc::channel::<Event>();
    let (p, watch) = (job.spec.exponent.get(), job.watch().cloned());
    let view = progress::show(p, events, stop.clone(), job.quiet, watch);
    let finished = test::run(&job.spec, plan, Some(store), &sender, stop, options);
    drop(sender);
    // A view that failed has no part in the result.
    let _ = view.join();
    Ok(finished?)
}

/// `M216091, PRP-3: engine fp64, 12K words (17.58 bits a word, margin 1.2 bits), 2 threads`,
/// or `M82589933, PRP-3: engine goldilocks on cuda:0, 4M words (…), 2048x2048/4x4`
fn describe(plan: &Plan, kind: TestKind) -> String {
    let how = match plan.variant() {
        _ if plan.is_on_cpu() => format!(", {}", units::count(plan.threads() as u64, "thread")),
        variant if variant.is_empty() => String::new(),
        variant => format!(", {variant}"),
    };
    format!(
        "M{}, {kind}: engine {}, {} ({:.2} bits a word, margin {:.1} bits){how}",
        plan.exponent(),
        report::engine_at(plan.engine(), plan.place()),
        units::count_words(plan.length()),
        plan.bits_per_word(),
        plan.margin().bits,
    )
}
