//! Tests intermediate residues, as the program reports them with the option `--iterations`.

use rug::Integer;
use warpint_arith::primes;
use warpint_mersenne::engine::{families, families_for};
use warpint_mersenne::{
    DeviceChoice, Exponent, LlStart, Plan, PlanRequest, Residue, Shift, Step, TestKind, Verdict,
};
use warpint_selftest::vectors::{self, Sequence};
use warpint_testkit::gmp::{self, Ring};
use warpint_testkit::tests::{plan, run, run_to};

/// Returns the residue of a test modulo M_p after n iterations, computed with GMP.
fn on_the_way(p: u32, kind: TestKind, n: u64) -> Residue {
    let ring = Ring::new(p);
    match kind {
        TestKind::Ll(start) => ring.ll_residue(start, n),
        _ => gmp::residue(&ring.square(Integer::from(3), n, Step::Square, Shift::ZERO), p),
    }
}

#[test]
fn interim_residues_are_those_of_the_sequence() {
    let kinds = [TestKind::Prp, TestKind::Ll(LlStart::Four), TestKind::Ll(LlStart::TwoThirds)];
    for (p, n) in [(67, 1), (67, 64), (1_277, 1), (1_277, 35), (1_277, 36), (9_949, 4_000)] {
        for family in families_for(p as u32) {
            for kind in kinds {
                let what = format!("{} M{p} {kind:?} {n}", family.name());
                let (outcome, _) = run_to(plan(family, p).unwrap(), kind, Some(n));
                let outcome = outcome.unwrap();
                assert_eq!(outcome.verdict, Verdict::Interim, "{what}");
                assert_eq!(outcome.iterations, n, "{what}");
                assert_eq!(outcome.residue, on_the_way(p as u32, kind, n), "{what}");
            }
        }
    }
}

#[test]
fn every_start_of_lucas_lehmer_ends_as_with_gmp() {
    for &family in families() {
        let exponents = family.exponent_range();
        let from = (*exponents.start()).max(3);
        // A family that begins above 640 is tested with its first exponents.
        let to = (*exponents.end()).min((from + 60).max(700));
        assert!(from < to, "{} has no exponent", family.name());
        for p in primes::primes_between(from.into(), to.into()) {
            for start in [LlStart::Four, LlStart::Ten, LlStart::TwoThirds] {
                let what = format!("{} M{p} from {start:?}", family.name());
                let (outcome, _) = run(plan(family, p).unwrap(), TestKind::Ll(start));
                let expected = Ring::new(p as u32).ll_residue(start, p - 2);
                assert_eq!(outcome.unwrap().residue, expected, "{what}");
            }
        }
    }
}

/// Returns the res64 (low 64 bits, in hexadecimal) of a test of M_p after n iterations, computed on
/// the CPU by an engine of the given family with all threads.
fn reached(family: &'static str, p: u32, kind: TestKind, n: u64) -> Result<String, String> {
    let device = DeviceChoice::Cpu;
    let request = PlanRequest { engine: Some(family), device, ..PlanRequest::default() };
    let p = Exponent::new(u64::from(p)).map_err(|e| e.to_string())?;
    let plan = Plan::measured(p, &request).map_err(|e| e.to_string())?;
    let outcome = run_to(plan, kind, Some(n)).0.map_err(|e| e.to_string())?;
    Ok(outcome.residue.res64_hex())
}

/// Tests that the families compute the residues in `crates/selftest/vectors/residues.toml` for the exponent
/// 6,972,593.
#[test]
#[ignore = "some minutes: run with --release --ignored"]
fn families_reach_the_residues_of_another_program() {
    let known = vectors::interim_residues().map(|r| r.residues).unwrap_or_default();
    let of_p: Vec<_> = known.iter().filter(|r| r.p == 6_972_593).collect();
    assert_eq!(of_p.len(), 2);
    for r in of_p {
        let kind = match r.test {
            Sequence::Ll => TestKind::Ll(LlStart::Four),
            Sequence::Prp => TestKind::Prp,
        };
        for family in families_for(r.p) {
            let found = reached(family.name(), r.p, kind, r.iterations);
            assert_eq!(found.as_ref(), Ok(&r.res64), "M{} {kind} by {}", r.p, family.name());
        }
    }
}
