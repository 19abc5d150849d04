//! The probable-prime test to base 3 with Gerbicz–Li checks, and certifications.
//!
//! The sequence is x_k = 3^(2^k) mod M_p; a certification starts with another x_0. The residue of
//! type 1 is 3^(M_p − 1) = x_p / 9, which is 1 if M_p is prime.
//!
//! A check covers a stretch of squarings that starts at a verified iteration v and consists of
//! blocks of B squarings. Let D_t be the product of the terms x_v, x_(v+B), x_(v+2B), … up to
//! x_(v+tB). Then
//!
//! D_t = x_v · D_(t−1)^(2^B),
//!
//! because raising to the power 2^B moves every factor by one block. The left side costs one
//! product per block, the right side B squarings per check. A wrong squaring anywhere in the
//! stretch violates the equation, except with negligible probability (Gerbicz; Li 2017). If a
//! product costs as much as c squarings, B = √(cL) minimises the cost of a check that covers L
//! squarings. This cost is then the fraction 2√(c/L) of the cost of the L squarings: 0.25 % for L =
//! 2·10^6 and c = 3.
//!
//! Let T be the last iteration of the run. The run continues past T to the end E of the block, so
//! that a check covers T. Then two more conditions must hold. First, x_T as read must be the square
//! of x_(T−1), which the host holds. Second, x_T squared E − T times must be x_E. The
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

use std::time::Duration;

use super::TestKind;
use super::registers::{COUNT, D, LAST, NEXT, POWER, READ, V, X};
use super::sequence::{Advance, Sequence};
use crate::checkpoint::{Confirmation, GerbiczState, State};
use crate::digested::Fingerprint;
use crate::{DigestedResidue, Engine, EngineError, ErrorCounts, Residue, Shift, Step, Verdict};

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

/// The sequence x_(k+1) = x_k² mod M_p up to x_target, guarded by Gerbicz–Li checks.
pub(super) struct Prp {
    kind: TestKind,
    p: u32,
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

/// The residue x_target.
#[derive(Debug, Clone)]
struct Last {
    fingerprint: Fingerprint,
    /// The residue itself. `None` if the sequence has it from x_(target−1), from which it can be
    /// computed again.
    residue: Option<Residue>,
}

/// A check under way at the end of a block.
enum Check {
    /// At the end of the run: the squarings of register LAST from x_target to the end of its block.
    Tail {
        /// The number of squarings that are done.
        done: u64,
        /// The residue at the end of the block, to which they must lead.
        reached: Fingerprint,
    },
    /// The squarings of the product, in register POWER.
    Power {
        /// The number of squarings that are done.
        done: u64,
    },
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
            p: start.exponent(),
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
            exponent: self.p,
            iteration,
            residue,
            shift: self.first_shift.bits(),
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed: Confirmation::No,
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

    /// Ends a block: multiplies the product in register D by the present term. If a check is due,
    /// starts the check instead.
    fn end_block(&mut self, engine: &mut dyn Engine) -> Result<(), EngineError> {
        let shift = self.shift_at(self.iteration);
        let due = self.iteration >= self.target
            || self.iteration - self.verified.0 >= stretch_of(self.block);
        if !due {
            engine.mul(D, D, X)?;
            self.product_shift = self.product_shift.of_product(shift, self.p);
            self.product_iteration = self.iteration;
            return Ok(());
        }
        self.check = Some(if self.iteration >= self.target {
            // A state to be saved has x_(T−1) or x_T and the product in register D. So register X
            // is not needed any more.
            let residue = engine.read(X, shift)?;
            clear(engine, X)?;
            let reached = Fingerprint::of(&residue);
            engine.write(READ, &residue, shift)?;
            drop(residue);
            engine.mul(NEXT, D, READ)?;
            clear(engine, READ)?;
            Check::Tail { done: 0, reached }
        } else {
            Check::Power { done: 0 }
        });
        Ok(())
    }

    /// Does up to `most` squarings of the check. After the last squaring, returns the result of the
    /// check.
    fn go_on_checking(
        &mut self,
        engine: &mut dyn Engine,
        check: Check,
        most: u64,
    ) -> Result<Advance, EngineError> {
        match check {
            Check::Tail { done, reached } => self.check_tail(engine, done, reached, most),
            Check::Power { done } => self.check_power(engine, done, most),
        }
    }

    /// Writes x_target without shift to register LAST. Returns x_target, or `None` if it is not the
    /// square of x_(target−1).
    fn write_last(&self, engine: &mut dyn Engine) -> Result<Option<Residue>, EngineError> {
        let last = self.last.as_ref();
        let residue = match (&self.before_last, last.and_then(|last| last.residue.as_ref())) {
            (Some(before), _) => {
                engine.write(LAST, before, Shift::ZERO)?;
                engine.square(LAST, 1, Step::Square, Shift::ZERO)?;
                engine.read(LAST, Shift::ZERO)?
            }
            (None, Some(last)) => {
                engine.write(LAST, last, Shift::ZERO)?;
                last.clone()
            }
            (None, None) => return Ok(None),
        };
        let right = last.map(|last| last.fingerprint) == Some(Fingerprint::of(&residue));
        Ok(right.then_some(residue))
    }

    /// Squares x_T until the end of its block, where T is the target.
    fn check_tail(
        &mut self,
        engine: &mut dyn Engine,
        done: u64,
        reached: Fingerprint,
        most: u64,
    ) -> Result<Advance, EngineError> {
        if done == 0 && self.write_last(engine)?.is_none() {
            return Ok(self.failed(reached.res64, self.last_res64(), 0));
        }
        let squarings = self.iteration - self.target;
        let n = most.min(squarings - done);
        engine.square(LAST, n, Step::Square, Shift::ZERO)?;
        if done + n < squarings {
            self.check = Some(Check::Tail { done: done + n, reached });
            return Ok(Advance::Going);
        }
        let raised = Fingerprint::of(&engine.read(LAST, Shift::ZERO)?);
        clear(engine, LAST)?;
        if raised != reached {
            return Ok(self.failed(reached.res64, raised.res64, self.last_res64()));
        }
        self.check = Some(Check::Power { done: 0 });
        Ok(Advance::Going)
    }

    /// Raises the product to the power 2^B, and compares both sides of the equation.
    fn check_power(
        &mut self,
        engine: &mut dyn Engine,
        done: u64,
        most: u64,
    ) -> Result<Advance, EngineError> {
        if done == 0 {
            engine.copy(POWER, D)?;
        }
        let n = most.min(self.block - done);
        let begun = self.product_shift.after_squarings(done, self.p);
        engine.square(POWER, n, Step::Square, begun)?;
        if done + n < self.block {
            self.check = Some(Check::Power { done: done + n });
            return Ok(Advance::Going);
        }
        let at_end = self.last.is_some();
        if at_end {
            // No state is saved from here on.
            clear(engine, D)?;
        }
        if !self.verified.1.is_intact() {
            return Ok(self.failed(0, self.verified.1.residue().res64(), 0));
        }
        engine.write(V, self.verified.1.residue(), Shift::ZERO)?;
        engine.mul(POWER, POWER, V)?;
        clear(engine, V)?;
        let shift = self.product_shift.after_squarings(self.block, self.p);
        let power = Fingerprint::of(&engine.read(POWER, shift)?);
        clear(engine, POWER)?;
        let shift = self.shift_at(self.iteration);
        let next_shift = self.product_shift.of_product(shift, self.p);
        let (side, residue) = if at_end {
            (NEXT, None)
        } else {
            let residue = DigestedResidue::new(engine.read(X, shift)?);
            engine.write(READ, residue.residue(), shift)?;
            // The product itself is no longer needed: a new one begins, or the test goes back.
            engine.mul(D, D, READ)?;
            (D, Some(residue))
        };
        let next = engine.read(side, next_shift)?;
        let is_zero = next.is(0);
        let next = Fingerprint::of(&next);
        let reached = residue.as_ref().map_or(self.last_res64(), |x| x.residue().res64());
        // 0 satisfies every such equation, but no power of 3 is 0 mod M_p.
        if power != next || is_zero {
            return Ok(self.failed(reached, power.res64, next.res64));
        }
        if let Some(residue) = residue {
            self.take_verified(engine, residue)?;
            return Ok(Advance::Verified);
        }
        clear(engine, NEXT)?;
        let Some(last) = self.write_last(engine)? else {
            return Ok(self.failed(reached, power.res64, next.res64));
        };
        clear(engine, LAST)?;
        self.iteration = self.target;
        self.before_last = None;
        self.last = Some(Last { fingerprint: Fingerprint::of(&last), residue: Some(last.clone()) });
        engine.write(READ, &last, self.shift_at(self.target))?;
        engine.copy(X, READ)?;
        self.take_verified(engine, DigestedResidue::new(last.clone()))?;
        Ok(Advance::Finished(last))
    }

    /// Returns the low 64 bits of x_target; 0 if the sequence has not reached it.
    fn last_res64(&self) -> u64 {
        self.last.as_ref().map_or(0, |last| last.fingerprint.res64)
    }

    /// Returns the result of a check that failed. The arguments are the low 64 bits of the checked
    /// residue, and of the residues that differ.
    fn failed(&self, reached: u64, a: u64, b: u64) -> Advance {
        Advance::CheckFailed { iteration: self.iteration, res64: [reached, a, b] }
    }
}

/// Sets a register to 0. Engines on the CPU then release its memory.
fn clear(engine: &mut dyn Engine, register: usize) -> Result<(), EngineError> {
    engine.set(register, 0, Shift::ZERO)
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
            Start::Small(v) => Residue::from_u64(self.p, *v),
            Start::Long(x) => x.clone(),
        };
        let first =
            Self::new(self.kind, start.clone(), self.target).shifted(self.first_shift.bits());
        first.state(0, start.clone(), start)
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
            engine.square(X, n, Step::Square, self.shift_at(self.iteration))?;
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

    fn impossible(&self, _: u64, residue: &Residue) -> bool {
        residue.is(0)
    }

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        if self.target < self.kind.iterations(self.p) {
            return (Verdict::Interim, last);
        }
        if matches!(self.kind, TestKind::Cert(_)) {
            return (Verdict::Certified, last);
        }
        // 9 is invertible mod M_p for odd p, since 2^p − 1 ≡ 1 mod 3.
        let residue = last.divided_by(9).unwrap_or(last);
        let verdict = if residue.is(1) { Verdict::ProbablePrime } else { Verdict::Composite };
        (verdict, residue)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verified_state_that_memory_has_changed_is_known() {
        let p = 61;
        let mut prp = Prp::new(TestKind::Prp, Residue::from_u64(p, 3), 61);
        assert!(prp.verified().is_some_and(|state| state.is_intact()));
        let sealed =
            DigestedResidue::new(Residue::from_u64(p, 3)).changed_to(Residue::from_u64(p, 7));
        prp.verified = (0, sealed);
        assert!(prp.verified().is_some_and(|state| !state.is_intact()));
    }

    #[test]
    fn a_last_residue_of_the_wrong_sign_is_found() {
        use crate::engine::{BuildOptions, EngineFamily, word::Word};
        use warpint_natural::limbs;

        let p = 59;
        let options = BuildOptions::new(7, 1);
        let mut engine = Word.build(p, 1, options).unwrap();
        let mut prp = Prp::new(TestKind::Prp, Residue::from_u64(p, 3), u64::from(p));
        let first = prp.first();
        prp.load(engine.as_mut(), &first).unwrap();
        while prp.last.is_none() {
            prp.advance(engine.as_mut(), 1).unwrap();
        }
        // −x has the same square as the right residue x.
        let zero = Residue::from_u64(p, 0);
        let right = engine.read(X, Shift::ZERO).unwrap();
        let wrong = limbs::sub_mod(zero.limbs(), right.limbs(), p);
        let wrong = Residue::from_limbs(p, &wrong);
        engine.write(X, &wrong, Shift::ZERO).unwrap();
        prp.last = Some(Last { fingerprint: Fingerprint::of(&wrong), residue: None });
        let end = loop {
            match prp.advance(engine.as_mut(), 5).unwrap() {
                Advance::Going => {}
                end => break end,
            }
        };
        assert!(matches!(end, Advance::CheckFailed { iteration: 70, .. }), "{end:?}");
    }

    /// Tests a state that was saved at the end of a block, before its check, and is also that of the
    /// last iteration: a later run may end there.
    #[test]
    fn a_loaded_state_at_the_target_and_the_end_of_its_block_is_checked() {
        use crate::engine::{BuildOptions, EngineFamily, word::Word};

        let (p, block) = (59, 10);
        let mut engine = Word.build(p, 1, BuildOptions::new(COUNT, 1)).unwrap();
        let start = Residue::from_u64(p, 3);
        let mut prp = Prp::new(TestKind::Prp, start.clone(), block);
        engine.set(X, 3, Shift::ZERO).unwrap();
        engine.square(X, block, Step::Square, Shift::ZERO).unwrap();
        let last = engine.read(X, Shift::ZERO).unwrap();
        let mut state = prp.first();
        state.iteration = block;
        state.residue = last.clone();
        if let Some(gerbicz) = &mut state.gerbicz {
            gerbicz.block = block as u32;
        }
        prp.load(engine.as_mut(), &state).unwrap();
        let end = loop {
            let saved = prp.snapshot(engine.as_mut()).unwrap();
            assert_eq!((saved.iteration, saved.residue), (block, last.clone()));
            match prp.advance(engine.as_mut(), 3).unwrap() {
                Advance::Going => {}
                end => break end,
            }
        };
        assert!(matches!(&end, Advance::Finished(x) if *x == last), "{end:?}");
    }

    #[test]
    fn one_check_covers_a_test_of_up_to_two_million_squarings() {
        for left in (0..2000).chain([216_091, 1_999_999, 2_000_000, 82_589_933]) {
            let block = block_for(left);
            assert!(stretch_of(block) >= left.min(LONGEST_STRETCH), "{left}");
            assert!((1..=LARGEST_BLOCK).contains(&block));
            // The block is no longer than necessary.
            assert!(stretch_of(block.saturating_sub(GROUP)) < left.max(1), "{left}");
        }
        assert_eq!(block_for(u64::from(u32::MAX)), LARGEST_BLOCK);
    }
}
