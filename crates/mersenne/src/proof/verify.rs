//! Verification of proofs.

use super::hash::Exponents;
use super::points::last_span;
use super::refusal::Refusal;
use super::small_order::{power_of_two, smooth_order};
use super::watch::{Halt, PER_POWER, Watch, lengthening, or_stopped};
use super::{Proof, ProofError};
use crate::jacobi::jacobi_symbol;
use crate::{Engine, Plan, Residue, RoundOff, Shift, Step, StopToken, Verdict};

/// The result of a verification, with the engine that computed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// `Ok` is the verdict on M_p, or on its cofactor if factors are known. `Err` is the reason why
    /// the proof is refused.
    pub finding: Result<Verdict, Refusal>,
    /// Whether the first run refused a proof that the second run found right or refused for another
    /// reason. If so, the machine has made an error.
    pub erred: bool,
    /// The engine's name.
    pub engine: &'static str,
    /// The place where the engine computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The transform length of the last run, in words.
    pub length: usize,
    /// The statistics of the round-off of the last run; `None` if the engine computes in integers.
    pub round_off: Option<RoundOff>,
}

impl Verification {
    /// Returns whether the proof is right.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.finding.is_ok()
    }
}

/// Verifies a proof. `progress` is called some times a second with the share of the work that is
/// done, from 0 to 1. Returns `None` if `stop` was set. `plan` must be for the exponent of the
/// proof.
///
/// The computation starts with A = 3, the last residue B of the test, and the span s = p. For each
/// middle M with its exponent h (a hash of the original B and the middles up to M): B ← B² if s is
/// odd, then B ← M^h·B, A ← A^h·M, s ← ⌈s/2⌉. The equation at the end is A^(2^s) = B. Further
/// conditions are checked, in which B is the original B, and N = M_p/d for the product d of the
/// known factors:
///
/// * All residues must be units modulo M_p: modulo a common factor of a middle and M_p the equation
///   proves nothing.
/// * The Jacobi symbol (B | M_p) must be 1, since x_p = 3^(2^p) is a square. For odd p the equation
///   squares B, so that it does not depend on the sign of B; −1 is not a square, as M_p ≡ 3 mod 4.
/// * For d = 1, B/9 must not be ±2^a with a ≠ 0, because 2 has order p.
/// * If B/9 says that N is composite, (B/9)^E must say so too, where E is composed of the small
///   prime factors of N − 1. Otherwise B is the residue of a prime N times an element of small
///   order.
///
/// A wrong squaring cannot make a wrong proof pass, but it makes a right proof fail. So a refusal
/// found by the engine counts only after a second run has computed the same final A and B, at a
/// longer transform length if one exists. A refusal computed exactly on the host counts at once. A
/// round-off error also leads to a longer length.
///
/// A proof that passes shows that B is x_p = 3^(2^p) up to a factor of small order mod M_p. A
/// random error passes with probability about power/2^64. To pass with a factor of order e, a
/// forger needs about e hashes. For the consequences, with derivations, see
/// `docs/checks/proofs.md`.
///
/// # Errors
/// Returns errors of plan and engine; [`ProofError::Foreign`] for a plan of another exponent;
/// [`ProofError::Unreliable`] if two runs refuse the proof with different numbers.
///
/// The cost is 190·power products and ⌈p/2^power⌉ squarings. Known factors add 2·log2(d) squarings.
/// For the residue of a composite, 1.5·log2(E) products are added (some hundreds, at most some
/// thousands), and twice this number with known factors. Then the host computes a Jacobi symbol
/// with the plan's threads. All this is done twice for a proof that the equation or the last
/// condition refuses. Uses four registers.
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

/// Returns the number of products of one run through a proof of M_p of this power.
pub(super) fn products(p: u32, power: u32) -> u64 {
    2 * PER_POWER * u64::from(power) + u64::from(last_span(p, power))
}

/// Does the work of [`verify`], with progress and stop requests through `watch`, which may belong
/// to a larger task. Changes the plan to a longer transform if necessary.
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
    if let Some(refusal) = plain_refusal(proof) {
        return Ok(Verification::of(plan, Err(refusal), None, false));
    }
    let first = run(plan, watch)?;
    let believed = match first.found {
        Found::Verdict(verdict) => Some(Ok(verdict)),
        Found::Refusal(refusal) if refusal.is_exact() => Some(Err(refusal)),
        _ => None,
    };
    if let Some(finding) = believed {
        return Ok(Verification::of(plan, finding, first.round_off, false));
    }
    watch.expect_more(products(p, proof.power()));
    if let Ok(longer) = plan.longer() {
        *plan = longer;
    }
    let second = run(plan, watch)?;
    let erred = second.found != first.found;
    let finding = match second.found {
        Found::Verdict(verdict) => Ok(verdict),
        Found::Refusal(refusal) if refusal.is_exact() => Err(refusal),
        Found::Refusal(refusal) if !erred && second.ends == first.ends => Err(refusal),
        _ => return Err(ProofError::Unreliable { exponent: p }.into()),
    };
    Ok(Verification::of(plan, finding, second.round_off, erred))
}

/// Returns the reason to refuse a proof if the reason is visible without computation. This is so if
/// a residue is 0. It is also so if no factors are known and the last residue divided by 9 is ±2^a
/// mod M_p with a ≠ 0. Otherwise returns `None`.
fn plain_refusal(proof: &Proof) -> Option<Refusal> {
    let residues = [proof.last()].into_iter().chain(proof.middles());
    let zero = residues.zip(1..).find(|(x, _)| x.is(0));
    let zero = zero.map(|(_, number)| Refusal::NotAUnit { number });
    zero.or_else(|| {
        let (a, negative) =
            proof.factors().is_empty().then(|| power_of_two(&proof.residue())).flatten()?;
        Some(Refusal::PowerOfTwo { a, negative })
    })
}

/// Computes on the host the Jacobi symbols of all residues of a proof. Returns a refusal if a
/// residue has a common factor with M_p; it names the first of these residues. Otherwise returns a
/// refusal if the last residue of the test is not a square. Returns `None` if there is no reason to
/// refuse the proof.
fn unit_refusal(proof: &Proof, plan: &Plan, watch: &Watch<'_>) -> Result<Option<Refusal>, Halt> {
    let mut refusal = None;
    let residues = [proof.last()].into_iter().chain(proof.middles());
    for (x, number) in residues.zip(1..) {
        match symbol(x, plan, watch)? {
            0 => return Ok(Some(Refusal::NotAUnit { number })),
            -1 if number == 1 => refusal = Some(Refusal::NotASquare),
            _ => {}
        }
    }
    Ok(refusal)
}

/// Returns the Jacobi symbol (x | M_p).
fn symbol(x: &Residue, plan: &Plan, watch: &Watch<'_>) -> Result<i8, Halt> {
    jacobi_symbol(x, plan.threads(), &|| watch.is_stopped()).ok_or(Halt::Stopped)
}

impl Verification {
    fn of(
        plan: &Plan,
        finding: Result<Verdict, Refusal>,
        round_off: Option<RoundOff>,
        erred: bool,
    ) -> Self {
        let (engine, place, length) = (plan.engine(), plan.place(), plan.length());
        Self { finding, erred, engine, place, length, round_off }
    }
}

const A: usize = 0;
const B: usize = 1;
const M: usize = 2;
/// The register that holds a power in progress.
const POWER: usize = 3;

/// The verdict or refusal that one run through a proof has found.
#[derive(Debug, PartialEq)]
enum Found {
    Verdict(Verdict),
    Refusal(Refusal),
    /// The results contradict each other, so the machine has made an error: a Jacobi symbol is
    /// wrong although all residues are sound, or two computations of one power differ.
    Error,
}

/// The results of one run through a proof.
struct Run {
    found: Found,
    /// The residues A^(2^s) and B at the end of the run, which are equal if the equation holds.
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
            watch.raise(engine, POWER, M, &[h])?;
            engine.mul(B, POWER, B)?;
            watch.raise(engine, POWER, A, &[h])?;
            engine.mul(A, POWER, M)?;
            span = span.div_ceil(2);
        }
        watch.square(engine, A, u64::from(span))?;
        let ends = (engine.read(A, Shift::ZERO)?, engine.read(B, Shift::ZERO)?);
        let found = if ends.0 == ends.1 {
            judge(engine, plan, proof, watch)?
        } else {
            Found::Refusal(Refusal::Equation)
        };
        Ok(Self { found, ends, round_off: engine.health().round_off })
    }
}

/// Checks the remaining conditions on the last residue of a proof, after the equation A^(2^s) = B
/// was found to hold. Register A must hold A^(2^s).
fn judge(
    engine: &mut dyn Engine,
    plan: &Plan,
    proof: &Proof,
    watch: &mut Watch<'_>,
) -> Result<Found, Halt> {
    // A^(2^s) is a square, and it is a unit only if 3 and all middles are units. So one symbol
    // tests all of them, and also whether B is a square.
    engine.write(M, proof.last(), Shift::ZERO)?;
    engine.mul(M, A, M)?;
    let both = engine.read(M, Shift::ZERO)?;
    if symbol(&both, plan, watch)? != 1 {
        let refusal = unit_refusal(proof, plan, watch)?;
        return Ok(refusal.map_or(Found::Error, Found::Refusal));
    }
    let (factors, residue) = (proof.factors(), proof.residue());
    let Some(of_a_prime) = factors.residue_of_a_prime(engine)? else { return Ok(Found::Error) };
    if factors.are_congruent(&residue, &of_a_prime) {
        return Ok(Found::Verdict(Verdict::ProbablePrime));
    }
    let order = smooth_order(engine.exponent(), factors);
    let mut raised = |x: &Residue| -> Result<Residue, Halt> {
        if x.is(1) {
            return Ok(x.clone());
        }
        engine.write(M, x, Shift::ZERO)?;
        watch.expect_more(order.len() as u64 * PER_POWER);
        watch.raise(engine, POWER, M, &order)?;
        Ok(engine.read(POWER, Shift::ZERO)?)
    };
    let small = factors.are_congruent(&raised(&residue)?, &raised(&of_a_prime)?);
    Ok(if small { Found::Refusal(Refusal::SmallOrder) } else { Found::Verdict(Verdict::Composite) })
}
