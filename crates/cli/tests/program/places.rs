//! Tests of the option `--device`, on a machine with a GPU or without.

use std::fs;

use warpint::mersenne::engine::families_for;

use crate::common::{end, signal, wait_for_work, warpint};

#[test]
fn a_device_that_is_not_there_is_refused_and_nothing_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    // No machine has 64 GPUs; most have no driver either.
    for line in [
        "prp 216091",
        "ll 216091 --restart",
        "bench mersenne 216091",
        "bench device",
        "selftest",
        "tune",
        "tune batch",
        "tune collatz",
        "collatz bench --delays --classes 0 --interval-bits 0",
        "tune 216091",
        "stress --time 1",
    ] {
        let ran = warpint(dir.path(), &format!("{line} --device cuda:63"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(!ran.error().is_empty(), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}

#[test]
fn the_cpu_can_be_asked_for() {
    let dir = tempfile::tempdir().unwrap();
    for engine in families_for(1_279).into_iter().map(|family| family.name()) {
        let line = format!("prp 1279 --device cpu --engine {engine} --json --restart");
        let ran = warpint(dir.path(), &line);
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let json = ran.json();
        assert_eq!((&json["status"], &json["engine"]), (&"P".into(), &engine.into()));
        assert!(json.get("device").is_none(), "{json}");
        assert!(ran.err.contains(&format!("engine {engine}, ")), "{ran:?}");
    }
}

#[test]
fn tuned_times_are_stored_and_used() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "tune 9941 --device cpu --threads 1 --json -q");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let rows = ran.json()["rows"].as_array().unwrap().clone();
    let tuned = families_for(9_941).into_iter().filter(|family| !family.is_on_request());
    for engine in tuned.map(|family| family.name()) {
        let of = rows.iter().filter(|row| row["engine"] == engine);
        assert!(of.clone().count() > 0 && of.clone().all(|row| row["stored"] == true), "{rows:?}");
    }
    let fastest: Vec<_> = rows.iter().filter(|row| row["fastest"] == true).collect();
    assert_eq!(fastest.len(), 1, "{rows:?}");
    let plan =
        warpint(dir.path(), "prp 9941 --device cpu --threads 1 --iterations 2 --json").json();
    assert_eq!(plan["engine"], fastest[0]["engine"]);
    assert_eq!(plan["fft-length"], fastest[0]["fft-length"]);

    // A damaged file of timings is set aside with one line, and costs nothing.
    fs::write(dir.path().join("config/tuning.json"), "{").unwrap();
    let ran = warpint(dir.path(), "prp 9949 --device cpu --iterations 2 --no-tf");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert_eq!(ran.err.matches("tuning.json.bad").count(), 1, "{ran:?}");

    let table = warpint(dir.path(), "tune 9949 --device cpu --engine fp64");
    assert!(
        table.out.contains("fastest, stored") && !table.out.contains("goldilocks"),
        "{table:?}"
    );
}

#[test]
fn times_that_cannot_be_stored_are_told_of_first_and_printed() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("config"), "a file where the folder must be").unwrap();
    for more in ["", " --json"] {
        let ran = warpint(dir.path(), &format!("tune 9941 --device cpu --threads 1 -q{more}"));
        assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
        let told = "times are printed, but not stored";
        assert!(ran.err.starts_with("warning: cannot write the timings in "), "{ran:?}");
        assert!(ran.err.contains(told) && ran.out.contains("goldilocks"), "{ran:?}");
        assert!(!ran.out.contains("\"stored\":true") && !ran.out.contains(", stored"), "{ran:?}");
    }
}

#[test]
fn a_budget_ends_the_search_and_what_was_timed_is_kept() {
    let dir = tempfile::tempdir().unwrap();
    let line = "tune 216091 9941 --device cpu --threads 1 --budget 0.000001";
    let ran = warpint(dir.path(), line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    // One plan each, however small the budget is.
    assert_eq!(ran.out.matches("fastest, stored").count(), 2, "{ran:?}");
    for p in ["M216091: 1 of ", "M9941: 1 of "] {
        assert!(ran.err.contains(p), "{ran:?}");
    }
    assert!(ran.err.contains("a larger --budget times more"), "{ran:?}");
    let quiet = warpint(dir.path(), &format!("{line} --quiet"));
    assert_eq!((quiet.code, quiet.err.as_str()), (Some(0), ""), "{quiet:?}");
    let bad = warpint(dir.path(), "tune --lengths 64K..128K --budget 5");
    assert_eq!((bad.code, bad.out.as_str()), (Some(2), ""), "{bad:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_prints_and_keeps_what_was_tuned() {
    use std::process::Stdio;

    let dir = tempfile::tempdir().unwrap();
    let args = ["tune", "216091", "6972593", "--device", "cpu", "--json"];
    let mut command = crate::common::command(dir.path(), args);
    let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The times of the first exponent are stored; those of the second take seconds.
    while !dir.path().join("config/tuning.json").exists() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["stopped"], true);
    let rows = json["rows"].as_array().unwrap();
    assert!(rows.iter().any(|row| row["exponent"] == 216_091 && row["stored"] == true), "{json}");
}

#[test]
fn every_length_of_a_range_is_tuned_into_a_table() {
    let dir = tempfile::tempdir().unwrap();
    let line = "tune --device sim --lengths 256..256 --variants 3 --table t.txt --json -q";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let rows = ran.json()["rows"].as_array().unwrap().clone();
    let table = fs::read_to_string(dir.path().join("t.txt")).unwrap();
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines[0], "# simulator: engine, words, microseconds a squaring, variant");
    let of = |row: &&serde_json::Value| (row["engine"].to_string(), row["fft-length"].to_string());
    let stored: Vec<_> = rows.iter().filter(|row| row["stored"] == true).collect();
    assert_eq!(stored.len(), lines.len() - 1, "one of each length: {table}");
    assert!(rows.len() > 2 * stored.len() && rows.iter().all(|row| row["fastest"] == false));
    let kept = fs::read_to_string(dir.path().join("config/tuning.json")).unwrap();
    for row in stored {
        let us = row["us-per-squaring"].as_f64().unwrap();
        let least = rows.iter().filter(|other| of(other) == of(&row));
        let least = least.map(|other| other["us-per-squaring"].as_f64().unwrap());
        assert!(least.fold(us, f64::min) >= us, "{row}");
        let (engine, variant) = (row["engine"].as_str().unwrap(), row["variant"].as_str().unwrap());
        let begin = format!("{engine} {} ", row["fft-length"]);
        let found = lines.iter().filter(|l| l.starts_with(&begin) && l.ends_with(variant)).count();
        assert!(found == 1 && kept.contains(variant), "{table}");
    }
    for (line, says) in [
        ("--lengths 5..4", "--lengths: '5..4' ends before it begins"),
        ("--lengths 64K", "--lengths: '64K' is not a range: give 64K..36M"),
        ("--device sim --lengths 257..259", "no engine has a length from 257 to 259 words on sim"),
        ("9941 --device sim --table no/where", "cannot write no/where: No such file"),
        ("9941 --device sim --table ./", "cannot write ./: it is not a file"),
        ("9941 --device sim --table new/", "cannot write new/: it names no file"),
        ("9941 --device cpu --table t.txt", "--table needs a device"),
    ] {
        let ran = warpint(dir.path(), &format!("tune {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
}

#[test]
fn the_cpu_bears_a_second_of_stress() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "stress --device cpu --seconds 1");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.starts_with("cpu (") && ran.out.contains("no mismatch"), "{ran:?}");
    let ran = warpint(
        dir.path(),
        "stress --device cpu --time 0.5 --exponent 44497 --engine goldilocks --json",
    );
    let json = ran.json();
    assert_eq!((ran.code, &json["mismatches"]), (Some(0), &0.into()), "{ran:?}");
    assert_eq!(json["plans"][0]["engine"], "goldilocks");
    assert!(json["squarings"].as_u64().unwrap() >= 100 && json["checks"].as_u64().unwrap() >= 1);
}

#[test]
fn the_self_test_takes_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "selftest --device cpu word::");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("word::squares") && ran.out.contains(" 0 failed"), "{ran:?}");
    let json = warpint(dir.path(), "selftest --device cpu --json word::s").json();
    let cases = json["cases"].as_array().unwrap();
    assert!(json["passed"] == cases.len() && json["failed"] == 0, "{json}");
    assert_eq!((&cases[0]["suite"], &cases[0]["case"]), (&"word".into(), &"squares".into()));
    assert!(cases[0]["passed"] == true && cases[0]["seconds"].as_f64().unwrap() >= 0.0, "{json}");
    let quiet = warpint(dir.path(), "selftest --device cpu --threads 1 -q word::s");
    assert!(quiet.code == Some(0) && quiet.out.lines().count() == 1, "{quiet:?}");
    let none = warpint(dir.path(), "selftest --device cpu --json nothing");
    assert_eq!((none.code, none.out.as_str()), (Some(2), ""), "{none:?}");
    assert!(none.error().contains("no case has 'nothing' in its name"), "{none:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_ends_a_stress_test_with_its_tally() {
    use std::process::Stdio;

    let dir = tempfile::tempdir().unwrap();
    let args = ["stress", "--device", "cpu", "--time", "60", "--exponent", "9941"];
    let mut command = crate::common::command(dir.path(), args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_work(&mut child);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT"), "{ran:?}");
    assert!(ran.out.contains("no mismatch"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn stress_without_a_time_limit_goes_on_until_it_is_stopped() {
    use std::process::Stdio;

    let dir = tempfile::tempdir().unwrap();
    let args = ["stress", "--device", "cpu", "--exponent", "9941", "--quiet", "--json"];
    let mut command = crate::common::command(dir.path(), args);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_for_work(&mut child);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.err.is_empty(), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["mismatches"], 0);
    // The CPU has no sensors that NVML knows.
    assert!(json.get("sensors").is_none(), "{json}");
}

#[test]
fn a_checkpoint_moves_from_the_cpu_to_the_simulator_and_back() {
    let dir = tempfile::tempdir().unwrap();
    for (kind, res64) in [("prp", "0000000000000001"), ("ll", "0000000000000000")] {
        for (i, (device, until)) in
            [("cpu", "400"), ("sim", "800"), ("cpu", "1000"), ("sim", "1279")].iter().enumerate()
        {
            let line = format!("{kind} 1279 --device {device} --iterations {until} --json");
            let ran = warpint(dir.path(), &line);
            assert_eq!(ran.code, Some(0), "{ran:?}");
            let json = ran.json();
            assert_eq!(json.get("device").is_some(), *device == "sim", "{json}");
            assert_eq!(ran.err.contains("going on at iteration"), i > 0, "{ran:?}");
            if i == 3 {
                assert_eq!((&json["status"], &json["res64"]), (&"P".into(), &res64.into()));
            }
        }
    }
    // The simulator is never chosen by default.
    let json = warpint(dir.path(), "prp 9941 --iterations 2 --json").json();
    assert!(json.get("device").is_none(), "{json}");
}

#[test]
fn a_device_is_measured_and_its_results_are_right() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench device --device sim --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let json = ran.json();
    for (part, unit) in [("products", "per-clock-per-multiprocessor"), ("products", "clock-ghz")] {
        assert!(json[part][unit].as_f64().unwrap() > 0.0, "{json}");
    }
    assert_eq!(json["transforms"].as_array().unwrap().len(), 2, "{json}");
    let text = warpint(dir.path(), "bench device --device sim").out;
    assert!(text.starts_with("sim ") && text.contains("GB/s"), "{text}");

    let ran = warpint(dir.path(), "bench device --device cpu");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert_eq!(ran.error(), "--device: 'cpu' is not a GPU: give cuda, or cuda:1 for the second");
}

#[test]
fn selftest_on_a_device_has_the_cases_of_the_field() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "selftest --device sim field@sim::");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    assert!(ran.out.contains("field@sim::products") && ran.out.contains(" 0 failed"), "{ran:?}");
    // Some cases are only in the thorough run.
    let ran = warpint(dir.path(), "selftest --device sim transform-prime@sim::all_bits_of_2_words");
    assert!(ran.code == Some(2) && ran.error().contains("--thorough has more cases"), "{ran:?}");
}
