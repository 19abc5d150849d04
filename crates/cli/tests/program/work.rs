//! Tests of `warpint work`: each assignment of a worktodo.txt is done, each result is recorded
//! once, and other lines are not changed.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, command, in_time, warpint};

const AID: &str = "FEEE9DCD59A0855711265C1165C4C693";

/// Writes `lines` to `worktodo.txt` in the folder `work`, and runs `warpint work` there.
fn work(dir: &Path, lines: &str, options: &str) -> Ran {
    fs::create_dir_all(dir.join("work")).unwrap();
    fs::write(dir.join("work/worktodo.txt"), lines).unwrap();
    warpint(dir, &format!("work work{options}"))
}

fn left(dir: &Path) -> String {
    fs::read_to_string(dir.join("work/worktodo.txt")).unwrap()
}

fn results(dir: &Path, name: &str) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("work").join(name)).unwrap_or_default();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_list_is_worked_through_and_the_rest_stays() {
    let dir = tempfile::tempdir().unwrap();
    let lines = format!(
        "# mine\r\nPRP={AID},1,2,1277,-1,70,0\nnonsense\nTest=1279\r\nPminus1=1,2,1277,-1,9,9\n\
         DoubleCheck=N/A,1277,70,1\nPRP=3,2,1277,-1\nPRPDC=N/A,1,2,61,-1,99,0,3,5"
    );
    let ran = work(dir.path(), &lines, " --user somebody --computer box");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(left(dir.path()), "# mine\r\nnonsense\nPminus1=1,2,1277,-1,9,9\nPRP=3,2,1277,-1\n");
    let found = results(dir.path(), "results.txt");
    let facts: Vec<_> = found
        .iter()
        .map(|r| format!("{} {} {} {}", r["worktype"], r["exponent"], r["status"], r["res64"]))
        .collect();
    // From Python: pow(3, M − 1, M), and the sequence in its integers.
    assert_eq!(
        facts,
        [
            r#""PRP-3" 1277 "C" "076D5C08E15214ED""#,
            r#""LL" 1279 "P" "0000000000000000""#,
            r#""LL" 1277 "C" "5613A480590E78BA""#,
            r#""PRP-3" 61 "P" "0000000000000001""#,
        ]
    );
    assert_eq!(found[0]["aid"], AID);
    assert_eq!(found[1]["aid"], Value::Null);
    assert!(found.iter().all(|r| r["user"] == "somebody" && r["computer"] == "box"));
    for said in [
        "work/worktodo.txt, line 3: nonsense is not an assignment",
        "work/worktodo.txt, line 5: Pminus1 is work for another program",
        "work/worktodo.txt, line 7: k,b,n,c = 3,2,1277,-1",
        "no work left in work/worktodo.txt: 4 assignments done, 1 malformed, 2 for other programs",
    ] {
        assert_eq!(ran.err.matches(said).count(), 1, "{said}: {ran:?}");
    }
    assert_eq!(ran.out.lines().count(), 4);
    let log = fs::read_to_string(dir.path().join("work/warpint.log")).unwrap();
    assert!(log.contains(" cpu M1279: LL: engine fp64") && log.contains("is prime"), "{log}");

    let again = warpint(dir.path(), "work work --quiet");
    assert_eq!((again.code, again.out.as_str()), (Some(0), ""), "{again:?}");
    let again = warpint(dir.path(), "work work --json");
    assert_eq!(again.json()["status"], "no work left");
    assert_eq!(results(dir.path(), "results.txt").len(), 4);
}

#[test]
fn an_assignment_that_cannot_be_done_is_told_of_and_the_others_are() {
    let dir = tempfile::tempdir().unwrap();
    let ran = work(dir.path(), "Test=1278\nPRP=1,2,2,-1\nTest=127\n", " --json");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(left(dir.path()), "Test=1278\nPRP=1,2,2,-1\n");
    assert!(
        ran.err.contains("worktodo.txt, line 1: 1278 is not prime (1278 = 2 · 639)"),
        "{ran:?}"
    );
    assert!(ran.err.contains("worktodo.txt, line 2: M2 = 3 is prime: no test"), "{ran:?}");
    let last: Value = serde_json::from_str(ran.out.lines().last().unwrap()).unwrap();
    assert_eq!((&last["done"], &last["failed"]), (&1.into(), &2.into()));
}

#[test]
fn a_factor_ends_a_line_of_which_nobody_has_searched_any() {
    let dir = tempfile::tempdir().unwrap();
    // The short form of PRPLL's help; those that a server gives out have been searched.
    let lines = format!("PRP=2207\nTest=11\nPRP={AID},2207\nPRP=1,2,2207,-1,70,0\nPRP=1279\n");
    let ran = work(dir.path(), &lines, " --user somebody --no-proof");
    assert_eq!((ran.code, left(dir.path()).as_str()), (Some(0), ""), "{ran:?}");
    // 123593 = 2·28·2207 + 1.
    assert!(ran.out.contains("M2207 is composite: it has the factor 123593 = 2·28·2207 + 1\n"));
    let found = results(dir.path(), "results.txt");
    let facts: Vec<_> = found
        .iter()
        .map(|r| format!("{} {} {}", r["worktype"], r["exponent"], r["status"]))
        .collect();
    assert_eq!(
        facts,
        [
            r#""TF" 2207 "F""#,
            r#""TF" 11 "F""#,
            r#""PRP-3" 2207 "C""#,
            r#""PRP-3" 2207 "C""#,
            r#""PRP-3" 1279 "P""#
        ]
    );
    assert_eq!(
        (&found[0]["factors"][0], &found[0]["user"]),
        (&"123593".into(), &"somebody".into())
    );
    assert!(found[0].get("res64").is_none() && found[0].get("bitlo").is_none());
    // As after a crash between the result and the removal of its line.
    let ran = work(dir.path(), "PRP=2207\n", " --user somebody");
    assert_eq!((ran.code, left(dir.path()).as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(results(dir.path(), "results.txt").len(), 5);
}

#[test]
fn an_engine_that_does_not_take_the_exponent_fails_only_there() {
    let dir = tempfile::tempdir().unwrap();
    let ran = work(dir.path(), "Test=1279\nTest=61\n", " --engine word");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("line 1: engine word takes exponents from 2 to 63"), "{ran:?}");
    assert_eq!(left(dir.path()), "Test=1279\n");
}

#[test]
fn work_that_is_done_already_is_recorded_once_for_each_assignment() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    assert_eq!(warpint(dir.path(), "prp 1277 --no-tf --dir work").code, Some(0));
    let line = format!("PRP={AID},1,2,1277,-1\n");
    // As after a crash between the result and the removal of its line: again and again.
    for _ in 0..3 {
        let ran = work(dir.path(), &line, "");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("finished before"), "{ran:?}");
        assert_eq!(left(dir.path()), "");
    }
    let found = results(dir.path(), "results.txt");
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0]["aid"], &found[1]["aid"]), (&Value::Null, &AID.into()));
    assert_eq!(found[0]["timestamp"], found[1]["timestamp"]);
    // Another worker that finds the test done reports it to the same file and for the same user.
    let ran = work(dir.path(), &line, " --worker 3 --user another");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(results(dir.path(), "results.txt").len(), 2);
    assert!(results(dir.path(), "results-3.txt").is_empty());
}

#[test]
fn a_double_check_is_no_copy_of_an_earlier_result() {
    let dir = tempfile::tempdir().unwrap();
    let first = work(dir.path(), "PRP=1,2,1277,-1\n", "");
    assert_eq!(first.code, Some(0), "{first:?}");
    let line = format!("PRPDC={AID},1,2,1277,-1\n");
    let ran = work(dir.path(), &line, "");
    assert!(ran.err.contains("not an independent double-check, testing again"), "{ran:?}");
    assert!(ran.err.contains("M1277, PRP-3: engine "), "{ran:?}");
    // The result of this double check counts for it.
    let ran = work(dir.path(), &line, "");
    assert!(ran.err.contains("finished before"), "{ran:?}");
    assert_eq!(results(dir.path(), "results.txt").len(), 2);
}

#[test]
fn lines_are_added_after_a_look_at_them() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("hello", "--add: hello is not an assignment"),
        ("PRP=1,2,1278,-1", "--add: 1278 is not prime"),
        ("Pminus1=1,2,1277,-1,9,9", "--add: Pminus1 is work for another program"),
        ("#", "--add: it is not an assignment"),
        ("Test=1279\nTest=7", "--add: the line is not plain text"),
    ] {
        let args = ["work", "work", "--add", "Test=127", "--add", line];
        let ran = Ran::from(command(dir.path(), args).output().unwrap());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "refused lines leave nothing");
    let ran = warpint(dir.path(), "work work --add Test=127 --add PRP=N/A,1,2,1279,-1");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err, "added 2 lines to work/worktodo.txt\n");
    let ran = warpint(dir.path(), "work work --add Test=61 --json");
    assert_eq!(ran.json()["added"], 1);
    assert_eq!(left(dir.path()), "Test=127\nPRP=N/A,1,2,1279,-1\nTest=61\n");
}

#[test]
fn additions_of_others_move_over_and_are_done() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("work")).unwrap();
    fs::write(dir.path().join("work/worktodo.add"), "Test=127\nTest=1278").unwrap();
    let ran = work(dir.path(), "Test=61", "");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("2 lines moved over from worktodo.add"), "{ran:?}");
    assert_eq!(left(dir.path()), "Test=1278\n");
    assert_eq!(results(dir.path(), "results.txt").len(), 2);
    assert!(!dir.path().join("work/worktodo.add").exists());
}

#[test]
fn a_directory_that_is_not_there_or_has_no_work_is_told_of() {
    let dir = tempfile::tempdir().unwrap();
    for line in ["work work", "status work"] {
        let ran = warpint(dir.path(), line);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error().contains("the directory work is not there"), "{ran:?}");
    }
    fs::create_dir(dir.path().join("work")).unwrap();
    let ran = warpint(dir.path(), "work work");
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), ""), "{ran:?}");
    assert_eq!(ran.err, "no work left in work/worktodo.txt: 0 assignments done\n");
    let ran = warpint(dir.path(), "status work");
    assert!(ran.out.starts_with("worker 0 (process "), "{ran:?}");
    assert!(ran.out.contains("ended, no work was left; 0 done"), "{ran:?}");
    assert!(ran.out.ends_with("work/worktodo.txt: 0 assignments left\n"), "{ran:?}");
}

#[test]
fn a_list_that_is_no_file_is_refused_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let list = dir.path().join("work/worktodo.txt");
    let refused = |what: &str| {
        for line in ["work work", "work work --add Test=127", "status work"] {
            let ran = in_time(command(dir.path(), line.split(' ')));
            assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
            let says = format!("work/worktodo.txt is {what}, not a file: move it away");
            assert!(ran.error().ends_with(&says), "{line}: {ran:?}");
        }
        let left = fs::read_dir(dir.path().join("work")).unwrap().count();
        assert_eq!(left, 1, "a refused request leaves nothing");
    };
    fs::create_dir_all(&list).unwrap();
    refused("a directory");
    #[cfg(unix)]
    {
        fs::remove_dir(&list).unwrap();
        assert!(std::process::Command::new("mkfifo").arg(&list).status().unwrap().success());
        refused("a FIFO");
    }
}

#[test]
fn names_and_numbers_have_bounds() {
    let dir = tempfile::tempdir().unwrap();
    for (options, says) in [
        (vec!["--user", ""], "--user: '' is not a name"),
        (vec!["--computer", "a\nb"], "--computer: 'a\\nb' is not a name of 1 to 64 characters"),
        (vec!["--worker", "1000"], "--worker: 1000 is not in 0..1000"),
        (vec!["--worker=-1"], "--worker: -1 is not in 0..1000"),
    ] {
        let args = ["work", "work"].into_iter().chain(options);
        let ran = Ran::from(command(dir.path(), args).output().unwrap());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.err.contains(says), "{says}: {ran:?}");
    }
}

#[cfg(unix)]
mod several {
    use super::*;
    use crate::common::{end, signal, started, wait_until};
    use std::process::Child;
    use std::time::Duration;

    fn start(dir: &Path, options: &str) -> Child {
        started(dir, &format!("work work --checkpoint-interval 0.1{options}"))
    }

    #[test]
    fn a_worker_is_seen_from_outside_and_goes_on_where_it_stopped() {
        let dir = tempfile::tempdir().unwrap();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::write(dir.path().join("work/worktodo.txt"), "PRP=1,2,86243,-1\nTest=127\n").unwrap();
        let child = start(dir.path(), "");
        let id = child.id();
        let status = || warpint(dir.path(), "status work --json").json();
        wait_until("a checkpoint", || status()["workers"][0]["test"]["saved"].is_u64());
        let seen = status();
        let worker = &seen["workers"][0];
        assert_eq!((&worker["state"], &worker["pid"]), (&"testing".into(), &id.into()));
        assert_eq!(worker["test"]["device"], "cpu");
        assert_eq!(worker["test"]["exponent"], 86_243);
        assert_eq!(seen["lines"]["assignments"], 2);
        let second = warpint(dir.path(), "work work");
        assert_eq!(second.code, Some(2), "{second:?}");
        assert!(second.error().contains("worker 0 is already at work in work"), "{second:?}");

        signal(&child, "INT");
        let ran = end(child);
        assert!(ran.ended_by("INT"), "{ran:?}");
        assert_eq!(status()["workers"][0]["state"], "stopped");
        assert_eq!(left(dir.path()), "PRP=1,2,86243,-1\nTest=127\n");

        let mut child = start(dir.path(), "");
        let log = dir.path().join("work/warpint.log");
        wait_until("the resumed test", || {
            fs::read_to_string(&log).unwrap().contains("cpu M86243: going on at iteration")
        });
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(status()["workers"][0]["state"], "killed");
    }

    #[test]
    fn each_line_is_done_by_one_worker() {
        let dir = tempfile::tempdir().unwrap();
        let exponents = [1277, 1279, 1283, 1289, 1291, 1297, 2203, 2207, 2213, 2221, 3001, 3011];
        let lines: String = exponents.iter().map(|p| format!("PRP=1,2,{p},-1\n")).collect();
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::write(dir.path().join("work/worktodo.txt"), lines).unwrap();
        let workers = ["", " --worker 1", " --worker 2"]
            .map(|w| start(dir.path(), &format!("{w} --threads 1")));
        for worker in workers {
            let ran = end(worker);
            assert_eq!(ran.code, Some(0), "{ran:?}");
        }
        assert_eq!(left(dir.path()), "");
        let mut found: Vec<u64> = ["results.txt", "results-1.txt", "results-2.txt"]
            .iter()
            .flat_map(|name| results(dir.path(), name))
            .map(|result| result["exponent"].as_u64().unwrap())
            .collect();
        found.sort_unstable();
        assert_eq!(found, exponents);
    }

    #[test]
    fn killed_again_and_again_it_reports_each_assignment_once() {
        let dir = tempfile::tempdir().unwrap();
        let kept = "# mine\nPminus1=1,2,1277,-1,9,9\nPRP=oops\n";
        let lines = format!(
            "{kept}PRP={AID},1,2,44497,-1\nTest=9689\nPRPDC=N/A,1,2,21701,-1\nDoubleCheck=9941\n\
             Test=11213\nPRP=1,2,4423,-1\n"
        );
        fs::create_dir(dir.path().join("work")).unwrap();
        fs::write(dir.path().join("work/worktodo.txt"), lines).unwrap();
        for delay in [150, 400, 700] {
            let mut child = start(dir.path(), "");
            std::thread::sleep(Duration::from_millis(delay));
            child.kill().unwrap();
            child.wait().unwrap();
        }
        let ran = end(start(dir.path(), ""));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert!(ran.err.contains("line 3: the assignment's ID is 'oops'"), "{ran:?}");
        assert_eq!(left(dir.path()), kept);
        let mut found: Vec<_> = results(dir.path(), "results.txt")
            .iter()
            .map(|r| format!("{} {} {}", r["exponent"], r["worktype"], r["status"]))
            .collect();
        found.sort();
        // All are exponents of Mersenne primes.
        assert_eq!(
            found,
            [
                r#"11213 "LL" "P""#,
                r#"21701 "PRP-3" "P""#,
                r#"4423 "PRP-3" "P""#,
                r#"44497 "PRP-3" "P""#,
                r#"9689 "LL" "P""#,
                r#"9941 "LL" "P""#,
            ]
        );
    }
}
