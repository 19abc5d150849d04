//! Tests Lucas–Lehmer and PRP residues. Residues that the engine computes alone are compared with
//! the oracle and with known answers. The results of the whole test that the program runs are also
//! compared with known answers. M_p denotes 2^p − 1.

use rand::RngExt;
use warpint_mersenne::{
    BuildOptions, EngineFamily, Exponent, Finished, LlStart, Plan, RunOptions, Shift, StopToken,
    TestKind, TestSpec, Verdict, primality,
};

use crate::oracle::Limbs;
use crate::sample::{self, Scale};
use crate::sequence;
use crate::twin::Twin;
use crate::vectors::{self, SmallResidue};

const STARTS: [LlStart; 3] = [LlStart::Four, LlStart::Ten, LlStart::TwoThirds];

/// Tests the Lucas–Lehmer residue s_(p−2) for random primes p, each of the starting values 4, 10
/// and 2/3, and random shifts.
pub fn ll_residues(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    for p in sample::prime_exponents(family, scale, &mut rng, 30, 3_000) {
        let mut twin = Twin::shortest(family, p, seed)?;
        for start in STARTS {
            let Some(s_0) = sequence::ll_start(p, start) else { continue };
            let shift = Shift::new(rng.random_range(0..p), p);
            let what = format!("LL from {start:?} at shift {}", shift.bits());
            let n = TestKind::Ll(start).iterations(p);
            let (found, expected) =
                twin.both(&what, |e| sequence::ll_residue(e, &s_0, n, shift))?;
            twin.equal(&what, &found, &expected)?;
        }
    }
    Ok(())
}

/// Tests 3^(2^k) for random k, and 3^(M_p − 1), modulo M_p. The primes p are random. Most are at
/// most 3,000, and all are at most 6,250.
pub fn prp_residues(
    family: &'static dyn EngineFamily,
    seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let mut rng = sample::random(seed);
    let mut exponents = sample::prime_exponents(family, scale, &mut rng, 30, 3_000);
    exponents.extend(sample::prime_exponents(family, scale, &mut rng, 1, Limbs::LARGEST / 8));
    for p in exponents {
        let mut twin = Twin::shortest(family, p, seed)?;
        let k = rng.random_range(0..u64::from(p));
        let (found, expected) = twin.both(&"3^(2^k)", |e| sequence::power_residue(e, k))?;
        twin.equal(&format!("3^(2^{k})"), &found, &expected)?;
        let (found, expected) = twin.both(&"3^(M_p − 1)", sequence::prp_residue)?;
        if let (Some(found), Some(expected)) = (found, expected) {
            twin.equal(&"3^(M_p − 1)", &found, &expected)?;
        }
    }
    Ok(())
}

/// Tests the LL and PRP residues of M_p on the engine alone, without the checks of a test, for the
/// odd primes p < 2,000, for 4,423 and for 4,441, as far as the family supports them. Of the primes
/// below 2,000, every 8th is tested on the simulator, and none in quick cases. The expected values
/// were computed with GMP.
pub fn known_residues(
    family: &'static dyn EngineFamily,
    _seed: u64,
    scale: Scale,
) -> Result<(), String> {
    for known in known_for(family, scale)? {
        let p = known.p;
        let length = sample::shortest_length(family, p)?;
        let failed = |e: &dyn std::fmt::Display| format!("{} M{p}: {e}", family.name());
        let options = BuildOptions::new(1, 1);
        let mut engine = family.build(p, length, options).map_err(|e| failed(&e))?;
        let s_0 = sequence::ll_start(p, LlStart::Four).ok_or_else(|| failed(&"no start"))?;
        let n = TestKind::Ll(LlStart::Four).iterations(p);
        let ll =
            sequence::ll_residue(engine.as_mut(), &s_0, n, Shift::ZERO).map_err(|e| failed(&e))?;
        let prp = sequence::prp_residue(engine.as_mut())
            .map_err(|e| failed(&e))?
            .ok_or_else(|| failed(&"9 has no inverse"))?;
        for (what, found, expected) in
            [("LL", ll.res64_hex(), &known.ll), ("PRP", prp.res64_hex(), &known.prp)]
        {
            if found != *expected {
                return Err(failed(&format!("{what} res64 {found}, not {expected}")));
            }
        }
    }
    Ok(())
}

/// Tests the exponents of [`known_residues`] with [`primality::run`], the test that the program
/// runs, including its checks. The res64 must equal the one computed with GMP. The verdict must be
/// prime (probable prime in a PRP test) for Mersenne primes, and composite otherwise.
pub fn whole_tests(
    family: &'static dyn EngineFamily,
    _seed: u64,
    scale: Scale,
) -> Result<(), String> {
    let primes = vectors::mersenne_primes().map_err(|e| e.to_string())?;
    for known in known_for(family, scale)? {
        let p = known.p;
        let is_prime = primes.exponents.contains(&p);
        for (kind, expected) in
            [(TestKind::Ll(LlStart::Four), &known.ll), (TestKind::Prp, &known.prp)]
        {
            whole_test(family, p, kind, expected, is_prime)
                .map_err(|e| format!("{} M{p} {kind}: {e}", family.name()))?;
        }
    }
    Ok(())
}

fn whole_test(
    family: &'static dyn EngineFamily,
    p: u32,
    kind: TestKind,
    expected: &str,
    is_prime: bool,
) -> Result<(), String> {
    let exponent = Exponent::new(u64::from(p)).map_err(|e| e.to_string())?;
    let plan = Plan::of_family(exponent, family, None, Some(1)).map_err(|e| e.to_string())?;
    let spec = TestSpec::new(kind, exponent);
    let finished =
        primality::run(&spec, plan, None, &mut |_| {}, &StopToken::new(), &RunOptions::default())
            .map_err(|e| e.to_string())?;
    let Finished::Done(outcome) = finished else {
        return Err(format!("ended with {finished:?} without a stop request"));
    };
    let verdict = match (is_prime, kind) {
        (true, TestKind::Cert(_)) => Verdict::Certified,
        (true, kind) if kind.is_lucas() => Verdict::Prime,
        (true, _) => Verdict::ProbablePrime,
        (false, _) => Verdict::Composite,
    };
    let (found, errors) = (outcome.residue.res64_hex(), outcome.errors);
    if outcome.verdict != verdict || found != expected || errors != Default::default() {
        return Err(format!(
            "{:?}, res64 {found}, {errors:?}, not {verdict:?}, res64 {expected} without errors",
            outcome.verdict
        ));
    }
    Ok(())
}

fn known_for(family: &dyn EngineFamily, scale: Scale) -> Result<Vec<SmallResidue>, String> {
    let mut known = vectors::small_residues().map_err(|e| e.to_string())?.residues;
    known.retain(|r| family.exponent_range().contains(&r.p));
    if matches!(scale, Scale::Small | Scale::Quick) {
        let beyond = known.split_off(known.partition_point(|r| r.p < 2_000));
        let of_small = if scale == Scale::Small { known } else { vec![] };
        known = of_small.into_iter().step_by(8).chain(beyond).collect();
    }
    if known.is_empty() {
        return Err(format!("no known residue is in the range of {}", family.name()));
    }
    Ok(known)
}
