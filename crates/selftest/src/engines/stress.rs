//! Squarings for a stress test of hardware. Every squaring is covered by a check.
//!
//! A lap is a sequence x_(n+1) = x_n² mod M_p of [`LAP`] squarings, starting with x_0 = 3, where
//! M_p = 2^p − 1. It consists of blocks of B = [`BLOCK`] squarings. Let D_t be the product of
//! x_(iB) for i = 0 … t. When the lap ends or is interrupted after block t, D_t = 3·D_(t−1)^(2^B)
//! must hold (Gerbicz). A wrong squaring in the lap violates this equation. After a complete lap, x
//! must also equal the value computed by another program or, if none is known, the value of the
//! first lap.

use warpint_mersenne::{Engine, EngineError, Plan, Shift, Step};

use crate::vectors::{self, Sequence};

/// The number of squarings of a block, at the end of which a lap can be interrupted.
pub const BLOCK: u64 = 100;

/// The number of squarings of a lap. Another program has computed residues after this number of
/// squarings.
pub const LAP: u64 = 10_000;

// Registers.
const X: usize = 0;
/// The register of D_(t−1), the product of the values x at the beginnings of blocks 1 to t.
const D: usize = 1;
/// The register of D_t = D_(t−1)·x.
const NEXT: usize = 2;
/// The register of 3·D_(t−1)^(2^B), where B is the number of squarings of a block.
const POWER: usize = 3;
const THREE: usize = 4;
const REGISTERS: usize = 5;

/// The numbers of squarings, checks and errors of a stress test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of squarings. The squarings that the checks need are not counted.
    pub squarings: u64,
    /// The number of Gerbicz checks, one for each complete or interrupted lap.
    pub checks: u64,
    /// The number of laps whose final residue was compared with an expected residue: that of
    /// another program or of the first lap.
    pub residues: u64,
    /// The number of errors: failed checks and residues that differed from the expected ones.
    pub mismatches: u64,
}

/// An event during a stress test.
#[derive(Debug)]
pub enum News<'a> {
    /// The engine of this plan has finished a block. The tally counts the whole run so far.
    Block(&'a Plan, Tally),
    /// A check failed or a residue was wrong. The text describes the error in one line.
    Mismatch(String),
}

/// An engine under stress, and the expected low 64 bits of the residue after a lap. They are `None`
/// before the first lap if no other program has computed them.
struct Worker<'a> {
    plan: &'a Plan,
    engine: Box<dyn Engine>,
    expected: Option<Residue64>,
}

/// The low 64 bits of a residue in hexadecimal digits, and the name of their source, for messages.
struct Residue64 {
    res64: String,
    by: &'static str,
}

/// Runs a lap for each plan in turn, again and again, until `done` returns true. `done` is called
/// after every block. A lap that is interrupted is checked up to its last block.
///
/// # Errors
/// An engine could not be built, or failed.
pub fn stress(
    plans: &[Plan],
    done: &dyn Fn() -> bool,
    news: &mut dyn FnMut(News<'_>),
) -> Result<Tally, EngineError> {
    let mut tally = Tally::default();
    let mut workers = plans
        .iter()
        .map(|plan| {
            let expected = known(plan.exponent());
            Ok(Worker { plan, engine: plan.build(REGISTERS)?, expected })
        })
        .collect::<Result<Vec<_>, EngineError>>()?;
    while !workers.is_empty() {
        for worker in &mut workers {
            worker.lap(&mut tally, done, news)?;
            if done() {
                return Ok(tally);
            }
        }
    }
    Ok(tally)
}

/// Returns the low 64 bits of the residue after a lap for the exponent p. Returns `None` if no
/// other program has computed this residue.
fn known(p: u32) -> Option<Residue64> {
    let known = vectors::interim_residues().ok()?.residues;
    let of_lap =
        known.into_iter().find(|r| r.p == p && r.test == Sequence::Prp && r.iterations == LAP)?;
    Some(Residue64 { res64: of_lap.res64, by: "another program" })
}

impl Worker<'_> {
    fn lap(
        &mut self,
        tally: &mut Tally,
        done: &dyn Fn() -> bool,
        news: &mut dyn FnMut(News<'_>),
    ) -> Result<(), EngineError> {
        for reg in [X, D, THREE] {
            self.engine.set(reg, 3, Shift::ZERO)?;
        }
        let mut squarings = 0;
        loop {
            self.engine.square(X, BLOCK, Step::Square, Shift::ZERO)?;
            self.engine.finish()?;
            squarings += BLOCK;
            tally.squarings += BLOCK;
            news(News::Block(self.plan, *tally));
            if squarings >= LAP || done() {
                break;
            }
            self.engine.mul(D, D, X)?;
        }
        tally.checks += 1;
        if !self.check()? {
            tally.mismatches += 1;
            let plan = self.plan;
            let line = format!("{plan:?}: the check after {squarings} squarings failed");
            news(News::Mismatch(line));
        } else if squarings == LAP {
            self.compare(tally, news)?;
        }
        Ok(())
    }

    /// Returns whether the Gerbicz relation D_(t−1)·x = 3·D_(t−1)^(2^B) holds, as defined in the
    /// module's documentation.
    fn check(&mut self) -> Result<bool, EngineError> {
        let engine = self.engine.as_mut();
        engine.mul(NEXT, D, X)?;
        engine.copy(POWER, D)?;
        engine.square(POWER, BLOCK, Step::Square, Shift::ZERO)?;
        engine.mul(POWER, POWER, THREE)?;
        let next = engine.read(NEXT, Shift::ZERO)?;
        // 0 satisfies every such equation, but no power of 3 is 0 mod M_p.
        Ok(!next.is(0) && next == engine.read(POWER, Shift::ZERO)?)
    }

    fn compare(
        &mut self,
        tally: &mut Tally,
        news: &mut dyn FnMut(News<'_>),
    ) -> Result<(), EngineError> {
        let found = self.engine.read(X, Shift::ZERO)?.res64_hex();
        match &self.expected {
            None => self.expected = Some(Residue64 { res64: found, by: "the first lap" }),
            Some(Residue64 { res64, by }) => {
                tally.residues += 1;
                if found != *res64 {
                    tally.mismatches += 1;
                    news(News::Mismatch(format!(
                        "{:?}: res64 {found} after {LAP} squarings, but {res64} by {by}",
                        self.plan
                    )));
                }
            }
        }
        Ok(())
    }
}
