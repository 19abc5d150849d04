//! The progress of a calculation on standard error.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpint::batch::calculation::CalculationJob;
use warpint::mersenne::StopToken;
use warpint::natural::product::Multiplier;
use warpint::progress::Watch;

use super::work_per_second;
use crate::meter::Meter;
use crate::units;

/// The work from which the speed of the multiplier is measured before the start, for an estimate of the
/// time. It takes some seconds on two cores.
const MEASURED_FROM: f64 = 3e8;

/// The share of the work after which the time that is left is estimated from the work done.
const KNOWN_FROM: f64 = 0.03;

/// The [`Watch`] of a calculation.
pub(super) struct View<'a> {
    stop: &'a StopToken,
    meter: Mutex<Meter>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    what: String,
    begin: Instant,
    /// The estimate of the work of the whole calculation.
    total: f64,
    done: f64,
    /// The time of the last report of work.
    last: Instant,
    /// The work in a second, measured before the start.
    speed: Option<f64>,
}

impl<'a> View<'a> {
    pub(super) fn new(
        job: &CalculationJob,
        multiplier: &dyn Multiplier,
        stop: &'a StopToken,
        silent: bool,
    ) -> Self {
        let total = job.work();
        let speed = (!silent && total >= MEASURED_FROM).then(|| work_per_second(multiplier));
        let now = Instant::now();
        let state =
            State { what: "reading".into(), begin: now, total, done: 0.0, last: now, speed };
        let meter = Mutex::new(Meter::new(String::new(), silent));
        Self { stop, meter, state: Mutex::new(state) }
    }

    /// Returns the line that is printed before the start: `mul needs about 8.1 GiB of memory and
    /// about 1:12 of time`.
    pub(super) fn start(&self, job: &CalculationJob) -> String {
        let memory = units::memory(job.memory());
        let line = format!("{} needs about {memory} of memory", job.calculation().name());
        match self.state().left(Instant::now()) {
            Some(left) => format!("{line} and about {} of time", units::clock(left)),
            None => line,
        }
    }

    pub(super) fn show(&self) {
        let now = Instant::now();
        let (permille, line) = {
            let state = self.state();
            ((1000.0 * state.share()) as u64, state.line(now))
        };
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).show(permille, 1000, || line);
    }

    pub(super) fn end(&self) {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner).end();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Returns the share of the work that is done, from 0 to 0.99. Less work may be left than was
    /// estimated.
    fn share(&self) -> f64 {
        if self.total > 0.0 { (self.done / self.total).min(0.99) } else { 0.0 }
    }

    /// Returns an estimate of the time that is left. Returns `None` if nothing is known about it.
    fn left(&self, now: Instant) -> Option<Duration> {
        let share = self.share();
        let seconds = if share >= KNOWN_FROM {
            let work = self.last.duration_since(self.begin).as_secs_f64();
            work * (1.0 - share) / share - now.duration_since(self.last).as_secs_f64()
        } else {
            let whole = self.total / self.speed?;
            whole - now.duration_since(self.begin).as_secs_f64()
        };
        Some(Duration::try_from_secs_f64(seconds.max(0.0)).unwrap_or(Duration::MAX))
    }

    /// Formats the progress as `converting a.txt (12.3 %), 0:07, ETA 0:42`.
    fn line(&self, now: Instant) -> String {
        let share = 100.0 * self.share();
        let line = format!(
            "{} ({share:.1} %), {}",
            self.what,
            units::clock(now.duration_since(self.begin))
        );
        match self.left(now) {
            Some(left) => format!("{line}, ETA {}", units::clock(left)),
            None => line,
        }
    }
}

impl Watch for View<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, amount: u128) {
        let mut state = self.state();
        state.done += amount as f64;
        state.last = Instant::now();
    }

    fn step(&self, _: u64, _: u64, what: &dyn Display) {
        self.state().what = what.to_string();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_says_all() {
        let begin = Instant::now();
        let at = |seconds: u64| begin + Duration::from_secs(seconds);
        let what = "computing".to_owned();
        let mut state = State { what, begin, total: 1000.0, done: 0.0, last: begin, speed: None };
        assert_eq!(state.line(at(3)), "computing (0.0 %), 0:03");
        state.speed = Some(50.0);
        assert_eq!(state.line(at(3)), "computing (0.0 %), 0:03, ETA 0:17");
        assert_eq!(state.line(at(30)), "computing (0.0 %), 0:30, ETA 0:00");
        (state.done, state.last) = (250.0, at(10));
        assert_eq!(state.line(at(15)), "computing (25.0 %), 0:15, ETA 0:25");
        (state.done, state.last) = (2000.0, at(50));
        assert_eq!(state.line(at(50)), "computing (99.0 %), 0:50, ETA 0:00");
        state.total = 0.0;
        state.speed = None;
        assert_eq!(state.line(at(51)), "computing (0.0 %), 0:51");
    }
}
