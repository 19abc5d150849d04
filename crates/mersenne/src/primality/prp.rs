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
//! of x_(T−1), which a register still holds. Second, x_T squared E − T times must be x_E. The
//! second condition alone would accept −x_T.
//!
//! Two kinds of residues are first read to the host and then written back into the registers that
//! the check reads: residues that are reported, and residues that become the verified residue. So
//! the check also detects an error in reading. The next check starts from the verified residue as
//! written back, so it also detects a change of the sequence's own register in the meantime.
//! Residues for a proof are only read, because the proof is verified when it is built.

use std::time::Duration;

use super::TestKind;
use super::registers::{COUNT, D, LAST, NEXT, POWER, READ, V, X};
use super::sequence::{Advance, Sequence};
use crate::checkpoint::{Confirmation, GerbiczState, State};
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
    start: Residue,
    target: u64,
    /// The iterations, ascending, at which `advance` must return the residue.
    wanted: Vec<u64>,
    /// The present iteration k. At the end it runs past the target to the end of the block.
    iteration: u64,
    first_shift: Shift,
    block: u64,
    verified: (u64, DigestedResidue),
    /// The shift of the verified residue x_v in register V.
    verified_shift: Shift,
    product_iteration: u64,
    /// The shift of the product in register D. It is the sum of the shifts of the factors, mod p.
    product_shift: Shift,
    /// The residue x_(target−1), once the sequence has reached it. From then on, register LAST also
    /// holds it.
    before_last: Option<Residue>,
    /// The residue x_target, once the sequence has reached it.
    last: Option<Residue>,
    check: Option<Check>,
}

/// A check under way at the end of a block.
struct Check {
    /// The number of squarings of the check that are done. First come the B squarings of the
    /// product in register D, where B is the block length. At the end of the run, the squarings
    /// from x_T to the end of its block follow, where T is the last iteration.
    done: u64,
    /// The residue at the end of the block, which the check is to confirm.
    residue: DigestedResidue,
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
            verified_shift: Shift::ZERO,
            product_iteration: 0,
            product_shift: Shift::ZERO,
            before_last: None,
            last: None,
            check: None,
            start,
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
    /// Copies it to register V and to register D, where a new product starts. Chooses the block
    /// length for the remaining squarings.
    fn take_verified(
        &mut self,
        engine: &mut dyn Engine,
        verified: DigestedResidue,
    ) -> Result<(), EngineError> {
        // Register X keeps its content. If that is no longer x_k, the next check will fail.
        engine.copy(V, READ)?;
        engine.copy(D, V)?;
        self.verified = (self.iteration, verified);
        self.verified_shift = self.shift_at(self.iteration);
        self.product_iteration = self.iteration;
        self.product_shift = self.verified_shift;
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
        let residue = DigestedResidue::new(engine.read(X, shift)?);
        engine.write(READ, residue.residue(), shift)?;
        engine.mul(NEXT, D, READ)?;
        engine.copy(POWER, D)?;
        self.check = Some(Check { done: 0, residue });
        Ok(())
    }

    /// Does up to `most` squarings of the check. After the last squaring, returns the result of the
    /// check.
    fn go_on_checking(
        &mut self,
        engine: &mut dyn Engine,
        mut check: Check,
        most: u64,
    ) -> Result<Advance, EngineError> {
        // First D_(t−1)^(2^B), then, at the end of the run, x_T^(2^(E−T)).
        let tail = self.iteration.saturating_sub(self.target);
        let (register, begun, squarings) = if check.done < self.block {
            (POWER, self.product_shift.after_squarings(check.done, self.p), self.block - check.done)
        } else {
            (LAST, Shift::ZERO, self.block + tail - check.done)
        };
        let n = most.min(squarings);
        engine.square(register, n, Step::Square, begun)?;
        check.done += n;
        if n < squarings {
            self.check = Some(check);
            return Ok(Advance::Going);
        }
        let reached = check.residue.residue().clone();
        let iteration = self.iteration;
        let failed = |a: &Residue, b: &Residue| {
            let res64 = [reached.res64(), a.res64(), b.res64()];
            Ok(Advance::CheckFailed { iteration, res64 })
        };
        if register == POWER {
            let shift = self.product_shift.after_squarings(self.block, self.p);
            let shift = shift.of_product(self.verified_shift, self.p);
            engine.mul(POWER, POWER, V)?;
            let power = engine.read(POWER, shift)?;
            let shift = self.product_shift.of_product(self.shift_at(self.iteration), self.p);
            let next = engine.read(NEXT, shift)?;
            // 0 satisfies every such equation, but no power of 3 is 0 mod M_p.
            if power != next || next.is(0) {
                return failed(&power, &next);
            }
            let Some(last) = &self.last else {
                self.take_verified(engine, check.residue)?;
                return Ok(Advance::Verified);
            };
            if self.before_last.is_some() {
                engine.square(LAST, 1, Step::Square, self.shift_at(self.target - 1))?;
            }
            let again = engine.read(LAST, self.shift_at(self.target))?;
            if again != *last {
                return failed(&again, last);
            }
            engine.write(LAST, last, Shift::ZERO)?;
            if tail > 0 {
                self.check = Some(check);
                return Ok(Advance::Going);
            }
        }
        let raised = engine.read(LAST, Shift::ZERO)?;
        match self.last.clone() {
            Some(last) if raised == reached => {
                self.iteration = self.target;
                self.before_last = None;
                engine.write(READ, &last, self.shift_at(self.target))?;
                engine.copy(X, READ)?;
                self.take_verified(engine, DigestedResidue::new(last.clone()))?;
                Ok(Advance::Finished(last))
            }
            _ => failed(&raised, &reached),
        }
    }
}

#[cfg(test)]
impl Prp {
    /// Returns whether the sequence has reached x_target.
    pub(super) fn has_reached_its_end(&self) -> bool {
        self.last.is_some()
    }

    /// Replaces the host's copy of x_target by `instead`. Changes no register.
    pub(super) fn forget_last(&mut self, instead: Residue) {
        self.last = Some(instead);
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
        let start = || self.start.clone();
        let first = Self::new(self.kind, start(), self.target).shifted(self.first_shift.bits());
        first.state(0, start(), start())
    }

    fn target(&self) -> u64 {
        self.target
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        self.iteration = state.iteration;
        self.first_shift = Shift::new(state.shift, self.p);
        self.check = None;
        self.verified_shift = Shift::ZERO;
        self.product_shift = Shift::ZERO;
        self.before_last = None;
        self.last = None;
        if state.iteration == self.target {
            self.last = Some(state.residue.clone());
            engine.write(LAST, &state.residue, self.shift_at(self.target))?;
        }
        engine.write(X, &state.residue, self.shift_at(state.iteration))?;
        if let Some(g) = &state.gerbicz {
            self.block = u64::from(g.block);
            self.verified = (g.verified_iteration, g.verified.clone());
            self.product_iteration = g.product_iteration;
            engine.write(V, g.verified.residue(), Shift::ZERO)?;
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
                engine.copy(LAST, X)?;
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
            if self.iteration == self.target {
                let shift = self.shift_at(self.iteration);
                let last = engine.read(X, shift)?;
                engine.write(X, &last, shift)?;
                self.last = Some(last);
            }
            if self.iteration == block_end {
                self.end_block(engine)?;
            }
            if wanted == Some(self.iteration) {
                let x = match &self.last {
                    Some(last) => last.clone(),
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
        let (iteration, residue) = match (&self.before_last, &self.last) {
            // From the state at T − 1 a later sitting can check x_T as this one would have.
            (Some(before), Some(_)) => (self.target - 1, before.clone()),
            (None, Some(last)) => (self.target, last.clone()),
            (_, None) => (self.iteration, engine.read(X, self.shift_at(self.iteration))?),
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
        let right = prp.last.take().unwrap();
        let wrong = limbs::sub_mod(zero.limbs(), right.limbs(), p);
        let wrong = Residue::from_limbs(p, &wrong);
        engine.write(X, &wrong, Shift::ZERO).unwrap();
        prp.last = Some(wrong);
        let end = loop {
            match prp.advance(engine.as_mut(), 5).unwrap() {
                Advance::Going => {}
                end => break end,
            }
        };
        assert!(matches!(end, Advance::CheckFailed { iteration: 70, .. }), "{end:?}");
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
