//! What every long test shares: pace, progress, checkpoints, recovery.

use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use warpint_device::DeviceError;

use super::sequence::{Advance, Sequence};
use super::{Finished, RunOptions, TestError, TestKind};
use crate::checkpoint::{CheckpointStore, LeastLength, State};
use crate::{Engine, EngineError, ErrorCounts, Event, Outcome, Plan, Residue, StopToken, Verdict};

/// Work between two looks at the clock and the stop token.
const STRIDE: Duration = Duration::from_millis(200);
/// After a save has failed, the next attempt comes at the latest after this.
const RETRY: Duration = Duration::from_secs(10);
/// Failed checks in a row that are taken for chance.
const FAILURES_ALLOWED: u32 = 2;

pub(super) struct Driver<'a> {
    kind: TestKind,
    plan: Plan,
    store: Option<&'a mut CheckpointStore>,
    events: &'a Sender<Event>,
    stop: &'a StopToken,
    options: &'a RunOptions,
    errors: ErrorCounts,
    least_length: Option<LeastLength>,
    /// Time of earlier sittings.
    earlier: Duration,
    begun: Instant,
    /// `None`: never, the interval being too long for the clock.
    next_save: Option<Instant>,
    next_progress: Instant,
    pace: Pace,
    failures: Failures,
    /// The newest checkpoint on disk.
    on_disk: Option<(u64, PathBuf)>,
    /// The iteration from which the test went on after the device failed.
    device_failed_at: Option<u64>,
}

impl<'a> Driver<'a> {
    pub(super) fn new(
        kind: TestKind,
        plan: Plan,
        store: Option<&'a mut CheckpointStore>,
        events: &'a Sender<Event>,
        stop: &'a StopToken,
        options: &'a RunOptions,
    ) -> Self {
        let now = Instant::now();
        Self {
            kind,
            plan,
            store,
            events,
            stop,
            options,
            errors: ErrorCounts::default(),
            least_length: None,
            earlier: Duration::ZERO,
            begun: now,
            next_save: now.checked_add(options.checkpoint_interval),
            next_progress: now,
            pace: Pace::new(),
            failures: Failures::default(),
            on_disk: None,
            device_failed_at: None,
        }
    }

    /// Runs a sequence to its target, from the newest checkpoint if there is one.
    pub(super) fn drive(&mut self, sequence: &mut dyn Sequence) -> Result<Finished, TestError> {
        let mut good = self.resume(sequence)?;
        loop {
            match self.drive_engine(sequence, &mut good) {
                Err(TestError::Engine(EngineError::RoundOff { measured, .. })) => {
                    self.lengthen(measured, &mut good)?;
                }
                Err(TestError::Engine(EngineError::Device(error))) => {
                    self.after_device_failure(error, &good)?;
                }
                other => return other,
            }
        }
    }

    /// Runs on one engine, from the state `good`, which follows as it is saved.
    fn drive_engine(
        &mut self,
        sequence: &mut dyn Sequence,
        good: &mut State,
    ) -> Result<Finished, TestError> {
        check_seal(good)?;
        let mut built = self.plan.build(sequence.registers())?;
        let engine = built.as_mut();
        sequence.load(engine, good)?;
        self.pace.skip();
        loop {
            let before = sequence.iteration();
            let advanced = sequence.advance(engine, self.pace.stride())?;
            // A device computes on behind our back: the pace is that of finished work.
            engine.finish()?;
            match advanced {
                Advance::Going => {}
                Advance::Verified => {
                    self.failures.clear();
                    self.send(Event::Verified { iteration: sequence.iteration() });
                    *good = self.snapshot(sequence, engine)?;
                    self.save(good)?;
                }
                Advance::CheckFailed { iteration, res64 } => {
                    if let Some(state) = self.after_failure(sequence, iteration, res64)? {
                        sequence.load(engine, &state)?;
                        *good = state;
                        // The counts must outlive a kill.
                        self.save(good)?;
                    }
                }
                Advance::Finished(last) => {
                    self.check_possible(sequence, &last)?;
                    if sequence.verdict(last.clone()).0 == Verdict::Interim {
                        *good = self.snapshot(sequence, engine)?;
                        self.save(good)?;
                    }
                    return Ok(Finished::Done(Box::new(self.outcome(sequence, engine, last))));
                }
            }
            self.pace.note(sequence.iteration().saturating_sub(before));
            self.progress(sequence, engine);
            if self.stop.is_stopped() {
                *good = self.snapshot(sequence, engine)?;
                let saved = self.save(good)?;
                return Ok(Finished::Stopped { iteration: good.iteration, saved });
            }
            if self.next_save.is_some_and(|due| Instant::now() >= due) {
                *good = self.snapshot(sequence, engine)?;
                self.save(good)?;
            }
        }
    }

    /// The newest sound checkpoint, or the beginning.
    fn resume(&mut self, sequence: &dyn Sequence) -> Result<State, TestError> {
        let mut found = None;
        if let Some(store) = self.store.as_deref_mut() {
            found = store.load_newest()?;
            while let Some((state, path)) = &found {
                if !sequence.impossible(state.iteration, &state.residue) {
                    break;
                }
                store.set_aside(path, "no sound computation has its residue");
                found = store.load_newest()?;
            }
            for notice in store.take_notices() {
                self.send(notice);
            }
        }
        let (state, resumed_from) = match found {
            Some((state, path)) => {
                self.on_disk = Some((state.iteration, path.clone()));
                (state, Some(path))
            }
            None => (sequence.first(), None),
        };
        let wanted = sequence.target();
        if state.iteration > wanted {
            return Err(TestError::PastTarget { found: state.iteration, wanted });
        }
        self.errors = state.errors;
        self.earlier = state.elapsed;
        self.least_length = state.least_length.clone();
        if let Some(least) = &state.least_length
            && least.engine == self.plan.engine()
            && least.length > self.plan.length()
        {
            let from = self.plan.length();
            self.plan = self.plan.at_least(least.length).unwrap_or(self.plan);
            self.send(Event::LengthKept { from, to: self.plan.length() });
        }
        self.send(Event::Started { iteration: state.iteration, total: wanted, resumed_from });
        Ok(state)
    }

    /// Takes the next longer transform, to go on from the last good state.
    fn lengthen(&mut self, measured: f64, good: &mut State) -> Result<(), TestError> {
        let longer = self.plan.longer()?;
        self.errors.round_off = self.errors.round_off.saturating_add(1);
        self.send(Event::Lengthened {
            from: self.plan.length(),
            to: longer.length(),
            round_off: measured,
            back_to: good.iteration,
        });
        self.plan = longer;
        self.pace = Pace::new();
        self.least_length =
            Some(LeastLength { engine: self.plan.engine().to_owned(), length: self.plan.length() });
        *good = self.stamped(good.clone());
        // The length and the counts must outlive a kill.
        self.save(good)?;
        Ok(())
    }

    /// Decides whether a device that has failed gets another engine, to go on
    /// from the last good state: once from each such state, for a device that
    /// is lost or broken would fail again and again.
    fn after_device_failure(&mut self, error: DeviceError, good: &State) -> Result<(), TestError> {
        let again = self.device_failed_at == Some(good.iteration);
        // Only a failed call may have been a passing trouble.
        if again || !matches!(error, DeviceError::Failed { .. }) {
            let place = self.plan.place().to_owned();
            return Err(TestError::device(place, error, self.on_disk.clone()));
        }
        self.device_failed_at = Some(good.iteration);
        self.send(Event::DeviceFailed { reason: error.to_string(), back_to: good.iteration });
        self.pace = Pace::new();
        Ok(())
    }

    /// Counts a failed check and gives the state to go back to.
    fn after_failure(
        &mut self,
        sequence: &dyn Sequence,
        iteration: u64,
        res64: [u64; 3],
    ) -> Result<Option<State>, TestError> {
        let Some(state) = sequence.verified() else { return Ok(None) };
        let verified = state.iteration;
        self.errors.gerbicz = self.errors.gerbicz.saturating_add(1);
        check_seal(&state)?;
        if self.failures.repeats(iteration, res64) {
            let res64 = format!("{:016X}", res64[0]);
            return Err(TestError::RepeatedError { iteration, verified, res64 });
        }
        if self.failures.count > FAILURES_ALLOWED {
            return Err(TestError::Unreliable { iteration, verified });
        }
        if let Some(store) = self.store.as_deref_mut()
            && let Err(e) = store.discard_after(verified)
        {
            // The wrong checkpoints that stay would only be found wrong again.
            self.send(Event::SaveFailed { reason: e.to_string() });
        }
        self.send(Event::CheckFailed { iteration, back_to: verified });
        Ok(Some(self.stamped(state)))
    }

    fn snapshot(
        &self,
        sequence: &dyn Sequence,
        engine: &mut dyn Engine,
    ) -> Result<State, TestError> {
        let state = sequence.snapshot(engine)?;
        self.check_possible(sequence, &state.residue)?;
        Ok(self.stamped(state))
    }

    fn check_possible(&self, sequence: &dyn Sequence, residue: &Residue) -> Result<(), TestError> {
        if sequence.impossible(sequence.iteration(), residue) {
            let (iteration, res64) = (sequence.iteration(), residue.res64_hex());
            return Err(TestError::Impossible { iteration, res64 });
        }
        Ok(())
    }

    /// A state with the time, errors and length up to now.
    fn stamped(&self, state: State) -> State {
        let least_length = self.least_length.clone();
        State { elapsed: self.elapsed(), errors: self.errors, least_length, ..state }
    }

    /// Whether the state is now on disk.
    fn save(&mut self, state: &State) -> Result<bool, TestError> {
        check_seal(state)?;
        let mut wait = self.options.checkpoint_interval;
        let mut saved = false;
        if let Some(store) = self.store.as_deref_mut() {
            let event = match store.save(state) {
                Ok(file) => {
                    saved = true;
                    let (path, verified) = (file.path, file.verified);
                    self.on_disk = Some((state.iteration, path.clone()));
                    Event::Saved { iteration: state.iteration, path, verified }
                }
                Err(e) => {
                    wait = wait.min(RETRY);
                    Event::SaveFailed { reason: e.to_string() }
                }
            };
            self.send(event);
        }
        self.next_save = Instant::now().checked_add(wait);
        Ok(saved)
    }

    fn progress(&mut self, sequence: &dyn Sequence, engine: &dyn Engine) {
        let now = Instant::now();
        if now < self.next_progress {
            return;
        }
        self.next_progress = now + STRIDE;
        self.send(Event::Progress {
            iteration: sequence.iteration(),
            total: sequence.target(),
            per_iteration: self.pace.per_iteration(),
            round_off: engine.health().round_off,
        });
    }

    fn outcome(&self, sequence: &dyn Sequence, engine: &dyn Engine, last: Residue) -> Outcome {
        let first = sequence.first();
        let (verdict, residue) = sequence.verdict(last);
        Outcome {
            kind: self.kind,
            exponent: self.plan.exponent().get(),
            verdict,
            residue,
            iterations: sequence.target(),
            engine: engine.name(),
            place: self.plan.place(),
            length: engine.length(),
            round_off: engine.health().round_off,
            errors: self.errors,
            shift: first.shift,
            elapsed: self.elapsed(),
        }
    }

    fn elapsed(&self) -> Duration {
        self.earlier + self.begun.elapsed()
    }

    fn send(&self, event: Event) {
        // Nobody listening is no reason to stop computing.
        let _ = self.events.send(event);
    }
}

/// Refuses a state that memory has changed since it was verified.
fn check_seal(state: &State) -> Result<(), TestError> {
    match &state.gerbicz {
        Some(g) if !state.is_intact() => Err(TestError::Memory { verified: g.verified_iteration }),
        _ => Ok(()),
    }
}

/// How fast the run is, and so how many squarings fill a stride.
struct Pace {
    lap: Instant,
    /// Time and squarings lately: of what was a lap ago, e^(−lap/[`LATELY`]) counts.
    seconds: f64,
    squarings: f64,
}

/// The time over which a pace is averaged.
const LATELY: Duration = Duration::from_secs(3);

impl Pace {
    fn new() -> Self {
        Self { lap: Instant::now(), seconds: 0.0, squarings: 0.0 }
    }

    /// Leaves the time since the last lap out of the account.
    fn skip(&mut self) {
        self.lap = Instant::now();
    }

    fn stride(&self) -> u64 {
        let strides = STRIDE.as_secs_f64() * self.squarings / self.seconds;
        // From 1 to 2^20, whatever the clock says (0/0 at first is 1).
        if strides.is_finite() { strides.clamp(1.0, 1_048_576.0) as u64 } else { 1 }
    }

    /// n squarings of the sequence have been done since the last call; time
    /// spent on checks counts towards the next ones.
    fn note(&mut self, n: u64) {
        if n == 0 {
            return;
        }
        let lap = self.lap.elapsed().as_secs_f64();
        self.skip();
        let kept = (-lap / LATELY.as_secs_f64()).exp();
        self.seconds = self.seconds * kept + lap;
        self.squarings = self.squarings * kept + n as f64;
    }

    fn per_iteration(&self) -> Duration {
        let seconds = self.seconds / self.squarings.max(1.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
    }
}

/// Failed checks since the last that passed.
#[derive(Default)]
struct Failures {
    count: u32,
    seen: Vec<(u64, [u64; 3])>,
}

impl Failures {
    /// Notes a failure; whether the same residue has failed here before.
    fn repeats(&mut self, iteration: u64, res64: [u64; 3]) -> bool {
        let repeated = self.seen.contains(&(iteration, res64));
        self.count += 1;
        self.seen.push((iteration, res64));
        repeated
    }

    fn clear(&mut self) {
        *self = Self::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checkpoint::GerbiczState;
    use crate::test::prp::Prp;
    use crate::{Residue, Sealed};

    #[test]
    fn a_state_whose_seal_is_broken_is_neither_used_nor_saved() {
        let sound = Prp::new(61, 61).first();
        assert!(check_seal(&sound).is_ok());
        let changed = sound.gerbicz.map(|g| GerbiczState {
            verified: Sealed::new(Residue::from_u64(61, 3)).changed_to(Residue::from_u64(61, 5)),
            ..g
        });
        let broken = State { gerbicz: changed, ..Prp::new(61, 61).first() };
        assert!(matches!(check_seal(&broken), Err(TestError::Memory { verified: 0 })));
    }

    #[test]
    fn the_same_failure_again_is_told_from_another_one() {
        let mut failures = Failures::default();
        assert!(!failures.repeats(100, [1, 2, 3]));
        assert!(!failures.repeats(100, [1, 2, 4]));
        assert!(failures.repeats(100, [1, 2, 3]));
        failures.clear();
        assert!(!failures.repeats(100, [1, 2, 3]));
    }
}
