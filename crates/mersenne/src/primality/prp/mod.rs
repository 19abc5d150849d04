//! Powers with Gerbicz–Li checks: probable-prime tests, Proth's test and certifications.
//!
//! For M_p the sequence is x_k = 3^(2^k) mod M_p; a certification starts with another x_0. The residue
//! of type 1 is 3^(M_p − 1) = x_p / 9, which is 1 if M_p is prime.
//!
//! For other numbers N the sequence is the power a^E mod N, bit by bit from the highest bit of E, with
//! E = N − 1 (Fermat), (N − 1)/2 (Proth) or (N − 1)/Q for a divisor Q of b (Pocklington): x_0 = 1 and
//! x_(j+1) = x_j²·a^(e_j), where e_j is bit T − 1 − j of E, T at least the number of bits of E, and e_j = 0
//! for j ≥ T. So x_T = a^E.
//!
//! A check covers a stretch of squarings that starts at a verified iteration v and consists of
//! blocks of B squarings. Let D_t be the product of the terms x_v, x_(v+B), x_(v+2B), … up to
//! x_(v+tB). Then
//!
//! D_t = x_v · D_(t−1)^(2^B),
//!
//! because raising to the power 2^B moves every factor by one block. If the squarings are followed by
//! factors a^(e_j), then x_(v+(i+1)B) = x_(v+iB)^(2^B)·a^(s_i), where s_i is the number with the bits
//! e_(v+iB), …, e_(v+(i+1)B−1), the highest first. The equation becomes
//!
//! D_t = x_v · D_(t−1)^(2^B) · a^S, where S = s_0 + … + s_(t−1) (Li 2017).
//!
//! With S = h·2^B + l, the last two factors are (D_(t−1)·a^h)^(2^B)·a^l, which costs B squarings with
//! factors like the sequence itself. The left side costs one
//! product per block, the right side B squarings per check. A wrong squaring anywhere in the
//! stretch violates the equation, except with negligible probability (Gerbicz; Li 2017). If a
//! product costs as much as c squarings, B = √(cL) minimises the cost of a check that covers L
//! squarings. This cost is then the fraction 2√(c/L) of the cost of the L squarings: 0.25 % for L =
//! 2·10^6 and c = 3.
//!
//! Let T be the last iteration of the run. The run continues past T to the end E of the block, so
//! that a check covers T. Then two more conditions must hold. First, x_T as read must follow from
//! x_(T−1), which the host holds, by the last step. Second, x_T squared E − T times must be x_E. The
//! second condition alone would accept −x_T.
//!
//! Two kinds of residues are first read to the host and then written back into the registers that
//! the check reads: residues that are reported, and residues that become the verified residue. So
//! the check also detects an error in reading. The next check starts from the verified residue as
//! written back, so it also detects a change of the sequence's own register in the meantime.
//! Residues for a proof are only read, because the proof is verified when it is built.
//!
//! A residue of a large exponent takes much memory, so few of them are held at a time. Between
//! checks these are x_k and D in registers of the engine, and x_v on the host. x_v is written to a
//! register only for the product at the end of a check. Its digest is verified first, so the check
//! starts from the residue to which the test would go back. x_k is read, and multiplied by D, after
//! the B squarings of the check; a change of its register during the check is found like any other.
//! The two sides of the equation are compared by their fingerprints (SHA-256). At the end of the
//! run, x_(T−1) is held on the host, and of x_T and x_E only the fingerprints. x_T is computed from
//! x_(T−1) again, and must have the same fingerprint.

mod check;
mod steps;
#[cfg(test)]
mod tests;

use std::time::Duration;

use check::{Check, Last, clear};
pub(crate) use steps::{Steps, bit};

use super::registers::{COUNT, D, READ, X};
use super::sequence::{Advance, Sequence};
use super::{TestKind, pocklington};
use crate::checkpoint::{Confirmation, GerbiczState, State};
use crate::digested::Fingerprint;
use crate::{DigestedResidue, Engine, EngineError, ErrorCounts, Number, Residue, Shift, Verdict};

/// The assumed cost of a product, as a number of squarings, on all machines. It includes the cost
/// of interrupting the squarings. On an H200 at the exponent 82,589,933 a product takes 184 µs and
/// a squaring 68 µs; with the interruption, the true cost is 4. On a CPU it is less. If the true
/// cost is 2 or 4, a check costs at most about 2 % more than with the best block length.
const PRODUCT_COST: u64 = 3;
/// The largest number of squarings that one check covers, not counting the rest of the last block.
/// It is about the smallest number for which checks take no more than 0.25 % of the time.
const LONGEST_STRETCH: u64 = 2_000_000;
/// The block length B for [`LONGEST_STRETCH`]. It is √(6·10^6), rounded up to whole groups of
/// [`GROUP`] squarings plus one squaring.
pub(crate) const LARGEST_BLOCK: u64 = 2_465;
/// The number of squarings of a group. A long block consists of whole groups and one more squaring.
/// The reason is that devices do squarings in groups, and the last squaring of a block separately.
const GROUP: u64 = 32;

/// The sequence x_(j+1) = x_j²·a^(e_j) mod N up to x_target, guarded by Gerbicz–Li checks.
pub(super) struct Prp {
    kind: TestKind,
    number: Number,
    /// The exponent of the number, for shifts.
    p: u32,
    steps: Steps,
    start: Start,
    target: u64,
    /// The iterations, ascending, at which `advance` must return the residue.
    wanted: Vec<u64>,
    /// The present iteration k. At the end it runs past the target to the end of the block.
    iteration: u64,
    first_shift: Shift,
    block: u64,
    verified: (u64, DigestedResidue),
    product_iteration: u64,
    /// The shift of the product in register D. It is the sum of the shifts of the factors, mod p.
    product_shift: Shift,
    /// The residue x_(target−1), once the sequence has reached it.
    before_last: Option<Residue>,
    /// x_target, once the sequence has reached it.
    last: Option<Last>,
    check: Option<Check>,
}

/// The residue x_0. A small number takes no memory of a whole residue.
enum Start {
    Small(u64),
    Long(Residue),
}

/// Returns the block length B for a stretch that starts `left` squarings before the last iteration
/// of the run.
fn block_for(left: u64) -> u64 {
    let product = PRODUCT_COST * left.min(LONGEST_STRETCH);
    let root = product.isqrt();
    let ceiling = if root * root < product { root + 1 } else { root };
    let whole =
        if ceiling > 2 * GROUP { (ceiling - 1).next_multiple_of(GROUP) + 1 } else { ceiling };
    whole.clamp(1, LARGEST_BLOCK)
}

/// Returns the number of squarings after which a check is due at the next end of a block, for the
/// block length `block`.
fn stretch_of(block: u64) -> u64 {
    block * block / PRODUCT_COST
}

impl Prp {
    /// Creates the sequence that starts with x_0 = `start` and ends with x_target.
    pub(super) fn new(kind: TestKind, start: Residue, target: u64) -> Self {
        Self {
            kind,
            number: start.number(),
            p: start.exponent(),
            steps: Steps::of(kind, start.number()),
            target,
            wanted: vec![],
            iteration: 0,
            first_shift: Shift::ZERO,
            block: block_for(target),
            verified: (0, DigestedResidue::new(start.clone())),
            product_iteration: 0,
            product_shift: Shift::ZERO,
            before_last: None,
            last: None,
            check: None,
            start: if start.is(start.res64()) {
                Start::Small(start.res64())
            } else {
                Start::Long(start)
            },
        }
    }

    /// Sets the shift of x_0, in bits.
    pub(super) fn shifted(mut self, shift: u32) -> Self {
        self.first_shift = Shift::new(shift, self.p);
        self
    }

    /// Returns the first iteration after k at which the residue is wanted; `None` if there is none.
    fn next_wanted(&self, k: u64) -> Option<u64> {
        self.wanted.get(self.wanted.partition_point(|&w| w <= k)).copied()
    }

    /// Returns the shift that the term at this iteration has in register X.
    fn shift_at(&self, iteration: u64) -> Shift {
        self.first_shift.after_squarings(iteration, self.p)
    }

    fn state(&self, iteration: u64, residue: Residue, product: Residue) -> State {
        State {
            kind: self.kind,
            iteration,
            residue,
            shift: self.first_shift.bits(),
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: Confirmation::No,
            lucas: None,
            gerbicz: Some(GerbiczState {
                // The block is at most LARGEST_BLOCK, which fits.
                block: self.block as u32,
                verified_iteration: self.verified.0,
                verified: self.verified.1.clone(),
                product_iteration: self.product_iteration,
                product,
            }),
        }
    }

    /// Returns x_target after the run has finished, if it is unchanged in memory since its check.
    pub(super) fn verified_last(&self) -> Option<&Residue> {
        let (iteration, last) = &self.verified;
        (*iteration == self.target && last.is_intact()).then(|| last.residue())
    }

    /// Returns the last verified state.
    fn verified_state(&self) -> State {
        let iteration = self.verified.0;
        let residue = self.verified.1.residue();
        let mut state = self.state(iteration, residue.clone(), residue.clone());
        if let Some(g) = &mut state.gerbicz {
            g.product_iteration = iteration;
        }
        state
    }

    /// Makes the present residue the verified residue. Register READ must hold the present residue.
    /// Moves it to register D, where a new product starts. Chooses the block length for the
    /// remaining squarings.
    fn take_verified(
        &mut self,
        engine: &mut dyn Engine,
        verified: DigestedResidue,
    ) -> Result<(), EngineError> {
        // Register X keeps its content. If that is no longer x_k, the next check will fail.
        engine.copy(D, READ)?;
        clear(engine, READ)?;
        self.verified = (self.iteration, verified);
        self.product_iteration = self.iteration;
        self.product_shift = self.shift_at(self.iteration);
        self.block = block_for(self.target.saturating_sub(self.iteration));
        Ok(())
    }
}

#[cfg(test)]
impl Prp {
    /// Returns whether the sequence has reached x_target.
    pub(super) fn has_reached_its_end(&self) -> bool {
        self.last.is_some()
    }

    /// Replaces the host's copies of x_(target−1) and x_target. Changes no register.
    pub(super) fn forget_last(&mut self, before: Residue, instead: &Residue) {
        self.before_last = Some(before);
        self.last = Some(Last { fingerprint: Fingerprint::of(instead), residue: None });
    }
}

impl Sequence for Prp {
    fn check(&self) -> crate::Check {
        crate::Check::Gerbicz
    }

    fn registers(&self) -> usize {
        COUNT
    }

    fn stop_at(&mut self, iterations: Vec<u64>) {
        self.wanted = iterations;
        self.wanted.retain(|&k| k <= self.target);
    }

    fn first(&self) -> State {
        let start = match &self.start {
            Start::Small(v) => Residue::from_u64(self.number, *v),
            Start::Long(x) => x.clone(),
        };
        State {
            gerbicz: Some(GerbiczState {
                block: block_for(self.target) as u32,
                verified_iteration: 0,
                verified: DigestedResidue::new(start.clone()),
                product_iteration: 0,
                product: start.clone(),
            }),
            ..self.state(0, start.clone(), start)
        }
    }

    fn target(&self) -> u64 {
        self.target
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        self.iteration = state.iteration;
        self.first_shift = Shift::new(state.shift, self.p);
        self.check = None;
        self.product_shift = Shift::ZERO;
        self.before_last = None;
        self.last = None;
        if state.iteration == self.target {
            let fingerprint = Fingerprint::of(&state.residue);
            self.last = Some(Last { fingerprint, residue: Some(state.residue.clone()) });
        }
        engine.write(X, &state.residue, self.shift_at(state.iteration))?;
        if let Some(g) = &state.gerbicz {
            self.block = u64::from(g.block);
            self.verified = (g.verified_iteration, g.verified.clone());
            self.product_iteration = g.product_iteration;
            engine.write(D, &g.product, Shift::ZERO)?;
            // At the start of a stretch the block length may change.
            if g.verified_iteration == state.iteration {
                self.block = block_for(self.target - state.iteration);
            }
        }
        Ok(())
    }

    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError> {
        if let Some(check) = self.check.take() {
            return self.go_on_checking(engine, check, most);
        }
        let mut left = most;
        // Continues over the ends of blocks, so that a device need not wait at each.
        while left > 0 && self.check.is_none() {
            if self.iteration + 1 == self.target && self.before_last.is_none() {
                self.before_last = Some(engine.read(X, self.shift_at(self.iteration))?);
            }
            let block_end = self.product_iteration + self.block;
            let mut stop = match self.target.saturating_sub(self.iteration) {
                0 => block_end,
                1 => block_end.min(self.target),
                _ => block_end.min(self.target - 1),
            };
            let wanted = self.next_wanted(self.iteration);
            stop = stop.min(wanted.unwrap_or(stop));
            // A block is not split if it is short.
            let whole = stop - self.iteration;
            let n = if self.block <= most { whole } else { left.min(whole) };
            self.steps.step(engine, X, self.iteration, n, self.shift_at(self.iteration))?;
            self.iteration += n;
            left = left.saturating_sub(n);
            let is_wanted = wanted == Some(self.iteration);
            let mut here = None;
            // A state at the target that was loaded has `last` already.
            if self.iteration == self.target && self.last.is_none() {
                let shift = self.shift_at(self.iteration);
                let last = engine.read(X, shift)?;
                engine.write(X, &last, shift)?;
                self.last = Some(Last { fingerprint: Fingerprint::of(&last), residue: None });
                here = is_wanted.then_some(last);
            }
            if self.iteration == block_end {
                self.end_block(engine)?;
            }
            if is_wanted {
                let x = match here {
                    Some(last) => last,
                    None => engine.read(X, self.shift_at(self.iteration))?,
                };
                return Ok(Advance::Reached(x));
            }
        }
        Ok(Advance::Going)
    }

    fn iteration(&self) -> u64 {
        self.iteration.min(self.target)
    }

    fn snapshot(&self, engine: &mut dyn Engine) -> Result<State, EngineError> {
        if self.iteration == self.verified.0 {
            return Ok(self.verified_state());
        }
        let product = if self.product_iteration == self.verified.0 {
            self.verified.1.residue().clone()
        } else {
            engine.read(D, self.product_shift)?
        };
        let last = self.last.as_ref().map(|last| last.residue.as_ref());
        let (iteration, residue) = match (&self.before_last, last) {
            // From the state at T − 1 a later sitting can check x_T as this one would have.
            (Some(before), Some(_)) => (self.target - 1, before.clone()),
            (None, Some(Some(last))) => (self.target, last.clone()),
            (_, _) => (self.iteration, engine.read(X, self.shift_at(self.iteration))?),
        };
        Ok(self.state(iteration, residue, product))
    }

    fn verified(&self) -> Option<State> {
        Some(self.verified_state())
    }

    fn has_right_constants(&self) -> bool {
        self.steps.are_right(self.kind, self.number)
    }

    fn impossible(&self, _: u64, residue: &Residue) -> bool {
        residue.is(0)
    }

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        if self.target < self.kind.iterations(self.number) {
            return (Verdict::Interim, last);
        }
        let verdict_if = |holds, verdict| if holds { verdict } else { Verdict::Composite };
        match self.kind {
            TestKind::Cert(_) => return (Verdict::Certified, last),
            TestKind::Fermat { .. } => {
                return (verdict_if(last.is(1), Verdict::ProbablePrime), last);
            }
            TestKind::Proth { .. } => {
                return (verdict_if(last.is_minus(1), Verdict::Prime), last);
            }
            TestKind::Pocklington { base, open } => {
                let verified = self.verified_last();
                let judgement =
                    verified.and_then(|y| pocklington::judge(self.number, base, open, y));
                return judgement
                    .map_or((Verdict::ProbablePrime, last), |j| (j.verdict, j.residue));
            }
            // Morrison's test has another sequence.
            TestKind::Prp | TestKind::Ll(_) | TestKind::Riesel | TestKind::Morrison { .. } => {}
        }
        // 9 is invertible mod M_p for odd p, since 2^p − 1 ≡ 1 mod 3.
        let residue = last.divided_by(9).unwrap_or(last);
        (verdict_if(residue.is(1), Verdict::ProbablePrime), residue)
    }
}
