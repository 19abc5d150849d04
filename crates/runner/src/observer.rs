//! How a run tells what happens, without printing: one trait.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use warpint_mersenne::Event;

use crate::note::Note;
use crate::report::Report;
use crate::warning::Warning;
use crate::work::{Tally, Watch};

/// Why a report could not be delivered.
pub type Undelivered = Box<dyn Error + Send + Sync>;

/// What happens in a run.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// Something that a person may want to know.
    Note(&'a Note),
    /// Something that a person should know.
    Warning(&'a Warning),
    /// Whether a request to stop finds anything to save. From `true` on the run heeds its stop token,
    /// and ends in order. After `false`, and before the first of these events, nothing is lost if
    /// the process ends at once, and the token may be seen late.
    Saves(bool),
    /// A test of M_p begins.
    TestBegins {
        /// p.
        exponent: u32,
    },
    /// News of the test.
    Test(&'a Event),
    /// The request to stop was seen; a checkpoint is being saved.
    Stopping,
    /// The test has ended, in whatever way.
    TestEnds,
    /// A proof for M_p is being built, or verified.
    ProofBegins {
        /// p.
        exponent: u32,
        /// Which of the two.
        stage: ProofStage,
    },
    /// So large a share of that is done, from 0 to 1.
    Proof {
        /// The share.
        share: f64,
    },
    /// That has ended, in whatever way.
    ProofEnds,
    /// A worker that is a process of its own has written a line of results, its end included.
    WorkerOutput {
        /// The line.
        line: &'a str,
    },
    /// Such a worker has written a line of messages.
    WorkerMessage {
        /// `worker 1 (cuda:1)`.
        worker: &'a str,
        /// The line.
        line: &'a str,
    },
}

/// What is done with a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofStage {
    /// It is built from the residues of its test.
    Built,
    /// It is verified.
    Verified,
}

/// Whoever wants to know how a run goes. Events come from several threads, one at a time from each
/// test.
///
/// A closure that takes an event is an observer: `Arc::new(|event: &RunEvent<'_>| …)`.
pub trait Observer: Send + Sync {
    /// Something has happened. The run waits for the return, but not a test for its own events.
    fn event(&self, event: &RunEvent<'_>);

    /// The result of a job, as soon as it is stored, and before it is recorded; that it stopped; or a
    /// residue that is not stored.
    ///
    /// # Errors
    /// Whatever keeps it from being delivered. The run records the result all the same and then ends
    /// with [`RunError::Undelivered`](crate::RunError::Undelivered), or, for an assignment, goes on
    /// with a warning.
    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        let _ = report;
        Ok(())
    }

    /// A worker has no work left.
    ///
    /// # Errors
    /// As for [`Observer::result`]; the worker ends with the error.
    fn no_work_left(&self, tally: &Tally) -> Result<(), Undelivered> {
        let _ = tally;
        Ok(())
    }
}

impl<F: Fn(&RunEvent<'_>) + Send + Sync> Observer for F {
    fn event(&self, event: &RunEvent<'_>) {
        self(event);
    }
}

/// Nobody wants to know.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn event(&self, _: &RunEvent<'_>) {}
}

/// An observer, and for an assignment the log and the status of its worker.
#[derive(Clone)]
pub(crate) struct Reporter {
    pub(crate) observer: Arc<dyn Observer>,
    pub(crate) watch: Option<Watch>,
}

impl fmt::Debug for Reporter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Reporter").finish_non_exhaustive()
    }
}

impl Reporter {
    /// Not for the log.
    pub(crate) fn event(&self, event: &RunEvent<'_>) {
        self.observer.event(event);
    }

    pub(crate) fn say(&self, note: &Note) {
        self.event(&RunEvent::Note(note));
        self.log(note);
    }

    pub(crate) fn warn(&self, warning: &Warning) {
        self.event(&RunEvent::Warning(warning));
        self.log(warning);
    }

    /// For the log alone.
    pub(crate) fn log(&self, line: &impl fmt::Display) {
        if let Some(watch) = &self.watch {
            watch.log(&line.to_string());
        }
    }
}
