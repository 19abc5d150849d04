//! Tests of `warpint batch`: the files that a stopped run leaves, and resumption by the same
//! command.

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::common::{Ran, WARPINT, command, end, names, signal, warpint};

/// Options that make pieces so small and records of progress so frequent that a signal can arrive
/// between two records.
const SMALL: &str = "--chunk 3 --checkpoint-interval 0.001 --device cpu";

/// Writes operand files: numbers of 600 to 6,000 bits with some invalid lines, and divisors.
fn write_operands(dir: &Path) {
    let line = |i: usize| match i {
        2 | 700 => "x".to_owned(),
        i => format!("{}{}", i + 1, "7".repeat(180 + i % 1600)),
    };
    let lines = |step: usize| (0..1500).map(|i| line(i / step) + "\n").collect::<String>();
    fs::write(dir.join("a.txt"), lines(1)).unwrap();
    fs::write(dir.join("b.txt"), lines(2)).unwrap();
}

/// Returns the count of numbers done according to `<out>.partial.json`; 0 if the file does not
/// exist.
fn done(dir: &Path, out: &str) -> u64 {
    let text = fs::read_to_string(dir.join(format!("{out}.partial.json"))).unwrap_or_default();
    let state: Value = serde_json::from_str(&text).unwrap_or_default();
    state["state"]["tally"]["done"].as_u64().unwrap_or(0)
}

fn begin(dir: &Path, line: &str) -> Child {
    let line = format!("batch {line} {SMALL}");
    let mut command = command(dir, line.split(' '));
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

/// Waits until a run has done more than `more` numbers, sends it the signal `name`, and waits for
/// the end of the run.
fn stopped_at(dir: &Path, mut child: Child, out: &str, more: u64, name: &str) -> Ran {
    let begin = Instant::now();
    while done(dir, out) <= more && child.try_wait().unwrap().is_none() {
        assert!(begin.elapsed() < Duration::from_secs(60), "nothing is written");
        std::thread::sleep(Duration::from_millis(1));
    }
    let id = child.id().to_string();
    // The process may have ended.
    let _ = Command::new("kill").args(["-s", name, &id]).stderr(Stdio::null()).status().unwrap();
    end(child)
}

/// Starts a run, and stops it by SIGINT after it has done its first numbers.
fn stopped(dir: &Path, line: &str, out: &str) -> Ran {
    let ran = stopped_at(dir, begin(dir, line), out, 0, "INT");
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");
    ran
}

fn whole(dir: &Path, line: &str) -> Ran {
    warpint(dir, &format!("batch {line} --device cpu"))
}

#[test]
fn killed_at_any_time_it_goes_on_to_the_same_bytes() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    for (out, rem, check) in [("q.npy", "r.txt", " --check 90 --seed 7"), ("q.txt", "r.bin", "")] {
        let line =
            |at: &str| format!("divrem a.txt b.txt -o {at}{out} --rem {at}{rem}{check} --json");
        fs::create_dir_all(dir.path().join("whole")).unwrap();
        let expected = whole(dir.path(), &line("whole/"));
        assert_eq!((expected.code, &expected.json()["malformed"]), (Some(2), &6.into()));
        let (mut kills, mut before) = (0, 0);
        let ran = loop {
            let child = begin(dir.path(), &line(""));
            // Makes progress each time, also when killed between two records.
            let ran = stopped_at(dir.path(), child, out, before + 100, "KILL");
            if ran.code.is_some() {
                break ran;
            }
            // After a kill between the moves of the two files, the run begins anew.
            let is_anew = ran.err.contains(".partial is not as it was left: ");
            // A run that has printed its report has removed its note, and may still be killed.
            let is_over = !ran.out.is_empty();
            let kept = is_anew || is_over || done(dir.path(), out) >= before;
            assert!(kept, "a note is lost: {ran:?}");
            before = done(dir.path(), out);
            kills += 1;
        };
        assert!(kills > 2, "{kills} kills");
        let (json, expected) = (ran.json(), expected.json());
        assert_eq!(ran.code, Some(2), "{ran:?}");
        // After a kill between the moves of the two files, the run begins anew.
        let is_moved = ran.err.contains(".partial is not as it was left: ");
        let resumed_from = json["resumed-from"].as_u64().unwrap_or(0);
        assert!(is_moved || resumed_from == before, "{ran:?}");
        for field in ["count", "done", "malformed", "checked", "seed", "written-bytes"] {
            assert_eq!(json[field], expected[field], "{field}");
        }
        for file in [out, rem] {
            let bytes = |name: String| fs::read(dir.path().join(name)).unwrap();
            assert!(bytes(file.into()) == bytes(format!("whole/{file}")), "{file} differs");
        }
    }
    let left = ["a.txt", "b.txt", "q.npy", "q.txt", "r.bin", "r.txt", "whole"];
    assert_eq!(names(dir.path()), left);
}

#[test]
fn ctrl_c_keeps_what_is_done_and_the_same_command_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    let at = |name: &str| dir.path().join(name);
    fs::write(at("r.txt"), "old").unwrap();
    let ran = stopped(dir.path(), "mul a.txt b.txt -o r.txt -q", "r.txt");
    let done = done(dir.path(), "r.txt");
    let says = format!(
        "stopped after {done} of 1500 numbers: kept in r.txt.partial; the same command goes on from there"
    );
    assert_eq!(ran.err.lines().last(), Some(says.as_str()));
    assert_eq!(
        names(dir.path()),
        ["a.txt", "b.txt", "r.txt", "r.txt.partial", "r.txt.partial.json"]
    );
    assert_eq!(fs::read_to_string(at("r.txt")).unwrap(), "old");
    // The run resumes with another size of pieces, and with other names of the same files.
    let ran = whole(dir.path(), "mul ./a.txt b.txt -o ./r.txt --chunk 1000 --threads 1 --json");
    assert_eq!((ran.code, &ran.json()["resumed-from"]), (Some(2), &done.into()));
    whole(dir.path(), "mul a.txt b.txt -o whole.txt");
    assert!(fs::read(at("r.txt")).unwrap() == fs::read(at("whole.txt")).unwrap());
    assert_eq!(names(dir.path()), ["a.txt", "b.txt", "r.txt", "whole.txt"]);

    // As JSON, with the message for users.
    let ran =
        stopped_at(dir.path(), begin(dir.path(), "sqr a.txt -o s.txt --json"), "s.txt", 0, "INT");
    let json = ran.json();
    assert!(ran.ended_by("INT"), "{ran:?}");
    assert_eq!((&json["status"], &json["count"]), (&"stopped".into(), &1500.into()));
    let ran = whole(dir.path(), "sqr a.txt -o s.txt");
    let says = format!("going on after {} of 1500 numbers", json["done"]);
    assert_eq!(ran.err.lines().next(), Some(says.as_str()));
}

#[test]
fn changed_operands_begin_anew() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    stopped(dir.path(), "mul a.txt 3 -o r.txt", "r.txt");
    let done = done(dir.path(), "r.txt");
    fs::write(dir.path().join("a.txt"), "5\n6\n").unwrap();
    let ran = whole(dir.path(), "mul a.txt 3 -o r.txt --json");
    let says = format!("a.txt has changed: {done} of 1500 numbers done before are discarded\n");
    assert_eq!((ran.code, &ran.err), (Some(0), &says));
    assert_eq!(ran.json()["resumed-from"], 0);
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "15\n18\n");
    assert_eq!(names(dir.path()), ["a.txt", "b.txt", "r.txt"]);
}

#[test]
fn another_command_does_not_destroy_what_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    stopped(dir.path(), "mul a.txt 3 -o r.txt", "r.txt");
    let done = done(dir.path(), "r.txt");
    let there = || {
        ["r.txt.partial", "r.txt.partial.json"].map(|name| fs::read(dir.path().join(name)).unwrap())
    };
    let before = there();
    let path = fs::canonicalize(dir.path().join("a.txt")).unwrap();
    let another = format!("another command (mul {} 3)", path.display());
    for (line, other) in [
        ("mul a.txt 4", another.as_str()),
        ("add a.txt 3", &another),
        ("mul a.txt 3 --bits 9600", "the same command without --bits"),
        ("mul a.txt 3 --check 5", "the same command without --check"),
        ("add a.txt 3 --check 5", &another),
    ] {
        let ran = whole(dir.path(), &format!("{line} -o r.txt"));
        let says = format!(
            "r.txt.partial.json holds {done} of 1500 numbers of {other}: run that one to its end, or give \
             --restart to discard them"
        );
        assert_eq!((ran.code, ran.error()), (Some(2), says.as_str()), "{line}");
        assert!(there() == before, "{line}");
    }
    let ran = whole(dir.path(), "add 2 3 -o r.txt --restart -q");
    let says = format!("--restart: {done} of 1500 numbers done before are discarded\n");
    assert_eq!((ran.code, ran.err), (Some(0), says));
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "5\n");
    assert_eq!(names(dir.path()), ["a.txt", "b.txt", "r.txt"]);
}

#[test]
fn damaged_results_are_not_gone_on_with() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    whole(dir.path(), "sqr a.txt -o whole.txt");
    let partial = dir.path().join("r.txt.partial");
    for cut in [false, true] {
        stopped(dir.path(), "sqr a.txt -o r.txt", "r.txt");
        let mut bytes = fs::read(&partial).unwrap();
        if cut {
            bytes.pop();
        } else {
            bytes[0] ^= 1;
        }
        fs::write(&partial, bytes).unwrap();
        let ran = whole(dir.path(), "sqr a.txt -o r.txt --json");
        assert!(ran.err.starts_with("r.txt.partial is not as it was left: "), "{ran:?}");
        assert_eq!((ran.code, &ran.json()["resumed-from"]), (Some(2), &0.into()));
        let [found, expected] = ["r.txt", "whole.txt"].map(|name| fs::read(dir.path().join(name)));
        assert!(found.unwrap() == expected.unwrap());
    }
}

#[test]
fn files_of_others_are_not_touched() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    let link = |name: &str| std::os::unix::fs::symlink("mine", at(name)).unwrap();
    fs::write(at("mine"), "mine").unwrap();
    for (name, is_link, says) in [
        (
            "r.txt.partial",
            false,
            "r.txt.partial exists, but does not belong to an unfinished batch: move it away",
        ),
        ("r.txt.partial", true, "r.txt.partial is in the way: it is not a regular file"),
        (
            "r.txt.partial.json",
            false,
            "r.txt.partial.json is not the state of an unfinished batch (it is truncated or of another \
             form): move it away",
        ),
        ("r.txt.partial.json", true, "r.txt.partial.json is in the way: it is not a regular file"),
    ] {
        if is_link {
            link(name);
        } else {
            fs::write(at(name), "mine").unwrap();
        }
        for restart in ["", " --restart"] {
            let ran = whole(dir.path(), &format!("add 2 3 -o r.txt{restart}"));
            assert_eq!((ran.code, ran.error()), (Some(2), says));
            assert_eq!(names(dir.path()), ["mine", name]);
            assert_eq!(fs::read_to_string(at(name)).unwrap(), "mine");
        }
        fs::remove_file(at(name)).unwrap();
    }
    link("r.txt.partial.json.new");
    assert_eq!(whole(dir.path(), "add 2 3 -o r.txt").code, Some(0));
    assert_eq!(fs::read_to_string(at("mine")).unwrap(), "mine");
    assert_eq!(names(dir.path()), ["mine", "r.txt"]);
}

#[test]
fn two_processes_do_not_write_one_file() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    let mut first = begin(dir.path(), "sqr a.txt -o r.txt");
    let started = Instant::now();
    while done(dir.path(), "r.txt") == 0 && first.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
    }
    // The first process is paused, so that it does not finish in the meantime.
    let id = first.id().to_string();
    assert!(Command::new("kill").args(["-s", "STOP", &id]).status().unwrap().success());
    for line in ["sqr a.txt -o r.txt", "sqr a.txt -o r.txt --restart", "add 2 3 -o ./r.txt"] {
        let ran = whole(dir.path(), line);
        assert_eq!(ran.code, Some(2), "{ran:?}");
        assert!(ran.error().starts_with("another process is writing "), "{ran:?}");
    }
    assert!(Command::new("kill").args(["-s", "CONT", &id]).status().unwrap().success());
    let ran = Ran::from(first.wait_with_output().unwrap());
    assert!(ran.out.starts_with("r.txt: 1498 results"), "{ran:?}");
    assert_eq!(names(dir.path()), ["a.txt", "b.txt", "r.txt"]);
}

#[test]
fn what_comes_through_a_pipe_is_known_by_its_digest() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    let numbers = fs::read(dir.path().join("a.txt")).unwrap();
    let args = |line: &str| format!("batch sqr - -o r.txt {line}");
    let line = args(SMALL);
    let mut child = command(dir.path(), line.split(' '))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &numbers).unwrap();
    let ran = stopped_at(dir.path(), child, "r.txt", 0, "INT");
    assert!(ran.ended_by("INT"), "{ran:?}");
    let left = done(dir.path(), "r.txt");
    let again = crate::common::with_input(dir.path(), &args("--json"), &numbers);
    assert_eq!((again.code, &again.json()["resumed-from"]), (Some(2), &left.into()));

    let child = begin(dir.path(), "sqr a.txt -o s.txt");
    assert!(stopped_at(dir.path(), child, "s.txt", 0, "INT").ended_by("INT"));
    fs::rename(dir.path().join("s.txt.partial"), dir.path().join("r.txt.partial")).unwrap();
    fs::rename(dir.path().join("s.txt.partial.json"), dir.path().join("r.txt.partial.json"))
        .unwrap();
    let ran = crate::common::with_input(dir.path(), &args("-q"), b"3\n");
    assert_eq!(ran.code, Some(2), "not of this command: {ran:?}");
}

#[test]
fn streams_begin_anew() {
    let dir = tempfile::tempdir().unwrap();
    write_operands(dir.path());
    // The remainders go to a file, whose growth is visible.
    let line = "divrem a.txt b.txt -o - --rem r.txt";
    let mut child = begin(dir.path(), line);
    let started = Instant::now();
    let size = || fs::metadata(dir.path().join("r.txt.partial")).map_or(0, |file| file.len());
    while size() == 0 && child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
    }
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.ends_with(" of 1500 numbers: nothing is written\n"), "{ran:?}");
    assert_eq!(names(dir.path()), ["a.txt", "b.txt"]);
}

#[test]
fn a_full_disk_is_one_line_and_keeps_what_is_done() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("a.txt"), "123456789123456789\n".repeat(4000)).unwrap();
    fs::write(dir.path().join("r.txt"), "old").unwrap();
    // Files may have 8 KiB: a write beyond that fails as on a full disk.
    let run = |kib: u32| {
        let script = format!(
            "trap '' XFSZ; ulimit -f {kib}; exec \"$0\" batch sqr a.txt -o r.txt --chunk 100 --json"
        );
        let mut command = Command::new("bash");
        command.args(["-c", &script, WARPINT]).current_dir(dir.path());
        Ran::from(command.output().unwrap())
    };
    let ran = run(8);
    assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
    // 36 bytes per line.
    let says =
        "; 200 of 4000 numbers are kept in r.txt.partial, and the same command goes on from there";
    assert!(ran.error().starts_with("cannot write r.txt: File too large"), "{ran:?}");
    assert!(ran.error().ends_with(says), "{ran:?}");
    assert_eq!(fs::read_to_string(dir.path().join("r.txt")).unwrap(), "old");
    assert_eq!(names(dir.path()), ["a.txt", "r.txt", "r.txt.partial", "r.txt.partial.json"]);
    // A little more room, and then enough.
    assert!(run(16).error().contains("; 400 of 4000 numbers are kept in "));
    let ran = run(1000);
    assert_eq!((ran.code, &ran.json()["resumed-from"]), (Some(0), &400.into()));
    let expected = format!("{}\n", 123_456_789_123_456_789u128.pow(2)).repeat(4000);
    assert!(fs::read_to_string(dir.path().join("r.txt")).unwrap() == expected);
    assert_eq!(names(dir.path()), ["a.txt", "r.txt"]);

    // If not even one piece fits, nothing is left.
    let ran = run(1);
    assert_eq!(
        (ran.code, ran.error()),
        (Some(4), "cannot write r.txt: File too large (os error 27)")
    );
    assert_eq!(names(dir.path()), ["a.txt", "r.txt"]);
}
