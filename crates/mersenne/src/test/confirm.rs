//! What the Jacobi checks of a Lucas–Lehmer test find, and what is done then.

use super::driver::{Driver, Pending};
use super::recovery::Confirmed;
use super::sequence::Sequence;
use super::watch::{JacobiWatch, Judged};
use super::{Finished, TestError};
use crate::checkpoint::State;
use crate::{Check, Event, Residue, Sealed};

/// What the last check of all has found.
pub(super) enum LastCheck {
    Passed,
    /// Where, and res64.
    Failed(u64, u64),
    /// Somebody asked for a stop before it knew.
    Stopped,
}

/// Where a test goes on after a Jacobi check has failed.
pub(super) enum Back {
    /// From this state.
    To(Box<State>),
    /// Nowhere: somebody asked for a stop before that was found.
    Stopped(Finished),
}

impl Driver<'_> {
    /// The check of a last residue that is not made yet: Jacobi's, and of a state still under way.
    pub(super) fn last_check(
        &mut self,
        check: Check,
        iteration: u64,
        last: &Residue,
    ) -> Result<LastCheck, TestError> {
        if check != Check::Jacobi {
            // What has its own checks has made the last of them.
            self.send(Event::Verified { check, iteration });
        }
        let stop = self.stop;
        let Some(watch) = &mut self.watch else { return Ok(LastCheck::Passed) };
        let judged = watch.wait_unless(&|| stop.is_stopped());
        if let Some(judged) = judged
            && let Some((iteration, res64)) = self.take_judged(judged)
        {
            return Ok(LastCheck::Failed(iteration, res64));
        }
        let Some(watch) = &self.watch else { return Ok(LastCheck::Passed) };
        match watch.allows(iteration, last, &|| stop.is_stopped()) {
            Some(true) => {
                self.send(Event::Verified { check: Check::Jacobi, iteration });
                Ok(LastCheck::Passed)
            }
            Some(false) => Ok(LastCheck::Failed(iteration, last.res64())),
            None => Ok(LastCheck::Stopped),
        }
    }

    /// Keeps a state that a Jacobi check has confirmed; where it has not, iteration and res64.
    pub(super) fn take_judged(&mut self, judged: Judged) -> Option<(u64, u64)> {
        let Judged { state, seal, passed } = judged;
        if !passed {
            return Some((state.iteration, state.residue.res64()));
        }
        self.failures.clear();
        self.send(Event::Verified { check: Check::Jacobi, iteration: state.iteration });
        let state = State { confirmed: true, ..state };
        self.confirmed = Some(Confirmed::new(state.clone(), seal));
        self.pending.push(Pending::Checkpoint(Box::new(state)));
        None
    }

    /// Goes back from a residue whose symbol is wrong, to the newest older state from which no
    /// sound computation comes to one. Checkpoints that are as old as the residue, or newer,
    /// and those found wrong on the way, are set aside, also those that a check or a second engine
    /// has confirmed: it was wrong, or what it has confirmed is not what is there now.
    pub(super) fn after_jacobi_failure(
        &mut self,
        sequence: &dyn Sequence,
        (iteration, res64): (u64, u64),
    ) -> Result<Back, TestError> {
        if let Some(watch) = &mut self.watch {
            watch.forget();
        }
        self.set_aside_from(iteration, "it follows a residue whose Jacobi symbol is wrong")?;
        let mut before = iteration;
        let state = loop {
            let Some((candidate, saved)) = self.older_state(before)? else {
                break sequence.first();
            };
            before = candidate.iteration;
            let possible = !sequence.impossible(before, &candidate.residue);
            match self.symbols_are_right(&candidate) {
                Some(true) if possible => break State { confirmed: true, ..candidate },
                Some(_) => self.set_aside_from(before, "its Jacobi symbols are wrong")?,
                None => {
                    self.tell_notices();
                    return Ok(Back::Stopped(Finished::Stopped { iteration: before, saved }));
                }
            }
        };
        self.tell_notices();
        let state = State { confirmed: state.confirmed && state.iteration > 0, ..state };
        self.confirmed = state.confirmed.then(|| {
            let seal = Sealed::new(state.residue.clone());
            Confirmed::new(state.clone(), seal)
        });
        let back_to = self.count_failure(Check::Jacobi, iteration, [res64, 0, 0], state)?;
        Ok(Back::To(Box::new(back_to)))
    }

    /// The newest state before an iteration, on disk or else in memory, and whether it is on disk.
    /// Beside a second engine only what is verified.
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

    /// Tells what the store has to tell.
    pub(super) fn tell_notices(&mut self) {
        let notices = self.store.as_deref_mut().map(|store| store.take_notices());
        for notice in notices.unwrap_or_default() {
            self.send(notice);
        }
    }
}
