//! Morrison's test of N = k·b^n − 1 with k < b^n.
//!
//! Let d be a number with the Jacobi symbol (d | N) = −1, t a number with gcd(2t(t² − d), N) = 1, and
//!
//! α = (t + √d)/(t − √d), P = α + 1/α = 2(t² + d)/(t² − d), V_m = α^m + α^(−m).
//!
//! These are the Lucas sequences with Q = 1 and P² − 4 = d·(4t/(t² − d))². So all of them have the same
//! discriminant up to a square, whatever t is.
//!
//! **Theorem** (Morrison 1975; Brillhart, Lehmer and Selfridge 1975, theorem 15). Let N + 1 = F·R with F > 2,
//! and let there be for each prime factor q of F a t, for one and the same d, with
//!
//! V_(N + 1) ≡ 2 mod N and gcd(V_((N + 1)/q) − 2, N) = 1.
//!
//! If R < F, then N is prime.
//!
//! *Proof.* Let p be a prime factor of N, q a prime factor of F, and e the order of α in F_p(√d), or in F_p ×
//! F_p if d is a square modulo p. V_m − 2 = α^(−m)·(α^m − 1)², so V_m ≡ 2 mod p exactly if α^m = 1. By the
//! conditions e divides N + 1 but not (N + 1)/q, so q divides N + 1 exactly as often as e. Because α is the
//! quotient of two conjugates, e divides p − (d | p), a number that does not depend on q. So F divides p ± 1.
//! If N were composite, it would have a prime factor p with p² ≤ N = F·R − 1 ≤ F² − F − 1. Then p < F + 1,
//! so p = F − 1. From F ≡ 1 mod p follows R ≡ F·R = N + 1 ≡ 1 mod p, and so R = 1 or R ≥ F. The second
//! contradicts R < F, and the first gives N = F − 1 = p. ∎
//!
//! F is chosen as for Pocklington's test ([`TestKind::for_number`]). The prime factors of k are not needed.
//! Each q may have its own t.
//!
//! Conversely let N be prime. Then α^(N + 1) = 1, so V_(N + 1) = 2. With β = t + √d, α^((N + 1)/2) =
//! β^((1 − N)(N + 1)/2), which is −1 exactly if β is no square in F_(N²), that is, if its norm t² − d is no
//! square modulo N. So if F is even, t is chosen with the symbol (t² − d | N) = −1, and then q = 2 is settled
//! by the first t. Another q is settled by a t with probability 1 − 1/q.
//!
//! A run has these parts:
//!
//! 1. Fermat's test ([`TestKind::fermat`]), guarded by Gerbicz–Li checks. Nearly all composite numbers end
//!    here. It costs a squaring for each bit of N.
//! 2. The two terms V_m and V_(m+1) for m = (N + 1)/Q^s by [`chain`], where Q is the product of the open
//!    prime factors q, and s = 2, or 1 for n = 1. The first bits are taken on the host. Each bit of m costs a squaring and a product, which with the
//!    Fermat test makes at least three squarings for each bit of N.
//! 3. z_q = V_((N + 1)/q) and V_(N + 1) from V_m, and one gcd of N and the product of the z_q − 2, on the
//!    host ([`judge`]).
//!
//! From the last part follows:
//!
//! * If V_(N + 1) is not 2, or z_2 = 2, the number is composite, but it has passed Fermat's test. A
//!   pseudoprime does so, and an error that the check of the sequence missed would look alike. So the verdict
//!   is composite only if the sequence of another t says so, too. If instead further sequences settle all q
//!   from the beginning, the number is prime, and an error is counted.
//! * If the gcd is not 1, N is composite.
//! * A q with z_q = 2 stays open. The next t has a sequence of its own, for the open q.
//!
//! The exponent leaves out Q^s and not only Q because of q = 2: there z_2 = −1 − 1 is the expected value, and
//! also that of a defective machine which once computes V = 0 and then V² − 2. From V_((N + 1)/Q²) = −2
//! follows z_2 = 2, which proves nothing.
//!
//! The last state of each part stays on disk until the whole test has a result. A test that is resumed loads
//! these states, judges them again, and so comes to the checkpoints of the part that was interrupted. No
//! verdict on a factor q is stored.

mod chain;
mod judge;
#[cfg(test)]
mod tests;

use warpint_arith::primes;

use super::choice::is_enough;
use super::driver::Driver;
use super::pocklington::joined;
use super::prp::Prp;
use super::{Finished, RunOptions, TestError, TestKind, TestSpec};
use crate::checkpoint::CheckpointStore;
use crate::{ErrorCounts, Event, Number, Outcome, Plan, Residue, StopToken, Verdict};
use chain::Chain;

/// The largest number of sequences. If N is prime, a prime factor of b is open after all of them with
/// probability 3^−20 or less. The verdict is then [`Verdict::ProbablePrime`].
const MOST_RUNS: usize = 20;

/// A Lucas sequence, and the prime factors of b that it is to settle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Parameters {
    number: Number,
    d: u32,
    t: u32,
    /// The product Q of the open prime factors of b.
    open: u32,
}

impl Parameters {
    /// Returns the parameters of a kind; `None` for other tests.
    fn of(kind: TestKind, number: Number) -> Option<Self> {
        match kind {
            TestKind::Morrison { d, t, open } => Some(Self { number, d, t, open }),
            _ => None,
        }
    }

    /// Returns Q^s, the quotient of N + 1 and the index m of the sequence.
    fn cofactor(self) -> u64 {
        let q = u64::from(self.open);
        if self.number.exponent() > 1 { q * q } else { q }
    }
}

/// Runs the whole test. `spec.kind` is that of the first sequence. The kind of the store is left as that of the last
/// part.
pub(super) fn run(
    spec: &TestSpec,
    plan: Plan,
    mut store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let number = spec.number;
    let unsuitable = || TestError::Unsuitable { kind: spec.kind, number };
    let first = Parameters::of(spec.kind, number).filter(|p| is_enough(number, p.open));
    let mut parameters = first.ok_or_else(unsuitable)?;
    let all = parameters.open;

    let fermat = TestKind::fermat(number);
    let TestKind::Fermat { base } = fermat else { return Err(unsuitable()) };
    let mut part = TestSpec { kind: fermat, ..spec.clone() };
    if let Some(store) = store.as_deref_mut() {
        store.set_kind(fermat);
    }
    let mut prp = Prp::new(fermat, Residue::from_u64(number, 1), part.target());
    let finished = Driver::new(&part, plan, store.as_deref_mut(), events, stop, options)
        .going_on_after(&[Verdict::ProbablePrime])
        .drive(&mut prp)?;
    drop(prp);
    let Finished::Done(outcome) = finished else { return Ok(finished) };
    if outcome.verdict != Verdict::ProbablePrime {
        return Ok(Finished::Done(outcome));
    }
    events(Event::FermatPassed { base });
    let mut whole = Outcome { kind: spec.kind, ..*outcome };
    let mut was_composite = false;
    loop {
        let Parameters { d, t, open, .. } = parameters;
        part.kind = TestKind::Morrison { d, t, open };
        part.iterations = spec.iterations.map(|k| k.saturating_sub(whole.iterations));
        if let Some(store) = store.as_deref_mut() {
            store.set_kind(part.kind);
        }
        let target = part.target();
        let mut chain = Chain::new(parameters, target);
        let finished = Driver::new(&part, plan, store.as_deref_mut(), events, stop, options)
            .going_on_after(&[Verdict::ProbablePrime, Verdict::Composite])
            .drive(&mut chain)?;
        let Finished::Done(outcome) = finished else { return Ok(finished) };
        whole = joined(whole, Outcome { bases: vec![t], ..*outcome });
        let done = |outcome| Ok(Finished::Done(Box::new(outcome)));
        match whole.verdict {
            Verdict::ProbablePrime | Verdict::Composite => {}
            Verdict::Prime if was_composite => return done(with_error(whole)),
            _ => return done(whole),
        }
        // The verdict is also that of a probable prime if nothing could be judged.
        let judgement = chain.judgement().filter(|j| j.verdict == whole.verdict);
        let judgement = judgement.ok_or(TestError::Constants { iteration: target })?;
        let is_composite = judgement.verdict == Verdict::Composite;
        if is_composite && (was_composite || judgement.has_factor) {
            return done(whole);
        }
        // A sequence that contradicts the others settles nothing, and neither do they.
        let open = if is_composite { all } else { judgement.open };
        was_composite |= is_composite;
        let next = TestKind::morrison_after(number, t, open);
        let next = next.and_then(|kind| Parameters::of(kind, number));
        let Some(next) = next.filter(|_| whole.bases.len() < MOST_RUNS) else {
            return done(Outcome { verdict: Verdict::ProbablePrime, ..whole });
        };
        events(if is_composite {
            Event::SequenceDiffers { t: next.t }
        } else {
            Event::AnotherSequence { t: next.t, open: primes::prime_factors(open.into()) }
        });
        parameters = next;
    }
}

/// Returns the outcome with one more error of a Lucas sequence.
fn with_error(outcome: Outcome) -> Outcome {
    let lucas = outcome.errors.lucas.saturating_add(1);
    Outcome { errors: ErrorCounts { lucas, ..outcome.errors }, ..outcome }
}
