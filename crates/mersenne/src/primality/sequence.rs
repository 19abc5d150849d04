//! The interface between the driver and a test: a sequence that advances, and its states.

use crate::checkpoint::State;
use crate::{Check, Engine, EngineError, Residue, Step, Verdict};

/// A sequence of squarings that is computed on an engine, and may make checks of its own.
///
/// The engine is an argument of each call, because the driver may replace the engine during a run.
pub(super) trait Sequence {
    /// Returns the kind of check that guards the sequence.
    fn check(&self) -> Check;

    /// Returns the number of registers that the engine must have.
    fn registers(&self) -> usize;

    /// Returns the step of most squarings.
    fn step(&self) -> Step {
        Step::Square
    }

    /// Sets the iterations, ascending, at which the sequence halts with [`Advance::Reached`].
    /// Sequences that cannot halt at given iterations ignore the call.
    fn stop_at(&mut self, _iterations: Vec<u64>) {}

    /// Returns the state before the first squaring.
    fn first(&self) -> State;

    /// Returns the iteration at which the run ends.
    fn target(&self) -> u64;

    /// Loads a state into an engine. The engine may be new, or the one used before.
    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError>;

    /// Does about `most` squarings, and at least one unless the sequence is finished. Does fewer if
    /// it must halt at an earlier iteration. Does more if it would otherwise have to stop within a
    /// block of at most `most` squarings.
    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError>;

    /// Returns the number of squarings of the sequence done so far, which is at most the target.
    fn iteration(&self) -> u64;

    /// Returns the state to save. After the end, this is the state at the target. The driver fills
    /// in `elapsed`, `errors` and `least_length`, and `confirmed` if a Jacobi check has confirmed
    /// the state.
    fn snapshot(&self, engine: &mut dyn Engine) -> Result<State, EngineError>;

    /// Returns the last verified state; `None` if the sequence makes no checks of its own.
    fn verified(&self) -> Option<State>;

    /// Returns whether the last verified state is unchanged in memory.
    fn is_intact(&self) -> bool {
        true
    }

    /// Returns whether the constants of the sequence that its own checks depend on are right.
    fn has_right_constants(&self) -> bool {
        true
    }

    /// Returns whether two engines have computed the whole sequence and agreed.
    fn is_twice(&self) -> bool {
        false
    }

    /// Returns the place (`cpu`, `cuda:0`, …) of the sequence's own second engine if that engine
    /// has failed since the last call.
    fn failed_place(&mut self) -> Option<&'static str> {
        None
    }

    /// Returns whether no correct computation gives this residue at this iteration.
    fn impossible(&self, iteration: u64, residue: &Residue) -> bool;

    /// Returns the verdict for the final residue `last`, and the residue to report.
    fn verdict(&self, last: Residue) -> (Verdict, Residue);
}

/// The result of a call of [`Sequence::advance`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Advance {
    /// Some squarings of the sequence or of a check were done.
    Going,
    /// The sequence reached an iteration whose residue is wanted, and returns this residue.
    Reached(Residue),
    /// A check passed at the present iteration.
    Verified,
    /// A check failed at the present iteration. `res64` contains the low 64 bits of residues: first
    /// of the checked residue, then of the other residues in the comparison. Unused elements are 0.
    /// These bits distinguish a repeated error from a new one.
    CheckFailed { iteration: u64, res64: [u64; 3] },
    /// The sequence reached the target, and returns the residue there. All checks that the sequence
    /// itself makes have passed.
    Finished(Residue),
}
