//! Tests the checks and options of Mersenne tests: Jacobi checks, a second engine, shifts,
//! certifications, residues that are reported during the test, and clocks that jump.

use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use warpint_mersenne::checkpoint::{CheckpointStore, Confirmation, State};
use warpint_mersenne::engine::{families_for, fp64::Fp64, goldilocks::Goldilocks, word::Word};
use warpint_mersenne::{
    Check, EngineFamily, Event, Exponent, Finished, KnownFactors, LlStart, Residue, ResidueSink,
    RunOptions, Shift, Step, StopToken, TestError, TestKind, TestSpec, Verdict,
};
use warpint_selftest::faults::wrappers::{Fault, Faulty, JumpingClock};
use warpint_testkit::gmp::{self, Ring};
use warpint_testkit::tests::{plan, run, run_of, sitting_of};

const LL: TestKind = TestKind::Ll(LlStart::Four);

fn exponent(p: u32) -> Exponent {
    Exponent::new(u64::from(p)).unwrap()
}

fn failures(events: &[Event], of: Check) -> usize {
    events.iter().filter(|e| matches!(e, Event::CheckFailed { check, .. } if *check == of)).count()
}

#[test]
fn a_jacobi_check_sees_an_error_in_half_of_the_cases_and_none_where_there_is_none() {
    let p = 59u32;
    let right = run(plan(&Word, u64::from(p)).unwrap(), LL).0.unwrap();
    assert_eq!(right.errors, Default::default());
    let (mut seen, mut missed) = (0, 0);
    for after in 1..=u64::from(p) - 4 {
        for bit in [0, 7, 30, 58] {
            let faulty = Faulty::leaked(&Word, Fault::FlippedBit { after, bit });
            let (outcome, events) = run(plan(faulty, u64::from(p)).unwrap(), LL);
            let outcome = outcome.unwrap();
            let failures = failures(&events, Check::Jacobi);
            assert_eq!(outcome.errors.jacobi as usize, failures);
            if failures == 1 {
                // The error was undone, and the residue is right.
                assert_eq!(outcome.residue, right.residue, "product {after}, bit {bit}");
                seen += 1;
            } else {
                assert_eq!(failures, 0);
                assert_ne!(outcome.residue, right.residue, "product {after}, bit {bit}");
                missed += 1;
            }
        }
    }
    // 220 flips: the bounds are four deviations.
    assert!((80..=140).contains(&seen), "{seen} seen, {missed} missed");
}

#[test]
fn jacobi_checks_raise_no_false_alarm() {
    for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
        for p in [3, 5, 7, 11, 13, 23, 29, 31, 59, 61, 127, 521, 1_277, 1_279] {
            let family: &'static dyn EngineFamily = if p < 64 { &Word } else { &Fp64 };
            let (outcome, events) = run(plan(family, p).unwrap(), TestKind::Ll(start));
            assert_eq!(outcome.unwrap().errors, Default::default(), "M{p} from {start:?}");
            assert_eq!(failures(&events, Check::Jacobi), 0);
        }
    }
}

#[test]
fn an_error_that_jacobi_sees_again_and_again_ends_the_test() {
    let mut ended = 0;
    for bit in 0..20 {
        let faulty = Faulty::leaked(&Word, Fault::StuckBit { bit });
        let (outcome, _) = run(plan(faulty, 59).unwrap(), LL);
        match outcome {
            Err(TestError::RepeatedError { check: Check::Jacobi, verified: 0, .. }) => ended += 1,
            other => assert!(other.is_ok(), "{other:?}"),
        }
    }
    assert!((3..=17).contains(&ended), "{ended} of 20");
}

#[test]
fn checkpoints_that_jacobi_has_confirmed_are_kept_as_such() {
    let p = 9_689;
    let root = tempfile::tempdir().unwrap();
    let mut store = CheckpointStore::open(root.path(), p, LL).unwrap();
    let spec = TestSpec::new(LL, exponent(p));
    let options =
        RunOptions { checkpoint_interval: Duration::from_millis(5), ..RunOptions::default() };
    let stop = StopToken::new();
    let sound = plan(&Fp64, u64::from(p)).unwrap();
    let (_, events) = sitting_of(&spec, sound, Some(&mut store), &stop, &options);
    let confirmed: Vec<u64> = events
        .iter()
        .filter_map(|e| match e {
            Event::Saved { iteration, verified: true, .. } => Some(*iteration),
            _ => None,
        })
        .collect();
    assert!(!confirmed.is_empty(), "{events:?}");
    let (state, path) = store.load_newest_verified().unwrap().unwrap();
    assert!(
        state.confirmed == Confirmation::Jacobi
            && path.extension().is_some_and(|e| e == "verified")
    );
    assert_eq!(Some(&state.iteration), confirmed.last());
    let s = Ring::new(p).ll_residue(LlStart::Four, state.iteration);
    assert_eq!(state.residue, s);
}

#[test]
fn a_second_engine_sees_every_error_of_either() {
    let p = 61u32;
    let spec = TestSpec { shift: 17, ..TestSpec::new(LL, exponent(p)) };
    for after in 1..=59 {
        for first in [false, true] {
            let flipped = Faulty::leaked(&Word, Fault::FlippedBit { after, bit: 11 });
            let [one, other]: [&'static dyn EngineFamily; 2] =
                if first { [flipped, &Word] } else { [&Word, flipped] };
            let options = RunOptions {
                verify_with: Some(plan(other, u64::from(p)).unwrap()),
                ..RunOptions::default()
            };
            let (outcome, events) = run_of(&spec, plan(one, u64::from(p)).unwrap(), &options);
            let outcome = outcome.unwrap();
            assert_eq!(outcome.verdict, Verdict::Prime, "product {after}");
            assert_eq!(outcome.errors.double_check, 1, "product {after}");
            assert_eq!(failures(&events, Check::Second), 1);
        }
    }
}

#[test]
fn two_engines_agree_and_the_second_takes_a_longer_transform_by_itself() {
    let p = 1_279;
    let longer = plan(&Fp64, p).unwrap().longer().unwrap().length();
    let second = Faulty::leaked(&Fp64, Fault::RoundOff { after: 13, enough: longer });
    for start in [LlStart::Four, LlStart::TwoThirds] {
        let spec = TestSpec { shift: 5, ..TestSpec::new(TestKind::Ll(start), exponent(1_279)) };
        let options =
            RunOptions { verify_with: Some(plan(second, p).unwrap()), ..RunOptions::default() };
        let (outcome, _) = run_of(&spec, plan(&Goldilocks, p).unwrap(), &options);
        let outcome = outcome.unwrap();
        assert_eq!((outcome.verdict, outcome.errors), (Verdict::Prime, Default::default()));
    }
    // A second engine without a longer transform ends the test with a message.
    let hopeless = Faulty::leaked(&Fp64, Fault::RoundOff { after: 13, enough: usize::MAX });
    let options =
        RunOptions { verify_with: Some(plan(hopeless, p).unwrap()), ..RunOptions::default() };
    let spec = TestSpec::new(LL, exponent(1_279));
    let error = run_of(&spec, plan(&Goldilocks, p).unwrap(), &options).0.unwrap_err().to_string();
    assert!(error.contains("no longer transform"), "{error}");
}

#[test]
fn a_shift_changes_nothing_but_the_shift() {
    for (kind, p) in [(TestKind::Prp, 1_277), (LL, 1_277), (TestKind::Prp, 2_203)] {
        for family in families_for(p) {
            let plain = run(plan(family, u64::from(p)).unwrap(), kind).0.unwrap();
            for shift in [1, 63, 64, 700, p - 1] {
                let spec = TestSpec { shift, ..TestSpec::new(kind, exponent(p)) };
                let plan = plan(family, u64::from(p)).unwrap();
                let shifted = run_of(&spec, plan, &RunOptions::default()).0.unwrap();
                assert_eq!(shifted.residue, plain.residue, "{kind} M{p} shift {shift}");
                assert_eq!((shifted.shift, shifted.errors), (shift, Default::default()));
            }
        }
    }
}

#[test]
fn a_shift_outlives_the_sitting() {
    let p = 2_203;
    for kind in [TestKind::Prp, LL] {
        let root = tempfile::tempdir().unwrap();
        let mut store = CheckpointStore::open(root.path(), p, kind).unwrap();
        let stop = StopToken::new();
        let interrupted = Fault::Interrupted { after: 300, stop: stop.clone() };
        let family = Faulty::leaked(&Fp64, interrupted);
        let spec = TestSpec { shift: 1_234, ..TestSpec::new(kind, exponent(p)) };
        let plan_of = |family| plan(family, u64::from(p)).unwrap();
        let options = RunOptions::default();
        sitting_of(&spec, plan_of(family), Some(&mut store), &stop, &options).0.unwrap();
        // Another shift was drawn; the test continues with its own.
        let spec = TestSpec { shift: 99, ..spec };
        let again = StopToken::new();
        let (finished, _) = sitting_of(&spec, plan_of(&Fp64), Some(&mut store), &again, &options);
        let Finished::Done(outcome) = finished.unwrap() else { panic!() };
        assert_eq!(outcome.shift, 1_234);
        assert_eq!(outcome.residue, run(plan_of(&Fp64), kind).0.unwrap().residue);
    }
}

#[test]
fn a_certification_squares_its_start_and_finds_errors() {
    let p = 1_277;
    let ring = Ring::new(p);
    let start = ring.ll_residue(LlStart::Ten, 100);
    for n in [1u64, 2, 500] {
        let expected = ring.square(gmp::integer(&start), n, Step::Square, Shift::ZERO);
        let expected = gmp::residue(&expected, p);
        let spec = TestSpec::certification(exponent(p), start.clone(), n);
        let spec = TestSpec { shift: 1_000, ..spec };
        for after in [u64::MAX, 1, n] {
            let faulty = Faulty::leaked(&Fp64, Fault::FlippedBit { after, bit: 5 });
            let plan = plan(faulty, u64::from(p)).unwrap();
            let outcome = run_of(&spec, plan, &RunOptions::default()).0.unwrap();
            assert_eq!(outcome.residue, expected, "{n} squarings");
            assert_eq!((outcome.verdict, outcome.iterations), (Verdict::Certified, n));
            assert_eq!(outcome.errors.gerbicz, u32::from(after != u64::MAX));
        }
    }
}

#[test]
fn certifications_of_one_exponent_do_not_see_each_others_checkpoints() {
    let p = 127;
    let of = |start, n| TestSpec::certification(exponent(p), Residue::from_u64(p, start), n);
    let slugs = [of(5, 10), of(5, 11), of(6, 10)].map(|spec| spec.kind.slug());
    assert!(slugs[0] != slugs[1] && slugs[0] != slugs[2] && slugs[1] != slugs[2], "{slugs:?}");
    let spec = TestSpec { start: None, ..of(5, 10) };
    let finished = run_of(&spec, plan(&Fp64, 127).unwrap(), &RunOptions::default()).0;
    assert!(matches!(finished, Err(TestError::NoStart)));
}

/// A receiver of residues that stores them in memory. It requests the residues after the iterations
/// in `wanted`, and fails to store the residue after iteration `lost`.
#[derive(Debug, Default)]
struct InMemory {
    wanted: Vec<u64>,
    lost: Option<u64>,
    kept: Mutex<BTreeMap<u64, Residue>>,
}

impl ResidueSink for InMemory {
    fn iterations(&self, _: u64) -> Vec<u64> {
        self.wanted.clone()
    }

    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()> {
        if self.lost == Some(iteration) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        self.kept.lock().unwrap().insert(iteration, x.clone());
        Ok(())
    }
}

#[test]
fn residues_on_the_way_are_those_of_the_sequence_whatever_happens_on_the_way() {
    let p = 2_203;
    let wanted = vec![1, 2, 67, 68, 500, 1_101, 1_102, 2_202, 2_203];
    let ring = Ring::new(p);
    for after in [u64::MAX, 100, 1_150] {
        let residues = Arc::new(InMemory { wanted: wanted.clone(), ..InMemory::default() });
        let options = RunOptions { residues: Some(residues.clone()), ..RunOptions::default() };
        let faulty = Faulty::leaked(&Fp64, Fault::FlippedBit { after, bit: 77 });
        let spec = TestSpec { shift: 321, ..TestSpec::new(TestKind::Prp, exponent(p)) };
        run_of(&spec, plan(faulty, u64::from(p)).unwrap(), &options).0.unwrap();
        let kept = residues.kept.lock().unwrap();
        assert_eq!(kept.keys().copied().collect::<Vec<_>>(), wanted);
        for (&k, x) in kept.iter() {
            let expected = ring.square(3.into(), k, Step::Square, Shift::ZERO);
            assert_eq!(*x, gmp::residue(&expected, p), "x_{k}, flip after {after}");
        }
    }
}

#[test]
fn a_residue_that_cannot_be_kept_is_told_and_the_test_goes_on() {
    let p = 2_203;
    let residues = InMemory { wanted: vec![5, 50, 500], lost: Some(50), ..InMemory::default() };
    let residues = Arc::new(residues);
    let options = RunOptions { residues: Some(residues.clone()), ..RunOptions::default() };
    let spec = TestSpec::new(TestKind::Prp, exponent(p));
    let (outcome, events) = run_of(&spec, plan(&Fp64, u64::from(p)).unwrap(), &options);
    assert_eq!(outcome.unwrap().verdict, Verdict::ProbablePrime);
    assert_eq!(residues.kept.lock().unwrap().len(), 2);
    let lost = |e: &&Event| matches!(e, Event::ResidueLost { iteration: 50, .. });
    assert_eq!(events.iter().filter(lost).count(), 1);
}

/// Tests the verdict on the cofactor N = M_p/q for a known factor q of M_p. The expected verdict is
/// derived from 3^(N−1) mod N, computed with GMP.
#[test]
fn what_known_factors_leave_is_judged_as_gmp_does() {
    use rug::Integer;
    // The smallest factors of some Mersenne numbers, found by division.
    for p in [67u32, 101, 103, 227, 229, 233, 239, 251, 269, 461, 463, 557, 577] {
        let m = (Integer::from(1) << p) - 1u32;
        let step = 2 * u64::from(p);
        let q = (1..400_000u64).map(|k| k * step + 1).find(|&q| m.is_divisible(&Integer::from(q)));
        let Some(q) = q else { continue };
        let n = Integer::from(&m / q);
        let fermat = Integer::from(3).pow_mod(&Integer::from(&n - 1u32), &n).unwrap();
        let expected = if fermat == 1 { Verdict::ProbablePrime } else { Verdict::Composite };
        let spec = TestSpec {
            known_factors: KnownFactors::new(p, &[q.to_string()]).unwrap(),
            ..TestSpec::new(TestKind::Prp, exponent(p))
        };
        let plan = plan(&Fp64, u64::from(p)).unwrap();
        let outcome = run_of(&spec, plan, &RunOptions::default()).0.unwrap();
        assert_eq!(outcome.verdict, expected, "M{p}/{q}");
        assert_eq!(outcome.residue, Ring::new(p).prp_residue(), "type 5 is the residue of M{p}");
        assert_eq!(outcome.known_factors, [q.to_string()]);
    }
}

#[test]
fn a_clock_that_jumps_does_not_disturb_a_test() {
    let p = 521;
    for kind in [TestKind::Prp, LL] {
        let root = tempfile::tempdir().unwrap();
        let mut store = CheckpointStore::open(root.path(), p, kind).unwrap();
        let spec = TestSpec::new(kind, exponent(p));
        let options = RunOptions { clock: JumpingClock::leaked(), ..RunOptions::default() };
        let sound = plan(&Fp64, u64::from(p)).unwrap();
        let stop = StopToken::new();
        let (finished, events) = sitting_of(&spec, sound, Some(&mut store), &stop, &options);
        let Finished::Done(outcome) = finished.unwrap() else { panic!() };
        assert!(matches!(outcome.verdict, Verdict::Prime | Verdict::ProbablePrime));
        assert!(events.iter().any(|e| matches!(e, Event::Saved { .. })), "{kind}: none saved");
    }
}

#[test]
fn only_what_two_engines_have_computed_from_the_beginning_is_called_so() {
    let p = 521;
    let doubled = || RunOptions {
        verify_with: Some(plan(&Goldilocks, u64::from(p)).unwrap()),
        ..RunOptions::default()
    };
    let sit = |store: &mut CheckpointStore, iterations, options: &RunOptions| {
        let spec = TestSpec { iterations, ..TestSpec::new(LL, exponent(p)) };
        let (stop, sound) = (StopToken::new(), plan(&Fp64, u64::from(p)).unwrap());
        let (finished, events) = sitting_of(&spec, sound, Some(store), &stop, options);
        let Finished::Done(outcome) = finished.unwrap() else { panic!("nobody stops it") };
        let told = events.iter().any(|e| matches!(e, Event::OnceOnly { iteration: 200 }));
        (outcome.twice, told)
    };
    for (first, twice) in [(doubled(), true), (RunOptions::default(), false)] {
        let root = tempfile::tempdir().unwrap();
        let mut store = CheckpointStore::open(root.path(), p, LL).unwrap();
        assert_eq!(sit(&mut store, Some(200), &first), (twice, false));
        if !twice {
            // As if a Jacobi check had confirmed it during the test.
            let (state, _) = store.load_newest().unwrap().unwrap();
            let state = State { confirmed: Confirmation::Jacobi, ..state };
            assert!(store.save(&state).unwrap().verified);
        }
        assert_eq!(sit(&mut store, None, &doubled()), (twice, !twice));
    }
}
