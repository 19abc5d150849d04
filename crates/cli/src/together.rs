//! The output of a process that does several tests at a time: reports on standard output; notes, warnings and
//! one line of progress for all tests on standard error.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use warpint::mersenne::{Event, Number, StopToken};
use warpint::runner::work::Tally;
use warpint::runner::{Observer, Report, RunEvent, Undelivered};

use crate::meter::Meter;
use crate::progress::News;
use crate::report::{notice, put, report_line};
use crate::signals::Signals;
use crate::units;

/// The observer of one of the workers of a process. All of them share the signals, standard output, standard
/// error and the line of progress.
pub(crate) struct Together {
    worker: usize,
    shared: Arc<Shared>,
}

struct Shared {
    quiet: bool,
    json: bool,
    signals: Signals,
    state: Mutex<State>,
}

struct State {
    meter: Meter,
    /// The state of each worker.
    workers: Vec<Seen>,
    /// The number of results so far.
    done: u64,
    /// Whether a request to stop has been reported.
    stopping: bool,
}

/// What is known of a worker.
#[derive(Default)]
struct Seen {
    /// Whether the worker obeys the stop token ([`RunEvent::Saves`]).
    saves: bool,
    test: Option<Test>,
    /// Whether a proof is built or verified.
    proves: bool,
}

/// A test that runs.
struct Test {
    number: Number,
    iteration: u64,
    total: u64,
    /// The time of an iteration; zero if it is not known.
    each: Duration,
    news: News,
}

impl Together {
    /// Installs the signal handler. Returns an observer for each of `workers` workers, and the token that a
    /// request to stop sets.
    pub(crate) fn install(
        quiet: bool,
        json: bool,
        workers: usize,
    ) -> anyhow::Result<(Vec<Arc<dyn Observer>>, StopToken)> {
        let signals = Signals::install()?;
        let stop = signals.token().clone();
        let state = Mutex::new(State::new(workers, quiet));
        let shared = Arc::new(Shared { quiet, json, signals, state });
        let observer = |worker| {
            let shared = Arc::clone(&shared);
            Arc::new(Self { worker, shared }) as Arc<dyn Observer>
        };
        Ok(((0..workers).map(observer).collect(), stop))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.shared.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records whether the worker obeys the stop token. The program does if one of its workers does: the others
    /// lose nothing, and end when they notice the token.
    fn saves(&self, saves: bool) {
        let mut state = self.state();
        state.workers[self.worker].saves = saves;
        // While the state is locked, so that calls of several workers come in order.
        if state.workers.iter().any(|worker| worker.saves) {
            self.shared.signals.save_first();
        } else {
            self.shared.signals.leave_at_once();
        }
    }
}

impl State {
    fn new(workers: usize, quiet: bool) -> Self {
        let workers = (0..workers).map(|_| Seen::default()).collect();
        Self { meter: Meter::new(String::new(), quiet), workers, done: 0, stopping: false }
    }

    /// Prints a line, and removes the line of progress meanwhile.
    fn line(&self, line: &str) {
        self.meter.suspend(|| notice(line));
    }

    fn begin(&mut self, worker: usize, number: Number, quiet: bool) {
        let news = News::new(quiet);
        let each = Duration::ZERO;
        self.workers[worker].test = Some(Test { number, iteration: 0, total: 0, each, news });
    }

    fn event(&mut self, worker: usize, event: &Event) {
        let Some(test) = &mut self.workers[worker].test else { return };
        match *event {
            Event::Started { iteration, total, .. } => {
                (test.iteration, test.total) = (iteration, total)
            }
            Event::Progress { iteration, total, per_iteration, .. } => {
                (test.iteration, test.total, test.each) = (iteration, total, per_iteration);
            }
            _ => {}
        }
        if let Some(line) = test.news.line(event, Instant::now()) {
            let line = format!("{}: {line}", test.number);
            self.line(&line);
        }
        if matches!(event, Event::Progress { .. }) {
            self.show();
        }
    }

    fn show(&mut self) {
        let line = summary(&self.workers, self.done);
        self.meter.show(0, None, || line);
    }
}

impl Test {
    fn left(&self) -> Duration {
        let seconds = self.each.as_secs_f64() * self.total.saturating_sub(self.iteration) as f64;
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX)
    }
}

/// Formats the state of all tests as `16 tests, 12 results, 1.82 µs/it in all, next 3*2^1000001+1 (97.30 %, ETA
/// 0:04)`. The time per iteration is that of all tests together: the reciprocal of the sum of their rates.
fn summary(workers: &[Seen], done: u64) -> String {
    let tests: Vec<&Test> = workers.iter().filter_map(|worker| worker.test.as_ref()).collect();
    let mut line = units::count(tests.len() as u64, "test");
    let proofs = workers.iter().filter(|worker| worker.proves).count();
    if proofs > 0 {
        line += &format!(", {}", units::count(proofs as u64, "proof"));
    }
    line += &format!(", {}", units::count(done, "result"));
    let known = || tests.iter().filter(|test| !test.each.is_zero());
    let rate: f64 = known().map(|test| test.each.as_secs_f64().recip()).sum();
    if rate > 0.0 {
        line += &format!(", {:.2} µs/it in all", 1e6 / rate);
    }
    if let Some(next) = known().min_by_key(|test| test.left()) {
        let percent = 100.0 * next.iteration as f64 / next.total.max(1) as f64;
        let eta = units::clock(next.left());
        line += &format!(", next {} ({percent:.2} %), ETA {eta}", next.number);
    }
    line
}

impl Observer for Together {
    fn event(&self, event: &RunEvent<'_>) {
        let (worker, quiet) = (self.worker, self.shared.quiet);
        match event {
            RunEvent::Note(note) if !quiet => self.state().line(&note.to_string()),
            RunEvent::Note(_) => {}
            RunEvent::Warning(warning) => self.state().line(&warning.to_string()),
            RunEvent::Saves(saves) => self.saves(*saves),
            RunEvent::TestBegins { number } => self.state().begin(worker, *number, quiet),
            RunEvent::Test(event) => self.state().event(worker, event),
            RunEvent::TestEnds => {
                let mut state = self.state();
                state.workers[worker].test = None;
                state.show();
            }
            RunEvent::ProofBegins { .. } => self.state().workers[worker].proves = true,
            RunEvent::ProofEnds => self.state().workers[worker].proves = false,
            RunEvent::Stopping => {
                let mut state = self.state();
                if !std::mem::replace(&mut state.stopping, true) && !quiet {
                    state.line(
                        "stopping: checkpoints are being saved (a second Ctrl-C leaves at once)",
                    );
                }
            }
            _ => {}
        }
    }

    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        let json = self.shared.json;
        let mut state = self.state();
        if matches!(report, Report::Stopped(_)) {
            // As text, the report of a stop is printed as a note.
            if !json {
                return Ok(());
            }
        } else {
            state.done += 1;
        }
        let line = report_line(report, json)? + "\n";
        Ok(state.meter.suspend(|| put(line.as_bytes()))?)
    }

    fn no_work_left(&self, tally: &Tally) -> Result<(), Undelivered> {
        if !self.shared.json {
            return Ok(());
        }
        let line = serde_json::to_string(tally)? + "\n";
        Ok(self.state().meter.suspend(|| put(line.as_bytes()))?)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.state.get_mut().unwrap_or_else(PoisonError::into_inner).meter.end();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn progress(iteration: u64, total: u64, micros: u64) -> Event {
        let per_iteration = Duration::from_micros(micros);
        Event::Progress { iteration, total, per_iteration, round_off: None }
    }

    #[test]
    fn one_line_stands_for_all_tests() {
        let mut state = State::new(3, true);
        assert_eq!(summary(&state.workers, 0), "0 tests, 0 results");
        for (worker, number) in ["3*2^1000+1", "3*2^3000+1", "5*2^2000-1"].iter().enumerate() {
            state.begin(worker, number.parse().unwrap(), true);
        }
        state.event(0, &progress(0, 1000, 0));
        state.event(1, &progress(1500, 3000, 4000));
        state.event(2, &progress(500, 2000, 4000));
        state.workers[0].test = None;
        state.workers[0].proves = true;
        let line = "2 tests, 1 proof, 7 results, 2000.00 µs/it in all, next 3*2^3000+1 (50.00 %), ETA 0:06";
        assert_eq!(summary(&state.workers, 7), line);
    }

    #[test]
    fn every_line_of_events_names_its_test() {
        let mut state = State::new(1, false);
        state.event(0, &progress(1, 2, 3));
        state.begin(0, "3*2^1000+1".parse().unwrap(), false);
        state.event(0, &progress(10, 1000, 5));
        let test = state.workers[0].test.as_ref().unwrap();
        assert_eq!(
            (test.iteration, test.total, test.left()),
            (10, 1000, Duration::from_micros(4950))
        );
    }
}
