//! Passes the events of a test to the observer on a separate thread, so that the test does not wait
//! for a terminal or for the disk of a log.

use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use warpint_mersenne::{Event, Finished, Plan, RunOptions, StopToken, primality};

use super::Run;
use crate::RunError;
use crate::observer::{Reporter, RunEvent};

/// The interval at which the relay looks for a stop request while no event arrives.
const LOOK_EVERY: Duration = Duration::from_millis(100);

impl Run<'_> {
    /// Runs the test until it ends or a stop is requested.
    pub(super) fn test(&mut self, plan: Plan, options: &RunOptions) -> Result<Finished, RunError> {
        let Self { job, number, reporter, stop, store, .. } = self;
        reporter.event(&RunEvent::TestBegins { number: *number });
        let finished = thread::scope(|scope| {
            let (sender, events) = mpsc::channel();
            let (stop, reporter) = (*stop, &*reporter);
            let relay = scope.spawn(move || relay(&events, stop, reporter));
            let mut tell = |event| drop(sender.send(event));
            let finished = primality::run(&job.spec, plan, Some(store), &mut tell, stop, options);
            drop(sender);
            // An observer that panicked does not affect the result.
            let _ = relay.join();
            finished
        });
        reporter.event(&RunEvent::TestEnds);
        Ok(finished?)
    }
}

/// Passes events to the worker's log and to the observer until the sender is dropped. Reports the
/// first stop request as an event.
fn relay(events: &Receiver<Event>, stop: &StopToken, reporter: &Reporter) {
    let mut told = false;
    loop {
        match events.recv_timeout(LOOK_EVERY) {
            Ok(event) => {
                if let Some(watch) = &reporter.watch {
                    watch.event(&event);
                }
                reporter.event(&RunEvent::Test(&event));
            }
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.is_stopped() && !told {
            reporter.event(&RunEvent::Stopping);
            told = true;
        }
    }
}
