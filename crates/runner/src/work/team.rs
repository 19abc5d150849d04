//! Several workers in one process, each on a thread of its own.
//!
//! One test of a number of 10^5 to 10^6 bits does not fill a GPU. Tests of several processes take turns on it;
//! tests of one process run on it at the same time.

use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::thread;

use warpint_mersenne::StopToken;

use super::common::{Common, Member};
use super::shift::Until;
use super::worker::{Ended, Tally, Worker};
use super::{MOST_WORKERS, PATIENCE};
use crate::RunError;
use crate::error::{one_line, text_of_panic};
use crate::note::Note;
use crate::observer::{Observer, RunEvent};
use crate::warning::Warning;

/// The largest number of workers of a [`Team`].
pub const MOST_TOGETHER: u32 = 64;

/// The smallest number of tests at a time that square their numbers in common launches. On an H200, fewer than
/// eight numbers of 10^6 bits are squared faster in launches of their own (benches/NOTES.md, 2026-11-29).
const LEAST_IN_GANGS: u32 = 8;

/// Workers of one process with consecutive numbers, which do the assignments of one directory at the same time.
#[derive(Debug)]
pub struct Team {
    workers: Vec<Worker>,
}

impl Team {
    /// Creates a team of `together` workers with the settings of `first`, at least one. The first has the number
    /// of `first`, or else 0, the next ones have the numbers after it. Each has the number of threads that
    /// `first` has, and a lane of the device to itself
    /// ([`PlanRequest::lane`](warpint_mersenne::PlanRequest::lane)). From eight workers on, their engines square
    /// numbers together ([`PlanRequest::in_gangs`](warpint_mersenne::PlanRequest::in_gangs)). Plans are not measured
    /// ([`Worker::measures`]).
    ///
    /// # Errors
    /// Returns [`RunError::TooManyWorkers`] if a number would not be below [`MOST_WORKERS`].
    pub fn of(first: &Worker, together: u32) -> Result<Self, RunError> {
        let begin = first.number.unwrap_or(0);
        let workers = begin as usize + together.max(1) as usize;
        if workers > MOST_WORKERS {
            return Err(RunError::TooManyWorkers { workers });
        }
        let worker = |lane: u32| {
            let mut worker = first.clone();
            worker.number = Some(begin + lane);
            worker.request.lane = lane;
            worker.request.in_gangs = together >= LEAST_IN_GANGS;
            // The tests of the others would disturb a measurement, which is made again for each number.
            worker.measures = false;
            worker
        };
        Ok(Self { workers: (0..together.max(1)).map(worker).collect() })
    }

    /// Does assignments until no worker finds one that it can do, or until `stop` is set, as [`Worker::run`]
    /// does. A worker that finds none waits while others work, because lines may be added, and because a line
    /// is left if another process gives it up.
    ///
    /// Worker i of the team sends its events to observer i; its results go there, too. The tally of all is
    /// delivered to one of them. A worker that ends with an error or a panic sends a warning; the others go
    /// on. The errors of the tally include those with which workers ended.
    ///
    /// # Errors
    /// Returns an error if the list of all workers cannot be read, before any work.
    ///
    /// # Panics
    /// Panics if there are fewer observers than workers.
    pub fn run(
        &self,
        observers: &[Arc<dyn Observer>],
        stop: &StopToken,
    ) -> Result<Ended, RunError> {
        assert!(observers.len() >= self.workers.len(), "an observer for each worker");
        let Some(first) = self.workers.first() else { return Ok(Ended::Stopped) };
        // Otherwise each worker would report it.
        warpint_gimps::WorkFile::new(&first.dir, PATIENCE).read()?;
        let together = Some(self.workers.len() as u32);
        let tally = Tally { worker: first.number, together, ..Tally::default() };
        let common = Common::new(first.wait, tally);
        // All are members before one of them could find that no member has work.
        let members: Vec<Member> = self.workers.iter().map(|_| Member::of(&common)).collect();
        thread::scope(|scope| {
            for ((worker, member), observer) in self.workers.iter().zip(members).zip(observers) {
                let common = &common;
                let name = format!("worker {}", worker.number.unwrap_or(0));
                let work = move || one(worker, member, observer, stop, common);
                if let Err(source) = thread::Builder::new().name(name).spawn_scoped(scope, work) {
                    fail(worker, observer, common, RunError::NoThread { source });
                }
            }
        });
        if !stop.is_stopped() {
            return Ok(Ended::NoWorkLeft(common.take_tally()));
        }
        let summary = common.tally().to_string();
        if let Some(observer) = observers.first() {
            observer.event(&RunEvent::Note(&Note::TeamStopped { summary }));
        }
        Ok(Ended::Stopped)
    }
}

/// Runs a worker to its end.
fn one(
    worker: &Worker,
    member: Member,
    observer: &Arc<dyn Observer>,
    stop: &StopToken,
    common: &Common,
) {
    let run = AssertUnwindSafe(|| worker.run_as(member, observer, stop));
    let ended = panic::catch_unwind(run)
        .unwrap_or_else(|panic| Err(RunError::Panicked { what: text_of_panic(panic.as_ref()) }));
    observer.event(&RunEvent::Saves(false));
    match ended {
        Ok(Until::NoWorkLeft | Until::Stopped) => {}
        Err(error) => fail(worker, observer, common, error),
    }
}

/// Reports that a worker ended with an error.
fn fail(worker: &Worker, observer: &Arc<dyn Observer>, common: &Common, error: RunError) {
    let name = format!("worker {}", worker.number.unwrap_or(0));
    let warning =
        Warning::WorkerFailed { worker: name, how: format!("ended: {}", one_line(&error)) };
    observer.event(&RunEvent::Warning(&warning));
    common.add_error(error);
}
