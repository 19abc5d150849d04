//! A Lucas–Lehmer test that a second engine computes too, stretch by stretch.
//!
//! The second engine begins each stretch with the last residue on which both
//! agreed, with a shift of its own, and must end it with the same residue. An
//! error of one of them, or of a transform that handles some digits wrongly, is
//! found at the end of the stretch. The test takes the time of both. It goes on
//! from verified checkpoints only: what neither a second engine nor a Jacobi check
//! has confirmed is computed again.

use std::time::{Duration, Instant};

use super::Clock;
use super::ll::LucasLehmer;
use super::sequence::{Advance, Sequence};
use crate::checkpoint::{Confirmation, State};
use crate::{Check, DigestedResidue, Engine, EngineError, Plan, Residue, Verdict};

/// How long a stretch takes the first engine: work that an error costs.
const STRETCH: Duration = Duration::from_secs(20);

/// s_0, s_1, … by two engines.
pub(super) struct Doubled {
    first: LucasLehmer,
    second: LucasLehmer,
    plan: Plan,
    engine: Option<Box<dyn Engine>>,
    /// Whether the second engine has failed since that was asked last.
    failed: bool,
    /// The last residue on which both agreed.
    agreed: (u64, DigestedResidue),
    /// What is known of it: [`Confirmation::Twice`] if both have computed everything before it.
    confirmed: Confirmation,
    clock: &'static dyn Clock,
    begun: Instant,
    /// At the end of a stretch: the residue of the first engine there.
    reached: Option<Residue>,
}

impl Doubled {
    /// A sequence, and the plan of whoever computes it again.
    pub(super) fn new(first: LucasLehmer, plan: Plan, clock: &'static dyn Clock) -> Self {
        let p = plan.exponent().get();
        let start = first.first();
        // Far from the first, whatever that is: half of p further.
        let second = first.clone().shifted((start.shift + p / 2) % p);
        let agreed = (0, DigestedResidue::new(start.residue));
        let begun = clock.now();
        let confirmed = Confirmation::Twice;
        Self {
            first,
            second,
            plan,
            engine: None,
            failed: false,
            agreed,
            confirmed,
            clock,
            begun,
            reached: None,
        }
    }

    /// The state on which both agreed.
    fn agreed_state(&self) -> State {
        let (iteration, residue) = (self.agreed.0, self.agreed.1.residue().clone());
        let confirmed = if iteration > 0 { self.confirmed } else { Confirmation::No };
        State { iteration, residue, confirmed, ..self.first.first() }
    }

    /// Some squarings by the second engine; at the end of the stretch, the comparison.
    fn follow(&mut self, reached: Residue, most: u64) -> Result<Advance, EngineError> {
        let n = most.min(self.first.iteration() - self.second.iteration());
        let stepped = self.step(n);
        let residue = match self.noted(stepped) {
            // The plan of the second engine is its own affair.
            Err(EngineError::RoundOff { measured, limit, length }) => {
                self.lengthen(measured, limit, length)?;
                None
            }
            other => other?,
        };
        let Some(residue) = residue else {
            self.reached = Some(reached);
            return Ok(Advance::Going);
        };
        let iteration = self.first.iteration();
        if residue != reached {
            let res64 = [reached.res64(), residue.res64(), 0];
            return Ok(Advance::CheckFailed { iteration, res64 });
        }
        self.agreed = (iteration, DigestedResidue::new(residue));
        self.begun = self.clock.now();
        if iteration == self.first.target() {
            return Ok(Advance::Finished(reached));
        }
        Ok(Advance::Verified)
    }

    /// Takes a longer transform, to begin the stretch again.
    fn lengthen(&mut self, measured: f64, limit: f64, length: usize) -> Result<(), EngineError> {
        self.engine = None;
        self.plan = self.plan.longer().map_err(|_| EngineError::Unusable {
            engine: self.plan.engine(),
            exponent: self.plan.exponent().get(),
            length,
            reason: format!(
                "round-off {measured:.4} is above {limit:.4}, and it has no longer transform"
            ),
        })?;
        Ok(())
    }

    /// Drops a second engine that has failed, so that another is built.
    fn noted<T>(&mut self, done: Result<T, EngineError>) -> Result<T, EngineError> {
        if matches!(done, Err(EngineError::Device(_))) {
            self.engine = None;
            self.failed = true;
        }
        done
    }

    /// n squarings by the second engine, and its residue at the end of the stretch.
    fn step(&mut self, n: u64) -> Result<Option<Residue>, EngineError> {
        let agreed = self.agreed_state();
        let is_new = self.engine.is_none();
        let engine = match &mut self.engine {
            Some(engine) => engine,
            None => self.engine.insert(self.plan.build(self.second.registers())?),
        };
        if is_new {
            let shift = self.second.first().shift;
            self.second.load(engine.as_mut(), &State { shift, ..agreed })?;
        }
        let n = n.min(self.first.iteration() - self.second.iteration());
        if n > 0 {
            self.second.advance(engine.as_mut(), n)?;
            engine.finish()?;
        }
        if self.second.iteration() < self.first.iteration() {
            return Ok(None);
        }
        Ok(Some(self.second.snapshot(engine.as_mut())?.residue))
    }
}

impl Sequence for Doubled {
    fn check(&self) -> Check {
        Check::Second
    }

    fn registers(&self) -> usize {
        self.first.registers()
    }

    fn first(&self) -> State {
        self.first.first()
    }

    fn target(&self) -> u64 {
        self.first.target()
    }

    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError> {
        self.reached = None;
        self.agreed = (state.iteration, DigestedResidue::new(state.residue.clone()));
        self.confirmed = if state.iteration == 0 {
            Confirmation::Twice
        } else {
            // It goes on from nothing less.
            state.confirmed.max(Confirmation::Jacobi)
        };
        self.begun = self.clock.now();
        if let Some(second) = &mut self.engine {
            let shift = self.second.first().shift;
            let loaded = self.second.load(second.as_mut(), &State { shift, ..state.clone() });
            self.noted(loaded)?;
        }
        self.first.load(engine, state)
    }

    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError> {
        if let Some(reached) = self.reached.take() {
            return self.follow(reached, most);
        }
        let advanced = self.first.advance(engine, most)?;
        if let Advance::Finished(last) = advanced {
            self.reached = Some(last);
        } else if self.clock.now().saturating_duration_since(self.begun) >= STRETCH {
            self.reached = Some(self.first.snapshot(engine)?.residue);
        }
        Ok(Advance::Going)
    }

    fn iteration(&self) -> u64 {
        self.first.iteration()
    }

    /// Only what both agree on is worth keeping.
    fn snapshot(&self, _: &mut dyn Engine) -> Result<State, EngineError> {
        Ok(self.agreed_state())
    }

    fn verified(&self) -> Option<State> {
        Some(self.agreed_state())
    }

    fn is_intact(&self) -> bool {
        self.agreed.1.is_intact()
    }

    fn is_twice(&self) -> bool {
        self.confirmed == Confirmation::Twice
    }

    fn failed_place(&mut self) -> Option<&'static str> {
        std::mem::take(&mut self.failed).then(|| self.plan.place())
    }

    fn impossible(&self, iteration: u64, residue: &Residue) -> bool {
        self.first.impossible(iteration, residue)
    }

    fn verdict(&self, last: Residue) -> (Verdict, Residue) {
        self.first.verdict(last)
    }
}
