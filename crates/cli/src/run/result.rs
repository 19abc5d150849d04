//! The result of a test: found again, kept, printed and recorded, and what it lets go.

use std::fmt::Display;
use std::fs;

use anyhow::Context;
use serde::Serialize;
use warpint::gimps;
use warpint::mersenne::checkpoint::CheckpointStore;
use warpint::mersenne::proof::ResidueFolder;
use warpint::mersenne::{Event, TestKind};

use super::Job;
use crate::no_result::FactorReport;
use crate::progress;
use crate::proofs::is_want_of_room;
use crate::report::{self, TestReport};
use crate::stored::{Loaded, StoredResult};

/// The result of this test, if it was finished before.
pub(super) fn load(
    stored: &StoredResult,
    store: &mut CheckpointStore,
    job: &Job,
) -> anyhow::Result<Option<TestReport>> {
    let (p, path) = (job.spec.exponent, stored.path().display());
    match stored.load()? {
        Loaded::Nothing => Ok(None),
        Loaded::Sound(report) => {
            let Some(order) = &job.order else {
                job.say(|| {
                    format!(
                        "M{p}: finished before, the result is from {path}; --restart tests again"
                    )
                });
                return Ok(Some(*report));
            };
            if report.is_for(&order.credit) {
                job.say(|| format!("M{p}: finished before, the result is from {path}"));
                return Ok(Some(*report));
            }
            let refused = match job.spec.kind {
                _ if order.double_check => Some("no double-check of itself"),
                // Whoever gives out a certification wants it computed.
                TestKind::Cert(_) => Some("that of another assignment"),
                TestKind::Prp | TestKind::Ll(_) => None,
            };
            if let Some(refused) = refused {
                job.say(|| format!("M{p}: the result in {path} is {refused}, testing again"));
                // Its last state would be taken for the end of this test.
                clear_leftovers(&report, store, job);
                return Ok(None);
            }
            job.say(|| format!("M{p}: finished before without this assignment, from {path}"));
            let report = report.credited(Some(order.credit.clone()));
            stored.keep(&report)?;
            Ok(Some(report))
        }
        Loaded::Bad { aside, reason } => {
            let aside = aside.display();
            job.warn(&format!(
                "M{p}: the stored result is not sound ({reason}): set aside as {aside}, testing again"
            ));
            Ok(None)
        }
    }
}

/// Keeps, prints and records a result, in an order that loses it at no instant
/// and shows it whatever becomes of the results file; the checkpoints go last.
pub(super) fn finish(
    report: &TestReport,
    stored: &StoredResult,
    store: &mut CheckpointStore,
    job: &Job,
) -> anyhow::Result<()> {
    let kept = stored.keep(report).or_else(|e| {
        // A result is worth more than what its proof was made of.
        if !e.downcast_ref().is_some_and(is_want_of_room) {
            return Err(e);
        }
        remove_residues(job)?;
        stored.keep(report)
    });
    let cleared = if kept.is_ok() { remove_residues(job) } else { Ok(()) };
    let printed = print(report, job);
    let recorded = record(report, stored, job);
    if let Err(e) = kept {
        let recorded = if matches!(recorded, Ok(true)) { "recorded" } else { "printed only" };
        let line = format!(
            "{e:#}; the result is {recorded}, and checkpoints, where there are any, stay: the same command ends the test again"
        );
        return Err(e.context(line));
    }
    if let Err(e) = cleared.and(store.remove_all().map_err(anyhow::Error::from)) {
        job.warn(&format!("M{}: the result is safe, but {e:#}", job.spec.exponent));
    }
    printed.and(recorded.map(drop))
}

/// Removes what the proof of a PRP test is made of, also of one that was begun with a proof and
/// ended without. Other tests of the exponent have no part in it.
fn remove_residues(job: &Job) -> anyhow::Result<()> {
    match job.spec.kind {
        TestKind::Prp => {
            let residues = ResidueFolder::new(job.dir, job.spec.exponent.get());
            residues.remove_all().with_context(|| {
                format!("residues of its proof stay in {}", residues.dir().display())
            })
        }
        TestKind::Ll(_) | TestKind::Cert(_) => Ok(()),
    }
}

/// Prints a result. An assignment that is recorded is done even if nobody
/// listens: that is told and no more.
pub(super) fn print(report: &(impl Display + Serialize), job: &Job) -> anyhow::Result<()> {
    let printed = report::print(report, job.json);
    let Some(watch) = job.watch() else { return printed };
    watch.log(&report.to_string());
    if let Err(e) = printed {
        job.warn(&format!("warning: {e}"));
    }
    Ok(())
}

/// Says at once, not after the test, that its result cannot be recorded: it is
/// kept all the same, so the test need not wait for it.
pub(super) fn try_results(stored: &StoredResult, job: &Job) {
    if let Err(e) = gimps::try_results_file(job.results_file(&job.results_path(job.credit()))) {
        let stored = stored.path().display();
        job.warn(&format!(
            "M{}: warning: {e}; the test goes on, and its result will be kept in {stored}",
            job.spec.exponent
        ));
    }
}

/// Sees to it that the results file has the result; whether it is one for that file.
pub(super) fn record(
    report: &TestReport,
    stored: &StoredResult,
    job: &Job,
) -> anyhow::Result<bool> {
    let Some(line) = report.result_line() else {
        return Ok(false);
    };
    match gimps::append_result(job.results_file(&job.results_path(report.credit())), &line) {
        Ok(_) => Ok(true),
        Err(e) => {
            let line = format!(
                "{e}; the result is kept in {}, and the same command will try again",
                stored.path().display()
            );
            Err(anyhow::Error::new(e).context(line))
        }
    }
}

/// Prints a factor that makes the test needless, and records it.
pub(super) fn finish_by_factor(factor: &FactorReport, job: &Job) -> anyhow::Result<()> {
    let printed = print(factor, job);
    if job.results.is_none() {
        fs::create_dir_all(job.dir)
            .with_context(|| format!("cannot make the directory {}", job.dir.display()))?;
    }
    let path = job.results_path(job.credit());
    gimps::append_result(job.results_file(&path), &factor.result_line(job.credit()))
        .context("the factor is printed, but not recorded")?;
    printed
}

/// Removes what the finished test left if it was killed right behind its result: its last state
/// and, of a PRP test, the residues of its proof.
///
/// M_p and what known factors leave of it share checkpoints, and all PRP tests of M_p residues: a
/// state of an earlier iteration, or with another shift, is that of a test that is still to be
/// finished, and stays with all that it needs.
pub(super) fn clear_leftovers(report: &TestReport, store: &mut CheckpointStore, job: &Job) {
    let (kind, p) = (job.spec.kind, job.spec.exponent.get());
    let newest = store.load_newest();
    for notice in store.take_notices() {
        if let (Event::BadCheckpoint { .. }, Some(line)) = (&notice, progress::describe(&notice)) {
            job.warn(&format!("M{p}: {line}"));
        }
    }
    let cleared = match newest {
        Ok(Some((state, _)))
            if state.iteration == kind.iterations(p) && state.shift == report.shift_count() =>
        {
            // A process that is killed between the two leaves the state by which the rest is known.
            remove_residues(job).and(store.remove_all().map_err(anyhow::Error::from))
        }
        Ok(_) => Ok(()),
        Err(e) => Err(e.into()),
    };
    if let Err(e) = cleared {
        job.warn(&format!("M{p}: the result is safe, but {e:#}"));
    }
}
