//! Tests in which the test of a Mersenne number is stopped or killed, the disk fails, or files are
//! damaged. The test must resume and give the same residue as without interruption.
use std::fs;
use std::io::{BufRead, BufReader, PipeReader, PipeWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use crate::common::{Ran, WARPINT, command, end, signal, wait_for_handler, wait_until, warpint};

/// The exponent of a test that takes some seconds.
const P: u32 = 216_091;

/// Returns the checkpoints of a test, the newest first.
fn checkpoints(dir: &Path, kind: &str) -> Vec<PathBuf> {
    let Ok(files) = fs::read_dir(dir.join(format!("warpint-work/M{P}"))) else { return vec![] };
    let mut files: Vec<_> = files
        .map(|f| f.unwrap().path())
        .filter(|f| {
            let name = f.file_name().unwrap().to_str().unwrap();
            name.starts_with(&format!("{kind}-0"))
                && !name.ends_with("tmp")
                && !name.ends_with("bad")
        })
        .collect();
    files.sort();
    files.reverse();
    files
}

/// Starts a test, and waits until it has saved `n` checkpoints.
fn start(dir: &Path, kind: &str, n: usize) -> Child {
    let p = P.to_string();
    let mut child = command(dir, [kind, &p, "--no-tf", "--json", "--checkpoint-interval", "0.05"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("checkpoints", || {
        assert!(child.try_wait().unwrap().is_none(), "{:?}", checkpoints(dir, kind));
        checkpoints(dir, kind).len() >= n
    });
    child
}

/// Starts a test, and stops it by SIGINT after it has saved `n` checkpoints. Returns the iteration
/// at which it stopped.
fn interrupted(dir: &Path, kind: &str, n: usize) -> u64 {
    let child = start(dir, kind, n);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    assert!(ran.err.contains("the same command goes on from there"), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["status"], &json["saved"]), (&"stopped".into(), &true.into()));
    json["iterations"].as_u64().unwrap()
}

/// Runs a test up to iteration `k`, from its newest checkpoint if one exists. Returns the output,
/// which includes the residue after iteration `k`.
fn interim(dir: &Path, kind: &str, k: u64) -> Ran {
    let ran = warpint(dir, &format!("{kind} {P} --iterations {k} --json"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["iterations"], k);
    ran
}

/// Returns the residue after `k` iterations of an uninterrupted test.
fn reference(kind: &str, k: u64) -> String {
    let dir = tempfile::tempdir().unwrap();
    interim(dir.path(), kind, k).res64()
}

#[test]
fn an_interrupted_test_goes_on_to_the_same_residue() {
    for kind in ["prp", "ll"] {
        let dir = tempfile::tempdir().unwrap();
        let k = interrupted(dir.path(), kind, 1) + 1500;
        let ran = interim(dir.path(), kind, k);
        assert!(ran.err.contains("going on at iteration"), "{ran:?}");
        assert_eq!(ran.res64(), reference(kind, k), "{kind} to {k}");
    }
}

#[test]
fn two_signals_at_once_are_one_request() {
    let dir = tempfile::tempdir().unwrap();
    let child = start(dir.path(), "prp", 1);
    // As `timeout` does it: to the process, and to its group.
    signal(&child, "TERM");
    std::thread::sleep(Duration::from_millis(20));
    signal(&child, "TERM");
    let ran = end(child);
    assert!(ran.ended_by("TERM"), "{ran:?}");
    assert_eq!(ran.json()["saved"], true, "{ran:?}");
}

#[test]
fn each_request_to_stop_saves_and_ends_the_process_by_its_own_signal() {
    for name in ["INT", "TERM", "HUP"] {
        let dir = tempfile::tempdir().unwrap();
        let child = start(dir.path(), "ll", 1);
        signal(&child, name);
        let ran = end(child);
        assert!(ran.ended_by(name), "{name}: {ran:?}");
        // What was said to be saved is on disk.
        let json = ran.json();
        assert_eq!(json["saved"], true, "{ran:?}");
        let newest = checkpoints(dir.path(), "ll")[0].file_stem().unwrap().to_owned();
        let saved = newest.to_str().unwrap()["ll-".len()..].parse::<u64>().unwrap();
        assert_eq!(json["iterations"], saved, "{ran:?}");
    }
}

/// Returns the two ends of a pipe that is full, so that a process that writes to it waits for a
/// reader.
fn full_pipe() -> (PipeReader, PipeWriter) {
    const CAPACITY: usize = 65_536;
    let (reader, mut writer) = std::io::pipe().unwrap();
    let filling = std::thread::spawn(move || writer.write_all(&[b'\n'; CAPACITY]).map(|()| writer));
    wait_until("a full pipe", || filling.is_finished());
    (reader, filling.join().unwrap().unwrap())
}

#[test]
fn a_second_request_ends_it_at_once_and_by_the_signal() {
    let dir = tempfile::tempdir().unwrap();
    // After the first request the test is saved, and its line waits for a reader.
    let (_reader, full) = full_pipe();
    let p = P.to_string();
    let args = ["ll", &p, "--no-tf", "--json", "--checkpoint-interval", "0.05"];
    let mut child = command(dir.path(), args).stdout(full).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a checkpoint", || !checkpoints(dir.path(), "ll").is_empty());
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(1000));
    assert!(child.try_wait().unwrap().is_none(), "it waits for its line");
    signal(&child, "INT");
    wait_until("the end", || child.try_wait().unwrap().is_some());
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
}

#[test]
fn a_test_that_ends_in_spite_of_a_request_is_recorded_and_ends_by_the_signal() {
    let dir = tempfile::tempdir().unwrap();
    let (mut reader, full) = full_pipe();
    let mut child = command(dir.path(), ["ll", "1279", "--no-tf", "-q"])
        .stdout(full)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // The result is kept, and is being printed.
    let kept = dir.path().join("warpint-work/M1279/ll-result.json");
    wait_until("the result", || kept.exists());
    signal(&child, "INT");
    std::thread::sleep(Duration::from_millis(100));
    assert!(child.try_wait().unwrap().is_none(), "it waits for its line");
    let mut out = String::new();
    reader.read_to_string(&mut out).unwrap();
    assert!(out.ends_with("no errors\n") && out.contains("M1279 is prime"), "{}", out.trim());
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    let recorded = fs::read_to_string(dir.path().join("warpint-work/results.txt")).unwrap();
    assert_eq!(recorded.lines().count(), 1);
}

#[test]
fn ctrl_c_ends_a_loop_of_the_shell_too() {
    use std::os::unix::process::CommandExt;

    let dir = tempfile::tempdir().unwrap();
    let bash = |script: &str| {
        // A shell that was started with SIGINT ignored, as tests in the background are, ignores it.
        let mut command = Command::new("env");
        command
            .args(["--default-signal=INT", "bash", "-c", script])
            .current_dir(dir.path())
            .env("WARPINT_CONFIG_DIR", dir.path().join("config"))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command
    };
    let test = format!("{WARPINT} ll {P} --no-tf --quiet --checkpoint-interval 0.05");
    let child = bash(&format!("for n in 1 2; do {test}; echo next; done"))
        // Ctrl-C is a signal to all of a terminal's foreground.
        .process_group(0)
        .spawn()
        .unwrap();
    wait_until("a checkpoint", || !checkpoints(dir.path(), "ll").is_empty());
    let group = format!("-{}", child.id());
    assert!(Command::new("kill").args(["-s", "INT", "--", &group]).status().unwrap().success());
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");

    // What a script sees that is not asked itself.
    for (name, code) in [("INT", "130\n"), ("TERM", "143\n")] {
        let pid = dir.path().join(name);
        let child = bash(&format!(
            "bash -c 'echo $$ >{name}.new; mv {name}.new {name}; exec {test}'; echo $?"
        ))
        .spawn()
        .unwrap();
        let before = checkpoints(dir.path(), "ll");
        wait_until("another checkpoint", || {
            pid.exists() && checkpoints(dir.path(), "ll") != before
        });
        let id = fs::read_to_string(&pid).unwrap();
        let sent = Command::new("kill").args(["-s", name, id.trim()]).status().unwrap();
        assert!(sent.success());
        assert_eq!(end(child).out, code);
    }
}

#[test]
fn a_bench_that_is_stopped_leaves_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let folders = || fs::read_dir(dir.path().join("w")).map_or(0, |entries| entries.count());
    let line = "bench checks 216091 --device cpu --dir w --engine goldilocks";
    let mut child = command(dir.path(), line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_until("the folder of the bench", || {
        assert!(child.try_wait().unwrap().is_none());
        folders() == 1
    });
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty() && ran.err.is_empty(), "{ran:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_killed_test_goes_on_to_the_same_residue() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = start(dir.path(), "prp", 2);
    let pid = child.id();
    child.kill().unwrap();
    child.wait().unwrap();
    let name = checkpoints(dir.path(), "prp")[0].file_stem().unwrap().to_owned();
    let k = name.to_str().unwrap()["prp-".len()..].parse::<u64>().unwrap() + 1500;
    let ran = interim(dir.path(), "prp", k);
    assert!(ran.err.contains(&format!("lock of process {pid}")), "{ran:?}");
    assert_eq!(ran.res64(), reference("prp", k));
}

#[test]
fn fewer_iterations_than_are_done_is_bad_input() {
    let dir = tempfile::tempdir().unwrap();
    let done = interrupted(dir.path(), "ll", 1);
    let ran = warpint(dir.path(), &format!("ll {P} --iterations {} --quiet", done - 1));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.error().contains(&format!("at iteration {done}, past the")), "{ran:?}");
}

#[test]
fn restart_begins_at_the_beginning() {
    let dir = tempfile::tempdir().unwrap();
    interrupted(dir.path(), "ll", 1);
    let ran = warpint(dir.path(), &format!("ll {P} --iterations 2 --restart --json"));
    assert_eq!(ran.res64(), "00000000000000C2", "{ran:?}");
}

#[test]
fn unsound_checkpoints_are_set_aside_each_with_a_line() {
    let elsewhere = tempfile::tempdir().unwrap();
    interrupted(elsewhere.path(), "prp", 1);
    let foreign = fs::read(&checkpoints(elsewhere.path(), "prp")[0]).unwrap();

    let dir = tempfile::tempdir().unwrap();
    let k = interrupted(dir.path(), "ll", 3) + 1500;
    let files = checkpoints(dir.path(), "ll");
    assert!(files.len() >= 3, "{files:?}");
    let newest = fs::read(&files[0]).unwrap();
    let mut flipped = newest.clone();
    let middle = flipped.len() / 2;
    flipped[middle] ^= 16;
    fs::write(&files[0], flipped).unwrap();
    let second = fs::read(&files[1]).unwrap();
    fs::write(&files[1], &second[..second.len() - 7]).unwrap();
    // The third stays sound; another, the newest of all, is of another test.
    let name = format!("ll-{:010}.ckpt", k - 1);
    fs::write(files[0].with_file_name(&name), foreign).unwrap();

    let ran = interim(dir.path(), "ll", k);
    for path in [&files[0], &files[1], &files[0].with_file_name(name)] {
        let bad = format!("{}.bad", path.file_name().unwrap().to_str().unwrap());
        assert_eq!(ran.err.lines().filter(|l| l.contains(&bad)).count(), 1, "{bad}: {ran:?}");
        assert!(path.with_file_name(bad).exists());
    }
    let oldest = files[2].file_name().unwrap().to_str().unwrap();
    assert!(ran.err.lines().any(|l| l.contains("going on at") && l.contains(oldest)), "{ran:?}");
    assert_eq!(ran.res64(), reference("ll", k));
}

#[test]
fn a_second_process_on_the_same_directory_stops() {
    let dir = tempfile::tempdir().unwrap();
    let child = start(dir.path(), "prp", 1);
    let second = warpint(dir.path(), &format!("prp {P} --no-tf"));
    assert_eq!(second.code, Some(2), "{second:?}");
    assert!(second.error().contains(&format!("process {}", child.id())), "{second:?}");
    signal(&child, "TERM");
    assert!(end(child).ended_by("TERM"));
}

#[test]
fn a_full_disk_does_not_stop_a_test() {
    let k = 12_000;
    for quiet in ["", "--quiet"] {
        let dir = tempfile::tempdir().unwrap();
        // Files end at 4 or 8 KiB, less than a checkpoint; the write fails with EFBIG.
        let script = format!(
            "trap '' XFSZ; ulimit -f 8; \
             exec {WARPINT} ll {P} --iterations {k} --checkpoint-interval 0.05 --json {quiet}"
        );
        let ran = Ran::from(
            Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output().unwrap(),
        );
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.err.matches("cannot save a checkpoint").count(), 1, "{ran:?}");
        assert_eq!(ran.err.lines().count() == 1, !quiet.is_empty(), "{ran:?}");
        assert_eq!(checkpoints(dir.path(), "ll"), Vec::<PathBuf>::new());
        assert_eq!(ran.res64(), reference("ll", k));
    }
}

#[test]
fn quiet_does_not_hide_an_unsound_checkpoint() {
    let dir = tempfile::tempdir().unwrap();
    interrupted(dir.path(), "ll", 1);
    let newest = &checkpoints(dir.path(), "ll")[0];
    fs::write(newest, "torn").unwrap();
    let ran = warpint(dir.path(), &format!("ll {P} --iterations 30000 --json --quiet"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let bad = format!("{}.bad", newest.file_name().unwrap().to_str().unwrap());
    assert!(ran.err.lines().count() == 1 && ran.err.contains(&bad), "{ran:?}");
}

#[test]
fn a_signal_while_a_length_is_chosen_ends_it_at_once() {
    let dir = tempfile::tempdir().unwrap();
    let mut child = command(dir.path(), ["prp", "20996011", "--no-tf", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = String::new();
    BufReader::new(child.stderr.take().unwrap()).read_line(&mut said).unwrap();
    assert_eq!(said, "M20996011, PRP-3: choosing a transform length…\n");
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");
}

#[test]
fn a_signal_before_there_is_anything_to_save_ends_it_at_once() {
    let dir = tempfile::tempdir().unwrap();
    // M127 is prime: the search for a factor would go on for hours.
    let mut child = command(dir.path(), ["prp", "127", "--tf-limit", "1000000000000"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    wait_for_handler(&mut child);
    signal(&child, "INT");
    assert!(end(child).ended_by("INT"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}
