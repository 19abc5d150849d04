//! Recovery from errors. The test goes back to the last good state with a longer transform or a new
//! engine, or gives up.

use warpint_device::DeviceError;

use super::driver::Driver;
use super::pace::Pace;
use super::sequence::Sequence;
use super::{Memory, TestError};
use crate::checkpoint::{LeastLength, State};
use crate::{Check, DigestedResidue, Event};

/// The largest number of failed checks of one kind in a row that are attributed to chance.
const FAILURES_ALLOWED: usize = 2;

impl Driver<'_> {
    /// Replaces `good`, the last good state, by the last verified state of the sequence, if `good` is
    /// on disk and the engine is on the CPU. This releases the memory of two residues.
    /// [`Driver::recall`] reads the state again.
    pub(super) fn let_go(&self, sequence: &dyn Sequence, good: &mut State) {
        let is_on_disk = self.on_disk.as_ref().is_some_and(|(newest, _)| *newest == good.iteration);
        if self.plan.is_on_cpu()
            && is_on_disk
            && good.gerbicz.is_some()
            && let Some(verified) = sequence.verified()
        {
            *good = self.stamped(verified);
        }
    }

    /// Replaces `good` by the newest valid checkpoint of this run if that is of a later iteration. If
    /// there is none, `good` stays, and the test loses the work since then.
    ///
    /// # Errors
    /// Returns an error if a checkpoint cannot be read, because continuing from an older one would
    /// lose work.
    pub(super) fn recall(
        &mut self,
        sequence: &dyn Sequence,
        good: &mut State,
    ) -> Result<(), TestError> {
        let newest = self.on_disk.as_ref().map_or(0, |(newest, _)| *newest);
        if good.gerbicz.is_none() || newest <= good.iteration {
            return Ok(());
        }
        let Some(store) = self.store.as_deref_mut() else { return Ok(()) };
        let found = store.load_newest_before(newest + 1, false);
        self.tell_notices();
        match found? {
            Some((state, path))
                if state.iteration > good.iteration
                    && !sequence.impossible(state.iteration, &state.residue) =>
            {
                self.on_disk = Some((state.iteration, path));
                *good = state;
            }
            // The next state is saved as if nothing later had been on disk.
            _ => self.forget_on_disk(|newest| newest > good.iteration),
        }
        Ok(())
    }

    /// Changes the plan to the next longer transform after a round-off error. The test then
    /// continues from `good`, the last good state. Saves this state with the new length. `measured`
    /// is the round-off.
    ///
    /// If the engine has no longer transform, and `plain` would have to go on, the plan stays at the
    /// first error after each good state: exact products take several times as long, and the error may
    /// be one of the hardware.
    pub(super) fn lengthen(&mut self, measured: f64, good: &mut State) -> Result<(), TestError> {
        let longer = self.plan.longer()?;
        let is_first = self.round_off_at.replace(good.iteration) != Some(good.iteration);
        let stays = is_first && longer.engine() != self.plan.engine();
        let longer = if stays { self.plan } else { longer };
        self.errors.round_off = self.errors.round_off.saturating_add(1);
        self.send(Event::Lengthened {
            from: self.plan.length(),
            to: longer.length(),
            round_off: measured,
            back_to: good.iteration,
        });
        self.plan = longer;
        self.pace = Pace::new(self.clock, self.plan.is_on_cpu());
        if !stays {
            let engine = self.plan.engine().to_owned();
            self.least_length = Some(LeastLength { engine, length: self.plan.length() });
        }
        *good = self.stamped(good.clone());
        // The transform length and the error counts must survive a kill.
        self.save(good)?;
        Ok(())
    }

    /// Handles a wrong squaring. The test then continues from `good`, the last good state, which is
    /// saved with the error counts. If this is not the first failure since the last stretch of right
    /// squarings, the test continues at the next longer transform, if there is one: the cause may be
    /// the round-off of a squaring at which it was not measured.
    ///
    /// # Errors
    /// Returns [`TestError::Unreliable`] after the third failure in a row.
    pub(super) fn after_wrong_squaring(&mut self, good: &mut State) -> Result<(), TestError> {
        let (check, from, back_to) = (Check::Squarings, self.plan.length(), good.iteration);
        self.count(check);
        // Which squaring is wrong is not known. The number of failures tells them apart.
        let failed = self.failures.count(check) as u64;
        self.failures.repeats(check, back_to, [failed, 0, 0]);
        if failed > 0
            && let Ok(longer) = self.plan.longer()
        {
            self.plan = longer;
            let engine = self.plan.engine().to_owned();
            self.least_length = Some(LeastLength { engine, length: self.plan.length() });
        }
        self.pace = Pace::new(self.clock, self.plan.is_on_cpu());
        *good = self.stamped(good.clone());
        self.save(good)?;
        if self.failures.count(check) > FAILURES_ALLOWED {
            return Err(TestError::Unreliable {
                check,
                arithmetic: self.arithmetic(),
                iteration: back_to,
                verified: back_to,
            });
        }
        self.send(Event::WrongSquaring { from, to: self.plan.length(), back_to });
        Ok(())
    }

    /// Returns a text that names the engine, its transform length and its margin.
    fn arithmetic(&self) -> String {
        let (engine, length, margin) = (self.plan.engine(), self.plan.length(), self.plan.margin());
        format!("{engine}, {length} words, margin {:.1} bits", margin.bits)
    }

    /// Handles a failure of a device. Returns `Ok` if a new engine is to continue from `good`, the
    /// last good state. Otherwise returns the error that ends the test.
    ///
    /// A new engine is tried only after [`DeviceError::Failed`], and only once per state, because a
    /// device that is lost or defective would fail again and again.
    pub(super) fn after_device_failure(
        &mut self,
        sequence: &mut dyn Sequence,
        error: DeviceError,
        good: &State,
    ) -> Result<(), TestError> {
        let again = self.device_failed_at == Some(good.iteration);
        let second = sequence.failed_place();
        // Only a failed call can be a passing error.
        if again || !matches!(error, DeviceError::Failed { .. }) {
            let place = second.unwrap_or(self.plan.place()).to_owned();
            return Err(TestError::device(place, error, self.on_disk.clone()));
        }
        self.device_failed_at = Some(good.iteration);
        let reason = match second {
            Some(place) => format!("{place}, of the second engine: {error}"),
            None => error.to_string(),
        };
        self.send(Event::DeviceFailed { reason, back_to: good.iteration });
        self.pace = Pace::new(self.clock, self.plan.is_on_cpu());
        Ok(())
    }

    /// Handles the failure of a check that the sequence itself makes. Returns the state to go back
    /// to: the last verified state of the sequence, or its first state if no state is verified.
    pub(super) fn after_check_failure(
        &mut self,
        sequence: &dyn Sequence,
        check: Check,
        iteration: u64,
        res64: [u64; 3],
    ) -> Result<State, TestError> {
        let state = match sequence.verified() {
            Some(state) if !sequence.is_intact() => {
                return Err(TestError::Memory { verified: state.iteration });
            }
            Some(state) => self.memory().recalled(state),
            None => sequence.first(),
        };
        check_seal(&state)?;
        let verified = state.iteration;
        self.count(check);
        // Residues computed since then must not be written.
        self.pending.clear();
        if let Some(store) = self.store.as_deref_mut()
            && let Err(e) = store.discard_after(verified)
        {
            // If wrong checkpoints stay, they will only be found wrong again.
            self.send(Event::SaveFailed { reason: e.to_string() });
        }
        self.forget_on_disk(|newest| newest > verified);
        self.go_back_to(check, iteration, res64, state)
    }

    /// Adds 1 to the number of errors that checks of this kind have detected.
    pub(super) fn count(&mut self, check: Check) {
        let count = match check {
            Check::Gerbicz => &mut self.errors.gerbicz,
            Check::Jacobi => &mut self.errors.jacobi,
            Check::Second => &mut self.errors.double_check,
            Check::Squarings => &mut self.errors.squarings,
            Check::Lucas => &mut self.errors.lucas,
        };
        *count = count.saturating_add(1);
    }

    /// Records a failed check, and saves and returns `state`, the state to go back to. Returns the
    /// error that ends the test in two cases: if more than two checks of this kind have failed in a
    /// row, or if two of them have failed at this iteration with the same residue. Also returns an
    /// error if `state` has changed in memory.
    pub(super) fn go_back_to(
        &mut self,
        check: Check,
        iteration: u64,
        res64: [u64; 3],
        state: State,
    ) -> Result<State, TestError> {
        let verified = state.iteration;
        let state = self.stamped(state);
        // The error counts must survive a kill and the end of this run.
        self.save(&state)?;
        let repeats = self.failures.repeats(check, iteration, res64);
        if repeats || self.failures.count(check) > FAILURES_ALLOWED {
            let arithmetic = self.arithmetic();
            let res64 = format!("{:016X}", res64[0]);
            return Err(if repeats {
                TestError::RepeatedError { check, arithmetic, iteration, verified, res64 }
            } else {
                TestError::Unreliable { check, arithmetic, iteration, verified }
            });
        }
        self.send(Event::CheckFailed { check, iteration, back_to: verified });
        Ok(state)
    }

    /// Clears the record of the newest checkpoint on disk if `gone` returns true for its iteration.
    /// The caller has removed or renamed the files of these iterations.
    pub(super) fn forget_on_disk(&mut self, gone: impl Fn(u64) -> bool) {
        self.on_disk = self.on_disk.take().filter(|(newest, _)| !gone(*newest));
    }
}

/// A state that a Jacobi check or a second engine has confirmed. It is stored until another state
/// is confirmed.
pub(super) struct Trusted {
    state: State,
    seal: DigestedResidue,
}

impl Trusted {
    /// Creates a trusted state from a state that a check has confirmed. `seal` is the residue with
    /// its digest, which must have been computed before the check.
    pub(super) fn new(state: State, seal: DigestedResidue) -> Self {
        Self { state, seal }
    }

    /// Creates a trusted state from a state that was just read from a file whose checksum was
    /// verified. Computes the digest of its residue.
    pub(super) fn read(state: State) -> Self {
        let seal = DigestedResidue::new(state.residue.clone());
        Self { state, seal }
    }

    pub(super) fn iteration(&self) -> u64 {
        self.state.iteration
    }

    /// Returns the state. Returns an error if the state has changed in memory.
    pub(super) fn state(&self, memory: &dyn Memory) -> Result<State, TestError> {
        let state = memory.recalled(self.state.clone());
        if self.seal.is_intact() && *self.seal.residue() == state.residue {
            Ok(state)
        } else {
            Err(TestError::Memory { verified: self.state.iteration })
        }
    }
}

/// Returns an error if [`State::is_intact`] finds that the state has changed in memory. A state of
/// a Lucas–Lehmer test always passes.
pub(super) fn check_seal(state: &State) -> Result<(), TestError> {
    if state.is_intact() {
        return Ok(());
    }
    let verified = state.gerbicz.as_ref().map_or(state.iteration, |g| g.verified_iteration);
    Err(TestError::Memory { verified })
}

/// The failed checks of each kind since a check of this kind last passed. Kinds are separate,
/// because agreement with a second engine says nothing about a wrong Jacobi symbol.
#[derive(Default)]
pub(super) struct Failures {
    seen: Vec<(Check, u64, [u64; 3])>,
}

impl Failures {
    /// Records a failure. Returns whether a check of this kind has failed before at this iteration
    /// with the same residue.
    fn repeats(&mut self, check: Check, iteration: u64, res64: [u64; 3]) -> bool {
        let failure = (check, iteration, res64);
        let repeated = self.seen.contains(&failure);
        self.seen.push(failure);
        repeated
    }

    fn count(&self, check: Check) -> usize {
        self.seen.iter().filter(|failure| failure.0 == check).count()
    }

    /// Removes the failures of this kind of check, because a check of this kind has passed.
    pub(super) fn clear(&mut self, check: Check) {
        self.seen.retain(|failure| failure.0 != check);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::GerbiczState;
    use crate::primality::prp::Prp;
    use crate::{Residue, TestKind};

    fn prp() -> Prp {
        Prp::new(TestKind::Prp, Residue::from_u64(61u32, 3), 61)
    }

    #[test]
    fn a_state_whose_seal_is_broken_is_neither_used_nor_saved() {
        let sound = prp().first();
        assert!(check_seal(&sound).is_ok());
        let changed = sound.gerbicz.map(|g| GerbiczState {
            verified: DigestedResidue::new(Residue::from_u64(61u32, 3))
                .changed_to(Residue::from_u64(61u32, 5)),
            ..g
        });
        let broken = State { gerbicz: changed, ..prp().first() };
        assert!(matches!(check_seal(&broken), Err(TestError::Memory { verified: 0 })));
    }

    #[test]
    fn a_number_that_a_file_holds_once_must_be_the_sealed_one_wherever_it_stands() {
        let other = || Residue::from_u64(61u32, 7);
        let broken = State { residue: other(), ..prp().first() };
        assert!(matches!(check_seal(&broken), Err(TestError::Memory { verified: 0 })));
        let product = prp().first().gerbicz.map(|g| GerbiczState { product: other(), ..g });
        let broken = State { gerbicz: product, ..prp().first() };
        assert!(matches!(check_seal(&broken), Err(TestError::Memory { verified: 0 })));
        // At a later iteration D and x are different numbers.
        assert!(check_seal(&State { iteration: 5, residue: other(), ..prp().first() }).is_ok());
    }

    #[test]
    fn the_same_failure_again_is_told_from_another_one() {
        let mut failures = Failures::default();
        let mut note = |check, residue| failures.repeats(check, 100, [1, 2, residue]);
        assert!(!note(Check::Jacobi, 3));
        assert!(!note(Check::Jacobi, 4));
        assert!(!note(Check::Second, 3));
        assert!(note(Check::Jacobi, 3));
        assert_eq!((failures.count(Check::Jacobi), failures.count(Check::Second)), (3, 1));
        // A check that passes clears only failures of its own kind.
        failures.clear(Check::Second);
        assert_eq!((failures.count(Check::Jacobi), failures.count(Check::Second)), (3, 0));
        failures.clear(Check::Jacobi);
        assert!(!failures.repeats(Check::Jacobi, 100, [1, 2, 3]));
    }
}
