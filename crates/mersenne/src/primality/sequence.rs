//! What the driver knows of a test: a sequence that advances, and its states.

use crate::checkpoint::State;
use crate::{Check, Engine, EngineError, Residue, Verdict};

/// A sequence of squarings being computed on an engine, with its own checks.
///
/// The engine is passed in because the driver may replace it in mid-run.
pub(super) trait Sequence {
    /// The check that guards it from within, if one does.
    fn check(&self) -> Check;

    /// Registers needed.
    fn registers(&self) -> usize;

    /// Halts at each of these iterations ([`Advance::Reached`]), ascending, if it is made for that.
    fn stop_at(&mut self, _iterations: Vec<u64>) {}

    /// The state before the first squaring.
    fn first(&self) -> State;

    /// The iterations after which the run ends.
    fn target(&self) -> u64;

    /// Goes (back) to a state, on a new engine or on the same one.
    fn load(&mut self, engine: &mut dyn Engine, state: &State) -> Result<(), EngineError>;

    /// Does about `most` squarings (at least one, unless finished): fewer when
    /// something is to be done in between, and more to end what is not to be cut.
    fn advance(&mut self, engine: &mut dyn Engine, most: u64) -> Result<Advance, EngineError>;

    /// Squarings of the sequence done so far (at most the target).
    fn iteration(&self) -> u64;

    /// The state to save; `elapsed`, `errors` and `least_length` are the driver's
    /// to fill in, and `confirmed` where a Jacobi check has confirmed it. After the end it is the
    /// state at the target.
    fn snapshot(&self, engine: &mut dyn Engine) -> Result<State, EngineError>;

    /// The last verified state, for a sequence that has checks.
    fn verified(&self) -> Option<State>;

    /// Whether what memory keeps of the last verified state is still what it was.
    fn is_intact(&self) -> bool {
        true
    }

    /// Whether two engines have computed all of it, and agreed.
    fn is_twice(&self) -> bool {
        false
    }

    /// The place of an engine of its own, if that is what has failed since this was asked last.
    fn failed_place(&mut self) -> Option<&'static str> {
        None
    }

    /// Whether no sound computation can have this residue at this iteration.
    fn impossible(&self, iteration: u64, residue: &Residue) -> bool;

    /// The answer a final residue gives, and the residue to report.
    fn verdict(&self, last: Residue) -> (Verdict, Residue);
}

/// What came of a call to [`Sequence::advance`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Advance {
    /// Some squarings were done, of the sequence or of a check.
    Going,
    /// An iteration was reached whose residue is wanted: this one.
    Reached(Residue),
    /// A check passed at the present iteration.
    Verified,
    /// A check failed here; `res64` are those of all that was compared, which
    /// tell an error that repeats itself from another one.
    CheckFailed { iteration: u64, res64: [u64; 3] },
    /// The sequence at the target, checked as far as the test can.
    Finished(Residue),
}
