//! The known Mersenne primes, proven by the test that the program runs, and no others.

use warpint_mersenne::engine::{fp64::Fp64, goldilocks::Goldilocks, word::Word};
use warpint_mersenne::{EngineFamily, TestKind, Verdict};
use warpint_selftest::vectors;
use warpint_testkit::tests::{is_mersenne_prime, plan, run, sweep};

/// The exponents of the known Mersenne primes in `from..=to`.
fn known(from: u32, to: u32) -> Result<Vec<u32>, String> {
    let mut exponents = vectors::mersenne_primes().map_err(|e| e.to_string())?.exponents;
    exponents.retain(|p| (from..=to).contains(p));
    Ok(exponents)
}

/// Lucas–Lehmer proves every M_p prime that the list has in `from..=to`.
fn proves(family: &'static dyn EngineFamily, from: u32, to: u32) {
    let exponents = known(from, to).unwrap_or_default();
    assert!(!exponents.is_empty());
    for p in exponents {
        assert_eq!(is_mersenne_prime(family, u64::from(p)), Ok(true), "M{p}");
    }
}

#[test]
fn word_finds_exactly_the_known_primes_below_64() {
    assert_eq!(sweep(&Word, 2, 63), known(2, 63));
}

#[test]
fn fp64_finds_exactly_the_known_primes_below_4000() {
    assert_eq!(sweep(&Fp64, 64, 4_000), known(64, 4_000));
}

#[test]
fn goldilocks_finds_exactly_the_known_primes_below_4000() {
    assert_eq!(sweep(&Goldilocks, 64, 4_000), known(64, 4_000));
}

#[test]
fn fp64_proves_the_known_primes_to_23209() {
    proves(&Fp64, 4_001, 23_209);
}

#[test]
fn goldilocks_proves_the_known_primes_to_23209() {
    proves(&Goldilocks, 4_001, 23_209);
}

#[test]
fn prp_takes_the_known_primes_to_11213_for_primes() {
    for family in [&Fp64 as &'static dyn EngineFamily, &Goldilocks] {
        for p in known(64, 11_213).unwrap() {
            let (outcome, _) = run(plan(family, u64::from(p)).unwrap(), TestKind::Prp);
            let outcome = outcome.unwrap();
            assert_eq!(outcome.verdict, Verdict::ProbablePrime, "M{p} by {}", family.name());
            assert!(outcome.residue.is(1));
        }
    }
}

#[test]
#[ignore = "up to a minute: run with --ignored"]
fn fp64_proves_44497_and_86243() {
    proves(&Fp64, 44_497, 86_243);
}

#[test]
#[ignore = "up to a minute: run with --ignored"]
fn goldilocks_proves_44497_and_86243() {
    proves(&Goldilocks, 44_497, 86_243);
}
