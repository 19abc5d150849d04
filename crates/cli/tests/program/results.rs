//! Tests of verdicts, and of the files that store them.
//!
//! The expected residues of composite numbers M = 2^p − 1 were computed with Python's integers: by
//! `pow(3, M - 1, M)` for PRP, and by the Lucas–Lehmer sequence.

use std::fs;
use std::path::Path;

#[cfg(target_os = "linux")]
use crate::common::in_time;
use crate::common::{Ran, command, warpint};
use serde_json::Value;
use warpint::mersenne::engine::families_for;

fn lines(path: &Path) -> Vec<Value> {
    let text = fs::read_to_string(path).unwrap();
    assert!(text.ends_with('\n'));
    text.lines().map(|l| serde_json::from_str(l).unwrap()).collect()
}

#[test]
fn verdicts_and_residues_are_right() {
    for (line, status, res64) in [
        ("prp 3", "P", "0000000000000001"),
        ("ll 3", "P", "0000000000000000"),
        ("prp 61", "P", "0000000000000001"),
        ("ll 61", "P", "0000000000000000"),
        ("ll 61 --start 10", "P", "0000000000000000"),
        ("ll 61 --start 2/3", "P", "0000000000000000"),
        ("prp 37 --no-tf", "C", "00000018303B50D9"),
        ("ll 37 --no-tf", "C", "0000001B435853C0"),
        ("ll 521", "P", "0000000000000000"),
        ("ll 521 --engine goldilocks --start 2/3", "P", "0000000000000000"),
        ("prp 1279", "P", "0000000000000001"),
        ("prp 1277", "C", "076D5C08E15214ED"),
        ("prp 1277 --engine goldilocks", "C", "076D5C08E15214ED"),
        ("ll 1277", "C", "5613A480590E78BA"),
        ("ll 1277 --engine goldilocks --threads 1", "C", "5613A480590E78BA"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let ran = warpint(dir.path(), &format!("{line} --json --quiet"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}: {ran:?}");
        let json = ran.json();
        assert_eq!((&json["status"], &json["res64"]), (&status.into(), &res64.into()), "{line}");
        assert_eq!(json["exponent"].to_string(), line.split(' ').nth(1).unwrap());
    }
}

#[test]
fn the_smallest_exponent_is_answered_directly() {
    let dir = tempfile::tempdir().unwrap();
    for (line, res64) in [
        ("prp 2", "0000000000000001"),
        ("ll 2", "0000000000000000"),
        ("ll 2 --start 2/3", "0000000000000000"),
    ] {
        let json = warpint(dir.path(), &format!("{line} --json")).json();
        assert_eq!((&json["status"], &json["res64"]), (&"P".into(), &res64.into()), "{line}");
    }
    assert!(warpint(dir.path(), "ll 2").out.starts_with("M2 = 3 is prime"));
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_small_factor_ends_it() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "prp 11");
    assert_eq!(ran.code, Some(0));
    assert_eq!(ran.out, "M11 is composite: it has the factor 23 = 2·1·11 + 1\n");
    let json = warpint(dir.path(), "ll 43 --json").json();
    assert_eq!((&json["status"], &json["factors"][0]), (&"F".into(), &"431".into()));
    // 2351 = 2·25·47 + 1.
    assert_eq!(warpint(dir.path(), "prp 47 --tf-limit 24 --json").json()["status"], "C");
    assert_eq!(warpint(dir.path(), "ll 47 --tf-limit 25 --json").json()["status"], "F");

    // Each is recorded exactly once.
    assert_eq!(warpint(dir.path(), "ll 11").code, Some(0));
    let recorded = lines(&dir.path().join("warpint-work/results.txt"));
    let facts: Vec<_> = recorded
        .iter()
        .map(|r| format!("{} {} {} {}", r["worktype"], r["exponent"], r["status"], r["factors"]))
        .collect();
    let expected = [
        r#""TF" 11 "F" ["23"]"#,
        r#""TF" 43 "F" ["431"]"#,
        r#""PRP-3" 47 "C" null"#,
        r#""TF" 47 "F" ["2351"]"#,
    ];
    assert_eq!(facts, expected);
    let ran = warpint(dir.path(), "prp 23 --results here.txt --dir none");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(lines(&dir.path().join("here.txt"))[0]["factors"], serde_json::json!(["47"]));
    assert!(!dir.path().join("none").exists());
    let ran = warpint(dir.path(), "prp 23 --results no/where.txt --dir none");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.out.contains("47") && ran.err.contains("printed, but not recorded"), "{ran:?}");
}

#[test]
fn a_result_is_recorded_once_and_kept() {
    let dir = tempfile::tempdir().unwrap();
    let results = dir.path().join("warpint-work/results.txt");
    let first = warpint(dir.path(), "prp 37 --no-tf --json");
    let again = warpint(dir.path(), "prp 37 --no-tf --json");
    assert_eq!(first.out, again.out, "the stored result is printed as it was");
    assert!(again.err.contains("finished before") && again.err.contains("--restart"), "{again:?}");
    assert!(again.err.contains("prp-result.json"), "{again:?}");
    let recorded = lines(&results);
    assert_eq!(recorded.len(), 1);
    assert_eq!(recorded[0]["status"], "C");
    assert_eq!(recorded[0]["worktype"], "PRP-3");
    assert_eq!(recorded[0]["res64"], first.json()["res64"]);
    assert_eq!(recorded[0]["res2048"], first.json()["res2048"]);
    assert_eq!(recorded[0]["timestamp"], first.json()["timestamp"]);

    // The other test of the same number is another result.
    assert_eq!(warpint(dir.path(), "ll 37 --no-tf").code, Some(0));
    assert_eq!(lines(&results).len(), 2);
    assert_eq!(lines(&results)[1]["error-code"], "00000000");

    // A results file that was lost is filled again from the stored result.
    fs::remove_file(&results).unwrap();
    warpint(dir.path(), "prp 37 --no-tf");
    assert_eq!(lines(&results), recorded);
}

#[test]
fn restart_forgets_this_test_only() {
    let dir = tempfile::tempdir().unwrap();
    warpint(dir.path(), "ll 31");
    warpint(dir.path(), "prp 31");
    let ran = warpint(dir.path(), "ll 31 --restart");
    assert_eq!(ran.code, Some(0));
    assert!(!ran.err.contains("finished before"), "{ran:?}");
    assert!(warpint(dir.path(), "prp 31").err.contains("finished before"));
}

#[test]
fn a_damaged_stored_result_is_set_aside() {
    let dir = tempfile::tempdir().unwrap();
    let stored = dir.path().join("warpint-work/M31/prp-result.json");
    let first = warpint(dir.path(), "prp 31 --json").res64();
    let mut bytes = fs::read(&stored).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    for line in ["prp 31 --json", "prp 31 --json --quiet"] {
        fs::write(&stored, &bytes).unwrap();
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.res64()), (Some(0), first.clone()));
        assert_eq!(ran.err.matches("checksum").count(), 1, "{ran:?}");
        assert_eq!(fs::read(stored.with_extension("json.bad")).unwrap(), bytes);
    }
    assert!(warpint(dir.path(), "prp 31").err.contains("finished before"));
}

#[test]
fn interim_residues_are_printed_and_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "ll 37 --iterations 2 --json");
    let json = ran.json();
    // 4 → 14 → 194 = C2.
    assert_eq!((&json["status"], &json["res64"]), (&"interim".into(), &"00000000000000C2".into()));
    assert_eq!(json["iterations"], 2);
    let ran = warpint(dir.path(), "prp 1277 --iterations 5");
    // 3^32 = 1853020188851841.
    assert!(ran.out.contains("after 5 of 1277 squarings: res64 0006954FE21E3E81"), "{ran:?}");
    assert!(!dir.path().join("warpint-work/results.txt").exists());
    // As many iterations as the test has are the whole test.
    assert_eq!(warpint(dir.path(), "ll 31 --iterations 29 --json").json()["status"], "P");
    assert_eq!(lines(&dir.path().join("warpint-work/results.txt")).len(), 1);
}

#[test]
fn other_starts_are_kept_but_not_recorded() {
    let dir = tempfile::tempdir().unwrap();
    assert_eq!(warpint(dir.path(), "ll 37 --no-tf --start 10").code, Some(0));
    assert!(dir.path().join("warpint-work/M37/ll-10-result.json").exists());
    assert!(!dir.path().join("warpint-work/results.txt").exists());
    let json = warpint(dir.path(), "ll 37 --no-tf --json").json();
    assert_eq!((&json["start"], &json["status"]), (&"4".into(), &"C".into()));
    assert_eq!(lines(&dir.path().join("warpint-work/results.txt")).len(), 1);
}

#[test]
fn a_results_file_that_cannot_be_written_costs_nothing() {
    let dir = tempfile::tempdir().unwrap();
    for attempt in 0..2 {
        let ran = warpint(dir.path(), "prp 61 --results nowhere/mine.txt");
        assert_eq!(ran.code, Some(2), "attempt {attempt}: {ran:?}");
        assert!(ran.out.contains("M61 is a probable prime"), "{ran:?}");
        let error = ran.err.lines().last().unwrap();
        assert!(error.starts_with("error: ") && error.contains("nowhere/mine.txt"), "{error}");
        assert!(error.contains("M61/prp-result.json") && error.contains("again"), "{error}");
    }
    let ran = warpint(dir.path(), "prp 61 --results mine.txt");
    assert_eq!(ran.code, Some(0));
    assert_eq!(lines(&dir.path().join("mine.txt")).len(), 1);
}

#[test]
fn a_results_file_that_cannot_be_written_is_warned_of_before_the_test() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "prp 61 --results nowhere/mine.txt");
    let said: Vec<_> = ran.err.lines().collect();
    assert!(said[0].starts_with("M61: warning: cannot write the results file nowhere/mine.txt: "));
    assert!(said[0].contains("M61/prp-result.json"), "{ran:?}");
    assert!(said[1].starts_with("M61, PRP-3: engine word"), "{ran:?}");
    // Not hidden by --quiet, and not said where nothing would be recorded.
    let ran = warpint(dir.path(), "ll 61 --quiet --results nowhere/mine.txt");
    assert!(ran.err.starts_with("M61: warning: "), "{ran:?}");
    for line in ["ll 31 --start 10", "prp 31 --iterations 5"] {
        let ran = warpint(dir.path(), &format!("{line} --quiet --results nowhere/mine.txt"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}");
    }
}

#[test]
fn the_answer_is_printed_before_it_is_recorded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("both.txt");
    let out = fs::OpenOptions::new().create(true).append(true).open(&path).unwrap();
    let args = ["prp", "61", "--json", "--results", "both.txt"];
    assert!(command(dir.path(), args).stdout(out).status().unwrap().success());
    let [printed, recorded] = &lines(&path)[..] else { panic!() };
    assert_eq!(printed["iterations"], 61);
    assert_eq!(recorded["iterations"], Value::Null);
    assert_eq!(printed["res64"], recorded["res64"]);
}

#[cfg(target_os = "linux")]
#[test]
fn devices_take_results_as_far_as_they_can() {
    let dir = tempfile::tempdir().unwrap();
    let to = |device| in_time(command(dir.path(), ["prp", "61", "--quiet", "--results", device]));
    let ran = to("/dev/null");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let ran = to("/dev/full");
    assert_eq!(ran.code, Some(4), "{ran:?}");
    assert!(ran.out.contains("M61 is a probable prime"), "{ran:?}");
    assert!(ran.error().contains("cannot write the results file /dev/full"), "{ran:?}");
}

#[test]
fn a_closed_output_does_not_cost_the_result() {
    let dir = tempfile::tempdir().unwrap();
    let full = fs::OpenOptions::new().write(true).open("/dev/full");
    let Ok(full) = full else { return };
    let output = command(dir.path(), ["prp", "61", "--quiet"]).stdout(full).output();
    let ran = Ran::from(output.unwrap());
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.error().contains("cannot write to standard output"), "{ran:?}");
    assert_eq!(lines(&dir.path().join("warpint-work/results.txt")).len(), 1);
}

#[test]
fn quiet_says_the_result_and_nothing_else() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let ran = warpint(dir.path(), "ll 31 --quiet");
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
        assert!(ran.out.starts_with("M31 is prime (Lucas–Lehmer): 29 squarings, "), "{ran:?}");
        assert_eq!(ran.out.lines().count(), 1);
    }
    let ran = warpint(dir.path(), "ll 61");
    let start = "M61, LL: engine word, 1 word (61.00 bits a word, margin 3.0 bits), ";
    assert!(ran.err.starts_with(start), "{ran:?}");
}

#[test]
fn the_bench_is_a_table_or_an_object() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench mersenne 61 --threads 1");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.lines().next().unwrap().ends_with(", 1 thread"), "{ran:?}");
    let json = warpint(dir.path(), "bench mersenne 61 9689 --json").json();
    let rows = json["rows"].as_array().unwrap();
    let engines: Vec<_> = rows.iter().map(|r| r["engine"].as_str().unwrap()).collect();
    let families = [61, 9_689].into_iter().flat_map(families_for);
    assert_eq!(engines, families.map(|family| family.name()).collect::<Vec<_>>());
    for row in rows {
        assert!(row["us-per-squaring"].as_f64().unwrap() > 0.0, "{row}");
    }
}

#[test]
fn the_bench_of_the_symbol_is_a_table_or_an_object() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench jacobi 61 --threads 1");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(ran.out.lines().next().unwrap().ends_with(", 1 thread"), "{ran:?}");
    let json = warpint(dir.path(), "bench jacobi 61 9689 --json").json();
    let rows = json["rows"].as_array().unwrap();
    assert_eq!(
        rows.iter().map(|r| r["exponent"].as_u64()).collect::<Vec<_>>(),
        [Some(61), Some(9689)]
    );
    for row in rows {
        assert!(row["seconds"].as_f64().unwrap() > 0.0, "{row}");
        assert_eq!(row["symbol"].as_i64().unwrap().abs(), 1, "{row}");
    }
}

#[test]
fn the_selftest_names_its_cases() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "selftest word::");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let (cases, summary) = ran.out.trim_end().rsplit_once('\n').unwrap();
    assert!(cases.lines().all(|l| l.starts_with("word::") && l.ends_with("  ok")), "{ran:?}");
    assert_eq!(summary, format!("{} passed, 0 failed", cases.lines().count()));
    for line in ["selftest no-such-case", "selftest --faults no-such-case --device cpu"] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let says = "no case has 'no-such-case' in its name: without a filter all are run";
        assert_eq!(ran.error(), says);
    }
}
