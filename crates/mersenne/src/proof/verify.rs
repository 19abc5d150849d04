//! Whether a proof is right.

use warpint_arith::limbs;

use super::hash::Exponents;
use super::points::last_span;
use super::watch::{Halt, PER_POWER, Watch, lengthening, or_stopped};
use super::{Proof, ProofError};
use crate::{Engine, Plan, Residue, RoundOff, Shift, Step, StopToken, Verdict};

/// What a verification found, and by which means.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// What the residue says of M_p, or of its cofactor with known factors; `None` if the proof is
    /// refused.
    pub verdict: Option<Verdict>,
    /// Whether the first run refused what the second has found right: the machine has erred.
    pub erred: bool,
    /// The engine's name.
    pub engine: &'static str,
    /// Where it computed.
    pub place: &'static str,
    /// N, the transform length in words at the end.
    pub length: usize,
    /// Round-off of the last run.
    pub round_off: Option<RoundOff>,
}

impl Verification {
    /// Whether the proof is right.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.verdict.is_some()
    }
}

/// Verifies a proof. `progress` is told the share that is done, some times a second; `None` comes
/// back if `stop` asks for it. `plan` is one for the exponent of the proof.
///
/// From A = 3, B and the span s = p, for each middle M with its exponent h (a hash of B and the
/// middles so far): B ← B² if s is odd, then B ← M^h·B, A ← A^h·M, s ← ⌈s/2⌉. The proof is right if
/// A^(2^s) = B at the end, no residue of it is 0, and B is not −9.
///
/// A wrong square cannot make a wrong proof pass, but it makes a right one fail. So a proof is
/// refused only after a second run, at a longer transform length where there is one, has come to
/// the same A and B. Round-off that is too high is answered by a longer length too.
///
/// What a right proof shows: that B is x_p up to a factor of small order mod M_p, and up to what
/// it is modulo small divisors of M_p. Who sets out to deceive can get these past it; the sign of B
/// always passes, for p is odd and so B is squared first. An error of chance passes with odds of
/// about power/2^64. Of the two signs that would hide a prime, −9 is refused: x_p is a square, and
/// −9 is none since M_p ≡ 3 mod 4.
///
/// # Errors
/// Those of plan and engine; [`ProofError::Foreign`] for a plan of another exponent;
/// [`ProofError::Unreliable`] if two runs refuse with different numbers.
///
/// Cost: 190·power products and ⌈p/2^power⌉ squarings, twice that for a proof that is refused; four
/// registers.
pub fn verify(
    mut plan: Plan,
    proof: &Proof,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Verification>, ProofError> {
    let once = products(proof.exponent().get(), proof.power());
    let mut watch = Watch::new(once, progress, stop);
    or_stopped(check(&mut plan, proof, &mut watch))
}

/// The products of one run through a proof of M_p.
pub(super) fn products(p: u32, power: u32) -> u64 {
    2 * PER_POWER * u64::from(power) + u64::from(last_span(p, power))
}

/// [`verify`] within something larger; the plan is lengthened as need be.
pub(super) fn check(
    plan: &mut Plan,
    proof: &Proof,
    watch: &mut Watch<'_>,
) -> Result<Verification, Halt> {
    let (p, found) = (proof.exponent().get(), plan.exponent().get());
    if p != found {
        return Err(ProofError::Foreign { exponent: p, found }.into());
    }
    let run = |plan: &mut Plan, watch: &mut Watch<'_>| {
        let done = watch.done();
        lengthening(plan, |plan| {
            watch.back_to(done);
            Run::new(plan, proof, watch)
        })
    };
    // 3 is no divisor of M_p for odd p, so no power of it is 0.
    let zero = Residue::from_u64(p, 0);
    let minus_nine = limbs::sub_mod(zero.limbs(), Residue::from_u64(p, 9).limbs(), p);
    let possible = *proof.last() != Residue::from_limbs(p, &minus_nine)
        && [proof.last()].into_iter().chain(proof.middles()).all(|x| *x != zero);
    if !possible {
        return Ok(Verification::of(plan, None, None, false));
    }
    let first = run(plan, watch)?;
    if first.verdict.is_some() {
        return Ok(Verification::of(plan, first.verdict, first.round_off, false));
    }
    watch.expect_more(products(p, proof.power()));
    if let Ok(longer) = plan.longer() {
        *plan = longer;
    }
    let second = run(plan, watch)?;
    if second.verdict.is_none() && second.ends != first.ends {
        return Err(ProofError::Unreliable { exponent: p }.into());
    }
    let erred = second.verdict.is_some();
    Ok(Verification::of(plan, second.verdict, second.round_off, erred))
}

impl Verification {
    fn of(plan: &Plan, verdict: Option<Verdict>, round_off: Option<RoundOff>, erred: bool) -> Self {
        let (engine, place, length) = (plan.engine(), plan.place(), plan.length());
        Self { verdict, erred, engine, place, length, round_off }
    }
}

const A: usize = 0;
const B: usize = 1;
const M: usize = 2;
/// A power on its way.
const POWER: usize = 3;

/// One run through a proof.
struct Run {
    /// `None` where A^(2^s) and B differ.
    verdict: Option<Verdict>,
    /// A^(2^s) and B.
    ends: (Residue, Residue),
    round_off: Option<RoundOff>,
}

impl Run {
    fn new(plan: &Plan, proof: &Proof, watch: &mut Watch<'_>) -> Result<Self, Halt> {
        let mut engine = plan.build(4)?;
        let engine = engine.as_mut();
        engine.set(A, 3, Shift::ZERO)?;
        engine.write(B, proof.last(), Shift::ZERO)?;
        let mut exponents = Exponents::new(proof.last());
        let mut span = proof.exponent().get();
        for middle in proof.middles() {
            let h = exponents.next(middle);
            engine.write(M, middle, Shift::ZERO)?;
            if !span.is_multiple_of(2) {
                engine.square(B, 1, Step::Square, Shift::ZERO)?;
            }
            watch.raise(engine, POWER, M, h)?;
            engine.mul(B, POWER, B)?;
            watch.raise(engine, POWER, A, h)?;
            engine.mul(A, POWER, M)?;
            span = span.div_ceil(2);
        }
        watch.square(engine, A, u64::from(span))?;
        let ends = (engine.read(A, Shift::ZERO)?, engine.read(B, Shift::ZERO)?);
        let verdict = if ends.0 == ends.1 { Some(verdict(engine, proof)?) } else { None };
        Ok(Self { verdict, ends, round_off: engine.health().round_off })
    }
}

/// What x_p says of M_p, or of what known factors leave of it.
fn verdict(engine: &mut dyn Engine, proof: &Proof) -> Result<Verdict, Halt> {
    let exponent = engine.exponent();
    if proof.factors().is_empty() {
        let prime = *proof.last() == Residue::from_u64(exponent, 9);
        return Ok(if prime { Verdict::ProbablePrime } else { Verdict::Composite });
    }
    let judged = proof.factors().judge(engine, &proof.residue())?;
    Ok(judged.ok_or(ProofError::Unreliable { exponent })?)
}
