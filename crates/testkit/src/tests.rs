//! Runs complete tests of M_p = 2^p − 1 in the same way as the program, but without its files.

use warpint_arith::primes;
use warpint_mersenne::checkpoint::CheckpointStore;
use warpint_mersenne::{
    EngineFamily, Event, Exponent, Finished, LlStart, Outcome, Plan, RunOptions, StopToken,
    TestError, TestKind, TestSpec, Verdict, engine, primality,
};

/// Runs a test of the plan's exponent to its end. Returns its outcome and its events.
pub fn run(plan: Plan, kind: TestKind) -> (Result<Outcome, TestError>, Vec<Event>) {
    run_to(plan, kind, None)
}

/// Runs a test of the plan's exponent for `iterations` iterations. If `iterations` is `None`, runs
/// the test to its end. Returns its outcome and its events.
pub fn run_to(
    plan: Plan,
    kind: TestKind,
    iterations: Option<u64>,
) -> (Result<Outcome, TestError>, Vec<Event>) {
    let (finished, events) = sitting(plan, kind, iterations, None, &StopToken::new());
    let outcome = finished.map(|finished| match finished {
        Finished::Done(outcome) => *outcome,
        Finished::Stopped { .. } => unreachable!("no stop was requested"),
    });
    (outcome, events)
}

/// Runs one sitting of a test. It begins at the newest checkpoint in `store`, if there is one. It
/// ends at the end of the test, or when `stop` requests a stop. `iterations` is as in [`run_to`].
/// Returns how the sitting ended, and its events.
pub fn sitting(
    plan: Plan,
    kind: TestKind,
    iterations: Option<u64>,
    store: Option<&mut CheckpointStore>,
    stop: &StopToken,
) -> (Result<Finished, TestError>, Vec<Event>) {
    let spec = TestSpec { iterations, ..TestSpec::new(kind, plan.number()) };
    sitting_of(&spec, plan, store, stop, &RunOptions::default())
}

/// Runs one [`sitting`] of the test `spec` with the given options. Returns how the sitting ended,
/// and its events.
pub fn sitting_of(
    spec: &TestSpec,
    plan: Plan,
    store: Option<&mut CheckpointStore>,
    stop: &StopToken,
    options: &RunOptions,
) -> (Result<Finished, TestError>, Vec<Event>) {
    let mut events = vec![];
    let finished =
        primality::run(spec, plan, store, &mut |event| events.push(event), stop, options);
    (finished, events)
}

/// Runs the test `spec` with the given options to its end, without checkpoints. Returns its outcome
/// and its events.
pub fn run_of(
    spec: &TestSpec,
    plan: Plan,
    options: &RunOptions,
) -> (Result<Outcome, TestError>, Vec<Event>) {
    let (finished, events) = sitting_of(spec, plan, None, &StopToken::new(), options);
    let outcome = finished.map(|finished| match finished {
        Finished::Done(outcome) => *outcome,
        Finished::Stopped { .. } => unreachable!("no stop was requested"),
    });
    (outcome, events)
}

/// Returns a plan for a test of M_p with an engine of the given family and one thread. The error is
/// the text of the error that occurred.
pub fn plan(family: &'static dyn EngineFamily, p: u64) -> Result<Plan, String> {
    let exponent = Exponent::new(p).map_err(|e| e.to_string())?;
    Plan::of_family(exponent, family, None, Some(1)).map_err(|e| e.to_string())
}

/// Returns whether M_p is prime, by a Lucas–Lehmer test with s_0 = 4 and one thread. For p < 64,
/// the family `word` is used. Returns an error if the test cannot be run, or if a check failed
/// during the test.
pub fn is_mersenne_prime(family: &'static dyn EngineFamily, p: u64) -> Result<bool, String> {
    let family = if p < 64 { &engine::word::Word } else { family };
    let (outcome, _) = run(plan(family, p)?, TestKind::Ll(LlStart::Four));
    let outcome = outcome.map_err(|e| format!("M{p}: {e}"))?;
    if outcome.errors != Default::default() {
        return Err(format!("M{p} by {}: {:?}", family.name(), outcome.errors));
    }
    match outcome.verdict {
        Verdict::Prime => Ok(true),
        Verdict::Composite => Ok(false),
        other => Err(format!("M{p} by {}: {other:?} is no verdict of LL", family.name())),
    }
}

/// Returns the primes p in `from..=to` for which [`is_mersenne_prime`] finds that M_p is prime.
pub fn sweep(family: &'static dyn EngineFamily, from: u64, to: u64) -> Result<Vec<u32>, String> {
    let mut found = Vec::new();
    for p in primes::primes_between(from, to) {
        if is_mersenne_prime(family, p)? {
            found.push(p as u32);
        }
    }
    Ok(found)
}
