//! Verification of the units of a range, by several devices and processes. A run can be stopped and
//! resumed.

mod queue;
#[cfg(test)]
mod tests;
mod told;

use std::collections::HashSet;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::{Duration, Instant};

use queue::{Next, Queue};

pub use queue::{Selection, SelectionError};
pub use told::{Event, Outcome};
use warpint_files::Lock;

use crate::runs::folder::Found;
use crate::runs::name::Name;
use crate::runs::sample::Sample;
use crate::runs::{Folder, FolderError, Layout, Unit};
use crate::{CollatzError, Verifier, Watch};

/// The time that a worker waits before it asks the queue again, if all remaining units are locked
/// by other processes.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// A run: the selected units of a layout, and the directory of their files.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The division of the range into units.
    pub layout: &'a Layout,
    /// The directory of the unit files.
    pub folder: &'a Folder,
    /// The units to verify.
    pub selection: Selection,
}

/// The state shared by the workers.
struct Shared<'a> {
    run: Run<'a>,
    queue: Mutex<Queue>,
    outcome: Mutex<Outcome>,
    /// The numbers of the units with a sound file that was reported.
    finished: Mutex<HashSet<u64>>,
    is_without_locks: AtomicBool,
    watch: &'a dyn Watch,
    events: Sender<Event>,
}

/// The way in which the work on a unit ended.
enum End {
    /// The unit's result or failure was reported, and the worker continues.
    Settled,
    /// Another process is verifying the unit.
    Elsewhere,
    /// The watch stopped the work.
    Stopped,
    /// The device is unusable, and the worker ends.
    Retired,
}

impl Run<'_> {
    /// Verifies the selected units that are not done until none is left, and returns the outcome.
    /// Each verifier runs in a thread of its own. The run waits for units that other processes are
    /// verifying, and verifies them itself if these processes die. At the end, the run reads the
    /// other unit files in the directory, because they may list unresolved numbers.
    ///
    /// A unit whose device fails or returns a wrong result stays undone, and that device gets no
    /// more units; other devices continue. If a file cannot be written or the directory cannot be
    /// used, the run ends early. Finished units are kept in any case, and a later run verifies the
    /// rest.
    ///
    /// # Errors
    /// The directory cannot be listed.
    pub fn go(
        self,
        verifiers: Vec<Box<dyn Verifier>>,
        watch: &dyn Watch,
        events: Sender<Event>,
    ) -> Result<Outcome, FolderError> {
        self.folder.clear_away()?;
        let begin = Instant::now();
        let outcome = Outcome {
            units: self.layout.units(),
            selected: self.selection.count(),
            ..Outcome::default()
        };
        let shared = Shared {
            run: self,
            queue: Mutex::new(Queue::new(self.selection)),
            outcome: Mutex::new(outcome),
            finished: Mutex::new(HashSet::new()),
            is_without_locks: AtomicBool::new(false),
            watch,
            events,
        };
        std::thread::scope(|scope| {
            let shared = &shared;
            let workers: Vec<_> = verifiers
                .into_iter()
                .map(|mut verifier| scope.spawn(move || shared.work(verifier.as_mut())))
                .collect();
            for worker in workers {
                if worker.join().is_err() {
                    shared.break_off("a thread ended unexpectedly".into());
                }
            }
        });
        let sound = shared.others();
        let mut outcome = locked(&shared.outcome).clone();
        outcome.seconds = begin.elapsed().as_secs_f64();
        outcome.failed.sort_unstable();
        outcome.unresolved.sort_unstable();
        outcome.unresolved.dedup();
        outcome.stopped = watch.is_stopped() && outcome.done + outcome.before < outcome.selected;
        match sound {
            Ok(sound) => outcome.complete = sound == outcome.units,
            Err(error) => drop(outcome.broken.get_or_insert(error.to_string())),
        }
        Ok(outcome)
    }
}

impl Shared<'_> {
    fn work(&self, verifier: &mut dyn Verifier) {
        while !self.watch.is_stopped() && locked(&self.outcome).broken.is_none() {
            let next = locked(&self.queue).next();
            let unit = match next {
                Next::Unit(unit) => unit,
                Next::Later => {
                    std::thread::sleep(LOOK_EVERY);
                    continue;
                }
                Next::End => return,
            };
            match self.unit(unit, verifier) {
                Ok(End::Settled) => {}
                Ok(End::Elsewhere) => locked(&self.queue).put_off(unit),
                Ok(End::Stopped | End::Retired) => return,
                Err(
                    error @ (FolderError::Read { .. }
                    | FolderError::Later { .. }
                    | FolderError::NoLock { .. }),
                ) => {
                    self.fail(unit, verifier, error.to_string());
                }
                Err(error) => {
                    self.fail(unit, verifier, error.to_string());
                    self.break_off(error.to_string());
                }
            }
        }
    }

    fn unit(&self, unit: u64, verifier: &mut dyn Verifier) -> Result<End, FolderError> {
        let Run { layout, folder, .. } = self.run;
        if let Found::Sound(found) = folder.find(layout, unit)? {
            self.found(*found);
            return Ok(End::Settled);
        }
        let Some(claim) = folder.claim(layout, unit)? else { return Ok(End::Elsewhere) };
        if !claim.is_enforced() && !self.is_without_locks.swap(true, Ordering::Relaxed) {
            self.tell(Event::NoLocks);
        }
        // The last holder of the lock may have finished the unit meanwhile.
        match folder.find(layout, unit)? {
            Found::Sound(found) => {
                self.found(*found);
                return Ok(End::Settled);
            }
            Found::Bad(reason) => {
                let path = folder.set_aside(layout, unit)?;
                self.tell(Event::SetAside { unit, path, reason });
            }
            Found::Nothing => {}
        }
        self.verify(unit, verifier, &claim)
    }

    fn verify(
        &self,
        unit: u64,
        verifier: &mut dyn Verifier,
        _claim: &Lock,
    ) -> Result<End, FolderError> {
        let Run { layout, folder, .. } = self.run;
        let Some(region) = layout.region(unit) else { return Ok(End::Settled) };
        self.tell(Event::Begun { unit, place: verifier.place() });
        let begin = Instant::now();
        let verified = match verifier.verify(&region, self.watch) {
            Ok(Some(verified)) => verified,
            Ok(None) => return Ok(End::Stopped),
            Err(error) => {
                self.fail(unit, verifier, error.to_string());
                let is_unsound =
                    matches!(error, CollatzError::Device(_) | CollatzError::Refuted { .. });
                return Ok(if is_unsound { End::Retired } else { End::Settled });
            }
        };
        let numbers = verified.numbers;
        if numbers != region.numbers() {
            let reason = format!("{numbers} of {} numbers were verified", region.numbers());
            self.fail(unit, verifier, reason);
            return Ok(End::Retired);
        }
        let sample = Sample::of(&region);
        let seconds = begin.elapsed().as_secs_f64();
        let done = Unit::new(layout, unit, region, verifier, verified, sample, seconds);
        if let Err(error) = done.check() {
            self.fail(unit, verifier, format!("the result makes no sense: {error}"));
            return Ok(End::Retired);
        }
        self.tell_unresolved(&done);
        // Before the file is written, so that it is reported even if writing fails.
        locked(&self.outcome).add(&done);
        if let Err(error) = folder.keep(layout, &done) {
            // Without locks another process may have been faster.
            let Ok(Found::Sound(found)) = folder.find(layout, unit) else { return Err(error) };
            return Ok(self.twice(*found, &done, verifier));
        }
        {
            let mut outcome = locked(&self.outcome);
            outcome.done += 1;
            outcome.numbers += numbers;
        }
        self.finish(&done);
        self.tell(Event::Done(done.into()));
        Ok(End::Settled)
    }

    /// Handles a unit that another process has finished while this run was verifying it. `found` is
    /// the result in the file of the other process, and `done` is the result of this run. If they
    /// contradict each other, a failure is reported.
    fn twice(&self, found: Unit, done: &Unit, verifier: &dyn Verifier) -> End {
        match found.disagreement(done) {
            None => self.found(found),
            Some(what) => {
                let reason = format!(
                    "{what} differ from those in {}: checksum {}, sample {}; verify that unit again elsewhere",
                    self.run.folder.place(self.run.layout, done.unit).display(),
                    done.checksum,
                    done.sample_odd_steps
                );
                self.fail(done.unit, verifier, reason);
            }
        }
        End::Settled
    }

    fn found(&self, unit: Unit) {
        self.tell_unresolved(&unit);
        {
            let mut outcome = locked(&self.outcome);
            outcome.before += 1;
            outcome.numbers_before += unit.numbers;
            outcome.add(&unit);
        }
        self.finish(&unit);
        self.tell(Event::Before(unit.into()));
    }

    /// Reads the unit files in the directory that were not reported yet, and adds them to the
    /// outcome. Returns the number of units of the range with a sound file.
    fn others(&self) -> Result<u64, FolderError> {
        let Run { layout, folder, .. } = self.run;
        let finished = locked(&self.finished);
        let mut sound = finished.len() as u64;
        for path in folder.files()? {
            let name = Name::of_unit(&path).filter(|name| name.is_of(layout));
            if name.is_some_and(|name| finished.contains(&name.unit)) {
                continue;
            }
            let Ok(Ok(found)) = Folder::read(&path) else { continue };
            let mut outcome = locked(&self.outcome);
            if name.is_some_and(|name| found.is(layout, name.unit)) {
                sound += 1;
                outcome.add(&found);
                *outcome.methods.entry(found.how()).or_default() += 1;
            } else {
                outcome.unresolved.extend(&found.unresolved);
            }
            if !found.unresolved.is_empty() {
                self.tell(Event::UnresolvedFile { path, numbers: found.unresolved });
            }
        }
        Ok(sound)
    }

    fn finish(&self, unit: &Unit) {
        locked(&self.finished).insert(unit.unit);
        *locked(&self.outcome).methods.entry(unit.how()).or_default() += 1;
    }

    fn tell_unresolved(&self, unit: &Unit) {
        if !unit.unresolved.is_empty() {
            let numbers = unit.unresolved.clone();
            self.tell(Event::Unresolved { unit: unit.unit, numbers });
        }
    }

    fn fail(&self, unit: u64, verifier: &dyn Verifier, reason: String) {
        locked(&self.outcome).failed.push(unit);
        self.tell(Event::Failed { unit, place: verifier.place(), reason });
    }

    fn break_off(&self, reason: String) {
        locked(&self.outcome).broken.get_or_insert(reason);
    }

    fn tell(&self, event: Event) {
        // The receiver may be gone.
        let _ = self.events.send(event);
    }
}

/// Locks a mutex, even if a thread panicked while it held the lock: such a panic leaves the data
/// consistent.
fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
