//! Verification of proofs.

use super::hash::Exponents;
use super::judge::judge;
use super::points::last_span;
use super::refusal::Refusal;
use super::small_order::power_of_two;
use super::watch::{Halt, ODD_POWERS, PER_POWER, Watch, lengthening, or_stopped};
use super::windows::Windows;
use super::{Proof, ProofError, Subject};
use crate::jacobi::jacobi_symbol;
use crate::primality::bit;
use crate::{Plan, Residue, RoundOff, Shift, Step, StopToken, Verdict};

/// The result of a verification, with the engine that computed it.
#[derive(Debug, Clone, PartialEq)]
pub struct Verification {
    /// `Ok` is the verdict on the number, or on its cofactor if factors are known. `Err` is the reason to
    /// refuse the proof.
    pub finding: Result<Verdict, Refusal>,
    /// The residue of the test; `None` if the proof is refused. For Pocklington's test it is a^(N − 1).
    pub residue: Option<Residue>,
    /// Whether a second run gave another result than the first. If so, the machine has made an
    /// error.
    pub erred: bool,
    /// The engine's name.
    pub engine: &'static str,
    /// The place where the engine computed: `cpu`, `cuda:0`, …
    pub place: &'static str,
    /// The transform length of the last run, in words.
    pub length: usize,
    /// The round-off statistics of the last run; `None` if the engine computes in integers.
    pub round_off: Option<RoundOff>,
}

impl Verification {
    /// Returns whether the proof is accepted.
    #[must_use]
    pub fn is_valid(&self) -> bool {
        self.finding.is_ok()
    }
}

/// Verifies a proof. `plan` must be for the number of the proof. `progress` is called several
/// times a second with the fraction of the work that is done, from 0 to 1. Returns `None` if `stop`
/// was set.
///
/// The computation starts with A = 3, the last residue B of the test, and the span s = p. For each
/// middle M with its exponent h (a hash of the original B and the middles up to M): B ← B² if s is
/// odd, then B ← M^h·B, A ← A^h·M, s ← ⌈s/2⌉. The equation at the end is A^(2^s) = B.
///
/// Further conditions are checked. In them, B is the original B, d is the product of the known
/// factors, and N = M_p/d:
///
/// * All residues must be units modulo M_p. If a middle and M_p have a common factor, the equation
///   proves nothing modulo this factor.
/// * The Jacobi symbol (B | M_p) must be 1, since x_p = 3^(2^p) is a square. This condition detects
///   a wrong sign of B: for odd p the equation squares B, and −1 is not a square, as M_p ≡ 3 mod 4.
/// * For d = 1, B/9 must not be ±2^a with a ≠ 0, because 2 has order p.
/// * Let R = 3^(d−1). For a prime N, B/9 ≡ R mod N. If B/9 and R are not congruent, N is composite;
///   then (B/9)^E and R^E must not be congruent either, where E is composed of the small prime
///   factors of N − 1 and of p. Otherwise B/9 is R times an element of small order.
///
/// A wrong squaring before the equation cannot make a wrong proof pass, but it makes a right proof fail. So if the
/// engine computes a refusal, a second run follows, at a longer transform length if one exists. The
/// refusal counts only if the second run computes the same final A^(2^s) and B. A refusal computed
/// exactly on the host counts at once. A round-off error also leads to a longer length.
///
/// **k·b^n ± 1.** The computation starts with A = 1, and the equation at the end is A^(2^s)·a^w = B, where a
/// is the base of the test and w has been computed from its exponent (see `windows`). Then the last
/// 1,024 iterations of the test are computed, twice, from the original B on, the second time at a longer transform
/// length if the engine has one. They give the residue of the test, and the verdict. The conditions are:
///
/// * All residues must be units modulo N, and B must have the Jacobi symbol of a^e, where e consists of the
///   bits of the steps before.
/// * If the residue says that N is composite, it must not be that of a prime times an element whose order
///   divides E: the part of N − 1 with the odd prime factors of k·b (for k·b^n + 1) or below 2^20 (for
///   k·b^n − 1).
///
/// A proof of 2^p − 1 that passes shows that B is x_p = 3^(2^p) up to a factor of small order mod M_p. A
/// random error passes with probability about power/2^64. To pass with a factor of order e, a
/// forger needs about e hashes. For the consequences, with derivations, see
/// `docs/checks/proofs.md`.
///
/// # Errors
/// Returns errors of plan and engine; [`ProofError::Foreign`] for a plan of another number;
/// [`ProofError::Unreliable`] if two runs do not accept the proof and compute different numbers.
///
/// The cost is 166·power products and ⌈p/2^power⌉ squarings. Known factors add 2·log2(d) squarings, and numbers
/// k·b^n ± 1 2,048.
/// The residue of a composite adds 1.5·log2(E) products (some hundreds, at most some thousands), or
/// twice this number with known factors and for k·b^n ± 1. Then the host computes a Jacobi symbol with the plan's
/// threads. If the equation or the last condition refuses the proof, all this is done twice. Uses
/// seven registers, and for k·b^n ± 1 seven more.
pub fn verify(
    mut plan: Plan,
    proof: &Proof,
    progress: &mut dyn FnMut(f64),
    stop: &StopToken,
) -> Result<Option<Verification>, ProofError> {
    let once = products(proof.subject(), proof.power());
    let mut watch = Watch::new(once, progress, stop);
    or_stopped(check(&mut plan, proof, &mut watch))
}

/// Returns the number of products of one run through a proof of this power.
pub(super) fn products(subject: Subject, power: u32) -> u64 {
    let squarings = u64::from(last_span(subject.iterations(), power));
    2 * PER_POWER * u64::from(power) + squarings + 2 * u64::from(subject.tail())
}

/// Does the work of [`verify`]. Progress and stop requests go through `watch`, which may belong to
/// a larger task. Changes the plan to a longer transform if necessary.
pub(super) fn check(
    plan: &mut Plan,
    proof: &Proof,
    watch: &mut Watch<'_>,
) -> Result<Verification, Halt> {
    let (number, found) = (proof.number(), plan.number());
    if number != found {
        return Err(ProofError::Foreign { number, found }.into());
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
    let believed = match first.found.clone() {
        Found::Verdict(verdict, residue) => Some(Ok((verdict, residue))),
        Found::Refusal(refusal) if refusal.is_exact() => Some(Err(refusal)),
        _ => None,
    };
    if let Some(finding) = believed {
        return Ok(Verification::of(plan, finding, first.round_off, false));
    }
    watch.expect_more(products(proof.subject(), proof.power()));
    if let Ok(longer) = plan.longer() {
        *plan = longer;
    }
    let second = run(plan, watch)?;
    let erred = second.found != first.found;
    let finding = match second.found {
        Found::Verdict(verdict, residue) => Ok((verdict, residue)),
        Found::Refusal(refusal) if refusal.is_exact() => Err(refusal),
        Found::Refusal(refusal) if !erred && second.ends == first.ends => Err(refusal),
        _ => return Err(ProofError::Unreliable { number }.into()),
    };
    Ok(Verification::of(plan, finding, second.round_off, erred))
}

/// Returns a reason to refuse a proof that is visible without computation, or `None` if there is
/// none. There are two such reasons. First, a residue is 0. Second, the proof is about M_p itself, and the
/// last residue divided by 9 is ±2^a mod M_p with a ≠ 0.
fn plain_refusal(proof: &Proof) -> Option<Refusal> {
    let residues = [proof.last()].into_iter().chain(proof.middles());
    let zero = residues.zip(1..).find(|(x, _)| x.is(0));
    let zero = zero.map(|(_, number)| Refusal::NotAUnit { number });
    zero.or_else(|| {
        let claimed = proof.claimed().filter(|_| proof.factors().is_empty());
        let (a, negative) = claimed.as_ref().and_then(power_of_two)?;
        Some(Refusal::PowerOfTwo { a, negative })
    })
}

/// Computes the Jacobi symbols of all residues of a proof on the host.
///
/// If residues have a common factor with the number, returns a refusal that names the first of them.
/// Otherwise, if the symbol of the last residue of the proof is not `expected`, returns
/// [`Refusal::NotASquare`] or [`Refusal::WrongSymbol`]. Returns `None` if there is no reason to refuse
/// the proof.
fn unit_refusal(
    proof: &Proof,
    expected: i8,
    plan: &Plan,
    watch: &Watch<'_>,
) -> Result<Option<Refusal>, Halt> {
    let mut refusal = None;
    let residues = [proof.last()].into_iter().chain(proof.middles());
    for (x, number) in residues.zip(1..) {
        match symbol(x, plan, watch)? {
            0 => return Ok(Some(Refusal::NotAUnit { number })),
            symbol if number > 1 || symbol == expected => {}
            _ if proof.subject().is_of_mersenne() => refusal = Some(Refusal::NotASquare),
            _ => refusal = Some(Refusal::WrongSymbol),
        }
    }
    Ok(refusal)
}

/// Returns the Jacobi symbol (x | N), computed on the host. Stops if `watch` requests it.
fn symbol(x: &Residue, plan: &Plan, watch: &Watch<'_>) -> Result<i8, Halt> {
    jacobi_symbol(x, plan.threads(), &|| watch.is_stopped()).ok_or(Halt::Stopped)
}

impl Verification {
    fn of(
        plan: &Plan,
        finding: Result<(Verdict, Residue), Refusal>,
        round_off: Option<RoundOff>,
        erred: bool,
    ) -> Self {
        let (engine, place, length) = (plan.engine(), plan.place(), plan.length());
        let (finding, residue) = match finding {
            Ok((verdict, residue)) => (Ok(verdict), Some(residue)),
            Err(refusal) => (Err(refusal), None),
        };
        Self { finding, residue, erred, engine, place, length, round_off }
    }
}

pub(super) const A: usize = 0;
const B: usize = 1;
pub(super) const M: usize = 2;
/// The register that holds a power in progress.
pub(super) const POWER: usize = 3;
/// The first of the registers that hold odd powers while another power is computed.
pub(super) const ODD: usize = 4;

/// The result of one run through a proof.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Found {
    /// The verdict, and the residue of the test.
    Verdict(Verdict, Residue),
    Refusal(Refusal),
    /// The results contradict each other, so the machine has made an error. Either a Jacobi symbol
    /// is wrong although all residues are units and the last one has the right symbol, or two
    /// computations of one power differ.
    Error,
}

/// The results of one run through a proof.
struct Run {
    found: Found,
    /// The two sides of the equation, A^(2^s)·a^w and B, at the end of the run. They are equal if the
    /// equation holds.
    ends: (Residue, Residue),
    round_off: Option<RoundOff>,
}

impl Run {
    fn new(plan: &Plan, proof: &Proof, watch: &mut Watch<'_>) -> Result<Self, Halt> {
        let mut engine = plan.build(ODD + ODD_POWERS)?;
        let engine = engine.as_mut();
        let subject = proof.subject();
        let steps = subject.steps();
        engine.set(A, subject.start(), Shift::ZERO)?;
        engine.write(B, proof.last(), Shift::ZERO)?;
        let mut exponents = Exponents::new(subject, proof.last());
        let mut span = subject.iterations();
        let mut windows = Windows::new(&steps, span, proof.power());
        for middle in proof.middles() {
            let h = exponents.next(middle);
            engine.write(M, middle, Shift::ZERO)?;
            if !span.is_multiple_of(2) {
                engine.square(B, 1, Step::Square, Shift::ZERO)?;
            }
            watch.raise(engine, POWER, M, ODD, &[h])?;
            engine.mul(B, POWER, B)?;
            watch.raise(engine, POWER, A, ODD, &[h])?;
            engine.mul(A, POWER, M)?;
            span = span.div_ceil(2);
            windows.fold(h);
        }
        let w = windows.exponent();
        watch.square_times(engine, [A, POWER], span.into(), steps.base(), &w)?;
        let ends = (engine.read(A, Shift::ZERO)?, engine.read(B, Shift::ZERO)?);
        let found = if ends.0 == ends.1 {
            // A^(2^s) is a square, and it is a unit only if x_0 and all middles are units. So the symbol
            // of A^(2^s)·a^w·x_i tests all of them, and also x_i, the last residue of the proof.
            engine.write(M, proof.last(), Shift::ZERO)?;
            engine.mul(M, A, M)?;
            let both = engine.read(M, Shift::ZERO)?;
            let symbol_if = |is_odd: bool| match is_odd {
                true => subject.number().jacobi_of(steps.base().into()),
                false => 1,
            };
            // x_i is a to a power whose last bit is that of the step before.
            let of_last = symbol_if(steps.has_factor(u64::from(subject.iterations()) - 1));
            if symbol(&both, plan, watch)? == symbol_if(bit(&w, 0)) * of_last {
                judge(plan, engine, proof, &steps, watch)?
            } else {
                let refusal = unit_refusal(proof, of_last, plan, watch)?;
                refusal.map_or(Found::Error, Found::Refusal)
            }
        } else {
            Found::Refusal(Refusal::Equation)
        };
        Ok(Self { found, ends, round_off: engine.health().round_off })
    }
}
