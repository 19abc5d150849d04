//! The Jacobi checks of a Lucas–Lehmer test: their results, and recovery when one fails.

use super::driver::{Driver, Pending};
use super::recovery::Trusted;
use super::sequence::Sequence;
use super::watch::{JacobiWatch, Judged};
use super::{Finished, TestError};
use crate::checkpoint::{Confirmation, State};
use crate::{Check, DigestedResidue, Event, Residue};

/// The result of the last checks of a test, made by [`Driver::last_check`].
pub(super) enum LastCheck {
    Passed,
    Failed(Suspect),
    /// A stop was requested before the check finished.
    Stopped,
}

/// A residue whose Jacobi symbol is wrong.
pub(super) struct Suspect {
    iteration: u64,
    residue: Residue,
}

/// Where a test continues after a failed Jacobi check.
pub(super) enum Back {
    /// The test goes back to this state and continues from it.
    To(Box<State>),
    /// The test continues without going back, because the check itself was wrong.
    Nowhere,
    /// A stop was requested before it was known whether the check itself was wrong.
    Interrupted,
    /// A stop was requested before a state to go back to was found.
    Stopped(Finished),
}

impl Driver<'_> {
    /// Makes the last checks of a test. Waits for the Jacobi check that is still under way, if any.
    /// Then makes the Jacobi check of the final residue `last`.
    pub(super) fn last_check(
        &mut self,
        check: Check,
        iteration: u64,
        last: &Residue,
    ) -> Result<LastCheck, TestError> {
        if check != Check::Jacobi {
            // A sequence with checks of its own has already made the last of them.
            self.send(Event::Verified { check, iteration });
        }
        let stop = self.stop;
        let Some(watch) = &mut self.watch else { return Ok(LastCheck::Passed) };
        let judged = watch.wait_unless(&|| stop.is_stopped());
        if let Some(judged) = judged
            && let Some(suspect) = self.take_judged(judged)
        {
            return Ok(LastCheck::Failed(suspect));
        }
        let Some(watch) = &self.watch else { return Ok(LastCheck::Passed) };
        match watch.allows(iteration, last, &|| stop.is_stopped()) {
            Some(true) => {
                self.send(Event::Verified { check: Check::Jacobi, iteration });
                Ok(LastCheck::Passed)
            }
            Some(false) => Ok(LastCheck::Failed(Suspect { iteration, residue: last.clone() })),
            None => Ok(LastCheck::Stopped),
        }
    }

    /// Processes the result of a Jacobi check. If the check passed, stores the state as confirmed
    /// and returns `None`. Otherwise returns the residue that failed the check.
    pub(super) fn take_judged(&mut self, judged: Judged) -> Option<Suspect> {
        let Judged { state, seal, passed } = judged;
        if !passed {
            return Some(Suspect { iteration: state.iteration, residue: state.residue });
        }
        self.failures.clear(Check::Jacobi);
        self.send(Event::Verified { check: Check::Jacobi, iteration: state.iteration });
        let state = State { confirmed: Confirmation::Jacobi, ..state };
        self.confirmed = Some(Trusted::new(state.clone(), seal));
        self.pending.push(Pending::Checkpoint(Box::new(state)));
        None
    }

    /// Handles a residue whose Jacobi symbol is wrong. Computes the symbol again. If it is wrong
    /// again, searches for an older state to go back to: the newest one from which correct
    /// squarings give only residues with right symbols.
    ///
    /// Renames to `.bad` the checkpoints at the residue's iteration and at later ones, and the
    /// checkpoints that the search finds wrong. A checkpoint that a Jacobi check or a second engine
    /// had confirmed is no exception: either the confirmation was wrong, or the state has changed
    /// since.
    pub(super) fn after_jacobi_failure(
        &mut self,
        sequence: &dyn Sequence,
        suspect: &Suspect,
    ) -> Result<Back, TestError> {
        let (check, iteration, stop) = (Check::Jacobi, suspect.iteration, self.stop);
        let Some(watch) = &mut self.watch else { return Ok(Back::Nowhere) };
        watch.forget();
        let allowed = watch.allows(iteration, &suspect.residue, &|| stop.is_stopped());
        let Some(allowed) = allowed else { return Ok(Back::Interrupted) };
        self.count(check);
        if allowed {
            self.send(Event::CheckErred { check, iteration });
            return Ok(Back::Nowhere);
        }
        self.send(Event::Searching { check, iteration });
        // Residues computed since then must not be written.
        self.pending.clear();
        self.set_aside_from(iteration, "it follows a residue whose Jacobi symbol is wrong")?;
        let mut before = iteration;
        let state = loop {
            let Some((candidate, saved)) = self.older_state(before)? else {
                break sequence.first();
            };
            before = candidate.iteration;
            let candidate = self.stamped(candidate);
            if saved {
                // The error counts must survive a kill.
                self.write(&candidate)?;
            }
            let possible = !sequence.impossible(before, &candidate.residue);
            match self.symbols_are_right(&candidate) {
                Some(true) if possible => {
                    let confirmed = candidate.confirmed.max(Confirmation::Jacobi);
                    break State { confirmed, ..candidate };
                }
                Some(_) => self.set_aside_from(before, "its Jacobi symbols are wrong")?,
                None => {
                    self.tell_notices();
                    return Ok(Back::Stopped(Finished::Stopped { iteration: before, saved }));
                }
            }
        };
        self.tell_notices();
        self.confirmed = state.is_verified().then(|| {
            let seal = DigestedResidue::new(state.residue.clone());
            Trusted::new(state.clone(), seal)
        });
        let res64 = [suspect.residue.res64(), 0, 0];
        let back_to = self.go_back_to(check, iteration, res64, state)?;
        Ok(Back::To(Box::new(back_to)))
    }

    /// Returns the newest state at an iteration before `before`, and whether this state is on disk.
    /// Considers the checkpoints on disk and the confirmed state in memory; if both are at the same
    /// iteration, returns the checkpoint. With a second engine, considers only verified states.
    /// Returns `None` if there is no state.
    fn older_state(&mut self, before: u64) -> Result<Option<(State, bool)>, TestError> {
        let only_verified = self.options.verify_with.is_some();
        let on_disk = match self.store.as_deref_mut() {
            Some(store) => store.load_newest_before(before, only_verified)?,
            None => None,
        };
        let on_disk = on_disk.map(|(state, _)| state);
        let newest = on_disk.as_ref().map(|state| state.iteration);
        match &self.confirmed {
            Some(confirmed)
                if confirmed.iteration() < before && Some(confirmed.iteration()) > newest =>
            {
                Ok(Some((confirmed.state(self.memory())?, false)))
            }
            _ => Ok(on_disk.map(|state| (state, true))),
        }
    }

    fn symbols_are_right(&self, state: &State) -> Option<bool> {
        let stop = self.stop;
        let allows = |watch: &JacobiWatch| watch.will_allow(state, &|| stop.is_stopped());
        self.watch.as_ref().map_or(Some(true), allows)
    }

    fn set_aside_from(&mut self, iteration: u64, reason: &str) -> Result<(), TestError> {
        if let Some(store) = self.store.as_deref_mut() {
            store.set_aside_from(iteration, reason)?;
        }
        self.forget_on_disk(|newest| newest >= iteration);
        Ok(())
    }

    /// Sends the events that the checkpoint store has collected since the last call.
    pub(super) fn tell_notices(&mut self) {
        let notices = self.store.as_deref_mut().map(|store| store.take_notices());
        for notice in notices.unwrap_or_default() {
            self.send(notice);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use super::super::ll::LucasLehmer;
    use super::super::{LlStart, RunOptions, TestKind, TestSpec};
    use super::*;
    use crate::checkpoint::CheckpointStore;
    use crate::engine::fp64::Fp64;
    use crate::{Exponent, Plan, StopToken};

    #[test]
    fn a_check_that_goes_wrong_itself_costs_no_checkpoint() {
        let p = 127;
        let exponent = Exponent::new(u64::from(p)).unwrap();
        let spec = TestSpec::new(TestKind::Ll(LlStart::Four), exponent);
        let plan = Plan::of_family(exponent, &Fp64, None, Some(1)).unwrap();
        let root = tempfile::tempdir().unwrap();
        let mut store = CheckpointStore::open(root.path(), p, spec.kind).unwrap();
        let told = RefCell::new(vec![]);
        let mut tell = |event| told.borrow_mut().push(event);
        let (stop, options) = (StopToken::new(), RunOptions::default());
        let ll = LucasLehmer::new(p, LlStart::Four, 125);
        // s_1.
        let residue = Residue::from_u64(p, 14);
        let state = State { iteration: 1, residue: residue.clone(), ..ll.first() };
        store.save(&state).unwrap();

        let mut driver = Driver::new(&spec, plan, Some(&mut store), &mut tell, &stop, &options);
        // As if the check beside the test had computed a wrong symbol.
        let suspect = Suspect { iteration: 1, residue };
        let back = driver.after_jacobi_failure(&ll, &suspect).unwrap();
        assert!(matches!(back, Back::Nowhere));
        assert_eq!(driver.errors.jacobi, 1);
        assert_eq!(*told.borrow(), [Event::CheckErred { check: Check::Jacobi, iteration: 1 }]);

        stop.stop();
        let back = driver.after_jacobi_failure(&ll, &suspect).unwrap();
        // A symbol of 127 bits is computed before the first look at the stop token.
        assert!(matches!(back, Back::Nowhere | Back::Interrupted));
        drop(driver);
        assert_eq!(store.load_newest().unwrap().map(|(state, _)| state), Some(state));
    }
}
