//! Tests Mersenne tests on engines that fail deliberately. Each Mersenne test must either end with
//! the right residue and report the failures, or end with an error. It must never give a wrong
//! result.

use warpint_mersenne::engine::{families_for, fp64::Fp64};
use warpint_mersenne::{Check, Event, LlStart, TestError, TestKind};
use warpint_selftest::faults::wrappers::{Fault, Faulty};
use warpint_testkit::gmp::Ring;
use warpint_testkit::tests::{plan, run};

#[test]
fn a_flipped_bit_in_a_prp_is_found_and_undone() {
    let p = 2_203;
    let right = Ring::new(p).prp_residue();
    for family in families_for(p) {
        let whole = Faulty::leaked(family, Fault::FlippedBit { after: u64::MAX, bit: 0 });
        run(plan(whole, u64::from(p)).unwrap(), TestKind::Prp).0.unwrap();
        // Early, in the middle of a block, and late, during the last check.
        let products = whole.products();
        for (after, bit) in
            [(1, 0), (2, p - 1), (40, 1), (products / 2, 777), (products * 9 / 10, 64)]
        {
            let faulty = Faulty::leaked(family, Fault::FlippedBit { after, bit });
            let (outcome, events) = run(plan(faulty, u64::from(p)).unwrap(), TestKind::Prp);
            let outcome = outcome.unwrap();
            let what = format!("{}: bit {bit} after product {after}", family.name());
            assert_eq!(outcome.residue, right, "{what}");
            assert_eq!(outcome.errors.gerbicz, 1, "{what}");
            let failures = events.iter().filter(|e| matches!(e, Event::CheckFailed { .. }));
            assert_eq!(failures.count(), 1, "{what}");
        }
    }
}

#[test]
fn an_error_that_repeats_itself_stops_the_test() {
    for family in families_for(1_279) {
        let faulty = Faulty::leaked(family, Fault::StuckBit { bit: 100 });
        let (outcome, _) = run(plan(faulty, 1_279).unwrap(), TestKind::Prp);
        assert!(
            matches!(
                outcome,
                Err(TestError::RepeatedError { check: Check::Gerbicz, verified: 0, .. })
            ),
            "{}: {outcome:?}",
            family.name()
        );
    }
}

#[test]
fn too_short_a_length_is_left_for_a_longer_one() {
    // Large enough for the margins of neighbouring lengths to differ by less than two bits.
    let p: u32 = 9_941;
    for bits in [4.0, 8.0, 16.0] {
        let optimist = Faulty::leaked(&Fp64, Fault::Optimism { bits });
        let too_short = plan(optimist, u64::from(p)).unwrap();
        assert!(too_short.length() < plan(&Fp64, u64::from(p)).unwrap().length());
        for kind in [TestKind::Ll(LlStart::Four), TestKind::Prp] {
            let (outcome, events) = run(too_short, kind);
            let outcome = outcome.unwrap();
            // M9941 is prime.
            let right = if kind == TestKind::Prp { 1 } else { 0 };
            assert!(outcome.residue.is(right), "{kind}: {:?}", outcome.residue);
            assert_eq!(outcome.errors.gerbicz, 0, "{kind}");
            let lengthened: Vec<(usize, usize)> = events
                .iter()
                .filter_map(|e| match *e {
                    Event::Lengthened { from, to, .. } => Some((from, to)),
                    _ => None,
                })
                .collect();
            assert_eq!(outcome.errors.round_off as usize, lengthened.len(), "{kind}");
            assert!(lengthened.iter().all(|(from, to)| to > from), "{kind}: {lengthened:?}");
            let last = lengthened.last().map_or(too_short.length(), |l| l.1);
            assert_eq!(outcome.length, last, "{kind}");
            if bits >= 16.0 {
                assert!(!lengthened.is_empty(), "{kind}: {bits} bits cannot go unnoticed");
            }
        }
    }
}
