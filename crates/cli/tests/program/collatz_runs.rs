//! Tests of `warpint collatz verify` and `warpint collatz merge`: units that are done, damaged and
//! merged.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use crate::common::{Ran, warpint};

pub(crate) const DIR: &str = "warpint-collatz";

pub(crate) fn names(dir: &Path) -> Vec<String> {
    let Ok(files) = fs::read_dir(dir) else { return vec![] };
    let mut names: Vec<_> =
        files.map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

pub(crate) fn units(dir: &Path) -> Vec<PathBuf> {
    let dir = dir.join(DIR);
    let units = names(&dir).into_iter().filter(|name| name.ends_with(".json"));
    units.map(|name| dir.join(name)).collect()
}

/// Replaces a text in a unit file, and updates its digest.
fn change(file: &Path, from: &str, to: &str) {
    let text = fs::read_to_string(file).unwrap();
    let unit = text.split_once("\"unit\":").unwrap().1.strip_suffix("}\n").unwrap();
    assert!(unit.contains(from), "{unit}");
    let unit = unit.replacen(from, to, 1);
    let digest: String = Sha256::digest(&unit).iter().map(|byte| format!("{byte:02x}")).collect();
    fs::write(file, format!("{{\"sha256\":\"{digest}\",\"unit\":{unit}}}\n")).unwrap();
}

pub(crate) fn verified(dir: &Path, line: &str) -> Ran {
    let ran = warpint(dir, line);
    assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    ran
}

#[test]
fn a_range_is_verified_and_merged() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^16 --unit-bits 12 --method plain";
    let ran = verified(dir.path(), line);
    assert!(
        ran.out.starts_with("verified: every n from 1 up and below 65536 reaches 1\n"),
        "{ran:?}"
    );
    assert!(
        ran.out
            .contains("16 units of up to 4096 numbers in warpint-collatz: 16 done now, 0 before")
    );
    assert!(ran.out.contains("\n65536 numbers (0 is counted, not claimed) in "), "{ran:?}");
    // A path record.
    assert!(
        ran.out.ends_with("highest value walked: 593279152, on the path of 60975\n"),
        "{ran:?}"
    );
    assert_eq!(ran.err, "");
    assert_eq!(names(&dir.path().join(DIR)).len(), 16);

    let again = verified(dir.path(), &format!("{line} --json")).json();
    assert_eq!(
        (&again["status"], &again["done"], &again["before"]),
        (&"verified".into(), &0.into(), &16.into())
    );
    // The unit size is taken from the directory.
    let again = verified(dir.path(), "collatz verify --below 65536 --json").json();
    assert_eq!((&again["unit-bits"], &again["before"]), (&12.into(), &16.into()));

    // The following range, by the fastest method, in another directory.
    let line = "collatz verify 2^16 100_000 --dir other --unit-bits 14 --json";
    let next = verified(dir.path(), line).json();
    assert_eq!(
        next["claim"],
        "every n from 65536 up and below 100000 reaches 1 if all below 65536 do"
    );
    assert_eq!(next["numbers"], "34464");
    let merged = verified(dir.path(), "collatz merge warpint-collatz other");
    assert!(merged.out.starts_with("verified: every n from 1 up and below 100000 reaches 1\n"));
    assert!(merged.out.contains("\n19 units in warpint-collatz, other: "), "{merged:?}");
    assert!(merged.out.contains("\nsamples and evidence are right\n"), "{merged:?}");
    let believed = verified(dir.path(), "collatz merge --no-check warpint-collatz other");
    assert!(believed.out.contains("\nsamples and evidence were not checked\n"), "{believed:?}");
    let merged = verified(dir.path(), "collatz merge warpint-collatz other --json").json();
    assert_eq!((&merged["complete"], &merged["gaps"]), (&true.into(), &0.into()));
    assert_eq!(merged["covered"][0]["to"], "100000");
}

#[test]
fn methods_and_devices_agree() {
    let dir = tempfile::tempdir().unwrap();
    for (place, how) in [("a", "--device sim"), ("b", "--device cpu"), ("c", "--method plain")] {
        for range in ["--below 2^16 --unit-bits 15", "2^30+5 2^30+3000"] {
            verified(dir.path(), &format!("collatz verify {range} {how} --dir {place}"));
        }
    }
    // Two ranges that do not form one.
    let merged = warpint(dir.path(), "collatz merge a b c --json");
    let json = merged.json();
    assert_eq!((merged.code, merged.err.as_str()), (Some(1), ""));
    assert_eq!((&json["gaps"], &json["first-gaps"][0]["from"]), (&1.into(), &"65536".into()));
    assert_eq!((&json["units"], &json["duplicates"]), (&9.into(), &6.into()));
}

#[test]
fn parts_make_a_whole() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^14 --unit-bits 10 --method plain --json";
    for (part, status) in [
        ("--shard 1/4", "part"),
        ("--units 0", "part"),
        ("--unit 2..4", "part"),
        ("--shard 0/2", "part"),
        ("--shard 1/2", "verified"),
    ] {
        assert_eq!(
            verified(dir.path(), &format!("{line} {part}")).json()["status"],
            status,
            "{part}"
        );
        let ran = warpint(dir.path(), "collatz merge warpint-collatz");
        assert_eq!(ran.code, Some(i32::from(status == "part")), "{ran:?}");
        assert_eq!(ran.out.contains("residue classes"), status == "part", "{ran:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    for (line, says) in [
        ("collatz verify 7 7", "the range from 7 to 7 is empty"),
        ("collatz verify 2^70+5 2^70", "is empty: its end must be larger than its start"),
        ("collatz verify --below 0", "the range from 0 to 0 is empty"),
        ("collatz verify --below 1", "there is nothing to verify below 1"),
        ("collatz verify 0 1", "there is nothing to verify below 1"),
        (
            "collatz verify --below 2^127 --unit-bits 103 --method sieve",
            "use smaller units or classes, or another method",
        ),
        (
            "collatz verify 2^126 2^126+2^16 --unit-bits 16 --method sieve --device cpu",
            "the sieve does not support",
        ),
        ("collatz verify -5 7", "'-5' is below 0"),
        ("collatz verify 5 2^128", "'2^128' is too large"),
        ("collatz verify 5 2^127+1", "the end of a range is at most 2^127"),
        ("collatz verify 5 10^", "'10^' is not a number"),
        (
            "collatz verify --below 2^50 --unit-bits 128",
            "--unit-bits: '128' is not a number of bits",
        ),
        ("collatz verify --below 2^50 --unit-bits 3", "use more bits per unit"),
        (
            "collatz verify --below 2^20 --unit-bits 18 --units 4",
            "unit 4 does not exist: the range has units 0 to 3",
        ),
        (
            "collatz verify --below 2^20 --unit-bits 18 --units 2..1",
            "the selection from unit 2 to unit 1 is empty",
        ),
        ("collatz verify --below 2^20 --units x", "--units: 'x' is not a choice of units"),
        ("collatz verify --below 2^20 --shard 8/8", "part 8 of 8 does not exist"),
        ("collatz verify --below 2^20 --shard 8", "--shard: '8' is not a part"),
        (
            "collatz verify --below 2^20 --method fast",
            "--method: 'fast' is none of auto, plain, table, sieve",
        ),
        (
            "collatz verify --below 2^20 --device gpu",
            "--device: 'gpu' is none of auto, cpu, cuda, cuda:N, sim, all",
        ),
        (
            "collatz verify --below 2^20 --method plain --device sim",
            "no method plain is available for GPUs",
        ),
        ("collatz verify --below 2^20 --dir file", "file is not a directory"),
        ("collatz merge file", "file is not a directory"),
        ("collatz merge nowhere", "nowhere"),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(names(dir.path()), ["file"], "a refused request leaves nothing");
    for line in
        ["collatz verify", "collatz verify 5", "collatz verify 5 7 --below 9", "collatz merge"]
    {
        assert_eq!(warpint(dir.path(), line).code, Some(2), "{line}");
    }
}

#[test]
fn damaged_and_foreign_files_are_named_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify 1000 9000 --unit-bits 10 --method plain";
    verified(dir.path(), line);
    let files = units(dir.path());
    let sound = fs::read(&files[2]).unwrap();
    fs::write(&files[2], &sound[..sound.len() - 9]).unwrap();
    fs::write(&files[3], "{}\n").unwrap();

    let merged = warpint(dir.path(), "collatz merge warpint-collatz");
    assert_eq!((merged.code, merged.err.lines().count()), (Some(2), 2), "{merged:?}");
    for file in &files[2..4] {
        let name = file.file_name().unwrap().to_str().unwrap();
        assert_eq!(merged.err.matches(name).count(), 1, "{merged:?}");
    }
    assert!(merged.out.contains("1 gap, "), "{merged:?}");

    let ran = verified(dir.path(), &format!("{line} --quiet"));
    assert_eq!(ran.err.matches("set aside as").count(), 2, "{ran:?}");
    assert!(ran.out.contains("2 done now, 7 before"), "{ran:?}");
    let aside = |file: &Path| fs::read(file.with_extension("json.bad")).unwrap();
    assert_eq!(
        (aside(&files[2]), aside(&files[3])),
        (sound[..sound.len() - 9].into(), b"{}\n".into())
    );
    verified(dir.path(), "collatz merge warpint-collatz");
}

#[test]
fn disagreements_and_gaps_are_no_success() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify 1000 9000 --unit-bits 10 --method plain";
    verified(dir.path(), line);
    verified(dir.path(), &format!("{line} --dir other"));
    let both = "collatz merge warpint-collatz other";
    assert!(verified(dir.path(), both).out.contains("0 gaps, 9 duplicates, 0 disagreements"));
    let file = &units(dir.path())[4];
    change(file, "\"sample-odd-steps\":\"", "\"sample-odd-steps\":\"1");
    let ran = warpint(dir.path(), &format!("{both} --no-check"));
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.starts_with("DISAGREEMENT: the sample checksums of "), "{ran:?}");
    let ran = warpint(dir.path(), both);
    assert_eq!(ran.code, Some(1), "{ran:?}");
    assert!(ran.err.contains(": its sample has "), "{ran:?}");
    assert!(ran.out.contains("\n17 units in "), "{ran:?}");
    // A unit whose numbers contradict its region.
    change(file, "\"numbers\":\"1024\"", "\"numbers\":\"1023\"");
    let ran = warpint(dir.path(), both);
    assert!(ran.code == Some(2) && ran.err.contains("it contradicts itself"), "{ran:?}");
    fs::remove_file(file).unwrap();
    let ran = warpint(dir.path(), "collatz merge warpint-collatz --json");
    assert_eq!((ran.code, &ran.json()["gaps"]), (Some(1), &1.into()));
    // A directory without units, named by its full path.
    let ran = warpint(dir.path(), "collatz merge .");
    let name = dir.path().canonicalize().unwrap();
    assert_eq!(ran.out, format!("no sound units in {}\n", name.display()));
    assert_eq!(ran.code, Some(1));
}

#[test]
fn an_unresolved_number_is_loud_and_never_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify 20 1000 --method plain";
    verified(dir.path(), line);
    change(&units(dir.path())[0], "\"unresolved\":[]", "\"unresolved\":[\"27\"]");
    for line in
        [line, &format!("{line} --quiet --json"), "collatz merge --no-check warpint-collatz"]
    {
        let ran = warpint(dir.path(), line);
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(
            format!("{}{}", ran.out, ran.err).contains(
                "UNRESOLVED: 27: it did not come below its start; this may be a COUNTER-EXAMPLE"
            ),
            "{ran:?}"
        );
    }
    let json = warpint(dir.path(), &format!("{line} --json")).json();
    assert_eq!((&json["status"], &json["unresolved"][0]), (&"unresolved".into(), &"27".into()));
    // A merge checks unresolved numbers itself.
    let ran = warpint(dir.path(), "collatz merge warpint-collatz");
    let says = "27 is listed as unresolved, but comes below its start after 59 steps of T";
    assert!(ran.code == Some(1) && ran.err.contains(says), "{ran:?}");
}

#[test]
fn an_unresolved_number_of_a_unit_that_is_not_asked_for_is_as_loud() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^12 --unit-bits 10 --method plain";
    verified(dir.path(), &format!("{line} --units 1..3"));
    change(&units(dir.path())[2], "\"unresolved\":[]", "\"unresolved\":[\"27\"]");
    // The range is first incomplete, then complete; units are selected by `--units` and by
    // `--shard`.
    for part in ["--units 1", "--units 0", "--shard 3/4 --quiet", "--shard 0/4"] {
        let ran = warpint(dir.path(), &format!("{line} {part}"));
        assert_eq!(ran.code, Some(1), "{ran:?}");
        assert!(ran.out.starts_with("UNRESOLVED: 27: "), "{ran:?}");
        if part != "--shard 3/4 --quiet" {
            let told = "warpint-collatz/below-2p12-u10-3.json: UNRESOLVED: 27: ";
            assert_eq!(ran.err.matches(told).count(), 1, "{ran:?}");
        }
        assert!(!ran.out.contains("verified"), "{ran:?}");
        let json = warpint(dir.path(), &format!("{line} {part} --json")).json();
        assert_eq!(json["status"], "unresolved");
        assert_eq!(
            (&json["unresolved"][0], &json["claim"]),
            (&"27".into(), &serde_json::Value::Null)
        );
    }
}

#[test]
fn numbers_too_large_for_the_fastest_method_go_to_the_next() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify 2^126 2^126+2^16 --unit-bits 16 --device cpu --json";
    let json = verified(dir.path(), line).json();
    assert_eq!((&json["method"], &json["done"]), (&"table".into(), &1.into()));
}

#[test]
fn methods_are_those_that_did_the_units() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify --below 2^14 --unit-bits 12";
    let first = verified(dir.path(), &format!("{line} --method plain"));
    assert!(first.out.contains("\n4 files: 4 by plain 1 (none)\n"), "{first:?}");
    assert!(first.out.contains(" a second, plain on cpu\n") && first.err.is_empty(), "{first:?}");
    let other = verified(dir.path(), &format!("{line} --method sieve"));
    assert!(other.out.contains("\n4 files: 4 by plain 1 (none)\n"), "{other:?}");
    assert!(!other.out.contains("sieve"), "{other:?}");
    assert!(
        other.err.starts_with("note: 4 of 4 files were done by another method than sieve"),
        "{other:?}"
    );
    let json = verified(dir.path(), &format!("{line} --method sieve --json")).json();
    assert_eq!(
        (&json["method"], &json["methods"][0]["units"]),
        (&serde_json::Value::Null, &4.into())
    );
    assert_eq!(json["methods"][0]["method"], "plain");
    // No output was requested.
    assert_eq!(verified(dir.path(), line).err, "");
}

#[test]
fn text_from_files_does_nothing_to_a_terminal() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz verify 20 1000 --method plain";
    verified(dir.path(), line);
    let file = &units(dir.path())[0];
    change(file, "\"parameters\":\"none\"", "\"parameters\":\"\\u001b[31m\\n\"");
    for line in [line, "collatz merge warpint-collatz --no-check"] {
        let ran = verified(dir.path(), line);
        assert!(ran.out.contains("(\\u{1b}[31m\\n)") && !ran.out.contains('\u{1b}'), "{ran:?}");
    }
    change(file, "\"program\":\"", "\"program\":\"\\u001b[31m");
    change(file, "\"format-version\":2", "\"format-version\":3");
    for line in [line, "collatz merge warpint-collatz"] {
        let ran = warpint(dir.path(), line);
        let said = format!("{}{}", ran.out, ran.err);
        assert!(said.contains("made by \\u{1b}[31mwarpint") && !said.contains('\u{1b}'), "{ran:?}");
    }
}

#[test]
fn a_directory_that_is_given_twice_counts_once() {
    let dir = tempfile::tempdir().unwrap();
    verified(dir.path(), "collatz verify 20 1000 --method plain");
    let merged = "collatz merge warpint-collatz warpint-collatz ./warpint-collatz/ --json";
    let json = verified(dir.path(), merged).json();
    assert_eq!((&json["units"], &json["duplicates"]), (&1.into(), &0.into()));
}

#[cfg(unix)]
#[test]
fn what_is_in_the_place_of_a_lock_is_named_and_files_of_others_stay() {
    let dir = tempfile::tempdir().unwrap();
    let place = dir.path().join(DIR);
    fs::create_dir(&place).unwrap();
    let others = ["notes.json.lock", "package.json.abcdef.tmp"];
    for name in others {
        fs::write(place.join(name), "").unwrap();
    }
    let line = "collatz verify --below 2^12 --unit-bits 10 --method plain";
    let lock = place.join("below-2p12-u10-1.json.lock");
    let fifo = std::process::Command::new("mkfifo").arg(&lock).status().unwrap();
    assert!(fifo.success());
    for _ in 0..2 {
        let ran = warpint(dir.path(), line);
        assert_eq!(ran.code, Some(4), "{ran:?}");
        assert!(ran.err.contains("below-2p12-u10-1.json.lock, is not a regular file"), "{ran:?}");
        fs::remove_file(&lock).unwrap();
        std::os::unix::fs::symlink("nowhere", &lock).unwrap();
    }
    fs::remove_file(&lock).unwrap();
    verified(dir.path(), line);
    let left = names(&place).into_iter().filter(|name| !name.starts_with("below"));
    assert_eq!(left.collect::<Vec<_>>(), others);
}
