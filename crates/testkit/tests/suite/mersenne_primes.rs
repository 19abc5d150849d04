//! Tests that the Lucas–Lehmer test, as the program runs it, finds exactly the known Mersenne
//! primes.

use warpint_mersenne::engine::families_for;
use warpint_mersenne::{EngineFamily, TestKind, Verdict};
use warpint_selftest::vectors;
use warpint_testkit::tests::{is_mersenne_prime, plan, run, sweep};

/// Returns the exponents of the known Mersenne primes that are in `from..=to`.
fn known(from: u32, to: u32) -> Result<Vec<u32>, String> {
    let mut exponents = vectors::mersenne_primes().map_err(|e| e.to_string())?.exponents;
    exponents.retain(|p| (from..=to).contains(p));
    Ok(exponents)
}

/// Returns the smallest exponent that a family supports, and the largest supported exponent that is
/// at most `to`.
fn exponents(family: &dyn EngineFamily, to: u32) -> (u32, u32) {
    let all = family.exponent_range();
    (*all.start(), to.min(*all.end()))
}

/// Tests that Lucas–Lehmer tests find exactly the known Mersenne primes among the exponents up to
/// 4,000 that the family supports.
fn finds_exactly_the_known(family: &'static dyn EngineFamily) {
    let (from, to) = exponents(family, 4_000);
    let known = known(from, to);
    assert!(known.as_ref().is_ok_and(|known| !known.is_empty()), "{known:?}");
    assert_eq!(sweep(family, from.into(), to.into()), known);
}

/// Tests that Lucas–Lehmer tests prove every known Mersenne prime M_p with p in `from..=to`.
fn proves(family: &'static dyn EngineFamily, (from, to): (u32, u32)) {
    let exponents = known(from, to).unwrap_or_default();
    assert!(!exponents.is_empty());
    for p in exponents {
        assert_eq!(is_mersenne_prime(family, u64::from(p)), Ok(true), "M{p}");
    }
}

macro_rules! tests_of_families {
    ($($name:ident: $family:path;)+) => {
        $(
            mod $name {
                use super::*;

                #[test]
                fn finds_exactly_the_known_primes_below_4000() {
                    finds_exactly_the_known(&$family);
                }

                #[test]
                fn proves_the_known_primes_to_23209() {
                    proves(&$family, exponents(&$family, 23_209));
                }
            }
        )+
    };
}
warpint_mersenne::for_every_family!(cpu => tests_of_families);

#[test]
fn prp_takes_the_known_primes_to_11213_for_primes() {
    for p in known(64, 11_213).unwrap() {
        for family in families_for(p) {
            let (outcome, _) = run(plan(family, u64::from(p)).unwrap(), TestKind::Prp);
            let outcome = outcome.unwrap();
            assert_eq!(outcome.verdict, Verdict::ProbablePrime, "M{p} by {}", family.name());
            assert!(outcome.residue.is(1));
        }
    }
}

#[test]
#[ignore = "up to two minutes: run with --ignored"]
fn families_prove_44497_and_86243() {
    for family in families_for(86_243) {
        proves(family, (44_497, 86_243));
    }
}
