//! Tests of `warpint work` with a worker that waits, and with several workers in one directory.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::Duration;

use serde_json::Value;

use crate::common::{command, end, signal, wait_until, warpint};

fn results(dir: &Path, name: &str) -> Vec<u64> {
    let text = fs::read_to_string(dir.join("w").join(name)).unwrap_or_default();
    let exponent = |line| serde_json::from_str::<Value>(line).unwrap()["exponent"].as_u64();
    text.lines().map(|line| exponent(line).unwrap()).collect()
}

fn list(dir: &Path, name: &str, lines: &str) {
    fs::create_dir_all(dir.join("w")).unwrap();
    fs::write(dir.join("w").join(name), lines).unwrap();
}

fn left(dir: &Path, name: &str) -> String {
    fs::read_to_string(dir.join("w").join(name)).unwrap()
}

fn start(dir: &Path, line: &str) -> Child {
    command(dir, line.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn states(dir: &Path) -> Vec<String> {
    let status = warpint(dir, "status w --json").json();
    let workers = status["workers"].as_array().unwrap();
    workers.iter().map(|w| w["state"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn a_worker_waits_for_lines_until_it_is_stopped() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("w")).unwrap();
    let child = start(dir.path(), "work w --wait");
    let waits = || states(dir.path()) == ["waiting"];
    wait_until("a worker that waits", || dir.path().join("w/status-0.json").exists() && waits());
    assert_eq!(warpint(dir.path(), "work w --add Test=127").code, Some(0));
    wait_until("its result", || results(dir.path(), "results.txt") == [127] && waits());
    // The file vanishes and comes back.
    fs::remove_file(dir.path().join("w/worktodo.txt")).unwrap();
    std::thread::sleep(Duration::from_millis(2500));
    assert!(waits());
    list(dir.path(), "worktodo.txt", "PRP=1,2,61,-1,99,0\n");
    wait_until("another", || results(dir.path(), "results.txt") == [127, 61] && waits());
    assert!(warpint(dir.path(), "status w").out.contains(": waiting for work; 2 done"));
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    // The message is printed each time that no work is left.
    assert_eq!(ran.err.matches("waiting for more").count(), 3, "{ran:?}");
    assert!(ran.err.contains(" 2 assignments done; "), "{ran:?}");
    assert!(ran.err.contains("; waiting for more, until Ctrl-C\n"), "{ran:?}");
    assert_eq!(states(dir.path()), ["stopped"]);
}

#[test]
fn a_worker_with_a_number_has_files_of_its_own() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), "worktodo.txt", "Test=127\n");
    list(dir.path(), "worktodo-0.txt", "Test=61\n");
    list(dir.path(), "worktodo-1.txt", "Test=89\r\nCert=oops\r\n");
    let status = warpint(dir.path(), "status w");
    let expected = "w/worktodo.txt: 1 assignment left\nw/worktodo-0.txt: 1 assignment left\n\
                    w/worktodo-1.txt: 1 assignment left, 1 malformed\n";
    assert!(status.out.ends_with(expected), "{status:?}");
    let ran = warpint(dir.path(), "work w --worker 1");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let says = "no work left in w/worktodo-1.txt and w/worktodo.txt: 2 assignments done, 1 malf";
    assert!(ran.err.contains(says) && ran.err.contains("w/worktodo-1.txt, line 2: "), "{ran:?}");
    assert_eq!(results(dir.path(), "results-1.txt"), [89, 127]);
    assert_eq!(left(dir.path(), "worktodo-1.txt"), "Cert=oops\r\n");
    // PRPLL counts from 0, and gives worker 0 a number too.
    assert_eq!(warpint(dir.path(), "work w --worker 0").code, Some(0));
    assert_eq!(results(dir.path(), "results-0.txt"), [61]);
    assert!(dir.path().join("w/warpint-0.log").exists());
    // The only worker of a directory has no number.
    list(dir.path(), "worktodo.txt", "Test=107\n");
    list(dir.path(), "worktodo-0.txt", "Test=31\n");
    assert_eq!(warpint(dir.path(), "work w").code, Some(0));
    assert_eq!(results(dir.path(), "results.txt"), [107]);
    assert_eq!(left(dir.path(), "worktodo-0.txt"), "Test=31\n");
}

#[test]
fn several_workers_are_started_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let exponents = [521, 607, 1279, 2203, 2281, 3217];
    // Each has a line of its own, however late it starts.
    list(dir.path(), "worktodo-0.txt", "PRP=1,2,521,-1\n");
    list(dir.path(), "worktodo-1.txt", "PRP=1,2,607,-1\n");
    let lines: String = exponents[2..].iter().map(|p| format!("PRP=1,2,{p},-1\n")).collect();
    list(dir.path(), "worktodo.txt", &lines);
    let ran = warpint(dir.path(), "work w --workers 2 --threads 1 --device cpu --json --no-proof");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let [first, second] = ["results-0.txt", "results-1.txt"].map(|f| results(dir.path(), f));
    assert!(first.contains(&521) && second.contains(&607), "{ran:?}");
    let mut all = [first, second].concat();
    all.sort_unstable();
    assert_eq!(all, exponents);
    assert!(
        results(dir.path(), "results.txt").is_empty()
            && left(dir.path(), "worktodo.txt").is_empty()
    );
    let objects: Vec<Value> =
        ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let ends: Vec<_> = objects.iter().filter(|o| o["status"] == "no work left").collect();
    assert_eq!((objects.len(), ends.len()), (exponents.len() + 2, 2), "{ran:?}");
    let done: u64 = ends.iter().map(|o| o["done"].as_u64().unwrap()).sum();
    assert_eq!(done, exponents.len() as u64);
    let names = ["worker 0 (cpu): ", "worker 1 (cpu): "];
    assert!(ran.err.lines().all(|l| names.iter().any(|name| l.starts_with(name))), "{ran:?}");
    assert_eq!(states(dir.path()), ["finished", "finished"]);
    for log in ["warpint-0.log", "warpint-1.log"] {
        assert!(dir.path().join("w").join(log).exists());
    }
}

#[test]
fn a_worker_that_fails_leaves_the_others_alone() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), "worktodo.txt", "Test=127\nTest=521\n");
    fs::create_dir(dir.path().join("w/results-1.txt")).unwrap();
    let ran = warpint(dir.path(), "work w --workers 2 --device cpu");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let says = "error: worker 1 (cpu) ended with exit code 2; the others go on\n";
    assert!(ran.err.contains(says), "{ran:?}");
    assert!(ran.err.contains("worker 1 (cpu): error: the results file"), "{ran:?}");
    assert_eq!(results(dir.path(), "results-0.txt"), [127, 521]);
}

#[test]
fn a_request_to_stop_reaches_every_worker() {
    let dir = tempfile::tempdir().unwrap();
    list(dir.path(), "worktodo.txt", "PRP=1,2,86243,-1\nPRP=1,2,110503,-1\n");
    let line = "work w --workers 2 --threads 1 --device cpu --no-proof --checkpoint-interval 0.1";
    let child = start(dir.path(), line);
    let saved = || {
        let status = warpint(dir.path(), "status w --json").json();
        let workers = status["workers"].as_array().unwrap();
        workers.len() == 2 && workers.iter().all(|w| w["test"]["saved"].is_u64())
    };
    wait_until("checkpoints of both", saved);
    // To the first process alone, as systemd and `kill` do it.
    signal(&child, "TERM");
    let ran = end(child);
    assert!(ran.ended_by("TERM"), "{ran:?}");
    assert_eq!(ran.err.matches("saved; the same command goes on from there").count(), 2, "{ran:?}");
    assert!(!ran.err.contains("error: "), "{ran:?}");
    assert_eq!(states(dir.path()), ["stopped", "stopped"]);
}

#[test]
fn all_gpus_are_wanted_where_there_is_none() {
    let dir = tempfile::tempdir().unwrap();
    if warpint(dir.path(), "devices --json").json()["devices"][0].is_object() {
        return;
    }
    list(dir.path(), "worktodo.txt", "Test=127\n");
    let ran = warpint(dir.path(), "work w --device all");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().starts_with("--device all: "), "{ran:?}");
    assert_eq!(fs::read_dir(dir.path().join("w")).unwrap().count(), 1, "nothing is touched");
    for (options, says) in [
        ("--workers 2 --worker 1", "--worker"),
        ("--workers 0", "'0' is not a number of workers from 1 to 64"),
        ("--device some", "cuda:N, sim, all"),
    ] {
        let ran = warpint(dir.path(), &format!("work w {options}"));
        assert!(ran.code == Some(2) && ran.err.contains(says), "{ran:?}");
    }
}
