//! The log and the status file of a worker.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpint_device::WatchedSensors;
use warpint_gimps as gimps;
use warpint_mersenne::{Event, Number, Plan, TestKind, progress_line};

use super::advance::Advance;
use super::log::Log;
use super::status::{ErrorStatus, RoundOffStatus, State, TestStatus, WorkerStatus};
use crate::observer::Observer;
use crate::report::{Credit, text_of};

/// The interval at which the status file is written while a test makes progress.
const WRITE_EVERY: Duration = Duration::from_secs(2);

/// The log and the status file of a worker. The worker shares them with the thread that receives
/// the events of its test. Errors in writing them do not stop the worker.
#[derive(Clone)]
pub struct Watch(Arc<Mutex<Told>>);

struct Told {
    dir: PathBuf,
    log: Log,
    status: WorkerStatus,
    written: Instant,
    /// The time at which building the proof started. This time has a meaning only while a proof is
    /// being built.
    proof_begun: Instant,
    /// The text of the last progress event of the test, for the log.
    progress: String,
    /// The sensors of the device that runs the test.
    sensors: WatchedSensors,
    /// The squarings of the test.
    advance: Advance,
}

impl fmt::Debug for Watch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Watch").finish_non_exhaustive()
    }
}

impl Watch {
    /// Creates the log and the status of a worker in an existing directory. `worker` is the number
    /// of the worker; `None` for the only worker.
    #[must_use]
    pub fn new(dir: &Path, worker: Option<u32>, observer: Arc<dyn Observer>) -> Self {
        WorkerStatus::clear_away(dir);
        let now = gimps::utc_now();
        let status = WorkerStatus {
            worker: worker.unwrap_or(0),
            pid: std::process::id(),
            state: State::Preparing,
            since: now.clone(),
            updated: now,
            done: 0,
            failed: 0,
            test: None,
        };
        let mut told = Told {
            dir: dir.to_owned(),
            log: Log::new(dir, worker, observer),
            status,
            written: Instant::now(),
            proof_begun: Instant::now(),
            progress: String::new(),
            sensors: WatchedSensors::by(None),
            advance: Advance::default(),
        };
        told.write();
        Self(Arc::new(Mutex::new(told)))
    }

    /// Writes a line to the log. While a test is in progress, a leading name of its number is removed,
    /// because the log itself adds the number to each line.
    pub fn log(&self, line: &str) {
        self.told().say(line);
    }

    /// Records in the status that an assignment starts.
    pub fn begin(&self, number: impl Into<Number>, kind: TestKind, credit: &Credit) {
        let number = number.into();
        let mut told = self.told();
        told.progress.clear();
        told.status.state = State::Preparing;
        told.status.test = Some(TestStatus {
            number: text_of(number),
            exponent: number.exponent(),
            worktype: kind.work_type().into(),
            aid: credit.aid.clone(),
            device: None,
            engine: None,
            fft_length: None,
            since: gimps::utc_now(),
            iteration: 0,
            total: kind.iterations(number),
            percent: 0.0,
            proof_percent: None,
            us_per_iteration: None,
            eta_seconds: None,
            saved: None,
            verified: None,
            round_off: None,
            sensors: None,
            errors: ErrorStatus::default(),
        });
        told.write();
    }

    /// Records in the status that the plan is chosen and the test starts.
    pub fn planned(&self, plan: &Plan, kind: TestKind) {
        let mut told = self.told();
        told.status.state = State::Testing;
        told.sensors = WatchedSensors::of(plan.place());
        if let Some(test) = &mut told.status.test {
            test.device = Some(plan.place().into());
            test.engine = Some(plan.engine().into());
            test.fft_length = Some(plan.length());
            test.total = kind.iterations(plan.number());
        }
        told.write();
    }

    /// Records an event of the test in the status and, unless it is a progress event, in the log.
    pub fn event(&self, event: &Event) {
        let mut told = self.told();
        told.advance.event(event);
        if let Some(line) = told.take(event) {
            told.say(&line);
        }
        let routine = matches!(event, Event::Progress { .. });
        if !routine || told.written.elapsed() >= WRITE_EVERY {
            told.write();
        }
    }

    /// Records in the status the progress of building the proof, as a share from 0 to 1.
    pub fn proving(&self, share: f64) {
        let mut told = self.told();
        let begins = told.status.state != State::Proving;
        if begins {
            told.status.state = State::Proving;
            told.proof_begun = Instant::now();
        }
        let spent = told.proof_begun.elapsed().as_secs_f64();
        if let Some(test) = &mut told.status.test {
            test.at(test.total, test.total);
            test.proof_percent = Some(100.0 * share);
            test.eta_seconds = (share > 0.0).then(|| (spent * (1.0 - share) / share) as u64);
        }
        if begins || told.written.elapsed() >= WRITE_EVERY {
            told.write();
        }
    }

    /// Returns the number of squarings since the last call. `finished` states whether the test has ended with
    /// a result.
    pub(super) fn take_squarings(&self, finished: bool) -> u64 {
        self.told().advance.take(finished)
    }

    /// Records in the status that an assignment is done or, if `done` is false, has failed.
    pub fn ended(&self, done: bool) {
        let mut told = self.told();
        told.status.test = None;
        told.status.state = State::Preparing;
        let count = if done { &mut told.status.done } else { &mut told.status.failed };
        *count += 1;
        told.write();
    }

    /// Records in the status that the worker waits for work.
    pub fn waits(&self) {
        let mut told = self.told();
        told.status.state = State::Waiting;
        told.write();
    }

    /// Records the final state of the worker in the status. A test in progress remains in the
    /// status.
    pub fn leave(&self, state: State) {
        let mut told = self.told();
        told.status.state = state;
        told.write();
    }

    fn told(&self) -> MutexGuard<'_, Told> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn say(&mut self, line: &str) {
        let (place, line) = match &self.status.test {
            Some(test) => {
                let number = test.name();
                let bare = line
                    .strip_prefix(&number)
                    .and_then(|rest| [": ", ", ", " "].iter().find_map(|&s| rest.strip_prefix(s)));
                let device = test.device.as_deref().unwrap_or("-");
                (format!("{device} {number}"), bare.unwrap_or(line))
            }
            None => (format!("worker {}", self.status.worker), line),
        };
        self.log.line(&place, line);
    }

    fn write(&mut self) {
        self.status.updated = gimps::utc_now();
        self.written = Instant::now();
        if let Some(test) = &mut self.status.test {
            test.sensors = self.sensors.look(self.written).cloned();
        }
        // A missing or old status does no harm.
        let _ = self.status.write(&self.dir);
    }

    /// Records an event in the status. Returns a line for the log. Returns `None` for a progress
    /// event, and if no test is in progress.
    fn take(&mut self, event: &Event) -> Option<String> {
        let Self { status, progress, .. } = self;
        let test = status.test.as_mut()?;
        match event {
            Event::Progress { iteration, total, per_iteration, round_off } => {
                *progress = progress_line(*iteration, *total, *per_iteration, *round_off);
                if let Some(round_off) = round_off.filter(|_| !per_iteration.is_zero()) {
                    *progress += &format!(", mean {:.4}", round_off.mean);
                }
                // A test that resumes at its end computes nothing, so that it has no time per
                // iteration.
                let each = (!per_iteration.is_zero()).then_some(per_iteration.as_secs_f64());
                let left = total.saturating_sub(*iteration) as f64;
                test.us_per_iteration = each.map(|each| each * 1e6);
                test.eta_seconds = each.map(|each| (each * left) as u64);
                test.round_off =
                    each.and(*round_off).map(|r| RoundOffStatus { max: r.max, z: r.z() });
                test.at(*iteration, *total);
                None
            }
            Event::Started { iteration, total, resumed_from } => {
                test.at(*iteration, *total);
                let begins = resumed_from.is_none().then(|| format!("begins, {total} iterations"));
                begins.or_else(|| event.line())
            }
            Event::Saved { iteration, .. } => {
                test.saved = Some(*iteration);
                let sensors = test.sensors.as_ref().map(|sensors| format!(", {sensors}"));
                let sensors = sensors.unwrap_or_default();
                Some(format!("saved iteration {iteration}; {progress}{sensors}"))
            }
            Event::Verified { iteration, .. } => {
                test.verified = Some(*iteration);
                Some(format!("verified to iteration {iteration}"))
            }
            Event::CheckFailed { back_to, .. } => {
                test.errors.checks += 1;
                test.back_to(*back_to);
                event.line()
            }
            Event::Lengthened { back_to, to, .. } => {
                test.errors.round_off += 1;
                test.fft_length = Some(*to);
                test.back_to(*back_to);
                event.line()
            }
            Event::DeviceFailed { back_to, .. } => {
                test.errors.device += 1;
                test.back_to(*back_to);
                event.line()
            }
            Event::LengthKept { to, .. } => {
                test.fft_length = Some(*to);
                event.line()
            }
            _ => event.line(),
        }
    }
}

impl TestStatus {
    fn at(&mut self, iteration: u64, total: u64) {
        self.iteration = iteration;
        self.total = total;
        self.percent = 100.0 * iteration as f64 / total.max(1) as f64;
    }

    fn back_to(&mut self, iteration: u64) {
        self.at(iteration, self.total);
        self.verified = self.verified.map(|v| v.min(iteration));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::observer::Unobserved;
    use std::fs;
    use warpint_device::Telemetry;
    use warpint_mersenne::{Check, RoundOff};

    #[test]
    fn a_test_is_followed_in_status_and_log() {
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(dir.path(), Some(1), Arc::new(Unobserved));
        let credit = Credit {
            assignment: "PRP 127".into(),
            aid: Some("A".repeat(32)),
            user: None,
            computer: None,
            worker: 1,
            numbered: true,
        };
        watch.log("took something over");
        watch.begin(127, TestKind::Prp, &credit);
        watch.event(&Event::Started { iteration: 0, total: 127, resumed_from: None });
        watch.event(&Event::Progress {
            iteration: 64,
            total: 127,
            per_iteration: Duration::from_millis(1500),
            round_off: None,
        });
        watch.event(&Event::Saved { iteration: 60, path: "f".into(), verified: false });
        watch.event(&Event::Verified { check: Check::Gerbicz, iteration: 50 });
        watch.event(&Event::CheckFailed { check: Check::Gerbicz, iteration: 70, back_to: 40 });
        watch.log("M127: it is so");
        watch.log("M127, PRP-3: it is so");
        watch.log("M127 is composite: it is so");
        watch.log("M1279 is another, and M127/3 too");
        let status = || WorkerStatus::all(dir.path()).unwrap().0.remove(0);
        let test = status().test.unwrap();
        assert_eq!((test.exponent, test.iteration, test.verified), (127, 40, Some(40)));
        assert_eq!((test.eta_seconds, test.saved), (Some(94), Some(60)));
        assert_eq!(test.errors, ErrorStatus { checks: 1, ..ErrorStatus::default() });
        assert_eq!(test.aid, credit.aid);
        // At the end of the test, if nothing was computed in this sitting.
        watch.event(&Event::Progress {
            iteration: 127,
            total: 127,
            per_iteration: Duration::ZERO,
            round_off: Some(RoundOff { max: 0.0, mean: 0.0, deviation: 0.0, products: 3 }),
        });
        watch.event(&Event::Saved { iteration: 127, path: "f".into(), verified: true });
        let test = status().test.unwrap();
        assert_eq!((test.us_per_iteration, test.eta_seconds, test.round_off), (None, None, None));
        for share in [0.0, 0.25, 0.5] {
            watch.proving(share);
        }
        // The first share is written at once, and the others every two seconds.
        let (proving, test) = (status().state, status().test.unwrap());
        assert_eq!((proving, test.proof_percent), (State::Proving, Some(0.0)));
        assert_eq!((test.iteration, test.percent, test.eta_seconds), (127, 100.0, None));
        watch.leave(State::Stopped);
        assert_eq!(status().test.unwrap().proof_percent, Some(50.0));
        watch.ended(true);
        watch.leave(State::Finished);
        let last = status();
        assert_eq!((last.done, last.failed, last.state), (1, 0, State::Finished));
        assert_eq!(last.test, None);

        let log = fs::read_to_string(dir.path().join("warpint-1.log")).unwrap();
        let lines: Vec<_> = log.lines().map(|line| &line[20..]).collect();
        assert_eq!(lines[0], "worker 1: took something over");
        assert_eq!(lines[1], "- M127: begins, 127 iterations");
        assert!(lines[2].starts_with("- M127: saved iteration 60; 64 of 127 (50.39 %), "), "{log}");
        assert_eq!(lines[3], "- M127: verified to iteration 50");
        assert!(lines[4].contains("the Gerbicz check at iteration 70 failed"), "{log}");
        let logged = [
            "it is so",
            "PRP-3: it is so",
            "is composite: it is so",
            "M1279 is another, and M127/3 too",
        ];
        assert_eq!(lines.last(), Some(&"- M127: saved iteration 127; 127 of 127 (100.00 %)"));
        assert_eq!(lines[5..9], logged.map(|line| format!("- M127: {line}")));
    }

    #[test]
    fn the_status_has_what_the_sensors_say() {
        #[derive(Debug)]
        struct Warm;
        impl warpint_device::Sensors for Warm {
            fn read(&self) -> Option<Telemetry> {
                Some(Telemetry { temperature_celsius: Some(61), ..Telemetry::default() })
            }
        }
        let dir = tempfile::tempdir().unwrap();
        let watch = Watch::new(dir.path(), None, Arc::new(Unobserved));
        let credit = Credit {
            assignment: "PRP 127".into(),
            aid: None,
            user: None,
            computer: None,
            worker: 0,
            numbered: false,
        };
        watch.begin(127, TestKind::Prp, &credit);
        let sensors = || WorkerStatus::all(dir.path()).unwrap().0.remove(0).test.unwrap().sensors;
        assert_eq!(sensors(), None);
        watch.told().sensors = WatchedSensors::by(Some(Box::new(Warm)));
        watch.leave(State::Stopped);
        assert_eq!(sensors().and_then(|reading| reading.temperature_celsius), Some(61));
    }
}
