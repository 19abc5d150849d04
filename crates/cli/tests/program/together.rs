//! Tests of `warpint work --together`: several tests at a time in one process.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{end, signal, started, wait_until, warpint};

/// Writes `lines` to `worktodo.txt` in the folder `w`.
fn list(dir: &Path, lines: &[&str]) {
    fs::create_dir_all(dir.join("w")).unwrap();
    fs::write(dir.join("w/worktodo.txt"), lines.join("\n") + "\n").unwrap();
}

fn left(dir: &Path) -> String {
    fs::read_to_string(dir.join("w/worktodo.txt")).unwrap()
}

/// Returns the objects in `results` and `candidates` files of all workers.
fn recorded(dir: &Path) -> Vec<Value> {
    let mut found = vec![];
    for entry in fs::read_dir(dir.join("w")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.starts_with("results") || name.starts_with("candidates") {
            let text = fs::read_to_string(&path).unwrap();
            found.extend(text.lines().map(|line| serde_json::from_str::<Value>(line).unwrap()));
        }
    }
    found
}

/// Returns the status and the residue of each result, by number and kind of test. Fails if a result was recorded
/// twice.
fn facts(results: &[Value]) -> BTreeMap<String, String> {
    let mut facts = BTreeMap::new();
    for result in results {
        let of = format!("{} {} {}", result["number"], result["exponent"], result["worktype"]);
        let fact = format!("{} {}", result["status"], result["res64"]);
        assert_eq!(facts.insert(of, fact), None, "{result}");
    }
    facts
}

fn workers(dir: &Path) -> Vec<Value> {
    warpint(dir, "status w --json").json()["workers"].as_array().unwrap().clone()
}

fn saved(dir: &Path) -> usize {
    workers(dir).iter().filter(|worker| worker["test"]["saved"].is_u64()).count()
}

/// Lines whose tests take long enough to be interrupted.
const LONG: [&str; 4] = ["PRP=1,2,86243,-1", "PRP=1,2,110503,-1", "3*2^157169+1", "7*2^95330+1"];

#[test]
fn several_tests_at_a_time_have_one_summary() {
    let dir = tempfile::tempdir().unwrap();
    let lines = ["3*2^2816+1", "Test=1279", "nonsense", "5*2^913+1", "PRP=1,2,2203,-1", "46^512+1"];
    list(dir.path(), &lines);
    let ran = warpint(dir.path(), "work w --together 3 --device cpu --json --worker 4");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(left(dir.path()), "nonsense\n");
    let objects: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (summary, results) = objects.split_last().unwrap();
    assert_eq!(results.len(), 5, "{ran:?}");
    let squarings = 2817 + 1277 + 915 + 2203 + 2828;
    for (key, value) in [("worker", 4), ("together", 3), ("done", 5), ("failed", 0)]
        .into_iter()
        .chain([("malformed", 1), ("busy", 0), ("tests", 5), ("squarings", squarings)])
    {
        assert_eq!(summary[key], value, "{key}: {summary}");
    }
    assert!(summary["seconds"].as_f64().unwrap() > 0.0, "{summary}");
    assert_eq!(facts(&recorded(dir.path())).len(), 5);
    let text = "no work left in w/worktodo.txt: 5 assignments done, 1 malformed; 5 tests with 10040 squarings in ";
    assert_eq!(ran.err.matches(text).count(), 1, "{ran:?}");
    assert_eq!(ran.err.matches("nonsense").count(), 1, "{ran:?}");
    let numbers: Vec<_> = workers(dir.path()).iter().map(|w| w["worker"].clone()).collect();
    assert_eq!(numbers, [4, 5, 6]);
}

#[test]
fn a_request_to_stop_saves_every_test_and_the_same_command_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), &LONG[..3]);
    let line = "work w --together 3 --device cpu --no-proof --checkpoint-interval 0.1";
    let child = started(dir.path(), line);
    wait_until("checkpoints of all", || saved(dir.path()) == 3);
    assert!(workers(dir.path()).iter().all(|worker| worker["pid"] == child.id()));
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    assert_eq!(ran.err.matches("saved; the same command goes on from there").count(), 3, "{ran:?}");
    assert_eq!(ran.err.matches("stopping: checkpoints are being saved").count(), 1, "{ran:?}");
    assert!(ran.err.contains("stopped: 0 assignments done; 0 tests with "), "{ran:?}");
    assert!(workers(dir.path()).iter().all(|worker| worker["state"] == "stopped"));
    assert_eq!(left(dir.path()).lines().count(), 3);
    let ran = warpint(dir.path(), line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err.matches(": going on at iteration ").count(), 3, "{ran:?}");
    // Known primes.
    assert_eq!(ran.out.matches(" is a probable prime").count(), 2, "{ran:?}");
    assert_eq!(ran.out.matches(" is prime (Proth)").count(), 1, "{ran:?}");
    assert_eq!((left(dir.path()).as_str(), facts(&recorded(dir.path())).len()), ("", 3));
}

#[test]
fn a_killed_process_loses_and_repeats_nothing() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), &["Test=9689", LONG[0], LONG[3], "Test=11213"]);
    let options = "--device cpu --no-proof --checkpoint-interval 0.1";
    for together in [3, 2] {
        let mut child = started(dir.path(), &format!("work w --together {together} {options}"));
        wait_until("two checkpoints", || saved(dir.path()) >= 2);
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(workers(dir.path()).iter().any(|worker| worker["state"] == "killed"));
    let ran = warpint(dir.path(), &format!("work w --together 4 {options}"));
    assert_eq!((ran.code, left(dir.path()).as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(facts(&recorded(dir.path())).len(), 4);
}

#[test]
fn processes_of_several_workers_share_a_list() {
    let dir = tempfile::tempdir().unwrap();
    let lines: Vec<String> =
        [521, 607, 1279, 2203, 2281, 3217, 4253, 4423].map(|p| format!("Test={p}")).to_vec();
    list(dir.path(), &lines.iter().map(String::as_str).collect::<Vec<_>>());
    let ran = warpint(dir.path(), "work w --workers 2 --together 2 --device cpu --json");
    assert_eq!((ran.code, left(dir.path()).as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(facts(&recorded(dir.path())).len(), 8);
    let of = |key: &str| -> Vec<u64> {
        let objects = ran.out.lines().map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ends = objects.filter(|object| object["status"] == "no work left");
        let mut values: Vec<u64> = ends.map(|object| object[key].as_u64().unwrap()).collect();
        values.sort_unstable();
        values
    };
    assert_eq!((of("worker"), of("together")), (vec![0, 2], vec![2, 2]));
    assert_eq!(of("done").iter().sum::<u64>(), 8);
    let names = ["workers 0 to 1 (cpu): ", "workers 2 to 3 (cpu): "];
    assert!(ran.err.lines().all(|l| names.iter().any(|name| l.starts_with(name))), "{ran:?}");
    assert_eq!(workers(dir.path()).len(), 4);
}

#[test]
fn workers_wait_together_and_one_with_bad_files_ends_alone() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), &["Test=127"]);
    fs::create_dir(dir.path().join("w/results-1.txt")).unwrap();
    let child = started(dir.path(), "work w --together 3 --wait --device cpu");
    let waits = || {
        let states: Vec<_> = workers(dir.path()).iter().map(|w| w["state"].clone()).collect();
        states == ["waiting", "waiting"]
    };
    let done = |count| recorded_files(dir.path()) == count && summaries(dir.path()) == count;
    wait_until("its result", || done(1) && waits());
    assert_eq!(warpint(dir.path(), "work w --add Test=521").code, Some(0));
    wait_until("another", || done(2) && waits());
    signal(&child, "TERM");
    let ran = end(child);
    assert!(ran.ended_by("TERM"), "{ran:?}");
    assert_eq!(ran.err.matches("error: worker 1 ended: the results file").count(), 1, "{ran:?}");
    assert_eq!(ran.err.matches("waiting for more").count(), 2, "{ran:?}");
}

/// Returns how often the logs of workers 0 and 2 say that the workers wait.
fn summaries(dir: &Path) -> usize {
    let log = |n| fs::read_to_string(dir.join(format!("w/warpint-{n}.log"))).unwrap_or_default();
    [0, 2].map(|n| log(n).matches("waiting for more").count()).iter().sum()
}

/// Returns the number of lines of the results files of workers 0 and 2.
fn recorded_files(dir: &Path) -> usize {
    let lines = |n| fs::read_to_string(dir.join(format!("w/results-{n}.txt"))).unwrap_or_default();
    [0, 2].map(|n| lines(n).lines().count()).iter().sum()
}

/// Each worker has engines of its own on the device.
#[test]
fn tests_share_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let lines = ["3*2^10003-1", "3*2^10014+1", "7*2^10016+1", "Test=1279"];
    list(dir.path(), &lines);
    let ran = warpint(dir.path(), "work w --together 3 --device sim");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let at_once = facts(&recorded(dir.path()));
    assert!(ran.err.matches("engine fp64 on sim").count() >= 3, "{ran:?}");
    fs::remove_dir_all(dir.path().join("w")).unwrap();
    list(dir.path(), &lines);
    let ran = warpint(dir.path(), "work w --device cpu");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(at_once, facts(&recorded(dir.path())));
}

#[test]
fn impossible_numbers_of_tests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), &["Test=127"]);
    for (options, says) in [
        ("--together 0", "'0' is not a number of tests from 1 to 64"),
        ("--together 65", "'65' is not a number of tests from 1 to 64"),
        ("--worker 990 --together 11", "--together 11: worker numbers are below 1000"),
        ("--workers 64 --together 16", "1024 workers are too many: at most 1000 are possible"),
    ] {
        let ran = warpint(dir.path(), &format!("work w {options}"));
        assert!(ran.code == Some(2) && ran.error().contains(says), "{ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path().join("w")).unwrap().count(), 1, "nothing is touched");
}
