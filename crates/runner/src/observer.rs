//! The interface through which a job or worker reports events. This crate does not print the
//! events.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use warpint_mersenne::{Event, Number};

use crate::note::Note;
use crate::report::Report;
use crate::warning::Warning;
use crate::work::{Tally, Watch};

/// The reason why a report could not be delivered.
pub type Undelivered = Box<dyn Error + Send + Sync>;

/// An event that occurs while a job, a worker or the verification of a proof runs.
#[derive(Debug)]
#[non_exhaustive]
pub enum RunEvent<'a> {
    /// A note on something that may interest the user.
    Note(&'a Note),
    /// A warning to the user.
    Warning(&'a Warning),
    /// Whether the run obeys its stop token. After `Saves(true)` it does: it saves its work, if any
    /// is unsaved, and ends. After `Saves(false)`, and before the first `Saves` event, the run may
    /// be slow to notice the token, but nothing is lost if the process ends at once.
    Saves(bool),
    /// A test starts.
    TestBegins {
        /// The number that is tested.
        number: Number,
    },
    /// The test reports an event.
    Test(&'a Event),
    /// A stop request was noticed. The test saves a checkpoint and ends.
    Stopping,
    /// The test has ended, with or without a result.
    TestEnds,
    /// Building or verifying a proof starts.
    ProofBegins {
        /// The number that is tested.
        number: Number,
        /// The stage that starts: building or verification.
        stage: ProofStage,
    },
    /// Building or verifying a proof has progressed.
    Proof {
        /// The completed share of the stage, from 0 to 1.
        share: f64,
    },
    /// Building or verifying a proof has ended, with or without success.
    ProofEnds,
    /// A worker that runs as a process of its own has written a line to its standard output.
    WorkerOutput {
        /// The text of the line.
        line: &'a str,
    },
    /// A worker that runs as a process of its own has written a line to its standard error.
    WorkerMessage {
        /// The worker's name, such as `worker 1 (cuda:1)`.
        worker: &'a str,
        /// The text of the line.
        line: &'a str,
    },
}

/// The stage of work on a proof.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProofStage {
    /// The proof is built from the residues that its test has saved.
    Built,
    /// The proof is verified.
    Verified,
}

/// A receiver of the events of a job, a worker or the verification of a proof. Events come from
/// several threads, but the events of one test come one after the other.
///
/// A closure that takes an event is an observer: `Arc::new(|event: &RunEvent<'_>| …)`.
pub trait Observer: Send + Sync {
    /// Receives an event. The events of a test come from a separate thread, and the test does not
    /// wait for this function. For other events, the run waits until this function returns.
    fn event(&self, event: &RunEvent<'_>);

    /// Receives the report of a job, which is one of these:
    ///
    /// * the result of a test, after the run has tried to store it, and before it is recorded in
    ///   the results file;
    /// * an interim residue, which is not stored;
    /// * a factor, which makes the test unnecessary;
    /// * the report that the job was stopped.
    ///
    /// # Errors
    /// Returns the reason why the report cannot be delivered. A result or a factor is recorded
    /// nevertheless. For a job with an assignment the failure is a warning. Any other job ends with
    /// [`RunError::Undelivered`](crate::RunError::Undelivered).
    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        let _ = report;
        Ok(())
    }

    /// Receives the tally of a worker that has no work left: how many lines were done, failed, or
    /// were left.
    ///
    /// # Errors
    /// Returns the reason why the tally cannot be delivered. The worker ends with this error.
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

/// An observer that ignores all events.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unobserved;

impl Observer for Unobserved {
    fn event(&self, _: &RunEvent<'_>) {}
}

/// An observer and, for a job with an assignment, the log and the status file of the worker.
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
    /// Sends an event to the observer, but not to the log.
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

    /// Writes a line to the log only.
    pub(crate) fn log(&self, line: &impl fmt::Display) {
        if let Some(watch) = &self.watch {
            watch.log(&line.to_string());
        }
    }
}
