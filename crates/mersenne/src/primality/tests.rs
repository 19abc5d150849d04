//! Tests of whole test runs on the word engine.

use super::*;
use crate::PlanRequest;

fn run_plain(kind: TestKind, p: u64, iterations: Option<u64>) -> Outcome {
    let exponent = Exponent::new(p).unwrap();
    let plan = Plan::new(exponent, &PlanRequest::default()).unwrap();
    let spec = TestSpec { iterations, ..TestSpec::new(kind, exponent) };
    match run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default()).unwrap() {
        Finished::Done(outcome) => *outcome,
        other => panic!("{other:?}"),
    }
}

#[test]
fn every_prime_below_64_by_every_test() {
    let mersenne = [2, 3, 5, 7, 13, 17, 19, 31, 61];
    for p in warpint_arith::primes::primes_between(2, 63) {
        let prime = mersenne.contains(&p);
        for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
            let outcome = run_plain(TestKind::Ll(start), p, None);
            let expected = if prime { Verdict::Prime } else { Verdict::Composite };
            assert_eq!(outcome.verdict, expected, "LL of M{p} from {start:?}");
            assert_eq!(outcome.residue.is(0), prime);
        }
        let outcome = run_plain(TestKind::Prp, p, None);
        let expected = if prime { Verdict::ProbablePrime } else { Verdict::Composite };
        assert_eq!(outcome.verdict, expected, "PRP of M{p}");
        assert_eq!(outcome.residue.is(1), prime);
        assert_eq!(outcome.errors, ErrorCounts::default());
    }
}

#[test]
fn interim_residues_are_those_of_the_sequence() {
    use warpint_arith::primes::{mul_mod, pow_mod};
    for p in [7u64, 31, 59, 61] {
        let m = (1u64 << p) - 1;
        let mut s = 4 % m;
        for k in 0..p {
            let outcome = run_plain(TestKind::Prp, p, Some(k));
            assert_eq!(outcome.verdict, Verdict::Interim);
            assert!(outcome.residue.is(pow_mod(3, 1 << k, m)), "3^(2^{k}) mod M{p}");
            assert_eq!(outcome.iterations, k);
            if k < p - 2 {
                assert!(run_plain(TestKind::Ll(LlStart::Four), p, Some(k)).residue.is(s));
                s = (mul_mod(s, s, m) + m - 2) % m;
            }
        }
    }
}
