//! A Lucas–Lehmer test that a second engine recomputes, stretch by stretch.
//!
//! The second engine starts each stretch with the last residue on which both engines agreed, at a
//! shift of its own. It must end the stretch with the same residue as the first engine. This
//! comparison detects any error that only one engine made, for example if the transform of one
//! engine handles some digits wrongly. The test takes the sum of the times of both engines.
//!
//! The test resumes from verified checkpoints only. Iterations that neither a second engine nor a
//! Jacobi check has confirmed are computed again.

use std::time::{Duration, Instant};

use super::Clock;
use super::ll::LucasLehmer;
use super::sequence::{Advance, Sequence};
use crate::checkpoint::{Confirmation, State};
use crate::{Check, DigestedResidue, Engine, EngineError, Plan, Residue, Step, Verdict};

/// The duration of a stretch on the first engine. A stretch is the work between two comparisons of
/// the engines. An error costs at most the work of one stretch.
const STRETCH: Duration = Duration::from_secs(20);

/// A Lucas–Lehmer sequence s_0, s_1, … that two engines compute, stretch by stretch.
pub(super) struct Doubled {
    first: LucasLehmer,
    second: LucasLehmer,
    plan: Plan,
    engine: Option<Box<dyn Engine>>,
    /// Whether the second engine has failed since the last call of [`Sequence::failed_place`].
    failed: bool,
    /// The last residue on which both engines agreed, and its iteration.
    agreed: (u64, DigestedResidue),
    /// The check that has confirmed the residue in `agreed`. It is [`Confirmation::Twice`] if both
    /// engines have computed the whole sequence up to this residue.
    confirmed: Confirmation,
    clock: &'static dyn Clock,
    begun: Instant,
    /// The residue of the first engine at the end of the stretch, as long as the second engine has
    /// not reached that iteration; otherwise `None`.
    reached: Option<Residue>,
}

impl Doubled {
    /// Creates the sequence for two engines, from the sequence of the first engine and the plan of
    /// the second engine.
    pub(super) fn new(first: LucasLehmer, plan: Plan, clock: &'static dyn Clock) -> Self {
        let p = plan.exponent();
        let start = first.first();
        // The second shift is p/2 further than the first, hence far from it for every first shift.
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

    /// Returns the last state on which both engines agreed.
    fn agreed_state(&self) -> State {
        let (iteration, residue) = (self.agreed.0, self.agreed.1.residue().clone());
        let confirmed = if iteration > 0 { self.confirmed } else { Confirmation::No };
        State { iteration, residue, confirmed, ..self.first.first() }
    }

    /// Does at most `most` squarings on the second engine. At the end of the stretch, compares the
    /// residue of the second engine with `reached`, the residue of the first engine.
    fn follow(&mut self, reached: Residue, most: u64) -> Result<Advance, EngineError> {
        let n = most.min(self.first.iteration() - self.second.iteration());
        let stepped = self.step(n);
        let residue = match self.noted(stepped) {
            // A round-off error of the second engine changes only the second engine's plan.
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

    /// Drops the second engine and changes its plan to a longer transform. A new engine with this
    /// plan will repeat the stretch.
    fn lengthen(&mut self, measured: f64, limit: f64, length: usize) -> Result<(), EngineError> {
        self.engine = None;
        self.plan = self.plan.longer().map_err(|_| EngineError::Unusable {
            engine: self.plan.engine(),
            number: self.plan.number(),
            length,
            reason: format!(
                "round-off {measured:.4} is above {limit:.4}, and it has no longer transform"
            ),
        })?;
        Ok(())
    }

    /// Returns `done` unchanged. If `done` is an error of the device, also drops the second engine,
    /// so that the next step builds a new engine.
    fn noted<T>(&mut self, done: Result<T, EngineError>) -> Result<T, EngineError> {
        if matches!(done, Err(EngineError::Device(_))) {
            self.engine = None;
            self.failed = true;
        }
        done
    }

    /// Does n squarings on the second engine, or fewer if the end of the stretch is reached. Builds
    /// the engine first if there is none. Returns the residue of the second engine at the end of
    /// the stretch, or `None` before the end.
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

    fn step(&self) -> Step {
        self.first.step()
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
            // A doubled test resumes only from states confirmed at least by a Jacobi check.
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

    /// Returns the last state on which both engines agreed, because no other state is worth saving.
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
