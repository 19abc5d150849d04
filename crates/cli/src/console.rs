//! Output of a job or worker: reports on standard output; notes, warnings and progress on standard
//! error.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use warpint::mersenne::StopToken;
use warpint::runner::work::Tally;
use warpint::runner::{Observer, ProofStage, Report, RunEvent, Undelivered};

use crate::progress;
use crate::proof_view;
use crate::report::{notice, put, report_line};
use crate::signals::Signals;

/// An observer that prints events. If it is quiet, it prints only results and problems.
pub(crate) struct Console {
    quiet: bool,
    json: bool,
    signals: Signals,
    view: Mutex<View>,
    /// Whether the warning has been printed that the results of worker processes cannot be printed.
    /// The warning is printed only once, because the results are also in the results files.
    silenced: AtomicBool,
}

/// The view that shows the progress of the current work.
enum View {
    Nothing,
    Test(progress::View),
    Proof(proof_view::View),
}

impl Console {
    /// Installs the signal handler. Returns the console, and the token that a request to stop sets.
    pub(crate) fn install(
        quiet: bool,
        json: bool,
    ) -> anyhow::Result<(Arc<dyn Observer>, StopToken)> {
        let signals = Signals::install()?;
        let stop = signals.token().clone();
        let (view, silenced) = (Mutex::new(View::Nothing), AtomicBool::new(false));
        Ok((Arc::new(Self { quiet, json, signals, view, silenced }), stop))
    }

    fn view(&self) -> MutexGuard<'_, View> {
        self.view.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Prints a line on standard error. A progress bar is removed while the line is printed.
    fn line(&self, line: &str) {
        match &*self.view() {
            View::Nothing => notice(line),
            View::Test(view) => view.suspend(|| notice(line)),
            View::Proof(view) => view.suspend(|| notice(line)),
        }
    }
}

impl View {
    fn end(&mut self) {
        match self {
            Self::Nothing => {}
            Self::Test(view) => view.end(),
            Self::Proof(view) => view.end(),
        }
        *self = Self::Nothing;
    }
}

impl Observer for Console {
    fn event(&self, event: &RunEvent<'_>) {
        match event {
            RunEvent::Note(note) if !self.quiet => self.line(&note.to_string()),
            RunEvent::Note(_) => {}
            RunEvent::Warning(warning) => self.line(&warning.to_string()),
            RunEvent::Saves(true) => {
                self.signals.save_first();
            }
            RunEvent::Saves(false) => {
                self.signals.leave_at_once();
            }
            RunEvent::TestBegins { number } => {
                *self.view() = View::Test(progress::View::new(*number, self.quiet));
            }
            RunEvent::Test(event) => {
                if let View::Test(view) = &mut *self.view() {
                    view.take(event);
                }
            }
            RunEvent::Stopping => {
                if let View::Test(view) = &*self.view() {
                    view.stopping();
                }
            }
            RunEvent::ProofBegins { number, stage } => {
                let what = match stage {
                    ProofStage::Built => "proof built",
                    ProofStage::Verified => "proof verified",
                };
                *self.view() = View::Proof(proof_view::View::new(*number, what, self.quiet));
            }
            RunEvent::Proof { share } => {
                if let View::Proof(view) = &mut *self.view() {
                    view.show(*share);
                }
            }
            RunEvent::TestEnds | RunEvent::ProofEnds => self.view().end(),
            RunEvent::WorkerOutput { line } => {
                if let Err(e) = put(line.as_bytes())
                    && !self.silenced.swap(true, Ordering::SeqCst)
                {
                    notice(&format!("warning: {e}"));
                }
            }
            RunEvent::WorkerMessage { worker, line } => notice(&format!("{worker}: {line}")),
            _ => {}
        }
    }

    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        // As text, the report of a stop was already printed as a note.
        if matches!(report, Report::Stopped(_)) && !self.json {
            return Ok(());
        }
        Ok(put((report_line(report, self.json)? + "\n").as_bytes())?)
    }

    fn no_work_left(&self, tally: &Tally) -> Result<(), Undelivered> {
        if !self.json {
            return Ok(());
        }
        Ok(put((serde_json::to_string(tally)? + "\n").as_bytes())?)
    }
}
