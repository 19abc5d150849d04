//! Tests of the files that a finished test removes, and of the files that it keeps for another
//! test.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{Ran, command, end, signal, warpint};

/// An exponent whose test takes a second or two, so that it can be interrupted. 80567 = 2·1·40283 +
/// 1 divides M_P: pow(2, 40283, 80567) == 1 in Python.
const P: u32 = 40_283;

/// Returns the files in a directory, sorted by name.
fn files(dir: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(dir) else { return vec![] };
    let mut files: Vec<_> = entries.map(|e| e.unwrap().path()).filter(|f| f.is_file()).collect();
    files.sort();
    files
}

fn with_extension(dir: &Path, extensions: &[&str]) -> Vec<PathBuf> {
    let wanted = |f: &PathBuf| f.extension().is_some_and(|e| extensions.iter().any(|x| e == *x));
    files(dir).into_iter().filter(wanted).collect()
}

fn checkpoints_of(folder: &Path) -> Vec<PathBuf> {
    with_extension(folder, &["ckpt", "verified"])
}

fn checkpoints(dir: &Path) -> Vec<PathBuf> {
    checkpoints_of(&dir.join(format!("w/M{P}")))
}

fn residues(dir: &Path) -> Vec<PathBuf> {
    with_extension(&dir.join(format!("w/M{P}/proof")), &["residue"])
}

/// Starts a test of M_P with a proof, and interrupts it when residues for the proof exist.
fn interrupt_one_with_a_proof(dir: &Path) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let line = format!("prp {P} --no-tf --proof=6 --dir w --json --checkpoint-interval 0.05");
    let child = command(dir, line.split(' '))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let begin = Instant::now();
    while residues(dir).len() < 3 || checkpoints(dir).is_empty() {
        assert!(begin.elapsed() < PATIENCE, "no residues");
        std::thread::sleep(Duration::from_millis(2));
    }
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
}

#[test]
fn a_result_told_again_leaves_the_unfinished_tests_of_its_number_alone() {
    let dir = tempfile::tempdir().unwrap();
    for finished in
        [format!("prp {P} --factors 80567 --dir w -q"), format!("ll {P} --no-tf --dir w -q")]
    {
        assert_eq!(warpint(dir.path(), &finished).code, Some(0));
        assert_eq!((checkpoints(dir.path()), residues(dir.path())), (vec![], vec![]));
        interrupt_one_with_a_proof(dir.path());
        let there = (checkpoints(dir.path()), residues(dir.path()));
        assert!(!there.0.is_empty() && !there.1.is_empty(), "{there:?}");
        let again = warpint(dir.path(), &finished);
        assert_eq!((again.code, again.err.as_str()), (Some(0), ""), "{again:?}");
        assert_eq!((checkpoints(dir.path()), residues(dir.path())), there);
        // The interrupted test ends with its proof.
        let line = format!("prp {P} --no-tf --proof=6 --dir w --json");
        let ran = warpint(dir.path(), &line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["proof"]["power"], 6);
        assert_eq!((checkpoints(dir.path()), residues(dir.path())), (vec![], vec![]));
        fs::remove_dir_all(dir.path().join("w")).unwrap();
    }
}

#[test]
fn a_result_told_again_clears_away_what_its_test_was_killed_over() {
    let dir = tempfile::tempdir().unwrap();
    let line = "prp 4423 --no-tf --proof=3 --dir w --json --shift 77";
    // The proof cannot be put into place: the last state and the residues stay.
    let in_the_way = dir.path().join("w/proof/M4423-3.proof");
    fs::create_dir_all(in_the_way.parent().unwrap()).unwrap();
    fs::write(&in_the_way, "in the way").unwrap();
    assert_eq!(warpint(dir.path(), line).code, Some(2));
    let folder = dir.path().join("w/M4423");
    let left = |dir: &Path| {
        let checkpoints = checkpoints_of(dir);
        let residues = with_extension(&dir.join("proof"), &["residue"]);
        checkpoints.into_iter().chain(residues).map(|f| (fs::read(&f).unwrap(), f)).collect()
    };
    let saved: Vec<(Vec<u8>, PathBuf)> = left(&folder);
    assert!(saved.len() >= 8, "{saved:?}");
    fs::remove_file(in_the_way).unwrap();
    assert_eq!(warpint(dir.path(), line).code, Some(0));
    assert_eq!(left(&folder), []);
    let put_back = || {
        fs::create_dir_all(folder.join("proof")).unwrap();
        saved.iter().for_each(|(bytes, file)| fs::write(file, bytes).unwrap());
    };
    // As after a kill right after the result was written.
    put_back();
    assert_eq!(warpint(dir.path(), line).code, Some(0));
    assert_eq!(left(&folder), []);
    // The state of a test with another shift belongs to another test.
    let line = "prp 4423 --no-tf --proof=3 --dir w --json --shift 78 --restart";
    assert_eq!(warpint(dir.path(), line).code, Some(0));
    put_back();
    assert_eq!(warpint(dir.path(), "prp 4423 --no-tf --dir w").code, Some(0));
    assert_eq!(left(&folder), saved);
}

#[test]
fn residues_that_cannot_be_written_cost_power_and_no_more() {
    let dir = tempfile::tempdir().unwrap();
    // The residue of iteration ⌈p/4⌉ = 2423 is only in proofs of power 2 and more.
    let in_the_way = dir.path().join("w/M9689/proof/0000002423.residue");
    fs::create_dir_all(&in_the_way).unwrap();
    let ran = warpint(dir.path(), "prp 9689 --no-tf --proof=3 --dir w --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let says = "the proof will have power 1 instead of 3; the test goes on";
    assert_eq!(ran.err.matches("cannot write the residue").count(), 1, "{}", ran.err);
    assert!(ran.err.contains("cannot write the residue at iteration 2423 for the proof: "));
    assert!(ran.err.contains(says) && !ran.err.contains("residues are missing"), "{}", ran.err);
    assert_eq!(ran.json()["proof"]["power"], 1);
    // The result is kept, and nothing but what was in the way is left.
    let left: Vec<_> = fs::read_dir(in_the_way.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert!(checkpoints_of(&dir.path().join("w/M9689")).is_empty());
}

/// Runs `warpint <line>` with a simulated disk. `disk` describes how the disk fails, as the value
/// of the environment variable `WARPINT_TEST_DISK`.
fn on_disk(disk: &str, dir: &Path, line: &str) -> Ran {
    command(dir, line.split(' ')).env("WARPINT_TEST_DISK", disk).output().unwrap().into()
}

#[test]
fn a_result_that_cannot_be_kept_is_worth_more_than_residues() {
    const LINE: &str = "prp 4423 --no-tf --proof=3 --dir w --json";
    for (full, disk) in [(true, "full:prp-result.json:9"), (false, "denied:prp-result.json:9")] {
        let dir = tempfile::tempdir().unwrap();
        let ran = on_disk(disk, dir.path(), LINE);
        assert_eq!(ran.code, Some(if full { 4 } else { 2 }), "{ran:?}");
        assert!(ran.err.contains("prp-result.json: "), "{}", ran.err);
        assert!(
            ran.err.contains("the result is recorded, and existing checkpoints"),
            "{}",
            ran.err
        );
        assert_eq!(ran.json()["proof"]["power"], 3);
        // Room is made only if it is needed.
        assert_eq!(dir.path().join("w/M4423/proof").exists(), !full);
        assert!(!checkpoints_of(&dir.path().join("w/M4423")).is_empty());
        let ran = warpint(dir.path(), LINE);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["proof"].is_null(), full);
    }
}

#[test]
fn residues_make_room_for_those_of_lower_powers_and_for_the_proof() {
    let dir = tempfile::tempdir().unwrap();
    // The disk is full once. The residue of iteration ⌈p/2⌉ is in every proof.
    let disk = "full:0000004845.residue:1,full:M9689-2.proof:1";
    let ran = on_disk(disk, dir.path(), "prp 9689 --no-tf --proof=3 --dir w --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err.matches("cannot write").count(), 1, "{}", ran.err);
    let says = "the proof will have power 2 instead of 3; the test goes on";
    assert!(ran.err.contains(says), "{}", ran.err);
    assert_eq!(ran.json()["proof"]["power"], 2);
    let verified = warpint(dir.path(), "proof verify w/proof/M9689-2.proof -q");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    assert!(!dir.path().join("w/M9689/proof").exists());
}

#[test]
fn a_test_that_ends_without_its_proof_leaves_no_residues() {
    let dir = tempfile::tempdir().unwrap();
    interrupt_one_with_a_proof(dir.path());
    let ran = warpint(dir.path(), &format!("prp {P} --no-tf --dir w --json -q"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.json()["proof"].is_null());
    assert_eq!((checkpoints(dir.path()), residues(dir.path())), (vec![], vec![]));
}
