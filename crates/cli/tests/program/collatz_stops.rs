//! Tests of `warpint collatz verify`: runs that are killed or stopped, runs that share a directory,
//! and runs on full and read-only disks.

use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use crate::collatz_runs::{DIR, names, units, verified};
use crate::common::{Ran, WARPINT, command, end, signal, warpint};

/// The command of a run that takes a few seconds and consists of 128 units.
const LONG: &str = "collatz verify --below 2^24 --unit-bits 17 --method plain --json";

/// Starts [`LONG`], and waits for its first files.
fn start(dir: &Path) -> Child {
    let child = command(dir, LONG.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while units(dir).len() < 5 {
        assert!(begin.elapsed() < Duration::from_secs(60), "waited in vain for units");
        std::thread::sleep(Duration::from_millis(2));
    }
    child
}

#[test]
fn a_killed_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..3 {
        let mut child = start(dir.path());
        std::thread::sleep(Duration::from_millis(30));
        child.kill().unwrap();
        child.wait().unwrap();
    }
    let before = units(dir.path()).len();
    let rest = verified(dir.path(), LONG).json();
    assert_eq!((&rest["before"], &rest["done"]), (&before.into(), &(128 - before).into()));
    assert_eq!(rest["highest"]["value"], "60342610919632");
    assert_eq!(names(&dir.path().join(DIR)).len(), 128, "nothing is left but units");
}

#[cfg(unix)]
#[test]
fn a_stopped_run_keeps_what_is_finished() {
    let dir = tempfile::tempdir().unwrap();
    let child = start(dir.path());
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.json()["status"] == "stopped", "{ran:?}");
    let kept = units(dir.path()).len();
    assert_eq!(ran.json()["done"], kept);
    assert_eq!(names(&dir.path().join(DIR)).len(), kept, "nothing is left but units");
    assert_eq!(verified(dir.path(), LONG).json()["before"], kept);
}

#[test]
fn two_processes_share_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let first = start(dir.path());
    let second = verified(dir.path(), LONG).json();
    let first = Ran::from(first.wait_with_output().unwrap()).json();
    assert_eq!((&first["status"], &second["status"]), (&"verified".into(), &"verified".into()));
    let done = |json: &serde_json::Value| json["done"].as_u64().unwrap();
    assert_eq!(done(&first) + done(&second), 128);
    assert_eq!(names(&dir.path().join(DIR)).len(), 128);
}

#[cfg(unix)]
#[test]
fn a_full_disk_ends_the_run_and_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^14 --unit-bits 10 --method plain";
    verified(dir.path(), &format!("{line} --units 0..2"));
    // Files end at 0 bytes; the write fails with EFBIG.
    let script = format!("trap '' XFSZ; ulimit -f 0; exec {WARPINT} {line}");
    let shell =
        std::process::Command::new("sh").args(["-c", &script]).current_dir(dir.path()).output();
    let ran = Ran::from(shell.unwrap());
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert_eq!(
        ran.err
            .matches("cannot write warpint-collatz/below-2p14-u10-03.json: File too large")
            .count(),
        1,
        "{ran:?}"
    );
    assert!(ran.out.contains("ended early: cannot write"), "{ran:?}");
    assert_eq!(names(&dir.path().join(DIR)).len(), 3, "nothing is left but units");
    assert!(verified(dir.path(), line).out.contains("13 done now, 3 before"));
}

#[cfg(unix)]
#[test]
fn a_directory_that_can_only_be_read_is_no_loss() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^14 --unit-bits 10 --method plain";
    verified(dir.path(), &format!("{line} --units 0..2"));
    let place = dir.path().join(DIR);
    let mode = |mode| fs::set_permissions(&place, fs::Permissions::from_mode(mode)).unwrap();
    mode(0o555);
    // Permissions do not restrict every user.
    let binds = fs::write(place.join("try"), "").is_err();
    let ran = warpint(dir.path(), line);
    mode(0o755);
    if binds {
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.err.contains("Permission denied"), "{ran:?}");
        assert_eq!(names(&place).len(), 3);
    }
    verified(dir.path(), line);
}
