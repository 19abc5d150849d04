//! Several workers in one process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use serde_json::Value;
use warpint_mersenne::{Number, StopToken};
use warpint_runner::work::{Ended, Overview, State, Tally, Team, Worker, append};
use warpint_runner::{Observer, Report, RunError, RunEvent, Undelivered};

use super::on_cpu;

/// Tests of all kinds: with Gerbicz–Li checks and with Jacobi symbols, by `fp64` and by `plain`.
const LINES: [&str; 11] = [
    "PRP=1,2,2203,-1",
    "PRP=1,2,2207,-1",
    "Test=1279",
    "Test=2213",
    "3*2^20909+1",
    "7*2^10016+1",
    "3*2^12676-1",
    "3*2^10003-1",
    "46^512+1",
    "71*6^80+1",
    "27*10^100-1",
];

/// An observer of all workers of a team.
struct Heard<F> {
    lines: Mutex<Vec<String>>,
    reports: Mutex<Vec<Report>>,
    /// Is called when a test begins, on the thread of its worker.
    begins: F,
}

impl<F: Fn(Number) + Send + Sync> Observer for Heard<F> {
    fn event(&self, event: &RunEvent<'_>) {
        let line = match event {
            RunEvent::Note(note) => note.to_string(),
            RunEvent::Warning(warning) => warning.to_string(),
            RunEvent::TestBegins { number } => return (self.begins)(*number),
            _ => return,
        };
        self.lines.lock().unwrap().push(line);
    }

    fn result(&self, report: &Report) -> Result<(), Undelivered> {
        self.reports.lock().unwrap().push(report.clone());
        Ok(())
    }

    fn no_work_left(&self, tally: &Tally) -> Result<(), Undelivered> {
        self.lines.lock().unwrap().push(serde_json::to_string(tally)?);
        Ok(())
    }
}

fn heard<F: Fn(Number) + Send + Sync>(begins: F) -> Arc<Heard<F>> {
    Arc::new(Heard { lines: Mutex::default(), reports: Mutex::default(), begins })
}

fn worker(dir: &Path) -> Worker {
    let mut worker = Worker::new(dir);
    (worker.request, worker.proofs) = (on_cpu(), false);
    worker
}

fn add(dir: &Path, lines: &[&str]) {
    let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
    append(dir, &lines).unwrap();
}

fn list(dir: &Path) -> String {
    fs::read_to_string(dir.join("worktodo.txt")).unwrap()
}

fn run<F: Fn(Number) + Send + Sync + 'static>(
    team: &Team,
    heard: &Arc<Heard<F>>,
    stop: &StopToken,
) -> Ended {
    let observers: Vec<Arc<dyn Observer>> =
        (0..16).map(|_| Arc::clone(heard) as Arc<dyn Observer>).collect();
    team.run(&observers, stop).unwrap()
}

fn tally(ended: Ended) -> Tally {
    match ended {
        Ended::NoWorkLeft(tally) => tally,
        Ended::Stopped => panic!("stopped"),
    }
}

/// Returns what a result states about its number, by the name, the exponent and the kind of the
/// test.
fn facts(reports: &[Report]) -> BTreeMap<String, Value> {
    let fact = |report: &Report| {
        let all = serde_json::to_value(report).unwrap();
        let keys = ["status", "number", "exponent", "worktype", "res64", "iterations", "errors"];
        let facts: Value = keys.iter().map(|key| (*key, all[key].clone())).collect();
        let name = &all["credit"]["assignment"];
        (format!("{name} {} {}", all["exponent"], all["worktype"]), facts)
    };
    let all: BTreeMap<String, Value> = reports.iter().map(fact).collect();
    assert_eq!(all.len(), reports.len(), "two results with one name");
    all
}

/// Returns the lines of all files for results, sorted by the assignment, which each of them names.
fn recorded(dir: &Path, begin: &str) -> Vec<String> {
    let mut lines = vec![];
    for entry in fs::read_dir(dir).unwrap() {
        let path = entry.unwrap().path();
        if path.file_name().unwrap().to_str().unwrap().starts_with(begin) {
            lines.extend(fs::read_to_string(path).unwrap().lines().map(str::to_owned));
        }
    }
    lines.sort();
    lines
}

#[test]
fn tests_at_the_same_time_have_the_results_of_tests_alone() {
    let alone = tempfile::tempdir().unwrap();
    add(alone.path(), &LINES);
    let one = heard(|_| {});
    let observer: Arc<dyn Observer> = one.clone();
    let ended = worker(alone.path()).run(&observer, &StopToken::new()).unwrap();
    let of_one = tally(ended);
    for together in [3, 16] {
        let dir = tempfile::tempdir().unwrap();
        add(dir.path(), &LINES);
        let all = heard(|_| {});
        let team = Team::of(&worker(dir.path()), together).unwrap();
        let of_all = tally(run(&team, &all, &StopToken::new()));
        assert_eq!((of_all.done, of_all.failed, of_all.busy), (11, 0, 0), "{of_all:?}");
        assert_eq!((of_all.worker, of_all.together), (Some(0), Some(together)));
        assert_eq!((of_all.tests, of_all.squarings), (of_one.tests, of_one.squarings));
        assert!(of_all.seconds > 0.0);
        let reports = all.reports.lock().unwrap();
        assert_eq!(reports.len(), LINES.len());
        assert_eq!(facts(&reports), facts(&one.reports.lock().unwrap()));
        assert_eq!(list(dir.path()), "");
        // M1279, M2203, M2207 and M2213; the others are candidates.
        assert_eq!(recorded(dir.path(), "results-").len(), 4);
        assert_eq!(recorded(dir.path(), "candidates-").len(), 7);
        assert_eq!(recorded(dir.path(), "lresults-").len(), 7);
        let (overview, _) = Overview::of(dir.path()).unwrap();
        assert_eq!(overview.workers.len(), together as usize);
        assert!(overview.workers.iter().all(|worker| worker.state == State::Finished));
        assert_eq!(overview.workers.iter().map(|worker| worker.done).sum::<u32>(), 11);
        let lines = all.lines.lock().unwrap();
        let ends: Vec<_> = lines.iter().filter(|line| line.contains("no work left")).collect();
        assert_eq!(ends.len(), 2, "the note and the tally: {ends:?}");
    }
}

#[test]
fn more_workers_than_lines_report_a_broken_line_once() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("worktodo.txt"), "3*2^189+1\nnonsense\nTest=4\n3*2^189+1\n").unwrap();
    let heard = heard(|_| {});
    let tally = tally(run(&Team::of(&worker(dir.path()), 8).unwrap(), &heard, &StopToken::new()));
    // The exponent 4 cannot be tested.
    assert_eq!((tally.done, tally.failed, tally.malformed), (2, 1, 1), "{tally:?}");
    assert_eq!(list(dir.path()), "nonsense\nTest=4\n");
    let lines = heard.lines.lock().unwrap();
    for said in ["nonsense", "line 3: "] {
        let told = lines.iter().filter(|line| line.contains(said)).count();
        assert_eq!(told, 1, "{said}: {lines:?}");
    }
}

#[test]
fn a_panic_fails_its_test_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    add(dir.path(), &["3*2^2816+1", "5*2^913+1", "3*2^3276-1", "7*2^2256+1"]);
    let bad: Number = "5*2^913+1".parse().unwrap();
    let heard = heard(move |number| assert_ne!(number, bad, "on purpose"));
    let tally = tally(run(&Team::of(&worker(dir.path()), 2).unwrap(), &heard, &StopToken::new()));
    assert_eq!((tally.done, tally.failed), (3, 1), "{tally:?}");
    assert!(matches!(&tally.errors[..], [RunError::Panicked { .. }]), "{tally:?}");
    assert_eq!(list(dir.path()), "5*2^913+1\n");
    let lines = heard.lines.lock().unwrap();
    let told: Vec<_> = lines.iter().filter(|line| line.contains("on purpose")).collect();
    assert!(told.len() == 1 && told[0].contains("the line is kept"), "{told:?}");
    let (overview, _) = Overview::of(dir.path()).unwrap();
    assert!(overview.workers.iter().all(|worker| worker.state == State::Finished));
}

#[test]
fn a_worker_that_cannot_begin_leaves_the_others_alone() {
    let dir = tempfile::tempdir().unwrap();
    add(dir.path(), &LINES[..4]);
    fs::create_dir(dir.path().join("results-8.txt")).unwrap();
    let mut first = worker(dir.path());
    first.number = Some(7);
    let heard = heard(|_| {});
    let tally = tally(run(&Team::of(&first, 3).unwrap(), &heard, &StopToken::new()));
    assert_eq!((tally.done, tally.worker), (4, Some(7)), "{tally:?}");
    assert!(matches!(&tally.errors[..], [RunError::Results(_)]), "{tally:?}");
    let lines = heard.lines.lock().unwrap();
    let said = |line: &&String| line.starts_with("error: worker 8 ended: the results file");
    assert_eq!(lines.iter().filter(said).count(), 1, "{lines:?}");
    // Without a list, none begins.
    let none = tempfile::tempdir().unwrap();
    fs::create_dir(none.path().join("worktodo.txt")).unwrap();
    let team = Team::of(&worker(none.path()), 2).unwrap();
    assert!(matches!(
        team.run(
            &[heard.clone(), heard.clone()].map(|h| h as Arc<dyn Observer>),
            &StopToken::new()
        ),
        Err(RunError::WorkFile(_))
    ));
    assert!(matches!(Team::of(&first, 994), Err(RunError::TooManyWorkers { workers: 1001 })));
}

#[test]
fn all_tests_are_saved_when_a_stop_is_requested_and_go_on_in_another_team() {
    let dir = tempfile::tempdir().unwrap();
    let lines = ["3*2^20909+1", "7*2^10016+1", "3*2^12676-1", "PRP=1,2,11213,-1"];
    add(dir.path(), &lines);
    let stop = StopToken::new();
    let (begun, asks) = (AtomicUsize::new(0), stop.clone());
    let heard_first = heard(move |_| {
        if begun.fetch_add(1, Ordering::SeqCst) == 3 {
            asks.stop();
        }
    });
    let ended = run(&Team::of(&worker(dir.path()), 4).unwrap(), &heard_first, &stop);
    assert!(matches!(ended, Ended::Stopped));
    let reports = heard_first.reports.lock().unwrap();
    // A test that began early may have ended before.
    assert!(reports.iter().any(|report| matches!(report, Report::Stopped(_))), "{reports:?}");
    let said = heard_first.lines.lock().unwrap();
    assert_eq!(said.iter().filter(|line| line.starts_with("stopped: ")).count(), 1, "{said:?}");
    let (overview, _) = Overview::of(dir.path()).unwrap();
    assert!(overview.workers.iter().all(|worker| worker.state == State::Stopped));

    let heard_then = heard(|_| {});
    let tally =
        tally(run(&Team::of(&worker(dir.path()), 2).unwrap(), &heard_then, &StopToken::new()));
    assert_eq!(list(dir.path()), "");
    assert_eq!((tally.failed, tally.errors.len()), (0, 0), "{tally:?}");
    let done = reports.iter().filter(|report| matches!(report, Report::Test(_))).count();
    assert_eq!(tally.done as usize + done, lines.len());
    assert_eq!(recorded(dir.path(), "candidates-").len(), 3);
    assert_eq!(recorded(dir.path(), "results-").len(), 1);
}

#[test]
fn lines_that_are_added_during_the_work_are_done() {
    let dir = tempfile::tempdir().unwrap();
    add(dir.path(), &["3*2^20909+1"]);
    let (added, path) = (AtomicUsize::new(0), dir.path().to_owned());
    let heard = heard(move |_| {
        if added.fetch_add(1, Ordering::SeqCst) == 0 {
            add(&path, &["5*2^20910+1", "7*2^20914+1"]);
        }
    });
    let tally = tally(run(&Team::of(&worker(dir.path()), 3).unwrap(), &heard, &StopToken::new()));
    assert_eq!((tally.done, tally.failed), (3, 0), "{tally:?}");
    assert_eq!(list(dir.path()), "");
}
