//! Tests devices that fail during a Mersenne test, and Mersenne tests that move between the CPU and
//! a device.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use warpint_device::DeviceError;
use warpint_mersenne::checkpoint::{CheckpointStore, LeastLength};
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks, word::Word};
use warpint_mersenne::{
    EngineFamily, Event, Exponent, Finished, LlStart, Outcome, RunOptions, StopToken, TestError,
    TestKind, TestSpec, Verdict,
};
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_testkit::on_device::OnDevice;
use warpint_testkit::tests::{plan, run, run_of, sitting};

const LL: TestKind = TestKind::Ll(LlStart::Four);

static ON_DEVICE: OnDevice = OnDevice { inner: &Goldilocks, place: "cuda:0" };

fn failed() -> DeviceError {
    DeviceError::Failed { what: "launch".into(), message: "the GPU is lost".into() }
}

/// Returns a family whose device fails `times` times with `error`, the first time after `after`
/// products.
fn failing(
    inner: &'static dyn EngineFamily,
    after: u64,
    times: u64,
    error: DeviceError,
) -> &'static Faulty {
    Faulty::leaked(
        inner,
        Fault::DeviceFails { after, left: Arc::new(AtomicU64::new(times)), error },
    )
}

fn device_failures(events: &[Event]) -> usize {
    events.iter().filter(|e| matches!(e, Event::DeviceFailed { .. })).count()
}

fn done(finished: Finished) -> Outcome {
    match finished {
        Finished::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

fn store(root: &Path, p: u64, kind: TestKind) -> CheckpointStore {
    CheckpointStore::open(root, p as u32, kind).unwrap()
}

#[test]
fn a_device_that_fails_once_gets_another_engine() {
    let p = 59;
    for kind in [TestKind::Prp, LL] {
        let right = run(plan(&Word, p).unwrap(), kind).0.unwrap().residue;
        for after in 0..57 {
            let family = failing(&Word, after, 1, failed());
            let (outcome, events) = run(plan(family, p).unwrap(), kind);
            let outcome = outcome.unwrap();
            assert_eq!(outcome.residue, right, "{kind}, after product {after}");
            assert_eq!(outcome.errors, Default::default());
            assert_eq!(device_failures(&events), 1);
        }
    }
}

#[test]
fn a_device_that_fails_again_stops_the_test_and_the_checkpoint_is_named() {
    let p = 1_279;
    let stop = StopToken::new();
    for kind in [TestKind::Prp, LL] {
        let root = tempfile::tempdir().unwrap();
        let mut store = store(root.path(), p, kind);
        let broken = failing(&ON_DEVICE, 0, u64::MAX, failed());
        let attempt = |store: &mut CheckpointStore| {
            let plan = plan(broken, p).unwrap();
            let (finished, events) = sitting(plan, kind, None, Some(store), &StopToken::new());
            assert_eq!(device_failures(&events), 1);
            finished.unwrap_err()
        };
        let error = attempt(&mut store);
        assert!(matches!(error, TestError::Device { .. }), "{error:?}");
        assert_eq!(
            error.to_string(),
            "cuda:0 failed: launch failed: the GPU is lost; no checkpoint was saved yet"
        );

        let sound = plan(&Fp64, p).unwrap();
        done(sitting(sound, kind, Some(100), Some(&mut store), &stop).0.unwrap());
        let (state, path) = store.load_newest().unwrap().unwrap();
        let error = attempt(&mut store).to_string();
        let kept = format!(
            "the checkpoint at iteration {} is kept in {}",
            state.iteration,
            path.display()
        );
        assert!(error.contains(&kept) && !error.contains('\n'), "{error}");
        assert_eq!(store.load_newest().unwrap().unwrap().0, state, "the checkpoint is untouched");
    }
}

#[test]
fn what_no_second_attempt_mends_is_not_tried_again() {
    let missing = DeviceError::NoCompiler("NVRTC is missing".into());
    let full = DeviceError::OutOfMemory {
        device: "cuda:0".into(),
        requested: 1 << 30,
        free: 1 << 20,
        total: 1 << 30,
    };
    for error in [missing, full] {
        let family = failing(&Word, 10, u64::MAX, error);
        let (outcome, events) = run(plan(family, 61).unwrap(), LL);
        assert!(matches!(outcome, Err(TestError::Device { .. })), "{outcome:?}");
        assert_eq!(device_failures(&events), 0);
    }
}

#[test]
fn a_checkpoint_moves_from_the_cpu_to_a_device_and_back() {
    let p = 1_279;
    for (kind, prime) in [(TestKind::Prp, 1), (LL, 0)] {
        let root = tempfile::tempdir().unwrap();
        let mut store = store(root.path(), p, kind);
        let families: [&'static dyn EngineFamily; 4] = [&Fp64, &ON_DEVICE, &Fp64, &ON_DEVICE];
        for (i, family) in families.into_iter().enumerate() {
            let plan = plan(family, p).unwrap();
            let target = (i < 3).then_some(300 * (i as u64 + 1));
            let stop = StopToken::new();
            let (finished, events) = sitting(plan, kind, target, Some(&mut store), &stop);
            let outcome = done(finished.unwrap());
            assert_eq!((outcome.engine, outcome.place), (family.name(), family.place()));
            let resumed = events.iter().any(|e| {
                matches!(e, Event::Started { iteration, resumed_from: Some(_), .. }
                    if *iteration == 300 * i as u64)
            });
            assert_eq!(resumed, i > 0, "{kind}, sitting {i}");
            if i == 3 {
                assert!(outcome.residue.is(prime), "{kind}: {:?}", outcome.residue);
            }
        }
    }
}

#[test]
fn the_least_length_of_one_engine_does_not_bind_another() {
    let p = 1_279;
    let root = tempfile::tempdir().unwrap();
    let mut store = store(root.path(), p, TestKind::Prp);
    let stop = StopToken::new();
    done(
        sitting(plan(&Fp64, p).unwrap(), TestKind::Prp, Some(300), Some(&mut store), &stop)
            .0
            .unwrap(),
    );
    let (mut state, _) = store.load_newest().unwrap().unwrap();
    let least = LeastLength {
        engine: "fp64".into(),
        length: plan(&Fp64, p).unwrap().longer().unwrap().length(),
    };
    state.least_length = Some(least.clone());
    store.remove_all().unwrap();
    store.save(&state).unwrap();

    let on_device = plan(&ON_DEVICE, p).unwrap();
    let (finished, events) = sitting(on_device, TestKind::Prp, Some(600), Some(&mut store), &stop);
    assert_eq!(done(finished.unwrap()).length, on_device.length());
    assert!(!events.iter().any(|e| matches!(e, Event::LengthKept { .. })));
    // With the engine to which it belongs, it counts again.
    let (finished, _) =
        sitting(plan(&Fp64, p).unwrap(), TestKind::Prp, None, Some(&mut store), &stop);
    let outcome = done(finished.unwrap());
    assert_eq!(outcome.length, least.length);
    assert!(outcome.residue.is(1));
}

#[test]
fn a_second_engine_whose_device_fails_is_named_and_built_anew() {
    static SECOND: OnDevice = OnDevice { inner: &Word, place: "cuda:7" };
    let p = 61;
    let spec = TestSpec::new(LL, Exponent::new(p).unwrap());
    for (times, expected) in [(1, None), (9, Some("cuda:7 failed: "))] {
        for after in 0..59 {
            let verify_with = Some(plan(failing(&SECOND, after, times, failed()), p).unwrap());
            let options = RunOptions { verify_with, ..RunOptions::default() };
            let (outcome, events) = run_of(&spec, plan(&Word, p).unwrap(), &options);
            assert_eq!(device_failures(&events), 1, "{times} times after {after}");
            let told = events.iter().any(|e| match e {
                Event::DeviceFailed { reason, .. } => reason.starts_with("cuda:7, of the second"),
                _ => false,
            });
            assert!(told, "{events:?}");
            match expected {
                None => assert_eq!(outcome.unwrap().verdict, Verdict::Prime),
                Some(text) => {
                    let error = outcome.unwrap_err().to_string();
                    assert!(error.starts_with(text), "{error}");
                }
            }
        }
    }
}
