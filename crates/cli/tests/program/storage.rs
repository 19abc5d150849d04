//! Tests with limits on file sizes, with directories that disappear, and with links, folders and
//! FIFOs in place of files.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::common::{Ran, WARPINT, command, end, in_time, signal, spawn, wait_until, warpint};

/// An exponent whose test takes a second or two, so that its directory can be removed while it
/// runs. 80567 = 2·1·40283 + 1 divides M_P: pow(2, 40283, 80567) == 1 in Python.
const P: u32 = 40_283;

fn fifo(at: &Path) {
    assert!(Command::new("mkfifo").arg(at).status().unwrap().success());
}

fn has_checkpoints(folder: &Path) -> bool {
    fs::read_dir(folder).is_ok_and(|mut files| {
        files.any(|file| {
            let name = file.unwrap().file_name().into_string().unwrap();
            name.ends_with(".ckpt") || name.ends_with(".verified")
        })
    })
}

/// Runs `warpint <line>` in a shell that limits file sizes to `blocks` blocks. A block is 512 or
/// 1,024 bytes, depending on the shell.
fn limited(dir: &Path, blocks: u32, line: &str) -> Ran {
    let mut command = Command::new("sh");
    command
        .args(["-c", &format!("ulimit -f {blocks}; exec \"$0\" \"$@\""), WARPINT])
        .args(line.split(' '))
        .current_dir(dir)
        .env("WARPINT_CONFIG_DIR", dir.join("config"));
    in_time(command)
}

#[test]
fn a_limit_of_file_sizes_is_a_disk_that_cannot_be_written() {
    // Room for a result, not for a checkpoint: three residues of 5 KB.
    let dir = tempfile::tempdir().unwrap();
    let line = format!("prp {P} --no-tf --checkpoint-interval 0.1 --dir w --json");
    let ran = limited(dir.path(), 8, &line);
    assert_eq!((ran.code, ran.signal), (Some(0), None), "{ran:?}");
    assert!(ran.err.contains("File too large"), "{}", ran.err);
    assert_eq!(ran.json()["status"], "C");
    let results = fs::read_to_string(dir.path().join("w/results.txt")).unwrap();
    assert_eq!(results.lines().count(), 1);
    assert!(!has_checkpoints(&dir.path().join(format!("w/M{P}"))));

    // Room for nothing: the result is printed, and the exit code is that of a disk that fails.
    let dir = tempfile::tempdir().unwrap();
    let ran = limited(dir.path(), 0, "prp 4423 --no-tf --dir w --json");
    assert_eq!((ran.code, ran.signal), (Some(4), None), "{ran:?}");
    assert_eq!(ran.json()["status"], "P");
    assert!(ran.err.contains("prp-result.json: File too large"), "{}", ran.err);
}

#[test]
fn a_test_whose_directory_vanishes_goes_on_and_its_result_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let (work, folder) = (dir.path().join("w"), dir.path().join(format!("w/M{P}")));
    let line = format!("prp {P} --no-tf --proof=2 --checkpoint-interval 0.01 --dir w --json");
    let child = spawn(dir.path(), &line);
    wait_until("a checkpoint", || has_checkpoints(&folder));
    fs::rename(&work, dir.path().join("away")).unwrap();
    wait_until("another one", || has_checkpoints(&folder));
    let ran = end(child);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.json()["status"], "C");
    let results = fs::read_to_string(work.join("results.txt")).unwrap();
    assert_eq!(results.lines().count(), 1);
    assert!(!has_checkpoints(&folder));
}

#[test]
fn what_is_no_file_in_a_directory_of_the_program_is_refused_at_once() {
    let line = "prp 4423 --no-tf --dir w";
    for (place, is, says) in [
        ("M4423/lock", "fifo", "w/M4423/lock is a FIFO, not a regular file"),
        ("M4423/lock", "link", "w/M4423/lock is a symbolic link, not a regular file"),
        ("M4423/prp-result.json", "fifo", "prp-result.json: it is a FIFO, not a regular file"),
        ("M4423/prp-result.json", "link", "prp-result.json: it is a symbolic link, not a regular"),
        ("results.txt", "fifo", "w/results.txt is a FIFO, not a file"),
        ("results.txt", "link", "w/results.txt is a symbolic link, not a file"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let place = dir.path().join("w").join(place);
        fs::create_dir_all(place.parent().unwrap()).unwrap();
        let outside = dir.path().join("outside");
        fs::write(&outside, "untouched").unwrap();
        if is == "fifo" {
            fifo(&place)
        } else {
            symlink(&outside, &place).unwrap()
        }
        let ran = in_time(command(dir.path(), line.split(' ')));
        assert_eq!(ran.code, Some(2), "{place:?}: {ran:?}");
        assert!(ran.error().contains(says), "{ran:?}");
        assert_eq!(fs::read(&outside).unwrap(), b"untouched");
    }
    // A link in place of a directory inside; the directory itself may be reached by one.
    let dir = tempfile::tempdir().unwrap();
    for name in ["disk", "elsewhere"] {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    symlink("disk", dir.path().join("w")).unwrap();
    symlink("../elsewhere", dir.path().join("disk/M4423")).unwrap();
    let ran = in_time(command(dir.path(), line.split(' ')));
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.error().contains("M4423 is a symbolic link, not a directory"), "{ran:?}");
    assert_eq!(fs::read_dir(dir.path().join("elsewhere")).unwrap().count(), 0);
    fs::remove_file(dir.path().join("disk/M4423")).unwrap();
    assert_eq!(warpint(dir.path(), line).code, Some(0));
    // Results may go to a link that the user names.
    symlink("elsewhere/results", dir.path().join("mine")).unwrap();
    let ran = warpint(dir.path(), "prp 4441 --no-tf --dir w --results mine");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(dir.path().join("elsewhere/results").is_file());
}

#[test]
fn timings_that_are_no_small_file_cost_one_line() {
    for (is, says) in [("sparse", "it has 3221225472 bytes"), ("endless", "it is a symbolic link")]
    {
        let dir = tempfile::tempdir().unwrap();
        let timings = dir.path().join("config/tuning.json");
        fs::create_dir(dir.path().join("config")).unwrap();
        if is == "sparse" {
            fs::File::create(&timings).unwrap().set_len(3 << 30).unwrap();
        } else {
            symlink("/dev/zero", &timings).unwrap();
        }
        let line = "prp 4423 --no-tf --dir w";
        let ran = in_time(command(dir.path(), line.split(' ')));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let told: Vec<_> = ran.err.lines().filter(|line| line.contains("tuning.json")).collect();
        assert_eq!(told.len(), 1, "{ran:?}");
        assert!(told[0].starts_with("warning: the timings in ") && told[0].contains(says));
        // It was set aside.
        assert!(!warpint(dir.path(), line).err.contains("tuning.json"));
    }
}

#[test]
fn a_request_to_stop_ends_the_wait_for_another_programs_lock() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join("w").join(name);
    fs::create_dir(dir.path().join("w")).unwrap();
    let line = format!("PRP={},1,2,4423,-1", "A".repeat(32));
    fs::write(at("worktodo.txt"), format!("{line}\n")).unwrap();
    // Another program's, for as long as it likes.
    fs::write(at("worktodo.txt.lck"), "").unwrap();
    let mut command = command(dir.path(), "work w --no-proof".split(' '));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.spawn().unwrap();
    wait_until("a result", || {
        fs::read_to_string(at("results.txt")).is_ok_and(|text| text.ends_with('\n'))
    });
    signal(&child, "INT");
    let begin = Instant::now();
    let ran = end(child);
    // Without the question it waits for two minutes.
    assert!(begin.elapsed() < Duration::from_secs(60), "{ran:?}");
    assert!(ran.ended_by("INT"), "{ran:?}");
    let says = "the result is recorded, but the line stays: stopped while waiting for the lock";
    assert!(ran.err.contains(says), "{}", ran.err);
    assert_eq!(fs::read_to_string(at("worktodo.txt")).unwrap(), format!("{line}\n"));
    // The same command removes the line, and tests nothing twice.
    fs::remove_file(at("worktodo.txt.lck")).unwrap();
    let ran = warpint(dir.path(), "work w --no-proof");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(fs::read_to_string(at("worktodo.txt")).unwrap(), "");
    assert_eq!(fs::read_to_string(at("results.txt")).unwrap().lines().count(), 1);
}
