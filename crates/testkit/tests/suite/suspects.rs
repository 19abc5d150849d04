//! Tests the Jacobi check at the end of a Lucas–Lehmer test that started from wrong checkpoints.
//! The checksums of these checkpoints are right.

use std::path::Path;
use std::time::Duration;

use rug::Integer;
use warpint_mersenne::checkpoint::{CheckpointStore, Confirmation, State};
use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks};
use warpint_mersenne::{
    Check, ErrorCounts, Event, Exponent, Finished, LlStart, Outcome, Residue, RunOptions,
    StopToken, TestKind, TestSpec, Verdict,
};
use warpint_testkit::gmp::{self, Ring};
use warpint_testkit::tests::{plan, sitting_of};

const P: u32 = 521;
const START: LlStart = LlStart::Four;
const LL: TestKind = TestKind::Ll(START);

/// A checkpoint to be written: its iteration, whether its residue is right, and whether it is
/// marked as confirmed by a Jacobi check.
type Planted = (u64, Right, bool);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Right {
    Yes,
    /// The residue s is wrong. s − 2 has the wrong Jacobi symbol, and t − 2 has the wrong one for
    /// every later term t of the sequence.
    No,
    /// The residue s is wrong. s − 2 has the right Jacobi symbol, but t − 2 has the wrong one for
    /// every later term t of the sequence.
    NotForLong,
}

/// Returns s_k, computed with GMP. Unless `right` is `Yes`, one bit of s_k is flipped, chosen so
/// that the Jacobi symbols are as `right` demands.
fn residue(k: u64, right: Right) -> Residue {
    let s = Ring::new(P).ll_residue(START, k);
    if right == Right::Yes {
        return s;
    }
    let (m, s) = (gmp::mersenne(P), gmp::integer(&s));
    let symbols = if right == Right::No { (1, 1) } else { (-1, -1) };
    let flipped = (0..P).map(|bit| s.clone() ^ (Integer::from(1) << bit));
    let symbols_of =
        |x: &Integer| (Integer::from(x - 2u32).jacobi(&m), Integer::from(x + 2u32).jacobi(&m));
    let wrong = flipped.filter(|x| *x < m).find(|x| symbols_of(x) == symbols);
    gmp::residue(&wrong.expect("a quarter of all residues"), P)
}

fn plant(root: &Path, planted: &[Planted]) -> CheckpointStore {
    let mut store = CheckpointStore::open(root, P, LL).unwrap();
    for &(iteration, right, confirmed) in planted {
        let state = State {
            kind: LL,
            iteration,
            residue: residue(iteration, right),
            shift: 0,
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: if confirmed { Confirmation::Jacobi } else { Confirmation::No },
            gerbicz: None,
            lucas: None,
        };
        store.save(&state).unwrap();
    }
    store
}

/// Runs the test from the given checkpoints. Returns its outcome, the iterations to which the test
/// went back after failed Jacobi checks, and the new names of the checkpoints that the test renamed
/// as bad. If `doubled` is true, a second engine verifies the test.
fn run(planted: &[Planted], doubled: bool) -> (Outcome, Vec<u64>, Vec<String>) {
    let root = tempfile::tempdir().unwrap();
    let mut store = plant(root.path(), planted);
    let spec = TestSpec::new(LL, Exponent::new(u64::from(P)).unwrap());
    let verify_with = doubled.then(|| plan(&Goldilocks, u64::from(P)).unwrap());
    let options = RunOptions { verify_with, ..RunOptions::default() };
    let first = plan(&Fp64, u64::from(P)).unwrap();
    let stop = StopToken::new();
    let (finished, events) = sitting_of(&spec, first, Some(&mut store), &stop, &options);
    let Finished::Done(outcome) = finished.unwrap() else { panic!("nobody stops it") };
    let back = events.iter().filter_map(|e| match e {
        Event::CheckFailed { check: Check::Jacobi, back_to, .. } => Some(*back_to),
        _ => None,
    });
    let mut aside: Vec<String> = events
        .iter()
        .filter_map(|e| match e {
            Event::BadCheckpoint { path, .. } => {
                assert!(path.exists(), "{}", path.display());
                Some(path.file_name().unwrap().to_str().unwrap().to_owned())
            }
            _ => None,
        })
        .collect();
    aside.sort();
    (*outcome, back.collect(), aside)
}

fn check(planted: &[Planted], doubled: bool, back_to: u64, aside: &[&str]) {
    let (outcome, back, bad) = run(planted, doubled);
    assert_eq!((outcome.verdict, outcome.errors.jacobi), (Verdict::Prime, 1), "{planted:?}");
    assert_eq!(back, [back_to], "{planted:?}");
    assert_eq!(bad, aside, "{planted:?}");
}

#[test]
fn a_test_goes_back_to_the_newest_checkpoint_that_is_right_not_to_the_beginning() {
    use Right::{No, NotForLong, Yes};
    let planted = [(100, Yes, false), (200, Yes, false), (300, No, false)];
    check(&planted, false, 200, &["ll-0000000300.ckpt.bad"]);
    let planted = [(100, Yes, false), (200, No, false), (300, No, false)];
    check(&planted, false, 100, &["ll-0000000200.ckpt.bad", "ll-0000000300.ckpt.bad"]);
    let planted = [(100, No, false), (300, No, false)];
    check(&planted, false, 0, &["ll-0000000100.ckpt.bad", "ll-0000000300.ckpt.bad"]);
    let planted = [(100, Yes, false), (200, NotForLong, false), (300, NotForLong, true)];
    let aside = ["ll-0000000200.ckpt.bad", "ll-0000000300.verified.bad"];
    check(&planted, false, 100, &aside);
}

#[test]
fn a_wrong_checkpoint_that_is_said_to_be_confirmed_is_no_dead_end() {
    use Right::{No, Yes};
    let planted = [(100, Yes, true), (200, Yes, false), (300, No, true)];
    check(&planted, false, 200, &["ll-0000000300.verified.bad"]);
    let planted = [(300, No, true)];
    check(&planted, false, 0, &["ll-0000000300.verified.bad"]);
}

#[test]
fn beside_a_second_engine_only_a_verified_checkpoint_is_gone_back_to() {
    use Right::{No, Yes};
    let planted = [(100, Yes, true), (200, Yes, false), (300, No, true)];
    let aside = ["ll-0000000300.verified.bad"];
    check(&planted, true, 100, &aside);
}

#[test]
fn a_wrong_end_on_which_two_engines_agree_is_not_agreed_on_for_ever() {
    use Right::{No, Yes};
    // Both continue from the same wrong state to the same wrong end, which is on disk when the
    // sitting ends.
    let planted = [(100, Yes, true), (518, No, true)];
    let (outcome, back, aside) = run(&planted, true);
    assert_eq!((outcome.verdict, back), (Verdict::Prime, vec![100]));
    assert_eq!(aside, ["ll-0000000518.verified.bad"]);
}
