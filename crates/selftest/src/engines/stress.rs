//! Squarings without end, each covered by a check, to test hardware.
//!
//! A lap starts with x_0 = 3 and does [`LAP`] squarings in blocks of B = [`BLOCK`], with D_t = Π
//! x_(iB), i = 0 … t. At its end, or when it is interrupted, D_t = 3·D_(t−1)^(2^B) must hold
//! (Gerbicz). A wrong squaring in the lap violates this equation. Moreover, x after a whole lap
//! must equal the value found by another program or, if none is known, the value of the first lap.

use warpint_mersenne::{Engine, EngineError, Plan, Shift, Step};

use crate::vectors::{self, Sequence};

/// The number of squarings of a block.
pub const BLOCK: u64 = 100;

/// The number of squarings of a lap, after which residues of other programs are known.
pub const LAP: u64 = 10_000;

// Registers.
const X: usize = 0;
/// The register of D without the last block, D_(t−1).
const D: usize = 1;
/// The register of D with the last block, D_t.
const NEXT: usize = 2;
/// The register of 3·D_(t−1)^(2^B).
const POWER: usize = 3;
const THREE: usize = 4;
const REGISTERS: usize = 5;

/// The work done and the errors found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Tally {
    /// The number of squarings, without those of the checks.
    pub squarings: u64,
    /// The number of Gerbicz checks.
    pub checks: u64,
    /// The number of residues of whole laps that were compared with known ones.
    pub residues: u64,
    /// The number of failed checks and of residues that differed.
    pub mismatches: u64,
}

/// An event of a run.
#[derive(Debug)]
pub enum News<'a> {
    /// A plan has finished a block; the tally is that of the whole run so far.
    Block(&'a Plan, Tally),
    /// An error was found; described in one line.
    Mismatch(String),
}

/// An engine at work, and its expected results.
struct Worker<'a> {
    plan: &'a Plan,
    engine: Box<dyn Engine>,
    expected: Option<Residue64>,
}

/// The low 64 bits of a residue in hexadecimal digits, and their source.
struct Residue64 {
    res64: String,
    by: &'static str,
}

/// Runs laps of the plans in turns until `done` returns true. It is called after every block; the
/// interrupted lap is then checked up to that block.
///
/// # Errors
/// Returns an error if an engine could not be built or failed.
pub fn stress(
    plans: &[Plan],
    done: &dyn Fn() -> bool,
    news: &mut dyn FnMut(News<'_>),
) -> Result<Tally, EngineError> {
    let mut tally = Tally::default();
    let mut workers = plans
        .iter()
        .map(|plan| {
            let expected = known(plan.exponent().get());
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

/// Returns the res64 of x after a lap for the exponent p, if another program has computed it.
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

    /// Returns whether D_(t−1)·x = 3·D_(t−1)^(2^B).
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
