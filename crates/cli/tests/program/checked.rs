//! Tests of the data by which others can check a result: shifts, proofs, cofactors, second engines,
//! certifications.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, warpint};

fn results(dir: &Path) -> Vec<Value> {
    let text = fs::read_to_string(dir.join("results.txt")).unwrap_or_default();
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn a_shift_is_drawn_reported_and_can_be_given() {
    let dir = tempfile::tempdir().unwrap();
    let run = |line: &str| warpint(dir.path(), &format!("{line} --json -q --restart --no-tf"));
    let mut drawn = Vec::new();
    for kind in ["prp", "ll"] {
        for _ in 0..3 {
            let ran = run(&format!("{kind} 4423 --dir w"));
            drawn.push(ran.json()["shift-count"].as_u64().unwrap());
        }
    }
    assert!(drawn.iter().all(|&s| s < 4423) && drawn.iter().any(|&s| s != drawn[0]), "{drawn:?}");
    let given = run("ll 4423 --dir w --shift 77").json();
    assert_eq!((&given["shift-count"], &given["status"]), (&77.into(), &"P".into()));
    let lines = results(&dir.path().join("w"));
    assert_eq!(lines.last().unwrap()["shift-count"], 77);
}

#[test]
fn a_test_with_a_proof_leaves_one_that_is_right_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "prp 9689 --proof --dir w --json --no-tf");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(
        ran.err.contains("residues for a proof of power 8 take up to 333.7 KiB"),
        "{}",
        ran.err
    );
    let proof = ran.json()["proof"].clone();
    assert_eq!(
        (&proof["version"], &proof["power"], &proof["hashsize"]),
        (&2.into(), &8.into(), &64.into())
    );
    let verified = warpint(dir.path(), "proof verify w/proof/M9689-8.proof --json -q");
    assert_eq!(verified.code, Some(0), "{verified:?}");
    let verified = verified.json();
    assert_eq!((&verified["md5"], &verified["status"]), (&proof["md5"], &"P".into()));
    assert_eq!(results(&dir.path().join("w"))[0]["proof"], proof);
    assert!(!dir.path().join("w/M9689/proof").exists());
    // The result is reported again, with its proof, without computing.
    let again = warpint(dir.path(), "prp 9689 --proof --dir w --json -q");
    assert_eq!(again.json()["proof"], proof);

    for (line, says) in [
        ("prp 127 --proof --dir w", "M127 is too small for a proof that GIMPS would want"),
        ("prp 127 --proof=9 --dir w", "M127 is too small for a proof of power 9"),
        ("prp 127 --proof=16 --dir w", "--proof: '16' is not a power from 1 to 15"),
    ] {
        let refused = warpint(dir.path(), line);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.error().contains(says), "{refused:?}");
    }
}

#[test]
fn a_proof_needs_all_its_residues_or_has_a_lower_power() {
    let dir = tempfile::tempdir().unwrap();
    // The test begins without a proof, and goes on with one.
    let first = warpint(dir.path(), "prp 9689 --iterations 1000 --dir w -q --no-tf");
    assert_eq!(first.code, Some(0), "{first:?}");
    let ran = warpint(dir.path(), "prp 9689 --proof=6 --dir w --json --no-tf");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // The residue at an eighth of the test, iteration 1212, will be saved; that at a sixteenth is
    // missing.
    let says = "residues from before iteration 1000 are missing: the proof will have power 3";
    assert!(ran.err.contains(says), "{}", ran.err);
    assert!(!ran.err.contains("the proof has power"), "told once: {}", ran.err);
    assert_eq!(ran.json()["proof"]["power"], 3);
    let verified = warpint(dir.path(), "proof verify w/proof/M9689-3.proof -q");
    assert_eq!(verified.code, Some(0), "{verified:?}");
}

#[test]
fn a_test_that_cannot_get_a_proof_any_more_keeps_no_residues_for_one() {
    // At iteration 1,000 a proof of power 3 would be possible, but it must not replace one of power
    // 8.
    for begun in [1000, 5000] {
        let dir = tempfile::tempdir().unwrap();
        let first = format!("prp 9689 --iterations {begun} --dir w -q --no-tf");
        assert_eq!(warpint(dir.path(), &first).code, Some(0));
        // The residue of iteration 7268 = ⌈p/2⌉ + ⌈p/4⌉ cannot be written.
        fs::create_dir_all(dir.path().join("w/M9689/proof/0000007268.residue")).unwrap();
        let ran = warpint(dir.path(), "prp 9689 --proof --dir w --json --no-tf");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let says = format!(
            "the test goes on at iteration {begun}, and residues from before are missing: no proof \
             can be made; --restart begins it again"
        );
        assert!(ran.err.contains(&says), "{}", ran.err);
        assert!(!ran.err.contains("cannot write the residue"), "{}", ran.err);
        assert!(ran.json()["proof"].is_null());
        // Assignments lack this option; the message appears in the log too.
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(warpint(dir.path(), &first).code, Some(0));
        let ran = work(dir.path(), "PRP=N/A,1,2,9689,-1,70,0\n");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let says = "no proof can be made; the test goes on without one";
        assert!(ran.err.contains(says) && !ran.err.contains("--restart"), "{}", ran.err);
        let log = fs::read_to_string(dir.path().join("w/warpint.log")).unwrap();
        assert_eq!(log.matches(says).count(), 1, "{log}");
    }
}

#[test]
fn a_proof_that_cannot_be_put_into_place_is_made_by_the_same_command_later() {
    let dir = tempfile::tempdir().unwrap();
    let in_the_way = dir.path().join("w/proof/M4423-3.proof");
    fs::create_dir_all(in_the_way.parent().unwrap()).unwrap();
    fs::write(&in_the_way, "in the way").unwrap();
    let line = "prp 4423 --proof=3 --dir w --json --no-tf";
    let ran = warpint(dir.path(), line);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.err.contains("its proof was not made"), "{}", ran.err);
    assert!(ran.err.contains("M4423-3.proof already exists: move it away, then"), "{}", ran.err);
    let before = "warning: another w/proof/M4423-3.proof exists already: move it away before";
    let test = ran.err.find("its proof was not made").unwrap();
    assert!(ran.err.find(before).is_some_and(|said| said < test), "{}", ran.err);
    assert!(results(&dir.path().join("w")).is_empty());
    fs::remove_file(in_the_way).unwrap();
    let ran = warpint(dir.path(), line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(results(&dir.path().join("w"))[0]["proof"]["power"], 3);
    // The same proof is in nobody's way.
    let ran = warpint(dir.path(), &format!("{line} --restart"));
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(!ran.err.contains("warning"), "{}", ran.err);
}

#[test]
fn a_file_where_a_folder_for_the_proof_must_be_is_told_of_before_the_test() {
    for name in ["w/proof", "w/M4423/proof"] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join(name);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, "mine").unwrap();
        let ran = warpint(dir.path(), "prp 4423 --proof=3 --dir w --json --no-tf");
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let says = format!("{name} is not a folder, but a proof needs one there: move it away");
        assert!(ran.error().contains(&says), "{ran:?}");
        // Nothing else is printed, and the line of an assignment stays.
        let line = "PRP=N/A,1,2,4423,-1,70,0\n";
        fs::write(dir.path().join("w/worktodo.txt"), line).unwrap();
        let ran = warpint(dir.path(), "work w -q");
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
        assert!(ran.err.contains("worktodo.txt, line 1: ") && ran.err.contains(&says), "{ran:?}");
        assert_eq!(fs::read_to_string(dir.path().join("w/worktodo.txt")).unwrap(), line);
        assert_eq!(fs::read(&file).unwrap(), b"mine");
        // The folder is not needed without a proof.
        let ran = warpint(dir.path(), "work w -q --no-proof");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        // A refused request discards nothing.
        fs::write(file, "mine").unwrap();
        let ran = warpint(dir.path(), "prp 4423 --proof=3 --dir w --no-tf --restart");
        assert!(ran.code == Some(2) && ran.err.contains(&says), "{ran:?}");
        let ran = warpint(dir.path(), "prp 4423 --dir w --no-tf");
        assert!(ran.code == Some(0) && ran.err.contains("finished before"), "{ran:?}");
    }
}

#[test]
fn a_number_and_its_cofactor_have_a_proof_each() {
    let dir = tempfile::tempdir().unwrap();
    // 8423 = 2·1·4211 + 1 divides M4211: pow(2, 4211, 8423) == 1 in Python.
    for (line, name) in [
        ("prp P --proof=3 --no-tf", "w/proof/MP-3.proof"),
        ("prp P --proof=3 --factors F", "w/proof/MP-f1-3.proof"),
    ] {
        let with = |text: &str| text.replace('P', "4211").replace('F', "8423");
        let ran = warpint(dir.path(), &format!("{} --dir w --json", with(line)));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["status"], "C");
        let verified = warpint(dir.path(), &format!("proof verify {} --json -q", with(name)));
        assert_eq!(verified.code, Some(0), "{verified:?}");
        assert_eq!(verified.json()["md5"], ran.json()["proof"]["md5"]);
    }
    assert_eq!(fs::read_dir(dir.path().join("w/proof")).unwrap().count(), 2);
}

#[test]
fn a_result_that_is_there_is_no_answer_to_one_who_asks_for_more() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, more, lacks) in [
        ("prp", "--proof=3", "without a proof"),
        ("ll", "--verify-with goldilocks", "without this second engine"),
    ] {
        let run = |options: &str| warpint(dir.path(), &format!("{kind} 4423 -q --no-tf {options}"));
        assert_eq!(run("--dir w").code, Some(0));
        let refused = run(&format!("--dir w {more}"));
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.error().contains(lacks), "{refused:?}");
        let anew = run(&format!("--dir w {more} --restart"));
        assert_eq!(anew.code, Some(0), "{anew:?}");
        assert_eq!(run(&format!("--dir w {more}")).code, Some(0));
    }
}

#[test]
fn a_cofactor_is_tested_and_said_to_be_one() {
    let dir = tempfile::tempdir().unwrap();
    let run = |line: &str| warpint(dir.path(), line);
    // M67 = 193707721 · 761838257287 (Cole 1903); M29 = 233 · 1103 · 2089.
    for (line, status) in [
        ("prp 67 --factors 193707721", "P"),
        ("prp 29 --factors 2089", "C"),
        ("prp 29 --factors 233,1103", "P"),
    ] {
        let ran = run(&format!("{line} --dir w --json -q"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        assert_eq!(ran.json()["status"], status, "{line}");
    }
    let lines = results(&dir.path().join("w"));
    assert_eq!(lines.len(), 3);
    assert!(lines.iter().all(|l| l["residue-type"] == 5 && l["worktype"] == "PRP-3"));
    assert_eq!(lines[2]["known-factors"], serde_json::json!(["233", "1103"]));
    // The residue is that of the whole number.
    assert_eq!(lines[1]["res64"], lines[2]["res64"]);
    let whole = run("prp 29 --dir w --json -q --no-tf").json();
    assert_eq!((&whole["res64"], &whole["status"]), (&lines[1]["res64"], &"C".into()));

    let refused = run("prp 29 --factors 7 --dir w");
    assert_eq!((refused.code, refused.error()), (Some(2), "7 does not divide M29"));
}

#[test]
fn a_second_engine_confirms_a_test() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "ll 4423 --verify-with goldilocks --dir w --json --no-tf");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!((&ran.json()["status"], &ran.json()["engine"]), (&"P".into(), &"fp64".into()));
    // Both engines are named in the text.
    let again = warpint(dir.path(), "ll 4423 --verify-with goldilocks --dir w --no-tf -q");
    assert!(
        again.out.contains(", fp64 ") && again.out.contains(", confirmed by engine goldilocks")
    );
    let both = serde_json::json!(["fp64", "goldilocks"]);
    let found = results(&dir.path().join("w"));
    assert_eq!((found.len(), &found[0]["engines"]), (1, &both));
    let one = warpint(dir.path(), "ll 4253 --dir w --no-tf -q");
    assert!(!one.out.contains("confirmed"), "{one:?}");
    assert!(results(&dir.path().join("w"))[1].get("engines").is_none());
    let refused = warpint(dir.path(), "ll 4423 --verify-with word --dir w");
    assert_eq!(refused.code, Some(2), "{refused:?}");
    // Computed by two engines; the order does not matter.
    let line = "ll 4423 --engine goldilocks --verify-with fp64 --dir w --json -q";
    assert_eq!(warpint(dir.path(), line).code, Some(0));
    // The same engine twice may be wrong twice; nothing is changed, with or without --restart.
    for line in [
        "ll 4423 --verify-with fp64 --restart",
        "ll 4423 --engine goldilocks --verify-with goldilocks --restart",
        "ll 4423 --verify-with auto --restart",
    ] {
        let refused = warpint(dir.path(), &format!("{line} --no-tf --dir w"));
        assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
        let says = "the second engine must differ from the first, and the test of M4423 is itself";
        assert!(refused.error().starts_with(says), "{refused:?}");
    }
    assert!(dir.path().join("w/M4423/ll-result.json").is_file());
    let elsewhere = warpint(dir.path(), "ll 4423 --verify-with fp64 --no-tf --dir x");
    assert_eq!(elsewhere.code, Some(2), "{elsewhere:?}");
    assert!(!dir.path().join("x").exists());
}

fn work(dir: &Path, lines: &str) -> Ran {
    fs::create_dir_all(dir.join("w")).unwrap();
    fs::write(dir.join("w/worktodo.txt"), lines).unwrap();
    warpint(dir, "work w -q")
}

#[test]
fn certifications_and_cofactors_are_worked_through() {
    const AID: &str = "FEEE9DCD59A0855711265C1165C4C693";
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir(dir.path().join("w")).unwrap();
    let mut start = vec![0u8; 160];
    start[0] = 3;
    fs::write(dir.path().join("w/M1279.cert"), &start).unwrap();
    let lines = format!(
        "Cert={AID},1,2,1279,-1,1279\nPRP={AID},1,2,67,-1,70,0,3,5,\"193707721\"\n\
         Cert={AID},1,2,1277,-1,100\nPRP={AID},1,2,29,-1,70,0,3,5,\"7\"\n"
    );
    let ran = work(dir.path(), &lines);
    assert_eq!(ran.code, Some(2), "{ran:?}");
    let found = results(&dir.path().join("w"));
    assert_eq!(found.len(), 2, "{ran:?}");
    // M1279 is prime, so 3^(2^1279) ≡ 9; its hash from Python's hashlib.
    let hash = "913CB83E1B12BA56F1B436D82F41FA45BA016F37D962CBC2FEF34DADB2445D3F";
    assert_eq!(found[0]["sha3-hash"], hash);
    assert_eq!((&found[0]["worktype"], &found[0]["squarings"]), (&"Cert".into(), &1279.into()));
    assert_eq!((found[0].get("status"), found[0].get("res64")), (None, None));
    assert_eq!((&found[1]["status"], &found[1]["residue-type"]), (&"P".into(), &5.into()));
    let left = fs::read_to_string(dir.path().join("w/worktodo.txt")).unwrap();
    let expected: Vec<&str> = lines.lines().skip(2).collect();
    assert_eq!(left.lines().collect::<Vec<_>>(), expected);
    // Certifications come first: the second is tried when the first line is gone.
    for says in ["line 2: cannot read w/M1277.cert", "line 2: 7 does not divide M29"] {
        assert!(ran.err.contains(says), "{}", ran.err);
    }
}

#[test]
fn work_makes_proofs_unless_it_is_told_not_to() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(work(dir.path(), "PRP=N/A,1,2,4423,-1,70,0\n").code, Some(0));
    assert!(dir.path().join("w/proof/M4423-8.proof").is_file());
    let log = fs::read_to_string(dir.path().join("w/warpint.log")).unwrap();
    let said: Vec<_> = log.lines().filter_map(|line| line.split_once(" cpu M4423: ")).collect();
    for begin in ["the test is done", "the proof of power 8 is in", "is a probable prime"] {
        assert_eq!(said.iter().filter(|(_, what)| what.starts_with(begin)).count(), 1, "{log}");
    }
    assert!(!log.contains("M4423: M4423"), "{log}");
    fs::write(dir.path().join("w/worktodo.txt"), "PRP=N/A,1,2,4253,-1,70,0\n").unwrap();
    assert_eq!(warpint(dir.path(), "work w -q --no-proof").code, Some(0));
    let proofs = fs::read_dir(dir.path().join("w/proof")).unwrap().count();
    assert_eq!(proofs, 1);
    assert!(results(&dir.path().join("w"))[1].get("proof").is_none());
}
