//! Tests of the library as another program calls it, without the command-line program.
#![cfg(test)]
#![allow(clippy::unwrap_used, reason = "helpers of tests")]

mod team;

use std::fs;
use std::path::Path;
use std::sync::{Arc, Mutex};

use warpint_files::ErrorKind;
use warpint_mersenne::{DeviceChoice, Event, Exponent, PlanRequest, StopToken, TestKind, TestSpec};
use warpint_runner::proofs::verify_file;
use warpint_runner::work::{Ended, Overview, State, Tally, Worker, append, check_line};
use warpint_runner::{Job, Observer, Report, RunError, RunEvent, Undelivered, Unobserved};

const P: u32 = 1_279;

/// An observer that stores the events and reports that it receives.
#[derive(Default)]
struct Heard {
    lines: Mutex<Vec<String>>,
    reports: Mutex<Vec<Report>>,
    /// Whether the delivery of every report is to fail.
    deaf: bool,
}

impl Observer for Heard {
    fn event(&self, event: &RunEvent<'_>) {
        let line = match event {
            RunEvent::Note(note) => format!("note {note}"),
            RunEvent::Warning(warning) => format!("warning {warning}"),
            RunEvent::TestBegins { .. } => "test begins".into(),
            RunEvent::Test(Event::Started { .. }) => "started".into(),
            RunEvent::TestEnds => "test ends".into(),
            RunEvent::ProofBegins { .. } => "proof begins".into(),
            RunEvent::ProofEnds => "proof ends".into(),
            RunEvent::Saves(saves) => format!("saves {saves}"),
            _ => return,
        };
        self.lines.lock().unwrap().push(line);
    }

    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        if self.deaf {
            return Err("nobody listens".into());
        }
        self.reports.lock().unwrap().push(report.clone());
        Ok(())
    }

    fn no_work_left(&self, _: &Tally) -> Result<(), Undelivered> {
        if self.deaf { Err("nobody listens".into()) } else { Ok(()) }
    }
}

fn on_cpu() -> PlanRequest {
    PlanRequest { device: DeviceChoice::Cpu, threads: Some(1), ..PlanRequest::default() }
}

fn job(dir: &Path) -> Job<'_> {
    let spec = TestSpec::new(TestKind::Prp, Exponent::new(P.into()).unwrap());
    let mut job = Job::new(spec, dir);
    job.request = on_cpu();
    job
}

#[test]
fn a_job_leaves_a_result_a_line_and_a_proof_that_verifies() {
    let power = 3;
    let dir = tempfile::tempdir().unwrap();
    let heard = Arc::new(Heard::default());
    let observer: Arc<dyn Observer> = heard.clone();
    let stop = StopToken::new();
    let mut job = job(dir.path());
    job.proof = Some(power);
    let report = job.run(&observer, &stop).unwrap();
    assert!(report.to_string().starts_with("M1279 is a probable prime"), "{report}");
    assert_eq!(heard.reports.lock().unwrap().as_slice(), std::slice::from_ref(&report));
    let lines = heard.lines.lock().unwrap().clone();
    let order = ["saves true", "test begins", "started", "test ends", "proof begins", "proof ends"];
    let told: Vec<_> = lines.iter().filter(|line| order.contains(&line.as_str())).collect();
    assert_eq!(told, order.each_ref());
    let recorded = fs::read_to_string(dir.path().join("results.txt")).unwrap();
    assert_eq!(recorded.lines().count(), 1);

    let proof = dir.path().join(format!("proof/M{P}-{power}.proof"));
    let verified = verify_file(&proof, &on_cpu(), &Unobserved, &stop).unwrap().unwrap();
    assert!(verified.is_valid(), "{verified}");

    // The stored result comes back, and nothing is computed or recorded again.
    heard.lines.lock().unwrap().clear();
    assert_eq!(job.run(&observer, &stop).unwrap().to_string(), report.to_string());
    let lines = heard.lines.lock().unwrap().clone();
    assert!(lines.len() == 1 && lines[0].contains("finished before"), "{lines:?}");
    assert_eq!(fs::read_to_string(dir.path().join("results.txt")).unwrap(), recorded);
}

#[test]
fn a_stopped_job_goes_on_where_it_was() {
    let dir = tempfile::tempdir().unwrap();
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let stop = StopToken::new();
    stop.stop();
    let stopped = job(dir.path()).run(&observer, &stop).unwrap();
    assert!(matches!(stopped, Report::Stopped(_)), "{stopped}");
    let report = job(dir.path()).run(&observer, &StopToken::new()).unwrap();
    assert!(matches!(report, Report::Test(_)), "{report}");
}

#[test]
fn a_result_that_nobody_takes_is_recorded_all_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let observer: Arc<dyn Observer> = Arc::new(Heard { deaf: true, ..Heard::default() });
    let error = job(dir.path()).run(&observer, &StopToken::new()).unwrap_err();
    assert!(matches!(error, RunError::Undelivered(_)), "{error}");
    let recorded = fs::read_to_string(dir.path().join("results.txt")).unwrap();
    assert!(recorded.contains("\"exponent\":1279"), "{recorded}");
}

#[test]
fn a_power_without_points_is_refused_and_a_closure_observes() {
    let dir = tempfile::tempdir().unwrap();
    let events = Arc::new(Mutex::new(0));
    let counted = Arc::clone(&events);
    let observer: Arc<dyn Observer> =
        Arc::new(move |_: &RunEvent<'_>| *counted.lock().unwrap() += 1);
    let mut job = job(dir.path());
    job.proof = Some(12);
    let error = job.run(&observer, &StopToken::new()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::BadInput, "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    job.proof = None;
    job.run(&observer, &StopToken::new()).unwrap();
    assert_ne!(*events.lock().unwrap(), 0);
}

#[test]
fn a_worker_does_its_list_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    assert!(matches!(check_line("hello"), Err(RunError::NoAssignment(_))));
    let lines = ["PRP=1,2,1279,-1", "PRP=1,2,4,-1"].map(str::to_owned);
    check_line(&lines[0]).unwrap();
    let appended = append(dir.path(), &lines).unwrap();
    let observer: Arc<dyn Observer> = Arc::new(Unobserved);
    let mut worker = Worker::new(dir.path());
    (worker.request, worker.proofs) = (on_cpu(), false);
    let ended = worker.run(&observer, &StopToken::new()).unwrap();
    let Ended::NoWorkLeft(tally) = ended else { panic!("{ended:?}") };
    assert_eq!(tally.done, 1, "{tally:?}");
    let left = fs::read_to_string(&appended.path).unwrap();
    assert_eq!(left, format!("{}\n", lines[1]));
    let (overview, unreadable) = Overview::of(dir.path()).unwrap();
    assert!(unreadable.is_empty());
    assert_eq!(overview.workers.len(), 1);
    assert_eq!((overview.workers[0].state, overview.workers[0].done), (State::Finished, 1));

    // A stop request ends it before it takes a line.
    append(dir.path(), &lines[..1]).unwrap();
    let stop = StopToken::new();
    stop.stop();
    assert!(matches!(worker.run(&observer, &stop).unwrap(), Ended::Stopped));
}

#[test]
fn a_worker_that_ends_with_an_error_has_failed() {
    let dir = tempfile::tempdir().unwrap();
    append(dir.path(), &["PRP=1,2,4,-1".to_owned()]).unwrap();
    let observer: Arc<dyn Observer> = Arc::new(Heard { deaf: true, ..Heard::default() });
    let mut worker = Worker::new(dir.path());
    worker.request = on_cpu();
    let error = worker.run(&observer, &StopToken::new()).unwrap_err();
    assert!(matches!(error, RunError::Undelivered(_)), "{error}");
    let (overview, _) = Overview::of(dir.path()).unwrap();
    assert_eq!(overview.workers[0].state, State::Failed);
    let log = fs::read_to_string(dir.path().join("warpint.log")).unwrap();
    assert!(log.contains("error: "), "{log}");
}
