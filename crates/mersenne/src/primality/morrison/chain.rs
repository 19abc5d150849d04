//! The terms V_m and V_(m+1) of a Lucas sequence with Q = 1, for a long index m.
//!
//! For each bit of m from the highest on, the pair (V_i, V_(i+1)) becomes (V_(2i), V_(2i+1)) or, if the bit is
//! 1, (V_(2i+1), V_(2i+2)), by
//!
//! V_(2i) = V_i² − 2 and V_(2i+1) = V_i·V_(i+1) − P
//!
//! (Crandall and Pomerance 2005, *Prime Numbers*, algorithm 3.6.7). The first pair is (V_0, V_1) = (2, P). A
//! bit costs a squaring, a product and a subtraction.
//!
//! **The check.** With v = V_i and w = V_(i+1), let
//!
//! r = v² − P·v·w + w² − 4 + P² = (w − V_(i+1))·(w − V_(i−1)).
//!
//! r is 0 for a right pair. Let r be that of any pair (v, w), right or wrong, and r′ that of the pair after
//! the next bit. Then r′ = x²·r, where x is the term that is squared, v or w. *Proof* for x = v: the new pair
//! is (v² − 2, v·w − P), and v·V_(i±1) − P = V_(2i±1), so r′ = (v·w − P − V_(2i+1))·(v·w − P − V_(2i−1)) =
//! v²·r. For x = w: r does not change if v and w are exchanged. ∎
//!
//! So r ≠ 0 stays so at all later bits, unless x has a common factor with N. One check detects all
//! errors before it that made r ≠ 0. An error e in w makes r = e·(e + V_(i+1) − V_(i−1)), which is 0 for one e
//! other than 0 only; it is the same for v. The check does not detect an x that became 0 and was then squared,
//! and a bit of m that was passed over or taken twice. So m is computed anew and compared at each saved state
//! and at the end, and a verdict of composite is confirmed by another sequence.
//!
//! The check is made on the host, by a modulus and a P that are computed anew each time. It costs five
//! products modulo N, N itself and its reciprocal. It is made every [`STRETCH`] bits, and for each state that
//! is saved. So each saved state is checked.

use std::time::Duration;

use warpint_natural::limbs::{add_assign, bit_length, div_rem_small, mul_small_assign, trim};
use warpint_natural::product::FastProducts;

use super::super::prp::bit;
use super::super::registers::{PARAMETER, SECOND, X};
use super::super::sequence::{Advance, Sequence};
use super::Parameters;
use super::judge::{Judgement, judge};
use crate::checkpoint::{Confirmation, LucasState, State};
use crate::number::Modulus;
use crate::{Check, Engine, EngineError, ErrorCounts, Residue, Shift, Step, TestKind, Verdict};

/// The number of bits of the index between two checks. A check is estimated to cost as much as four bits, so
/// that checks take 0.4 % of the time.
const STRETCH: u64 = 1_000;

/// The number of bits after which a check that passed is reported, so that a state is saved.
const REPORTED: u64 = 100_000;

/// The number of bits, from the highest one bit of the index on, that are taken on the host. P has the denominator
/// u = |t² − d|, and V_i has u^i. The digits of such a number are periodic, with short periods for small i, and
/// floating-point products of words that are all alike are refused.
const ON_HOST: u64 = 8;

/// The least number of bits of N for which bits are taken on the host. Engines compute modulo smaller numbers
/// exactly, or with digits of any pattern.
const LEAST_WITH_PATTERNS: u32 = 10_000;

/// The terms V_m and V_(m+1) mod N, where m consists of the highest bits of (N + 1)/Q^s.
pub(super) struct Chain {
    parameters: Parameters,
    kind: TestKind,
    /// The index (N + 1)/Q^s in little-endian limbs.
    index: Vec<u64>,
    /// The number of bits of the whole sequence. Leading zeros of the index count.
    total: u64,
    target: u64,
    iteration: u64,
    verified: Pair,
    /// The iteration of the last check that was reported.
    reported: u64,
}

/// The terms V_m and V_(m+1), at an iteration.
#[derive(Clone)]
struct Pair {
    iteration: u64,
    term: Residue,
    lucas: LucasState,
}

impl Pair {
    fn new(iteration: u64, term: Residue, next: Residue) -> Self {
        let lucas = LucasState::new(&term, next);
        Self { iteration, term, lucas }
    }

    fn first(parameters: Parameters) -> Self {
        let modulus = Modulus::new(parameters.number, &FastProducts);
        let p = parameters.lucas_parameter(&modulus);
        Self::new(
            0,
            Residue::from_u64(parameters.number, 2),
            Residue::from_canonical(parameters.number, p),
        )
    }
}

impl Parameters {
    /// Returns P = 2(t² + d)/(t² − d) mod N. Cost: O(1) products of a residue and a word, and a reduction.
    pub(super) fn lucas_parameter(self, modulus: &Modulus) -> Vec<u64> {
        let (t, d) = (i64::from(self.t), i64::from(self.d));
        let norm = t * t - d;
        let u = norm.unsigned_abs();
        // (i·N + 1)/u is the reciprocal of u modulo N, if i·N ≡ −1 mod u.
        let inverse = inverse(self.number.modulo(u), u);
        let mut quotient = self.number.value();
        let carry = mul_small_assign(&mut quotient, (u - inverse) % u);
        quotient.extend([carry, 0]);
        add_assign(&mut quotient, &[1]);
        div_rem_small(&mut quotient, u);
        trim(&mut quotient);
        let carry = mul_small_assign(&mut quotient, 2 * (t * t + d).unsigned_abs());
        quotient.push(carry);
        modulus.reduce_signed(&FastProducts, (quotient, norm < 0))
    }

    /// Returns the index (N + 1)/Q^s.
    pub(super) fn index(self) -> Vec<u64> {
        let mut index = self.number.value();
        index.push(0);
        add_assign(&mut index, &[1]);
        div_rem_small(&mut index, self.cofactor());
        trim(&mut index);
        index
    }

    /// Returns whether the terms v and w satisfy v² − P·v·w + w² = 4 − P² mod N.
    pub(super) fn are_neighbours(self, v: &[u64], w: &[u64]) -> bool {
        let by = &FastProducts;
        let modulus = Modulus::new(self.number, by);
        let p = self.lucas_parameter(&modulus);
        let mut sum = modulus.mul(by, v, v);
        for x in [w, &p] {
            modulus.add_assign(&mut sum, &modulus.mul(by, x, x));
        }
        let product = modulus.mul(by, &p, &modulus.mul(by, v, w));
        modulus.sub_assign(&mut sum, &product);
        sum == Residue::from_u64(self.number, 4).limbs()
    }
}

/// Returns the inverse of a modulo u, which must exist; 0 for u = 1.
fn inverse(a: u64, u: u64) -> u64 {
    let (mut r, mut s) = ((i128::from(u), 0), (i128::from(a), 1));
    while s.0 != 0 {
        let quotient = r.0 / s.0;
        (r, s) = (s, (r.0 - quotient * s.0, r.1 - quotient * s.1));
    }
    // The remainder is from 0 to u − 1.
    r.1.rem_euclid(i128::from(u)) as u64
}

impl Chain {
    /// Creates the sequence up to bit `target` of the index.
    pub(super) fn new(parameters: Parameters, target: u64) -> Self {
        let Parameters { number, d, t, open } = parameters;
        let kind = TestKind::Morrison { d, t, open };
        Self {
            parameters,
            kind,
            index: parameters.index(),
            total: kind.iterations(number),
            target,
            iteration: 0,
            verified: Pair::first(parameters),
            reported: 0,
        }
    }

    /// Returns what follows from the last terms after the run has finished; `None` if they have changed in
    /// memory or this machine computes unreliably.
    pub(super) fn judgement(&self) -> Option<Judgement> {
        let Pair { iteration, term, lucas } = &self.verified;
        let is_last = *iteration == self.total && lucas.is_intact(term);
        is_last.then(|| judge(self.parameters, term, lucas.next())).flatten()
    }

    fn state(&self, pair: Pair) -> State {
        State {
            kind: self.kind,
            iteration: pair.iteration,
            residue: pair.term,
            shift: 0,
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: Confirmation::No,
            gerbicz: None,
            lucas: Some(pair.lucas),
        }
    }

    /// Takes the bit `i` of the index, counted from the highest.
    fn step(&self, engine: &mut dyn Engine, i: u64) -> Result<(), EngineError> {
        let (squared, other) =
            if bit(&self.index, self.total - 1 - i) { (SECOND, X) } else { (X, SECOND) };
        engine.mul(other, X, SECOND)?;
        engine.sub(other, other, PARAMETER)?;
        engine.square(squared, 1, Step::SquareMinusTwo, Shift::ZERO)
    }

    /// Returns whether the bit `i` of the index, counted from the highest, is taken on the host.
    fn is_on_host(&self, i: u64) -> bool {
        let zeros = self.total.saturating_sub(bit_length(&self.index));
        self.parameters.number.bits() >= LEAST_WITH_PATTERNS && i < zeros + ON_HOST
    }

    /// Does what [`Self::step`] does, in exact products on the host.
    fn step_on_host(&self, engine: &mut dyn Engine, i: u64) -> Result<(), EngineError> {
        let (by, number) = (&FastProducts, self.parameters.number);
        let modulus = Modulus::new(number, by);
        let terms = [engine.read(X, Shift::ZERO)?, engine.read(SECOND, Shift::ZERO)?];
        let mut product = modulus.mul(by, terms[0].limbs(), terms[1].limbs());
        modulus.sub_assign(&mut product, &self.parameters.lucas_parameter(&modulus));
        let is_one = bit(&self.index, self.total - 1 - i);
        let squared = terms[usize::from(is_one)].limbs();
        let mut square = modulus.mul(by, squared, squared);
        modulus.sub_assign(&mut square, Residue::from_u64(number, 2).limbs());
        let (register, other) = if is_one { (SECOND, X) } else { (X, SECOND) };
        engine.write(register, &Residue::from_canonical(number, square), Shift::ZERO)?;
        engine.write(other, &Residue::from_canonical(number, product), Shift::ZERO)
    }

    /// Reads the present terms, and returns them with the result of their check.
    fn read(&self, engine: &mut dyn Engine) -> Result<(Pair, bool), EngineError> {
        let term = engine.read(X, Shift::ZERO)?;
        let next = engine.read(SECOND, Shift::ZERO)?;
        // The digests are those of the terms that are then checked.
        let pair = Pair::new(self.iteration, term, next);
        let holds = self.parameters.are_neighbours(pair.term.limbs(), pair.lucas.next().limbs());
        Ok((pair, holds))
    }
}

impl Sequence for Chain {
    fn check(&self) -> Check {
        Check::Lucas
    }

    fn registers(&self) -> usize {
        PARAMETER + 1
    }

    fn first(&self) -> State {
        self.state(Pair::first(self.parameters))
    }

    fn target(&self) -> u64 {
        self.target
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        let first = Pair::first(self.parameters);
        engine.write(PARAMETER, first.lucas.next(), Shift::ZERO)?;
        // Every state of this test has two terms.
        let lucas = state.lucas.clone().unwrap_or(first.lucas);
        self.iteration = state.iteration;
        self.verified = Pair { iteration: state.iteration, term: state.residue.clone(), lucas };
        self.reported = state.iteration;
        engine.write(X, &self.verified.term, Shift::ZERO)?;
        engine.write(SECOND, self.verified.lucas.next(), Shift::ZERO)
    }

    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError> {
        let due = self.target.min(self.verified.iteration + STRETCH);
        let to = due.min(self.iteration.saturating_add(most));
        while self.iteration < to {
            if self.is_on_host(self.iteration) {
                self.step_on_host(engine, self.iteration)?;
            } else {
                self.step(engine, self.iteration)?;
            }
            self.iteration += 1;
        }
        if self.iteration < due {
            return Ok(Advance::Going);
        }
        let (pair, holds) = self.read(engine)?;
        if !holds {
            let res64 = [pair.term.res64(), pair.lucas.next().res64(), 0];
            return Ok(Advance::CheckFailed { iteration: self.iteration, res64 });
        }
        self.verified = pair;
        if self.iteration == self.target {
            return Ok(Advance::Finished(self.verified.term.clone()));
        }
        if self.iteration - self.reported >= REPORTED {
            self.reported = self.iteration;
            return Ok(Advance::Verified);
        }
        Ok(Advance::Going)
    }

    fn iteration(&self) -> u64 {
        self.iteration
    }

    /// Returns the present state if its check passes, and otherwise the last verified state.
    fn snapshot(&self, engine: &mut dyn Engine) -> Result<State, EngineError> {
        let pair = if self.iteration == self.verified.iteration {
            None
        } else {
            let (pair, holds) = self.read(engine)?;
            holds.then_some(pair)
        };
        Ok(self.state(pair.unwrap_or_else(|| self.verified.clone())))
    }

    fn verified(&self) -> Option<State> {
        Some(self.state(self.verified.clone()))
    }

    fn is_intact(&self) -> bool {
        self.verified.lucas.is_intact(&self.verified.term)
    }

    fn has_right_constants(&self) -> bool {
        self.index == self.parameters.index()
    }

    /// Returns false: small terms can occur without an error. For N prime and q = 3, for example, V_m = 2
    /// with probability 1/9 at the end.
    fn impossible(&self, _: u64, _: &Residue) -> bool {
        false
    }

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        if self.target < self.total {
            return (Verdict::Interim, last);
        }
        self.judgement().map_or((Verdict::ProbablePrime, last), |j| (j.verdict, j.residue))
    }
}
