//! The verdict that follows from a proof whose equation holds, and the last conditions on its residue.

use super::small_order::{odd_order, smooth_order};
use super::verify::{Found, M, ODD, POWER};
use super::watch::{Halt, ODD_POWERS, PER_POWER, Watch};
use super::{Proof, Refusal};
use crate::primality::{self, Steps, is_enough};
use crate::{Engine, Number, Plan, Residue, Shift, TestKind, Verdict};

/// Returns the verdict of a proof, or a refusal.
pub(super) fn judge(
    plan: &Plan,
    engine: &mut dyn Engine,
    proof: &Proof,
    steps: &Steps,
    watch: &mut Watch<'_>,
) -> Result<Found, Halt> {
    match proof.claimed() {
        Some(residue) => judge_mersenne(engine, proof, residue, watch),
        None => judge_number(plan, engine, proof, steps, watch),
    }
}

/// Judges a proof of M_p with this residue, which is the last residue divided by 9.
fn judge_mersenne(
    engine: &mut dyn Engine,
    proof: &Proof,
    residue: Residue,
    watch: &mut Watch<'_>,
) -> Result<Found, Halt> {
    let factors = proof.factors();
    let Some(of_a_prime) = factors.residue_of_a_prime(engine)? else { return Ok(Found::Error) };
    if factors.are_congruent(&residue, &of_a_prime) {
        return Ok(Found::Verdict(Verdict::ProbablePrime, residue));
    }
    let order = smooth_order(engine.exponent(), factors);
    let raised = raised(engine, &residue, &order, watch)?;
    let small = factors.are_congruent(&raised, &self::raised(engine, &of_a_prime, &order, watch)?);
    Ok(if small {
        Found::Refusal(Refusal::SmallOrder)
    } else {
        Found::Verdict(Verdict::Composite, residue)
    })
}

/// Judges a proof of a test of k·b^n ± 1. Computes the last iterations of the test, and the power by which a
/// residue of small order is recognised, twice each: the second time at a longer transform length, if the engine
/// has one. An error in these would not be noticed otherwise.
fn judge_number(
    plan: &Plan,
    engine: &mut dyn Engine,
    proof: &Proof,
    steps: &Steps,
    watch: &mut Watch<'_>,
) -> Result<Found, Halt> {
    let (kind, number) = (proof.subject().kind(), proof.number());
    let longer = plan.longer().ok().filter(|longer| longer.engine() == plan.engine());
    let mut second = longer.as_ref().unwrap_or(plan).build(ODD + ODD_POWERS)?;
    let last = end_of_test(engine, proof, steps, watch)?;
    if last != end_of_test(second.as_mut(), proof, steps, watch)? {
        return Ok(Found::Error);
    }
    // A prime has the residue −1 in Proth's test, and 1 in the others.
    let is_of_a_prime = |x: &Residue| match kind {
        TestKind::Proth { .. } => x.is_minus(1),
        _ => x.is(1),
    };
    let (verdict, residue) = match kind {
        TestKind::Pocklington { base, open } => match primality::judge(number, base, open, &last) {
            Some(judgement) => (proven(number, judgement.verdict), judgement.residue),
            None => return Ok(Found::Error),
        },
        _ if !is_of_a_prime(&last) => (Verdict::Composite, last),
        TestKind::Proth { .. } => (Verdict::Prime, last),
        _ => (Verdict::ProbablePrime, last),
    };
    // Pocklington's test may also find a factor, or a wrong symbol, of a number with the residue 1.
    if verdict == Verdict::Composite && !is_of_a_prime(&residue) {
        let order = odd_order(number, proof.power());
        let power = raised(engine, &residue, &order, watch)?;
        if power != raised(second.as_mut(), &residue, &order, watch)? {
            return Ok(Found::Error);
        }
        if is_of_a_prime(&power) {
            return Ok(Found::Refusal(Refusal::SmallOrder));
        }
    }
    // Modulo another number, or with another exponent, both computations would agree.
    if !engine.is_intact() || !second.is_intact() || !steps.are_right(kind, number) {
        return Ok(Found::Error);
    }
    Ok(Found::Verdict(verdict, residue))
}

/// Returns the verdict of a proof of Pocklington's test whose own verdict is the given one.
///
/// The verdict is that of a prime only if 2 is the only prime factor q of b that the theorem needs. A forger
/// can multiply the power by an element whose order is an odd q, with about q hashes, and so hide that
/// a^((N − 1)/q) is 1 (`docs/checks/proofs.md`).
fn proven(number: Number, verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Prime if number.base() % 2 == 1 || !is_enough(number, 2) => Verdict::ProbablePrime,
        other => other,
    }
}

/// Returns the last residue of the test, computed from the last residue of its proof.
fn end_of_test(
    engine: &mut dyn Engine,
    proof: &Proof,
    steps: &Steps,
    watch: &mut Watch<'_>,
) -> Result<Residue, Halt> {
    let subject = proof.subject();
    let from = u64::from(subject.iterations());
    engine.write(M, proof.last(), Shift::ZERO)?;
    watch.steps(engine, M, subject.tail().into(), steps.base(), |j| steps.has_factor(from + j))?;
    Ok(engine.read(M, Shift::ZERO)?)
}

/// Returns x^e for e in little-endian limbs.
fn raised(
    engine: &mut dyn Engine,
    x: &Residue,
    e: &[u64],
    watch: &mut Watch<'_>,
) -> Result<Residue, Halt> {
    if x.is(1) {
        return Ok(x.clone());
    }
    engine.write(M, x, Shift::ZERO)?;
    watch.expect_more(e.len() as u64 * PER_POWER);
    watch.raise(engine, POWER, M, ODD, e)?;
    Ok(engine.read(POWER, Shift::ZERO)?)
}
