//! Loads, stores, delivers and records the result of a test, and removes the files that the result
//! makes obsolete.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};

use warpint_gimps::{self as gimps, ResultsError, ResultsFile};
use warpint_mersenne::proof::{ResidueFolder, Subject};
use warpint_mersenne::{Event, TestKind};

use super::{Job, Run};
use crate::RunError;
use crate::error::with_causes;
use crate::note::Note;
use crate::observer::{Reporter, Undelivered};
use crate::proofs::is_want_of_room;
use crate::report::{self, Credit, FactorReport, Report, TestReport};
use crate::stored::{Loaded, StoredError};
use crate::warning::Warning;

impl Reporter {
    /// Delivers a report to the observer, writes it to the worker's log, and returns it. If the
    /// delivery fails for a job with an assignment, the assignment still counts as done, and the
    /// failure becomes a warning.
    pub(super) fn deliver(&self, report: Report) -> Result<Report, RunError> {
        let delivered = self.observer.result(&report);
        self.log(&report);
        self.undelivered(delivered).map(|()| report)
    }

    /// Converts the failure to deliver a report into an error. For a job with an assignment it
    /// becomes a warning instead.
    pub(super) fn undelivered(&self, delivered: Result<(), Undelivered>) -> Result<(), RunError> {
        match delivered {
            Err(e) if self.watch.is_some() => {
                self.warn(&Warning::Undelivered(e.to_string()));
                Ok(())
            }
            other => other.map_err(RunError::Undelivered),
        }
    }
}

impl Run<'_> {
    /// Loads the stored result of this test. Returns `None` if no result is stored, if the file is
    /// damaged or belongs to another test, or if the result does not count for the assignment.
    pub(super) fn load(&mut self) -> Result<Option<TestReport>, RunError> {
        let (job, number) = (self.job, self.number);
        let path = self.stored.path().to_owned();
        match self.stored.load()? {
            Loaded::Nothing => Ok(None),
            Loaded::Sound(report) => {
                let Some(order) = &job.order else {
                    self.reporter.say(&Note::FinishedBefore { number, path, repeatable: true });
                    return Ok(Some(*report));
                };
                if report.is_for(&order.credit) {
                    self.reporter.say(&Note::FinishedBefore { number, path, repeatable: false });
                    return Ok(Some(*report));
                }
                let refused = match job.spec.kind {
                    _ if order.double_check => Some("not an independent double-check"),
                    // A certification is repeated, because the server that assigned it wants it
                    // computed.
                    TestKind::Cert(_) => Some("that of another assignment"),
                    _ => None,
                };
                if let Some(reason) = refused {
                    self.reporter.say(&Note::NotThisResult { number, path, reason });
                    // Otherwise its last state would count as the end of this test.
                    self.clear_leftovers(&report);
                    return Ok(None);
                }
                self.reporter.say(&Note::FinishedWithout { number, path });
                let report = report.credited(Some(order.credit.clone()));
                self.stored.keep(&report)?;
                Ok(Some(report))
            }
            Loaded::Bad { aside, reason } => {
                self.reporter.warn(&Warning::UnsoundResult { number, aside, reason });
                Ok(None)
            }
        }
    }

    /// Stores, delivers and records a result, and then removes the checkpoints. In this order the
    /// result or a checkpoint is on disk at every instant, and the result is delivered even if the
    /// results file cannot be written. If the result cannot be stored, the checkpoints are kept.
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

    /// Stores a result. If the disk is full, removes the residues that the test has saved for its
    /// proof, and tries again.
    fn keep(&self, report: &TestReport) -> Result<(), RunError> {
        match self.stored.keep(report) {
            Err(StoredError::Write { source, .. }) if is_want_of_room(&source) => {
                self.remove_residues()?;
                Ok(self.stored.keep(report)?)
            }
            kept => Ok(kept?),
        }
    }

    /// Removes the residues that a test has saved for its proof, even if the finished test made no proof.
    /// Does nothing for tests that have no proofs, which save no residues.
    fn remove_residues(&self) -> Result<(), RunError> {
        let Some(subject) = Subject::new(self.job.spec.kind, self.number) else { return Ok(()) };
        let residues = ResidueFolder::new(self.job.dir, subject);
        let dir = residues.dir().to_owned();
        residues.remove_all().map_err(|source| RunError::Residues { dir, source })
    }

    /// Warns before the test if its result cannot be written to the results file. The test starts
    /// nevertheless, because its result will be stored in any case.
    pub(super) fn try_results(&self) {
        let job = self.job;
        let own = job.candidate_paths(job.credit());
        let tried = if report::is_recorded(job.spec.kind) {
            gimps::try_results_file(job.results_file(&job.results_path(job.credit())))
        } else {
            Ok(())
        };
        let mut own = own.iter().flatten().map(|path| ResultsFile::Own(path));
        if let Err(e) = tried.and_then(|()| own.try_for_each(gimps::try_results_file)) {
            self.reporter.warn(&Warning::NotRecordable {
                number: self.number,
                reason: e.to_string(),
                stored: self.stored.path().to_owned(),
            });
        }
    }

    /// Writes the result to the files for results if it is not there yet. Returns false if there is
    /// no such file: see [`TestReport::result_line`] and [`Order::candidate`](super::Order::candidate).
    pub(super) fn record(&self, report: &TestReport) -> Result<bool, RunError> {
        let job = self.job;
        let failed =
            |source| RunError::NotRecorded { stored: self.stored.path().to_owned(), source };
        let own = Report::Test(Box::new(report.clone()));
        let of_candidate = record_candidate(job, &own, report.credit()).map_err(failed)?;
        let Some(line) = report.result_line() else {
            return Ok(of_candidate);
        };
        gimps::append_result(job.results_file(&job.results_path(report.credit())), &line)
            .map(|_| true)
            .map_err(failed)
    }

    /// Removes the files that remain if a process was killed directly after it stored the result of
    /// a test: the last checkpoint, and the residues for its proof.
    ///
    /// All PRP tests of M_p and of its cofactors use the same checkpoint files and the same residue
    /// files. A checkpoint at an earlier iteration, or with another shift, belongs to a test that
    /// is still unfinished. This checkpoint is kept, with all files of the unfinished test.
    pub(super) fn clear_leftovers(&mut self, report: &TestReport) {
        let (number, kind) = (self.number, self.job.spec.kind);
        let newest = self.store.load_newest();
        for notice in self.store.take_notices() {
            if let (Event::BadCheckpoint { .. }, Some(line)) = (&notice, notice.line()) {
                self.reporter.warn(&Warning::BadCheckpoint { number, line });
            }
        }
        let cleared = match newest {
            Ok(Some((state, _)))
                if state.iteration == kind.iterations(number)
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
            let (number, reason) = (self.number, with_causes(&e));
            self.reporter.warn(&Warning::NotCleared { number, reason });
        }
    }
}

/// Delivers a factor that makes the test unnecessary, and writes it to the results file, which has lines
/// for Mersenne numbers only, and to the files for candidates if the job is for one.
pub(super) fn finish_by_factor(
    factor: FactorReport,
    job: &Job<'_>,
    reporter: &Reporter,
) -> Result<Report, RunError> {
    let line = factor.result_line(job.credit());
    let factor = factor.credited(job.credit().filter(|_| job.candidate().is_some()).cloned());
    let delivered = reporter.deliver(Report::Factor(factor.clone()));
    let failed = |source| RunError::FactorNotRecorded { source };
    record_candidate(job, &Report::Factor(factor), job.credit()).map_err(failed)?;
    let Some(line) = line else { return delivered };
    if job.results.is_none() {
        fs::create_dir_all(job.dir)
            .map_err(|source| RunError::Directory { path: job.dir.to_owned(), source })?;
    }
    let path = job.results_path(job.credit());
    gimps::append_result(job.results_file(&path), &line).map_err(failed)?;
    delivered
}

/// Delivers the report of a prime that needs no test, and writes it to the files for candidates if the
/// job is for one. Such a report is not stored.
pub(super) fn finish_untested(
    report: TestReport,
    job: &Job<'_>,
    reporter: &Reporter,
) -> Result<Report, RunError> {
    if job.candidate().is_some() {
        job.check_results_paths()?;
    }
    let report = Report::Test(Box::new(report.credited(job.credit().cloned())));
    let delivered = reporter.deliver(report.clone());
    record_candidate(job, &report, job.credit())
        .map_err(|source| RunError::FactorNotRecorded { source })?;
    delivered
}

/// Writes the result of a candidate to both files for candidates, unless it is there already. Returns
/// false and writes nothing if the job is not for a candidate.
fn record_candidate(
    job: &Job<'_>,
    report: &Report,
    credit: Option<&Credit>,
) -> Result<bool, ResultsError> {
    let (Some(name), Some([objects, lines])) = (job.candidate(), job.candidate_paths(credit))
    else {
        return Ok(false);
    };
    // Reports of tests are stored, with the worker that records them. Others may be made again by another
    // worker, if the first one was killed before it removed the line of the list.
    let is_stored = matches!(report, Report::Test(report) if !report.is_untested());
    let line = report.llr_line(name, job.spec.number);
    let said = |line: &[u8]| without_time(line).to_vec();
    let wanted = line.as_ref().map(|line| said(line.as_bytes()));
    let is_same_object = |found: &[u8]| is_of_candidate(found, name);
    let is_same_line = |found: &[u8]| Some(said(found)) == wanted;
    if is_stored || !is_in_other_files(&objects, is_same_object) {
        gimps::append_object(ResultsFile::Own(&objects), report)?;
    }
    if let Some(line) = line
        && (is_stored || !is_in_other_files(&lines, is_same_line))
    {
        gimps::append_text(ResultsFile::Own(&lines), &line)?;
    }
    Ok(true)
}

/// Returns a line in the form of LLR without its time and its line ending.
fn without_time(line: &[u8]) -> &[u8] {
    const TIME: &[u8] = b"  Time : ";
    let end = line.windows(TIME.len()).position(|bytes| bytes == TIME).unwrap_or(line.len());
    line[..end].trim_ascii_end()
}

/// Returns whether a line is the JSON object of the candidate with this name.
fn is_of_candidate(line: &[u8], name: &str) -> bool {
    let object = serde_json::from_slice::<serde_json::Value>(line);
    object.is_ok_and(|object| object["credit"]["assignment"] == name)
}

/// Returns whether a file of another worker, beside the file `own`, has a line for which `is_same` returns
/// true. Files that cannot be read have none.
fn is_in_other_files(own: &Path, is_same: impl Fn(&[u8]) -> bool) -> bool {
    let stem = |path: &Path| {
        let stem = path.file_stem()?.to_str()?;
        let end =
            stem.rfind('-').filter(|&end| stem[end + 1..].bytes().all(|b| b.is_ascii_digit()));
        Some(stem[..end.unwrap_or(stem.len())].to_owned())
    };
    let is_other = |path: &PathBuf| {
        path != own && path.extension() == own.extension() && stem(path) == stem(own)
    };
    let entries = own.parent().and_then(|dir| fs::read_dir(dir).ok()).into_iter().flatten();
    let mut others = entries.flatten().map(|entry| entry.path()).filter(is_other);
    others.any(|path| {
        let Ok(file) = fs::File::open(path) else { return false };
        BufReader::new(file).split(b'\n').map_while(Result::ok).any(|line| is_same(&line))
    })
}
