//! The driver of all tests. It determines the pace, reports progress, writes checkpoints and
//! recovers from errors.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::confirm::{Back, LastCheck};
use super::pace::Pace;
use super::recovery::{Failures, Trusted, check_seal};
use super::sequence::{Advance, Sequence};
use super::watch::JacobiWatch;
use super::{Clock, Finished, Memory, RunOptions, TestError, TestSpec};
use crate::checkpoint::{CheckpointStore, LeastLength, State};
use crate::{
    BuildOptions, Check, Engine, EngineError, ErrorCounts, Event, Outcome, Plan, Residue,
    StopToken, Verdict,
};

/// The longest time between a failed save and the next attempt.
const RETRY: Duration = Duration::from_secs(10);

pub(super) struct Driver<'a> {
    spec: &'a TestSpec,
    pub(super) plan: Plan,
    pub(super) store: Option<&'a mut CheckpointStore>,
    events: &'a mut dyn FnMut(Event),
    pub(super) stop: &'a StopToken,
    pub(super) options: &'a RunOptions,
    pub(super) clock: &'static dyn Clock,
    pub(super) errors: ErrorCounts,
    /// The number of checked squarings of this run.
    checked: u64,
    pub(super) least_length: Option<LeastLength>,
    /// The computing time of earlier runs of the test.
    pub(super) earlier: Duration,
    begun: Instant,
    /// The iteration at which the run begins.
    pub(super) begun_at: u64,
    /// The time at which the next checkpoint is due. `None` means never, because adding the
    /// interval overflows the clock.
    next_save: Option<Instant>,
    next_progress: Instant,
    pub(super) pace: Pace,
    pub(super) failures: Failures,
    /// The iteration and the path of the newest checkpoint on disk.
    pub(super) on_disk: Option<(u64, PathBuf)>,
    /// The iteration from which the test continued after the last failure of the device; `None` if
    /// the device has not failed.
    pub(super) device_failed_at: Option<u64>,
    /// The iteration from which the test continued after the last round-off error; `None` if there was
    /// none.
    pub(super) round_off_at: Option<u64>,
    /// The items to write to disk while the device computes, in the order of writing.
    pub(super) pending: Vec<Pending>,
    /// The Jacobi checks of a Lucas–Lehmer test; `None` for other tests. With a second engine, only
    /// the Jacobi check at the end of the test is made.
    pub(super) watch: Option<JacobiWatch>,
    /// The verdicts after which the test goes on with a further run. The last state of this run then stays
    /// on disk.
    goes_on_after: &'static [Verdict],
    /// The last state that a Jacobi check has confirmed in this run, or else the state of the
    /// newest verified checkpoint at the start of the run. `None` if there is neither.
    pub(super) confirmed: Option<Trusted>,
}

/// An item that is to be written to disk.
pub(super) enum Pending {
    Checkpoint(Box<State>),
    /// An iteration and its residue, which [`super::ResidueSink`] has asked for.
    Residue(u64, Residue),
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        spec: &'a TestSpec,
        plan: Plan,
        store: Option<&'a mut CheckpointStore>,
        events: &'a mut dyn FnMut(Event),
        stop: &'a StopToken,
        options: &'a RunOptions,
    ) -> Self {
        let clock = options.clock;
        let now = clock.now();
        let watched = spec.kind.is_lucas();
        Self {
            spec,
            watch: watched.then(|| JacobiWatch::new(&plan, clock)),
            plan,
            store,
            events,
            stop,
            options,
            clock,
            errors: ErrorCounts::default(),
            checked: 0,
            least_length: None,
            earlier: Duration::ZERO,
            begun: now,
            begun_at: 0,
            next_save: now.checked_add(options.checkpoint_interval),
            next_progress: now,
            pace: Pace::new(clock, plan.is_on_cpu()),
            failures: Failures::default(),
            on_disk: None,
            device_failed_at: None,
            round_off_at: None,
            pending: vec![],
            goes_on_after: &[],
            confirmed: None,
        }
    }

    /// Keeps the last state of the run on disk if its verdict is one of these.
    pub(super) fn going_on_after(mut self, verdicts: &'static [Verdict]) -> Self {
        self.goes_on_after = verdicts;
        self
    }

    /// Runs a sequence to its target. Starts from the newest checkpoint if the store has one.
    pub(super) fn drive(&mut self, sequence: &mut dyn Sequence) -> Result<Finished, TestError> {
        let mut good = self.resume(sequence)?;
        if let Some(residues) = &self.options.residues {
            sequence.stop_at(residues.iterations(good.iteration));
        }
        loop {
            match self.drive_engine(sequence, &mut good) {
                Err(TestError::Engine(EngineError::RoundOff { measured, .. })) => {
                    self.recall(sequence, &mut good)?;
                    self.lengthen(measured, &mut good)?;
                }
                Err(TestError::Engine(EngineError::WrongSquaring { .. })) => {
                    self.recall(sequence, &mut good)?;
                    self.after_wrong_squaring(&mut good)?;
                }
                Err(TestError::Engine(EngineError::Device(error))) => {
                    self.recall(sequence, &mut good)?;
                    self.after_device_failure(sequence, error, &good)?;
                }
                other => return other,
            }
        }
    }

    /// Runs on one engine, starting from the state `good`. Replaces `good` by each state that it
    /// saves or goes back to.
    fn drive_engine(
        &mut self,
        sequence: &mut dyn Sequence,
        good: &mut State,
    ) -> Result<Finished, TestError> {
        check_seal(good)?;
        let asked = self.options.check_squarings;
        let checks =
            self.spec.kind.is_lucas() && asked.unwrap_or_else(|| self.plan.checks_by_default());
        if checks && self.options.only_checked {
            let (engine, length) = (self.plan.engine(), self.plan.length());
            self.plan = self.plan.checking().ok_or(TestError::Unchecked { engine, length })?;
        }
        let mut built = self.plan.build_with(BuildOptions {
            check_squarings: checks,
            ahead: Some(sequence.step()),
            ..BuildOptions::new(sequence.registers(), 1)
        })?;
        let engine = built.as_mut();
        let checked_before = self.checked;
        sequence.load(engine, good)?;
        self.let_go(sequence, good);
        self.pace.skip();
        loop {
            if self.plan.is_on_cpu() {
                // Nothing is gained by writing later, and the states take memory.
                self.write_pending()?;
                self.let_go(sequence, good);
            }
            let before = sequence.iteration();
            let advanced = sequence.advance(engine, self.pace.stride());
            // The device computes asynchronously, which leaves time for writing.
            self.write_pending()?;
            let advanced = advanced?;
            // The pace is measured from finished work.
            engine.finish()?;
            self.checked = checked_before + engine.health().checked_squarings;
            match advanced {
                Advance::Going => {}
                Advance::Reached(residue) => {
                    self.pending.push(Pending::Residue(sequence.iteration(), residue));
                }
                Advance::Verified => {
                    let check = sequence.check();
                    self.failures.clear(check);
                    self.send(Event::Verified { check, iteration: sequence.iteration() });
                    *good = self.snapshot(sequence, engine)?;
                    self.pending.push(Pending::Checkpoint(Box::new(good.clone())));
                }
                Advance::CheckFailed { iteration, res64 } => {
                    check_constants(sequence, engine)?;
                    let check = sequence.check();
                    *good = self.after_check_failure(sequence, check, iteration, res64)?;
                    sequence.load(engine, good)?;
                }
                Advance::Finished(last) => {
                    check_constants(sequence, engine)?;
                    self.check_possible(sequence, &last)?;
                    match self.last_check(sequence.check(), sequence.iteration(), &last)? {
                        LastCheck::Passed => {}
                        LastCheck::Failed(suspect) => {
                            match self.after_jacobi_failure(sequence, &suspect)? {
                                Back::To(state) => {
                                    *good = *state;
                                    sequence.load(engine, good)?;
                                    continue;
                                }
                                Back::Nowhere => {}
                                Back::Interrupted => return self.stop_at(good),
                                Back::Stopped(stopped) => return Ok(stopped),
                            }
                        }
                        LastCheck::Stopped => return self.stop_at(good),
                    }
                    let (verdict, _) = sequence.verdict(last.clone());
                    // Otherwise the further run could not be resumed.
                    let goes_on = self.goes_on_after.contains(&verdict);
                    let wanted = verdict == Verdict::Interim || self.options.residues.is_some();
                    if wanted || goes_on {
                        *good = self.snapshot(sequence, engine)?;
                        self.pending.push(Pending::Checkpoint(Box::new(good.clone())));
                    }
                    self.write_pending()?;
                    let outcome = self.outcome(sequence, engine, last)?;
                    return Ok(Finished::Done(Box::new(outcome)));
                }
            }
            self.pace.note(sequence.iteration().saturating_sub(before));
            self.progress(sequence, engine);
            if let Some(judged) = self.watch.as_mut().and_then(JacobiWatch::poll)
                && let Some(suspect) = self.take_judged(judged)
            {
                match self.after_jacobi_failure(sequence, &suspect)? {
                    Back::To(state) => {
                        *good = *state;
                        sequence.load(engine, good)?;
                    }
                    Back::Nowhere => {}
                    Back::Interrupted => return self.stop_at(good),
                    Back::Stopped(stopped) => return Ok(stopped),
                }
            }
            if self.stop.is_stopped() {
                self.write_pending()?;
                *good = self.snapshot(sequence, engine)?;
                let saved = self.save(good)?;
                return Ok(Finished::Stopped { iteration: good.iteration, saved });
            }
            if self.save_is_due() {
                *good = self.snapshot(sequence, engine)?;
                self.failures.clear(Check::Squarings);
                self.pending.push(Pending::Checkpoint(Box::new(good.clone())));
            }
        }
    }

    /// Ends the run after a request to stop, and saves `good`, the last good state.
    fn stop_at(&mut self, good: &State) -> Result<Finished, TestError> {
        self.write_pending()?;
        let saved = self.save(good)?;
        Ok(Finished::Stopped { iteration: good.iteration, saved })
    }

    /// Writes the pending items in order. So a residue is written before any checkpoint of a later
    /// iteration.
    fn write_pending(&mut self) -> Result<(), TestError> {
        for pending in std::mem::take(&mut self.pending) {
            match pending {
                Pending::Checkpoint(state) => {
                    self.save(&state)?;
                }
                Pending::Residue(iteration, residue) => {
                    let options = self.options;
                    let Some(residues) = &options.residues else { continue };
                    if let Err(e) = residues.keep(iteration, &residue) {
                        self.send(Event::ResidueLost { iteration, reason: e.to_string() });
                    }
                }
            }
        }
        Ok(())
    }

    /// Returns whether a checkpoint is due. If the clock was set back, the due time is moved to at
    /// most one interval from now.
    fn save_is_due(&mut self) -> bool {
        let now = self.clock.now();
        let latest = now.checked_add(self.options.checkpoint_interval);
        self.next_save = self.next_save.min(latest).or(self.next_save);
        self.next_save.is_some_and(|due| now >= due)
    }

    fn snapshot(
        &self,
        sequence: &dyn Sequence,
        engine: &mut dyn Engine,
    ) -> Result<State, TestError> {
        check_constants(sequence, engine)?;
        let state = sequence.snapshot(engine)?;
        if !sequence.is_intact() {
            return Err(TestError::Memory { verified: state.iteration });
        }
        self.check_possible(sequence, &state.residue)?;
        Ok(self.stamped(self.memory().recalled(state)))
    }

    pub(super) fn memory(&self) -> &'static dyn Memory {
        self.options.memory
    }

    fn check_possible(&self, sequence: &dyn Sequence, residue: &Residue) -> Result<(), TestError> {
        if sequence.impossible(sequence.iteration(), residue) {
            let (iteration, res64) = (sequence.iteration(), residue.res64_hex());
            return Err(TestError::Impossible { iteration, res64 });
        }
        Ok(())
    }

    /// Returns the state with three fields filled in: the present elapsed time, error counts and
    /// least transform length.
    pub(super) fn stamped(&self, state: State) -> State {
        let least_length = self.least_length.clone();
        State { elapsed: self.elapsed(), errors: self.errors, least_length, ..state }
    }

    /// Saves a state. If a Jacobi check is due, starts a check of this state. Returns whether the
    /// state is on disk.
    pub(super) fn save(&mut self, state: &State) -> Result<bool, TestError> {
        let saved = self.write(state)?;
        if let Some(watch) = &mut self.watch {
            watch.offer(state);
        }
        Ok(saved)
    }

    /// Saves a state without starting a Jacobi check. Returns whether the state is on disk.
    pub(super) fn write(&mut self, state: &State) -> Result<bool, TestError> {
        check_seal(state)?;
        let mut wait = self.options.checkpoint_interval;
        let mut saved = false;
        // A state confirmed later, behind the newest checkpoint, does not postpone the next
        // checkpoint.
        let newest = self.on_disk.as_ref().is_none_or(|(newest, _)| *newest <= state.iteration);
        if let Some(store) = self.store.as_deref_mut() {
            let event = match store.save(state) {
                Ok(file) => {
                    saved = true;
                    let (path, verified) = (file.path, file.verified);
                    if newest {
                        self.on_disk = Some((state.iteration, path.clone()));
                    }
                    Event::Saved { iteration: state.iteration, path, verified }
                }
                Err(e) => {
                    wait = wait.min(RETRY);
                    Event::SaveFailed { reason: e.to_string() }
                }
            };
            self.send(event);
        }
        if newest || !saved {
            self.next_save = self.clock.now().checked_add(wait);
        }
        Ok(saved)
    }

    fn progress(&mut self, sequence: &dyn Sequence, engine: &dyn Engine) {
        let now = self.clock.now();
        let stride = self.pace.stride_time();
        if now < self.next_progress && self.next_progress <= now + stride {
            return;
        }
        self.next_progress = now + stride;
        self.send(Event::Progress {
            iteration: sequence.iteration(),
            total: sequence.target(),
            per_iteration: self.pace.per_iteration(),
            round_off: engine.health().round_off,
        });
    }

    fn outcome(
        &self,
        sequence: &dyn Sequence,
        engine: &mut dyn Engine,
        last: Residue,
    ) -> Result<Outcome, TestError> {
        let shift = sequence.first().shift;
        let (mut verdict, residue) = sequence.verdict(last);
        let factors = &self.spec.known_factors;
        if verdict != Verdict::Interim && !factors.is_empty() {
            let p = self.plan.exponent();
            let judged = factors.judge(engine, &residue)?;
            verdict = judged.ok_or(TestError::CofactorDiffers { exponent: p })?;
        }
        Ok(Outcome {
            kind: self.spec.kind,
            number: self.plan.number(),
            verdict,
            residue,
            iterations: sequence.target(),
            resumed_at: self.begun_at,
            engine: engine.name(),
            place: self.plan.place(),
            length: engine.length(),
            round_off: engine.health().round_off,
            checked_squarings: self.checked,
            errors: self.errors,
            twice: sequence.is_twice(),
            shift,
            known_factors: factors.texts().to_vec(),
            bases: vec![],
            elapsed: self.elapsed(),
        })
    }

    fn elapsed(&self) -> Duration {
        self.earlier.saturating_add(self.clock.now().saturating_duration_since(self.begun))
    }

    pub(super) fn send(&mut self, event: Event) {
        (self.events)(event);
    }
}

/// Returns an error if a number by which engine or sequence compute has changed in memory. Their own
/// checks would not notice it.
fn check_constants(sequence: &dyn Sequence, engine: &dyn Engine) -> Result<(), TestError> {
    if engine.is_intact() && sequence.has_right_constants() {
        return Ok(());
    }
    Err(TestError::Constants { iteration: sequence.iteration() })
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use super::super::{LlStart, TestKind};
    use super::*;
    use crate::Exponent;
    use crate::checkpoint::Confirmation;
    use crate::engine::fp64::Fp64;

    /// A clock that advances only when a test advances it.
    #[derive(Debug)]
    struct ByHand(Mutex<Instant>);

    impl Clock for ByHand {
        fn now(&self) -> Instant {
            *self.0.lock().unwrap()
        }
    }

    #[test]
    fn an_older_state_that_a_check_has_confirmed_does_not_put_off_the_next_checkpoint() {
        let clock: &'static ByHand = Box::leak(Box::new(ByHand(Mutex::new(Instant::now()))));
        let wait = |seconds| *clock.0.lock().unwrap() += Duration::from_secs(seconds);
        let exponent = Exponent::new(127).unwrap();
        let spec = TestSpec::new(TestKind::Ll(LlStart::Four), exponent);
        let plan = Plan::of_family(exponent, &Fp64, None, Some(1)).unwrap();
        let root = tempfile::tempdir().unwrap();
        let mut store = CheckpointStore::open(root.path(), 127u32, spec.kind).unwrap();
        let mut unheard = |_| {};
        let (stop, options) = (StopToken::new(), RunOptions { clock, ..RunOptions::default() });
        let mut driver = Driver::new(&spec, plan, Some(&mut store), &mut unheard, &stop, &options);
        let state = |iteration, confirmed| State {
            kind: spec.kind,
            iteration,
            residue: Residue::from_u64(127u32, 14),
            shift: 0,
            elapsed: Duration::ZERO,
            errors: ErrorCounts::default(),
            least_length: None,
            confirmed,
            gerbicz: None,
            lucas: None,
        };
        driver.save(&state(50, Confirmation::No)).unwrap();
        wait(59);
        driver.save(&state(40, Confirmation::Jacobi)).unwrap();
        assert!(!driver.save_is_due());
        wait(2);
        assert!(driver.save_is_due());
        driver.save(&state(60, Confirmation::No)).unwrap();
        assert!(!driver.save_is_due());
    }
}
