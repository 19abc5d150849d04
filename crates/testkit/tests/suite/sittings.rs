//! Tests Mersenne tests of small exponents in several sittings, and on faulty engines. A sitting
//! ends at a stop or at the end of the test. The exponents are so small that a fault can be
//! injected into every product.

use std::path::Path;
use std::time::Duration;

use warpint_mersenne::checkpoint::{CheckpointStore, Confirmation, State};
use warpint_mersenne::engine::{fp64::Fp64, word::Word};
use warpint_mersenne::{
    EngineFamily, ErrorCounts, Event, Exponent, Finished, LlStart, Outcome, PlanError, Residue,
    RunOptions, StopToken, TestError, TestKind, TestSpec, primality,
};
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_testkit::tests::{plan, run, sitting};

const LL: TestKind = TestKind::Ll(LlStart::Four);

fn store(root: &Path, p: u64, kind: TestKind) -> CheckpointStore {
    CheckpointStore::open(root, p as u32, kind).unwrap()
}

fn right_residue(p: u64, kind: TestKind) -> Residue {
    run(plan(&Word, p).unwrap(), kind).0.unwrap().residue
}

fn done(finished: Finished) -> Outcome {
    match finished {
        Finished::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

/// Returns the sorted names of the files in the folder `root/M<p>`, without the lock.
fn files(root: &Path, p: u64) -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(root.join(format!("M{p}")))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .filter(|name| name != "lock")
        .collect();
    names.sort();
    names
}

#[test]
fn a_flip_of_any_product_of_a_prp_is_found_and_undone() {
    let p = 59;
    let right = right_residue(p, TestKind::Prp);
    let sound = Faulty::leaked(&Word, Fault::Unreliable { after: u64::MAX });
    run(plan(sound, p).unwrap(), TestKind::Prp).0.unwrap();
    assert!(sound.products() > 59);
    for after in 1..=sound.products() {
        for bit in [0, 1, 29, 58] {
            let family = Faulty::leaked(&Word, Fault::FlippedBit { after, bit });
            let outcome = run(plan(family, p).unwrap(), TestKind::Prp).0.unwrap();
            assert_eq!(outcome.residue, right, "product {after}, bit {bit}");
            assert_eq!(outcome.errors.gerbicz, 1, "product {after}, bit {bit}");
        }
    }
}

#[test]
fn three_failures_in_a_row_stop_the_run() {
    let family = Faulty::leaked(&Word, Fault::Unreliable { after: 20 });
    let (outcome, events) = run(plan(family, 61).unwrap(), TestKind::Prp);
    assert!(matches!(outcome, Err(TestError::Unreliable { verified: 0, .. })), "{outcome:?}");
    let failures = events.iter().filter(|e| matches!(e, Event::CheckFailed { .. }));
    assert_eq!(failures.count(), 2);
}

#[test]
fn a_dead_machine_that_returns_zeros_gives_no_answer() {
    for after in 0..57 {
        let family = || Faulty::leaked(&Word, Fault::Dead { after });
        let (outcome, _) = run(plan(family(), 59).unwrap(), TestKind::Prp);
        assert!(matches!(outcome, Err(TestError::RepeatedError { .. })), "{after}: {outcome:?}");
        // In particular it does not find a prime, even if it fails at the last of 57 steps.
        let (outcome, _) = run(plan(family(), 59).unwrap(), LL);
        assert!(matches!(outcome, Err(TestError::Impossible { .. })), "{after}: {outcome:?}");
    }
}

#[test]
fn too_much_round_off_leads_to_a_longer_transform_and_the_right_answer() {
    let p = 127;
    for (kind, right) in [(TestKind::Prp, 1), (LL, 0)] {
        let first = plan(&Fp64, p).unwrap();
        let longer = first.longer().unwrap();
        let longest = longer.longer().unwrap();
        for (enough, steps) in [(longer.length(), 1), (longest.length(), 2)] {
            let family = Faulty::leaked(&Fp64, Fault::RoundOff { after: 13, enough });
            let (outcome, events) = run(plan(family, p).unwrap(), kind);
            let outcome = outcome.unwrap();
            assert!(outcome.residue.is(right));
            assert_eq!((outcome.length, outcome.errors.round_off), (enough, steps));
            let lengthened = events.iter().filter(|e| matches!(e, Event::Lengthened { .. }));
            assert_eq!(lengthened.count() as u32, steps);
        }
        let family = Faulty::leaked(&Fp64, Fault::RoundOff { after: 13, enough: usize::MAX });
        let (outcome, _) = run(plan(family, p).unwrap(), kind);
        assert!(matches!(outcome, Err(TestError::Plan(PlanError::NoLength { .. }))));
    }
}

#[test]
fn a_longer_transform_and_the_error_counts_outlive_the_sitting() {
    let p = 127;
    let root = tempfile::tempdir().unwrap();
    let enough = plan(&Fp64, p).unwrap().longer().unwrap().length();
    let stop = StopToken::new();
    let short = Faulty::leaked(&Fp64, Fault::RoundOff { after: 13, enough });
    let family = Faulty::leaked(short, Fault::Interrupted { after: 40, stop: stop.clone() });
    let mut store = store(root.path(), p, TestKind::Prp);
    let (first, _) =
        sitting(plan(family, p).unwrap(), TestKind::Prp, None, Some(&mut store), &stop);
    assert!(matches!(first, Ok(Finished::Stopped { saved: true, .. })), "{first:?}");

    // The same engine, which would fail again if it started with its first length.
    let (second, events) =
        sitting(plan(short, p).unwrap(), TestKind::Prp, None, Some(&mut store), &StopToken::new());
    let outcome = done(second.unwrap());
    assert!(!events.iter().any(|e| matches!(e, Event::Lengthened { .. })));
    assert_eq!((outcome.length, outcome.errors.round_off), (enough, 1));
    assert!(outcome.residue.is(1));
}

#[test]
fn a_failed_check_discards_the_checkpoints_it_has_disproved() {
    let p = 59;
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path(), p, TestKind::Prp);
    let stop = StopToken::new();
    let flipped = Faulty::leaked(&Word, Fault::FlippedBit { after: 10, bit: 3 });
    let family = Faulty::leaked(flipped, Fault::Interrupted { after: 30, stop: stop.clone() });
    let (first, _) =
        sitting(plan(family, p).unwrap(), TestKind::Prp, None, Some(&mut store), &stop);
    let Finished::Stopped { iteration, saved: true } = first.unwrap() else { panic!() };
    let wrong = format!("prp-{iteration:010}.ckpt");
    assert_eq!(files(root.path(), p), [wrong]);

    let sound = plan(&Word, p).unwrap();
    let (second, _) = sitting(sound, TestKind::Prp, None, Some(&mut store), &StopToken::new());
    let outcome = done(second.unwrap());
    assert_eq!(outcome.residue, right_residue(p, TestKind::Prp));
    assert_eq!(outcome.errors.gerbicz, 1);
    // The state to which it went back is left, with the error counted.
    assert_eq!(files(root.path(), p), ["prp-0000000000.verified"]);
    assert_eq!(store.load_newest().unwrap().unwrap().0.errors.gerbicz, 1);
}

#[test]
fn interrupted_at_any_product_and_resumed_the_answer_is_the_same() {
    let p = 59;
    // LL has no blocks: after its first squaring the rest fits in one stride.
    for (kind, least) in [(TestKind::Prp, 40), (TestKind::Ll(LlStart::TwoThirds), 1)] {
        let right = right_residue(p, kind);
        let mut stops = 0;
        for after in 1..=90 {
            let root = tempfile::tempdir().unwrap();
            let mut store = store(root.path(), p, kind);
            let stop = StopToken::new();
            let family = Faulty::leaked(&Word, Fault::Interrupted { after, stop: stop.clone() });
            let (first, _) = sitting(plan(family, p).unwrap(), kind, None, Some(&mut store), &stop);
            let Finished::Stopped { iteration, saved } = first.unwrap() else { continue };
            assert!(saved);
            stops += 1;

            let sound = plan(&Word, p).unwrap();
            let (second, events) = sitting(sound, kind, None, Some(&mut store), &StopToken::new());
            let resumed = events.iter().find_map(|e| match e {
                Event::Started { iteration, resumed_from: Some(_), .. } => Some(*iteration),
                _ => None,
            });
            assert_eq!(resumed, Some(iteration));
            let outcome = done(second.unwrap());
            assert_eq!(outcome.residue, right, "{kind}, stopped after product {after}");
            assert_eq!(outcome.errors, ErrorCounts::default());
        }
        assert!(stops >= least, "{kind} was stopped only {stops} times");
    }
}

#[test]
fn a_whole_test_after_a_short_run_is_not_bound_to_its_short_blocks() {
    let p = 2_203;
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path(), p, TestKind::Prp);
    let stop = StopToken::new();
    let family: &'static dyn EngineFamily = &Fp64;
    for k in [1, 2, 10, 40] {
        let plan = plan(family, p).unwrap();
        let (short, _) = sitting(plan, TestKind::Prp, Some(k), Some(&mut store), &stop);
        assert_eq!(done(short.unwrap()).iterations, k);
        // The run ends with its state saved: the next run resumes from there.
        assert_eq!(store.load_newest().unwrap().unwrap().0.iteration, k);
    }
    let (whole, events) =
        sitting(plan(family, p).unwrap(), TestKind::Prp, None, Some(&mut store), &stop);
    let saves = events.iter().filter(|e| matches!(e, Event::Saved { .. })).count();
    assert!(done(whole.unwrap()).residue.is(1));
    assert!(saves <= 2, "{saves} checkpoints in a second's work");
}

#[test]
fn a_checkpoint_of_a_shorter_run_serves_a_longer_one_and_is_checked_on_the_way() {
    let p = 59;
    let right = right_residue(p, TestKind::Prp);
    for after in 2..30 {
        let root = tempfile::tempdir().unwrap();
        let mut store = store(root.path(), p, TestKind::Prp);
        let stop = StopToken::new();
        let family = Faulty::leaked(&Word, Fault::Interrupted { after, stop: stop.clone() });
        let (short, _) =
            sitting(plan(family, p).unwrap(), TestKind::Prp, Some(25), Some(&mut store), &stop);
        let Finished::Stopped { iteration, .. } = short.unwrap() else { continue };
        // In blocks of nine, as in the run to 25: a check is due after 9²/3.
        let sound = plan(&Word, p).unwrap();
        let (whole, events) =
            sitting(sound, TestKind::Prp, None, Some(&mut store), &StopToken::new());
        assert_eq!(done(whole.unwrap()).residue, right);
        let verified: Vec<u64> = events
            .iter()
            .filter_map(|e| match e {
                Event::Verified { iteration, .. } => Some(*iteration),
                _ => None,
            })
            .collect();
        assert_eq!(verified, [27, 59], "stopped at {iteration}");
    }
}

#[test]
fn a_target_behind_the_checkpoint_is_refused() {
    let p = 61;
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path(), p, TestKind::Prp);
    let stop = StopToken::new();
    let go = |k, store: &mut CheckpointStore| {
        sitting(plan(&Word, p).unwrap(), TestKind::Prp, Some(k), Some(store), &stop).0
    };
    go(40, &mut store).unwrap();
    let refused = go(39, &mut store);
    assert!(matches!(refused, Err(TestError::PastTarget { found: 40, wanted: 39 })));
    assert_eq!(done(go(40, &mut store).unwrap()).iterations, 40);
}

#[test]
fn a_checkpoint_with_an_impossible_residue_is_set_aside() {
    let p = 61;
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path(), p, LL);
    let state = |iteration, value| State {
        kind: LL,
        iteration,
        residue: Residue::from_u64(61u32, value),
        shift: 0,
        elapsed: Duration::ZERO,
        errors: ErrorCounts::default(),
        least_length: None,
        confirmed: Confirmation::No,
        gerbicz: None,
        lucas: None,
    };
    // s_2 = 194, and values that a defective machine may have produced.
    for (iteration, value) in [(2, 194), (10, 0), (20, 2)] {
        store.save(&state(iteration, value)).unwrap();
    }
    let sound = plan(&Word, p).unwrap();
    let (finished, events) = sitting(sound, LL, None, Some(&mut store), &StopToken::new());
    assert!(done(finished.unwrap()).residue.is(0));
    let aside = events.iter().filter(|e| matches!(e, Event::BadCheckpoint { .. }));
    assert_eq!(aside.count(), 2);
    assert!(events.iter().any(|e| matches!(e, Event::Started { iteration: 2, .. })));
}

/// On the CPU, a test does not hold the newest state in memory, but reads it again after a round-off
/// error. If the file is damaged, the test goes back to an older state.
#[test]
fn a_round_off_error_leads_back_to_the_newest_state_that_can_be_read() {
    let p = 9_689;
    let right = run(plan(&Fp64, p).unwrap(), TestKind::Prp).0.unwrap().residue;
    for damaged in [false, true] {
        let root = tempfile::tempdir().unwrap();
        let mut store = store(root.path(), p, TestKind::Prp);
        let enough = plan(&Fp64, p).unwrap().longer().unwrap().length();
        let family = Faulty::leaked(&Fp64, Fault::RoundOff { after: 5_000, enough });
        let spec = TestSpec::new(TestKind::Prp, Exponent::new(p).unwrap());
        let options = RunOptions { checkpoint_interval: Duration::ZERO, ..RunOptions::default() };
        let mut saved = vec![];
        let mut back = vec![];
        let mut note = |event| match event {
            Event::Saved { iteration, path, .. } => {
                if damaged && back.is_empty() {
                    std::fs::write(path, "damaged").unwrap();
                }
                saved.push(iteration);
            }
            Event::Lengthened { back_to, .. } => back.push((saved.last().copied(), back_to)),
            _ => {}
        };
        let plan = plan(family, p).unwrap();
        let stop = StopToken::new();
        let end = primality::run(&spec, plan, Some(&mut store), &mut note, &stop, &options);
        assert_eq!(done(end.unwrap()).residue, right, "damaged: {damaged}");
        let [(Some(newest), back_to)] = back[..] else { panic!("{back:?}") };
        assert_eq!(back_to, if damaged { 0 } else { newest }, "damaged: {damaged}");
        assert!(newest > 0);
    }
}
