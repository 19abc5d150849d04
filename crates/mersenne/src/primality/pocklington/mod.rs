//! Pocklington's test of N = k·b^n + 1 with k < b^n.
//!
//! **Theorem** (Pocklington 1914; Brillhart, Lehmer and Selfridge 1975, theorem 4). Let N − 1 = F·R, and
//! let there be for each prime factor q of F an a with
//!
//! a^(N − 1) ≡ 1 mod N and gcd(a^((N − 1)/q) − 1, N) = 1.
//!
//! If R < F, then N is prime.
//!
//! *Proof.* Let p be a prime factor of N, q a prime factor of F, and d the order of a modulo p. By the
//! conditions d divides N − 1 but not (N − 1)/q, so q divides N − 1 exactly as often as d, and at least
//! as often as F. Since d divides p − 1, the power of q in F divides p − 1. This holds for all q. So F
//! divides p − 1, and p > F. If N were composite, it would have a prime factor p with p² ≤ N, and so
//! (F + 1)² ≤ N = F·R + 1, or F + 2 ≤ R. ∎
//!
//! F is the part of b^n that consists of some prime factors q of b, which are chosen so that few powers are
//! expected ([`TestKind::for_number`]). For b = 12 and small k, q = 2 is enough, because 4^n > k·3^n. The
//! prime factors of k are not needed, and may be those of b. Each q may have its own a.
//!
//! A run computes y = a^((N − 1)/Q), where Q is the product of the open prime factors q of b. This long
//! power is computed by an engine and guarded by Gerbicz–Li checks, the last of which covers y. The rest
//! is done here, by [`judge`]: z_q = y^(Q/q) = a^((N − 1)/q), the residue y^Q = a^(N − 1) of Fermat's
//! test, and one gcd of N and the product of the z_q − 1.
//!
//! * If the residue is not 1, N is composite by Fermat's theorem.
//! * A q with z_q = 1 stays open. If N is prime, then this happens with probability 1/q.
//! * For q = 2 the Jacobi symbol (a | N) is −1. If N is prime, then z_2 = −1 by Euler's criterion. So if
//!   z_2 = 1, N is composite.
//! * If the gcd of N and the product of the other z_q − 1 is not 1, N is composite.
//! * Otherwise these q are settled. If none is open, N is prime. If some are open, a further run has the
//!   next base, and Q is the product of the open q.
//!
//! The power y of each run has been checked when the run ends, and its last state stays on disk until
//! the whole test has a result. A test that is resumed loads this state, judges it again, and so comes to
//! the checkpoints of the run that was interrupted. No verdict on a factor q is stored.

use warpint_arith::primes;
use warpint_natural::euclid::gcd;
use warpint_natural::limbs::trimmed;
use warpint_natural::product::{FastProducts, Multiplier};

use super::choice::is_enough;
use super::driver::Driver;
use super::prp::Prp;
use super::{Finished, RunOptions, TestError, TestKind, TestSpec};
use crate::checkpoint::CheckpointStore;
use crate::number::Modulus;
use crate::{ErrorCounts, Event, Number, Outcome, Plan, Residue, StopToken, Verdict};

/// The largest number of runs. If N is prime, a prime factor of b is open after all of them with
/// probability 3^−20 or less. The verdict is then [`Verdict::ProbablePrime`].
const MOST_RUNS: usize = 20;

/// The number of times that [`judge`] computes before it gives up.
const MOST_TRIES: usize = 4;

/// What follows from the power y of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Judgement {
    /// Prime, composite, or a probable prime if some prime factors of b are open.
    pub(crate) verdict: Verdict,
    /// a^(N − 1) mod N.
    pub(crate) residue: Residue,
    /// The product of the open prime factors of b; 1 if there are none.
    pub(super) open: u32,
}

/// Judges N by y = `base`^((N − 1)/`open`) mod N. Computes everything at least twice, from N and y on, and
/// returns a judgement if two successive ones agree. Returns `None` if none of [`MOST_TRIES`] agree,
/// because this machine computes unreliably.
///
/// Cost, each time: the reciprocal of N, at most 2·log2(`open`) products modulo N for each prime factor
/// of `open`, and a gcd of numbers of the length of N if the residue is 1.
pub(crate) fn judge(number: Number, base: u32, open: u32, y: &Residue) -> Option<Judgement> {
    let mut tries = (0..MOST_TRIES).map(|_| judge_once(number, base, open, y));
    let mut last = tries.next()?;
    for next in tries {
        if last.is_some() && next == last {
            return next;
        }
        last = next;
    }
    None
}

/// Returns the judgement; `None` if the powers contradict each other.
fn judge_once(number: Number, base: u32, open: u32, y: &Residue) -> Option<Judgement> {
    let multiplier = &FastProducts;
    let modulus = Modulus::new(number, multiplier);
    let one = Residue::from_u64(number, 1);
    let mut residue = None;
    let mut product = one.limbs().to_vec();
    let (mut left, mut violates_euler) = (1, false);
    for q in primes::prime_factors(open.into()) {
        let z = power(&modulus, multiplier, y.limbs(), u64::from(open) / q);
        // Each q gives the same y^Q by other products.
        let whole = power(&modulus, multiplier, &z, q);
        if residue.get_or_insert_with(|| whole.clone()) != &whole {
            return None;
        }
        if z != one.limbs() {
            let mut less_one = z;
            modulus.sub_assign(&mut less_one, one.limbs());
            product = modulus.mul(multiplier, &product, &less_one);
        } else if q == 2 && number.jacobi_of(base.into()) == -1 {
            violates_euler = true;
        } else {
            // q is at most b.
            left *= q as u32;
        }
    }
    let residue = Residue::from_canonical(number, residue?);
    let is_composite = !residue.is(1)
        || violates_euler
        || *trimmed(&gcd(&product, &number.value(), multiplier, &|| false)?) != [1];
    let verdict = match left {
        _ if is_composite => Verdict::Composite,
        1 => Verdict::Prime,
        _ => Verdict::ProbablePrime,
    };
    Some(Judgement { verdict, residue, open: left })
}

/// Returns x^e mod N for e ≥ 1.
fn power(modulus: &Modulus, multiplier: &dyn Multiplier, x: &[u64], e: u64) -> Vec<u64> {
    let mut power = x.to_vec();
    for bit in (0..e.ilog2()).rev() {
        power = modulus.mul(multiplier, &power, &power);
        if e >> bit & 1 == 1 {
            power = modulus.mul(multiplier, &power, x);
        }
    }
    power
}

/// Runs the whole test, base after base. `spec.kind` is that of the first run. The kind of the store is left as that of
/// the last run.
pub(super) fn run(
    spec: &TestSpec,
    plan: Plan,
    mut store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let number = spec.number;
    let is_complete =
        |kind| matches!(kind, TestKind::Pocklington { open, .. } if is_enough(number, open));
    if !is_complete(spec.kind) {
        return Err(TestError::Unsuitable { kind: spec.kind, number });
    }
    let mut spec = spec.clone();
    let mut whole: Option<Outcome> = None;
    // A proof is about the power to the first base.
    let without_proof = RunOptions { residues: None, ..options.clone() };
    loop {
        let options = if whole.is_none() { options } else { &without_proof };
        let TestKind::Pocklington { base, open } = spec.kind else {
            return Err(TestError::Unsuitable { kind: spec.kind, number });
        };
        let target = spec.target();
        let mut prp = Prp::new(spec.kind, Residue::from_u64(number, 1), target);
        let finished = Driver::new(&spec, plan, store.as_deref_mut(), events, stop, options)
            .going_on_after(&[Verdict::ProbablePrime])
            .drive(&mut prp)?;
        let Finished::Done(outcome) = finished else { return Ok(finished) };
        let outcome = Outcome { bases: vec![base], ..*outcome };
        let outcome = match whole.take() {
            None => outcome,
            Some(earlier) => joined(earlier, outcome),
        };
        if outcome.verdict != Verdict::ProbablePrime {
            return Ok(Finished::Done(Box::new(outcome)));
        }
        // The verdict is also that of a probable prime if nothing could be judged.
        let judgement = prp.verified_last().and_then(|y| judge(number, base, open, y));
        let unreliable = TestError::Constants { iteration: target };
        let open = judgement.filter(|j| j.verdict == outcome.verdict).ok_or(unreliable)?.open;
        let next = TestKind::pocklington_after(number, base, open);
        let Some(next) = next.filter(|_| outcome.bases.len() < MOST_RUNS) else {
            return Ok(Finished::Done(Box::new(outcome)));
        };
        if let TestKind::Pocklington { base, open } = next {
            events(Event::AnotherBase { base, open: primes::prime_factors(open.into()) });
        }
        if let Some(store) = store.as_deref_mut() {
            store.set_kind(next);
        }
        whole = Some(outcome);
        spec.kind = next;
    }
}

/// Returns the outcome of the runs so far, and of one more. The kind is that of the earlier runs.
pub(super) fn joined(earlier: Outcome, last: Outcome) -> Outcome {
    let sum = |a: u32, b: u32| a.saturating_add(b);
    let (a, b) = (earlier.errors, last.errors);
    // If an earlier run was only judged again, the present process computed nothing of it.
    let resumed_at = if earlier.resumed_at < earlier.iterations {
        earlier.resumed_at
    } else {
        earlier.iterations + last.resumed_at
    };
    Outcome {
        kind: earlier.kind,
        iterations: earlier.iterations + last.iterations,
        resumed_at,
        checked_squarings: earlier.checked_squarings + last.checked_squarings,
        errors: ErrorCounts {
            gerbicz: sum(a.gerbicz, b.gerbicz),
            jacobi: sum(a.jacobi, b.jacobi),
            double_check: sum(a.double_check, b.double_check),
            squarings: sum(a.squarings, b.squarings),
            lucas: sum(a.lucas, b.lucas),
            round_off: sum(a.round_off, b.round_off),
        },
        bases: [earlier.bases, last.bases].concat(),
        elapsed: earlier.elapsed.saturating_add(last.elapsed),
        ..last
    }
}

#[cfg(test)]
mod tests;
