//! The check at the end of a stretch, and that at the end of the run.

use super::super::registers::{D, LAST, NEXT, POWER, READ, V, X};
use super::super::sequence::Advance;
use super::{Prp, stretch_of};
use crate::digested::Fingerprint;
use crate::{DigestedResidue, Engine, EngineError, Residue, Shift};

/// The residue x_target.
#[derive(Debug, Clone)]
pub(super) struct Last {
    pub(super) fingerprint: Fingerprint,
    /// The residue itself. `None` if the sequence has it from x_(target−1), from which it can be
    /// computed again.
    pub(super) residue: Option<Residue>,
}

/// A check under way at the end of a block.
pub(super) enum Check {
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
        /// The number S of the equation, in limbs.
        sum: Vec<u64>,
    },
}

impl Prp {
    /// Ends a block: multiplies the product in register D by the present term. If a check is due,
    /// starts the check instead.
    pub(super) fn end_block(&mut self, engine: &mut dyn Engine) -> Result<(), EngineError> {
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
            self.power()
        });
        Ok(())
    }

    /// Does up to `most` squarings of the check. After the last squaring, returns the result of the
    /// check.
    pub(super) fn go_on_checking(
        &mut self,
        engine: &mut dyn Engine,
        check: Check,
        most: u64,
    ) -> Result<Advance, EngineError> {
        match check {
            Check::Tail { done, reached } => self.check_tail(engine, done, reached, most),
            Check::Power { done, sum } => self.check_power(engine, done, sum, most),
        }
    }

    /// Returns the second part of a check, before its first squaring. The present iteration is the end
    /// of the last block.
    fn power(&self) -> Check {
        let sum = self.steps.sum(self.verified.0, self.block, self.iteration);
        Check::Power { done: 0, sum }
    }

    /// Writes x_target without shift to register LAST. Returns x_target, or `None` if it is not the
    /// next term after x_(target−1).
    fn write_last(&self, engine: &mut dyn Engine) -> Result<Option<Residue>, EngineError> {
        let last = self.last.as_ref();
        let residue = match (&self.before_last, last.and_then(|last| last.residue.as_ref())) {
            (Some(before), _) => {
                engine.write(LAST, before, Shift::ZERO)?;
                self.steps.step(engine, LAST, self.target - 1, 1, Shift::ZERO)?;
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
        self.steps.step(engine, LAST, self.target + done, n, Shift::ZERO)?;
        if done + n < squarings {
            self.check = Some(Check::Tail { done: done + n, reached });
            return Ok(Advance::Going);
        }
        let raised = Fingerprint::of(&engine.read(LAST, Shift::ZERO)?);
        clear(engine, LAST)?;
        if raised != reached {
            return Ok(self.failed(reached.res64, raised.res64, self.last_res64()));
        }
        self.check = Some(self.power());
        Ok(Advance::Going)
    }

    /// Raises the product to the power 2^B, with the factors a^S, and compares both sides of the
    /// equation.
    fn check_power(
        &mut self,
        engine: &mut dyn Engine,
        done: u64,
        sum: Vec<u64>,
        most: u64,
    ) -> Result<Advance, EngineError> {
        if done == 0 {
            engine.copy(POWER, D)?;
            self.steps.times_high_part(engine, POWER, V, &sum, self.block)?;
        }
        let n = most.min(self.block - done);
        let begun = self.product_shift.after_squarings(done, self.p);
        self.steps.raise(engine, POWER, &sum, self.block - done, n, begun)?;
        if done + n < self.block {
            self.check = Some(Check::Power { done: done + n, sum });
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
pub(super) fn clear(engine: &mut dyn Engine, register: usize) -> Result<(), EngineError> {
    engine.set(register, 0, Shift::ZERO)
}
