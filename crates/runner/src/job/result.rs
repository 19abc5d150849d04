//! The result of a test: loading, storing, delivering and recording it, and removing files that it
//! makes obsolete.

use std::fs;

use warpint_gimps as gimps;
use warpint_mersenne::proof::ResidueFolder;
use warpint_mersenne::{Event, TestKind};

use super::{Job, Run};
use crate::RunError;
use crate::error::with_causes;
use crate::note::Note;
use crate::observer::Reporter;
use crate::proofs::is_want_of_room;
use crate::report::{FactorReport, Report, TestReport};
use crate::stored::{Loaded, StoredError};
use crate::warning::Warning;

impl Reporter {
    /// Delivers a report to the observer, and returns it. If delivery of an assignment's result
    /// fails, the assignment still counts as done: the failure is only reported as a warning.
    pub(super) fn deliver(&self, report: Report) -> Result<Report, RunError> {
        let delivered = self.observer.result(&report);
        self.log(&report);
        match delivered {
            Ok(()) => Ok(report),
            Err(e) if self.watch.is_some() => {
                self.warn(&Warning::Undelivered(e.to_string()));
                Ok(report)
            }
            Err(e) => Err(RunError::Undelivered(e)),
        }
    }
}

impl Run<'_> {
    /// Loads the result of this test, if it was finished before.
    pub(super) fn load(&mut self) -> Result<Option<TestReport>, RunError> {
        let (job, exponent) = (self.job, self.exponent);
        let path = self.stored.path().to_owned();
        match self.stored.load()? {
            Loaded::Nothing => Ok(None),
            Loaded::Sound(report) => {
                let Some(order) = &job.order else {
                    self.reporter.say(&Note::FinishedBefore { exponent, path, repeatable: true });
                    return Ok(Some(*report));
                };
                if report.is_for(&order.credit) {
                    self.reporter.say(&Note::FinishedBefore { exponent, path, repeatable: false });
                    return Ok(Some(*report));
                }
                let refused = match job.spec.kind {
                    _ if order.double_check => Some("not an independent double-check"),
                    // A certification is repeated, because the server that assigned it wants it
                    // computed.
                    TestKind::Cert(_) => Some("that of another assignment"),
                    TestKind::Prp | TestKind::Ll(_) => None,
                };
                if let Some(reason) = refused {
                    self.reporter.say(&Note::NotThisResult { exponent, path, reason });
                    // Otherwise its last state would count as the end of this test.
                    self.clear_leftovers(&report);
                    return Ok(None);
                }
                self.reporter.say(&Note::FinishedWithout { exponent, path });
                let report = report.credited(Some(order.credit.clone()));
                self.stored.keep(&report)?;
                Ok(Some(report))
            }
            Loaded::Bad { aside, reason } => {
                self.reporter.warn(&Warning::UnsoundResult { exponent, aside, reason });
                Ok(None)
            }
        }
    }

    /// Stores, delivers and records a result. The order ensures that the result is on disk at every
    /// instant and is shown even if the results file fails; the checkpoints are removed last.
    pub(super) fn finish(&mut self, report: TestReport) -> Result<Report, RunError> {
        let kept = self.keep(&report);
        let cleared = if kept.is_ok() { self.remove_residues() } else { Ok(()) };
        let delivered = self.reporter.deliver(Report::Test(Box::new(report.clone())));
        let recorded = self.record(&report);
        if let Err(source) = kept {
            let recorded = matches!(recorded, Ok(true));
            return Err(RunError::NotKept { recorded, source: Box::new(source) });
        }
        let cleared = cleared.and(self.store.remove_all().map_err(RunError::from));
        self.warn_of_leftovers(cleared);
        let delivered = delivered?;
        recorded?;
        Ok(delivered)
    }

    /// Stores a result. If the disk is full, the residues of its proof are removed to make room.
    fn keep(&self, report: &TestReport) -> Result<(), RunError> {
        match self.stored.keep(report) {
            Err(StoredError::Write { source, .. }) if is_want_of_room(&source) => {
                self.remove_residues()?;
                Ok(self.stored.keep(report)?)
            }
            kept => Ok(kept?),
        }
    }

    /// Removes the residues of the proof of a PRP test, including those of a test that was started
    /// with a proof and finished without one. Other tests of the exponent do not use them.
    fn remove_residues(&self) -> Result<(), RunError> {
        match self.job.spec.kind {
            TestKind::Prp => {
                let residues = ResidueFolder::new(self.job.dir, self.exponent);
                let dir = residues.dir().to_owned();
                residues.remove_all().map_err(|source| RunError::Residues { dir, source })
            }
            TestKind::Ll(_) | TestKind::Cert(_) => Ok(()),
        }
    }

    /// Warns before the test, not after it, that its result cannot be recorded. The result will be
    /// stored in any case, so that the test need not wait.
    pub(super) fn try_results(&self) {
        let job = self.job;
        if let Err(e) = gimps::try_results_file(job.results_file(&job.results_path(job.credit()))) {
            self.reporter.warn(&Warning::NotRecordable {
                exponent: self.exponent,
                reason: e.to_string(),
                stored: self.stored.path().to_owned(),
            });
        }
    }

    /// Ensures that the results file has the result; returns whether the result belongs there.
    pub(super) fn record(&self, report: &TestReport) -> Result<bool, RunError> {
        let job = self.job;
        let Some(line) = report.result_line() else {
            return Ok(false);
        };
        match gimps::append_result(job.results_file(&job.results_path(report.credit())), &line) {
            Ok(_) => Ok(true),
            Err(source) => {
                Err(RunError::NotRecorded { stored: self.stored.path().to_owned(), source })
            }
        }
    }

    /// Removes what a finished test left if it was killed directly after storing its result: its
    /// last state and, for a PRP test, the residues of its proof.
    ///
    /// M_p and its cofactors share checkpoints, and all PRP tests of M_p share residues. A state of
    /// an earlier iteration, or with another shift, belongs to a test that is still unfinished; it
    /// is kept with all its files.
    pub(super) fn clear_leftovers(&mut self, report: &TestReport) {
        let (exponent, kind) = (self.exponent, self.job.spec.kind);
        let newest = self.store.load_newest();
        for notice in self.store.take_notices() {
            if let (Event::BadCheckpoint { .. }, Some(line)) = (&notice, notice.line()) {
                self.reporter.warn(&Warning::BadCheckpoint { exponent, line });
            }
        }
        let cleared = match newest {
            Ok(Some((state, _)))
                if state.iteration == kind.iterations(exponent)
                    && state.shift == report.shift_count() =>
            {
                // Residues are removed first: if the process is killed in between, the state still
                // identifies the rest.
                self.remove_residues().and(self.store.remove_all().map_err(RunError::from))
            }
            Ok(_) => Ok(()),
            Err(e) => Err(e.into()),
        };
        self.warn_of_leftovers(cleared);
    }

    fn warn_of_leftovers(&self, cleared: Result<(), RunError>) {
        if let Err(e) = cleared {
            let (exponent, reason) = (self.exponent, with_causes(&e));
            self.reporter.warn(&Warning::NotCleared { exponent, reason });
        }
    }
}

/// Delivers and records a factor that makes the test unnecessary.
pub(super) fn finish_by_factor(
    factor: FactorReport,
    job: &Job<'_>,
    reporter: &Reporter,
) -> Result<Report, RunError> {
    let line = factor.result_line(job.credit());
    let delivered = reporter.deliver(Report::Factor(factor));
    if job.results.is_none() {
        fs::create_dir_all(job.dir)
            .map_err(|source| RunError::Directory { path: job.dir.to_owned(), source })?;
    }
    let path = job.results_path(job.credit());
    gimps::append_result(job.results_file(&path), &line)
        .map_err(|source| RunError::FactorNotRecorded { source })?;
    delivered
}
