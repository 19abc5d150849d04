//! A test from its arguments to its report: `prp` and `ll` differ in [`TestKind`] only.

use std::sync::mpsc;

use warpint::gimps;
use warpint::mersenne::checkpoint::CheckpointStore;
use warpint::mersenne::{
    DeviceChoice, DeviceId, Event, Exponent, Finished, Plan, PlanRequest, RunOptions, StopToken,
    TestKind, TestSpec, TunedTimes, test, trial_factor,
};

use crate::args::TestArgs;
use crate::exit::Exit;
use crate::lengths;
use crate::no_result::{FactorReport, StopReport};
use crate::progress;
use crate::report::{self, TestReport};
use crate::signals::Signals;
use crate::stored::{Loaded, StoredResult};
use crate::units;

/// Above this exponent it takes seconds to choose a transform length.
const SLOW_TO_PLAN: u32 = 10_000_000;

/// Runs the test and prints what came of it.
pub(crate) fn run(kind: TestKind, args: &TestArgs) -> anyhow::Result<Exit> {
    let (exponent, p) = (args.exponent, args.exponent.get());
    if p == 2 {
        report::print(&TestReport::of_m2(kind), args.json)?;
        return Ok(Exit::Done);
    }
    // A request that no plan can meet is refused before anything is touched.
    let request = settle(&args.plan_request(), exponent)?;
    Plan::new(exponent, &request).map_err(|e| lengths::explain(e, &request))?;
    gimps::check_results_path(&args.results_path())?;
    let signals = Signals::install()?;
    if let Some(factor) = small_factor(args) {
        report::print(&FactorReport::new(p, factor), args.json)?;
        return Ok(Exit::Done);
    }

    let mut store = CheckpointStore::open(&args.dir, p, kind)?;
    let stored = StoredResult::new(store.dir(), kind, p);
    if args.restart {
        store.remove_all()?;
        stored.forget()?;
    }
    let whole = args.iterations.is_none_or(|k| k >= kind.iterations(p));
    if whole && let Some(finished) = load(&stored, args)? {
        let printed = report::print(&finished, args.json);
        let recorded = record(&finished, &stored, args);
        return printed.and(recorded.map(|_| Exit::Done));
    }
    if whole && report::is_recorded(kind) {
        try_results(&stored, args);
    }

    if p > SLOW_TO_PLAN && args.length.is_none() {
        say(args, || format!("M{p}, {kind}: choosing a transform length…"));
    }
    let tuned = TunedTimes::open();
    let plan = Plan::fastest(exponent, &request, &tuned)?;
    for warning in tuned.take_warnings() {
        report::notice(&format!("warning: {warning}"));
    }
    // Until now there was nothing new to save, and a signal ended it at once.
    let stop = signals.save_first();
    say(args, || describe(&plan, kind));
    let spec = TestSpec { iterations: args.iterations, ..TestSpec::new(kind, exponent) };
    match compute(&spec, plan, &mut store, stop, args)? {
        Finished::Done(outcome) => {
            let report = TestReport::new(&outcome);
            if report.is_final() {
                finish(&report, &stored, &mut store, args)?;
            } else {
                report::print(&report, args.json)?;
            }
            Ok(Exit::Done)
        }
        Finished::Stopped { iteration, saved } => {
            let report = StopReport::new(kind, p, iteration, saved);
            if args.json {
                report::print(&report, true)?;
            }
            say(args, || report.to_string());
            Ok(Exit::Stopped)
        }
    }
}

/// Decides where to compute; a GPU that is there and cannot be used is told of.
pub(crate) fn settle(request: &PlanRequest, exponent: Exponent) -> anyhow::Result<PlanRequest> {
    let settled = request.settled(exponent).map_err(|e| lengths::explain(e, request))?;
    if let Some(warning) = settled.warning {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(settled.request)
}

/// The same for work that is not of one exponent: what can be used for one that
/// is worth a GPU can be used for the rest.
pub(crate) fn settle_for_any(request: &PlanRequest) -> anyhow::Result<PlanRequest> {
    let p = if request.device == DeviceChoice::On(DeviceId::Sim) { 9_941 } else { 216_091 };
    settle(request, Exponent::new(p)?)
}

/// Exponents of several sizes for the place of a request.
pub(crate) fn exponents_for(
    request: &PlanRequest,
    on_cpu: &[u64],
    on_gpu: &[u64],
) -> anyhow::Result<Vec<Exponent>> {
    const ON_SIMULATOR: [u64; 2] = [1_279, 9_941];
    let list = match request.device {
        DeviceChoice::On(DeviceId::Cuda(_)) => on_gpu,
        DeviceChoice::On(DeviceId::Sim) => &ON_SIMULATOR,
        DeviceChoice::Auto | DeviceChoice::Cpu => on_cpu,
    };
    Ok(list.iter().map(|&p| Exponent::new(p)).collect::<Result<_, _>>()?)
}

/// A residue asked for by its iteration is wanted even of a number with a factor.
fn small_factor(args: &TestArgs) -> Option<u64> {
    if args.no_tf || args.iterations.is_some() {
        return None;
    }
    trial_factor(args.exponent, args.tf_limit)
}

/// The result of this test, if it was finished before.
fn load(stored: &StoredResult, args: &TestArgs) -> anyhow::Result<Option<TestReport>> {
    let p = args.exponent;
    match stored.load()? {
        Loaded::Nothing => Ok(None),
        Loaded::Sound(report) => {
            say(args, || {
                let path = stored.path().display();
                format!("M{p}: finished before, the result is from {path}; --restart tests again")
            });
            Ok(Some(*report))
        }
        Loaded::Bad { aside, reason } => {
            let aside = aside.display();
            report::notice(&format!(
                "M{p}: the stored result is not sound ({reason}): set aside as {aside}, testing again"
            ));
            Ok(None)
        }
    }
}

fn compute(
    spec: &TestSpec,
    plan: Plan,
    store: &mut CheckpointStore,
    stop: &StopToken,
    args: &TestArgs,
) -> anyhow::Result<Finished> {
    let (sender, events) = mpsc::channel::<Event>();
    let view = progress::show(spec.exponent.get(), events, stop.clone(), args.quiet);
    let options =
        RunOptions { checkpoint_interval: args.checkpoint_interval, ..RunOptions::default() };
    let finished = test::run(spec, plan, Some(store), &sender, stop, &options);
    drop(sender);
    // A view that failed has no part in the result.
    let _ = view.join();
    Ok(finished?)
}

/// Keeps, prints and records a result, in an order that loses it at no instant
/// and shows it whatever becomes of the results file; the checkpoints go last.
fn finish(
    report: &TestReport,
    stored: &StoredResult,
    store: &mut CheckpointStore,
    args: &TestArgs,
) -> anyhow::Result<()> {
    let kept = stored.keep(report);
    let printed = report::print(report, args.json);
    let recorded = record(report, stored, args);
    if let Err(e) = kept {
        let recorded = if matches!(recorded, Ok(true)) { "recorded" } else { "printed only" };
        anyhow::bail!(
            "{e}; the result is {recorded}, and checkpoints, where there are any, stay: the same command ends the test again"
        );
    }
    if let Err(e) = store.remove_all() {
        report::notice(&format!("M{}: the result is safe, but {e}", args.exponent));
    }
    printed.and(recorded.map(drop))
}

/// Says at once, not after the test, that its result cannot be recorded: it is
/// kept all the same, so the test need not wait for it.
fn try_results(stored: &StoredResult, args: &TestArgs) {
    if let Err(e) = gimps::try_results_file(&args.results_path()) {
        let stored = stored.path().display();
        report::notice(&format!(
            "M{}: warning: {e}; the test goes on, and its result will be kept in {stored}",
            args.exponent
        ));
    }
}

/// Sees to it that the results file has the result; whether it is one for that file.
fn record(report: &TestReport, stored: &StoredResult, args: &TestArgs) -> anyhow::Result<bool> {
    let Some(line) = report.result_line() else {
        return Ok(false);
    };
    match gimps::append_result(&args.results_path(), &line) {
        Ok(_) => Ok(true),
        Err(e) => anyhow::bail!(
            "{e}; the result is kept in {}, and the same command will try again",
            stored.path().display()
        ),
    }
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

fn say(args: &TestArgs, line: impl FnOnce() -> String) {
    if !args.quiet {
        report::notice(&line());
    }
}
