//! Tests of `warpint tune collatz`, and of the commands that use the stored sizes. The tests time
//! so few numbers that the times have no meaning.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, warpint};

fn ran(dir: &Path, line: &str) -> Ran {
    let ran = warpint(dir, line);
    // A slow machine shows progress, such as `14 of 15, …`.
    let is_progress =
        |line: &str| line.split_once(" of ").is_some_and(|(done, _)| done.parse::<u32>().is_ok());
    assert_eq!(ran.code, Some(0), "{line}: {ran:?}");
    assert!(ran.err.lines().all(is_progress), "{line}: {ran:?}");
    ran
}

/// Returns, for each row whose size was stored, the name of the tuned table and this size.
fn stored(json: &Value) -> Vec<(String, String)> {
    let rows = json["rows"].as_array().unwrap().iter();
    let text = |row: &Value, key: &str| row[key].as_str().unwrap().to_owned();
    rows.filter(|row| row["stored"] == true)
        .map(|row| (text(row, "what"), text(row, "size")))
        .collect()
}

/// Replaces sizes in the store. Each element of `choices` is the subject of an entry and its new
/// size.
fn choose(dir: &Path, choices: &[(&str, &str)]) {
    let path = dir.join("config/tuning.json");
    let mut store: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    for entry in store["entries"].as_array_mut().unwrap() {
        let chosen = choices.iter().find(|(subject, _)| entry["subject"] == *subject);
        if let Some((_, choice)) = chosen {
            entry["choice"] = (*choice).into();
        }
    }
    fs::write(path, store.to_string()).unwrap();
}

/// Runs `collatz bench`, with the arguments in `how` added. Returns the parameters of the method
/// that the run used, and the messages on standard error.
fn parameters(dir: &Path, how: &str) -> (String, String) {
    let line = format!("collatz bench --classes 0 --from 2^40 --interval-bits 14 --json {how}");
    let ran = warpint(dir, &line);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    (ran.json()["rows"][0]["parameters"].as_str().unwrap().to_owned(), ran.err)
}

#[test]
fn sizes_are_measured_and_taken() {
    let dir = tempfile::tempdir().unwrap();
    for (device, kinds, all) in [("cpu", 2, 9), ("sim", 3, 15)] {
        let json =
            ran(dir.path(), &format!("tune collatz --device {device} --bits 14 --json")).json();
        assert_eq!((&json["device"], &json["stopped"]), (&device.into(), &false.into()));
        let rows = json["rows"].as_array().unwrap();
        assert_eq!((rows.len(), stored(&json).len()), (all, kinds), "{json}");
        for row in rows {
            assert!(
                row["per-second"].as_f64().unwrap() > 0.0 && row["numbers"] == "16384",
                "{row}"
            );
        }
        for (what, size) in stored(&json) {
            let how = match what.as_str() {
                "delays" => continue,
                what => format!("--method {what} --device {device}"),
            };
            let (parameters, told) = parameters(dir.path(), &how);
            assert!(parameters.split(',').any(|part| part == size), "{size} {parameters}");
            assert_eq!(told, "");
        }
    }
    let choices = [("collatz sieve", "step=11"), ("collatz table", "d=13")];
    choose(dir.path(), &choices);
    for device in ["cpu", "sim"] {
        for (how, expected) in [
            ("--method sieve", ",step=11,"),
            ("--method sieve --step 9", ",step=9,"),
            ("--method table", ",d=13,"),
            ("--method table --table-bits 10", ",d=10,"),
        ] {
            let (parameters, told) = parameters(dir.path(), &format!("{how} --device {device}"));
            assert!(parameters.contains(expected) && told.is_empty(), "{parameters} {told}");
        }
    }
    // Delays are the same by all shapes.
    let line = "collatz delay 2^40 2^40+70000 --device sim --json";
    let sum = ran(dir.path(), line).json()["sum"].clone();
    choose(dir.path(), &[("collatz delays", "d=11,t=13,threads=256,blocks=2")]);
    assert_eq!(ran(dir.path(), line).json()["sum"], sum);
    // A table for people, of what is asked for.
    let text = ran(dir.path(), "tune collatz table --device cpu --bits 12").out;
    assert_eq!((text.lines().count(), text.matches("fastest, stored").count()), (9, 1), "{text}");
    assert!(!text.contains("sieve"), "{text}");
}

#[test]
fn sizes_that_make_no_sense_are_told_and_not_taken() {
    let dir = tempfile::tempdir().unwrap();
    ran(dir.path(), "tune collatz --device sim --bits 12");
    ran(dir.path(), "tune collatz --device cpu --bits 12");
    let choices =
        [("collatz sieve", "step=99"), ("collatz table", "d=+12"), ("collatz delays", "")];
    choose(dir.path(), &choices);
    for device in ["cpu", "sim"] {
        for (method, choice) in [("sieve", "'step=99'"), ("table", "'d=+12'")] {
            let how = format!("--method {method} --device {device}");
            let (parameters, told) = parameters(dir.path(), &how);
            let usual = match (method, device) {
                ("sieve", _) => ",step=12,",
                (_, "cpu") => ",d=12,",
                _ => ",d=14,",
            };
            assert!(parameters.contains(usual), "{parameters}");
            assert!(told.starts_with(&format!("warning: {choice} in ")), "{told}");
            assert_eq!(told.lines().count(), 1, "{told}");
        }
    }
    let delays = warpint(dir.path(), "collatz delay 2^40 2^40+70000 --device sim");
    assert_eq!(delays.code, Some(0), "{delays:?}");
    assert!(delays.err.starts_with("warning: '' in "), "{delays:?}");
    // A store that is no store.
    let path = dir.path().join("config/tuning.json");
    fs::write(&path, "{").unwrap();
    let (parameters, told) = parameters(dir.path(), "--device cpu");
    assert!(parameters.contains(",step=12,") && told.contains("tuning.json.bad"), "{told}");
    assert_eq!(told.lines().count(), 1, "{told}");
    // One that cannot be read is no reason to measure.
    fs::create_dir(&path).unwrap();
    let refused = warpint(dir.path(), "tune collatz --device cpu --bits 12");
    assert_eq!((refused.code, refused.out.as_str()), (Some(2), ""), "{refused:?}");
    assert!(refused.error().starts_with("cannot read the timings in "), "{refused:?}");
    let (parameters, _) = self::parameters(dir.path(), "--device cpu");
    assert!(parameters.contains(",step=12,"), "{parameters}");
}

#[cfg(unix)]
#[test]
fn sizes_that_cannot_be_stored_are_printed() {
    let dir = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("nowhere", dir.path().join("config")).unwrap();
    let ran = warpint(dir.path(), "tune collatz sieve --device cpu --bits 12");
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.err.starts_with("warning: cannot write the timings in "), "{ran:?}");
    assert!(ran.err.ends_with(": sizes are printed, but not stored\n"), "{ran:?}");
    assert!(ran.out.contains("step=12") && !ran.out.contains("stored"), "{ran:?}");
}

#[test]
fn a_range_goes_on_with_other_sizes() {
    let dir = tempfile::tempdir().unwrap();
    ran(dir.path(), "tune collatz sieve --device cpu --bits 12");
    let line = "collatz verify 2^40 2^40+2^18 --unit-bits 15 --device cpu --json";
    let verified = |more: &str| ran(dir.path(), &format!("{line}{more}")).json();
    choose(dir.path(), &[("collatz sieve", "step=11")]);
    verified(" --units 0..4");
    choose(dir.path(), &[("collatz sieve", "step=13")]);
    let json = verified("");
    assert_eq!(
        (&json["complete"], &json["done"], &json["before"]),
        (&true.into(), &3.into(), &5.into())
    );
    let units = fs::read_dir(dir.path().join("warpint-collatz")).unwrap();
    let texts: Vec<String> = units
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|end| end == "json"))
        .map(|path| fs::read_to_string(path).unwrap())
        .collect();
    let with = |step: &str| texts.iter().filter(|text| text.contains(step)).count();
    assert_eq!((with(",step=11,"), with(",step=13,")), (5, 3));
    assert_eq!(verified("")["before"], 8);
    // The same units by other sizes are no disagreement.
    choose(dir.path(), &[("collatz sieve", "step=12")]);
    verified(" --dir other");
    let merged = ran(dir.path(), "collatz merge warpint-collatz other --json").json();
    assert_eq!((&merged["complete"], &merged["duplicates"]), (&true.into(), &8.into()));
}

#[test]
fn one_bench_gives_delays_as_well() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz bench --classes 0 --interval-bits 14 --delays --device cpu";
    let json = ran(dir.path(), &format!("{line} --json")).json();
    let delays = &json["delays"];
    assert_eq!((&delays["what"], &delays["place"]), (&"delays from 2^40".into(), &"cpu".into()));
    assert_eq!(json["rows"][0]["what"], "2^14 from 2^70");
    let number = |key: &str| delays[key].as_str().unwrap().parse::<f64>().unwrap();
    let speed = number("numbers") / delays["seconds"].as_f64().unwrap();
    assert!((speed / delays["per-second"].as_f64().unwrap() - 1.0).abs() < 1e-6, "{json}");
    assert!(number("sum") > 50.0 * number("numbers"), "{json}");
}

#[test]
fn one_class_is_one_class() {
    let dir = tempfile::tempdir().unwrap();
    let row = |line: &str| {
        ran(dir.path(), &format!("collatz bench --device cpu --interval-bits 0 --json {line}"))
            .json()["rows"][0]
            .clone()
    };
    let line = "--method table --below-bits 60 --class-bits 23 --classes";
    assert_eq!(row(&format!("{line} 1"))["what"], "1 class of 2^23 below 2^60");
    let two = row(&format!("{line} 2"));
    assert_eq!(two["what"], "2 classes of 2^23 below 2^60");
    assert_eq!(two["numbers"], (1 << 24).to_string());
    // Up to the end.
    for method in ["plain", "table"] {
        let ran = ran(
            dir.path(),
            &format!(
                "collatz bench --device cpu --classes 0 --from 2^127-2^14 --interval-bits 14 --method {method} --json"
            ),
        );
        assert_eq!(ran.json()["rows"][0]["numbers"], (1 << 14).to_string());
    }
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("tune collatz delays --device cpu", "delays has one size on the CPU: give --device"),
        ("tune collatz plain", "'plain'"),
        ("tune collatz --device gpu", "--device: 'gpu' is none of"),
        ("tune collatz --bits 57", "--bits"),
        ("tune --json collatz", ""),
        ("collatz bench --step 7", "--step"),
        ("collatz bench --step 14", "--step"),
        ("collatz bench --table-bits 16 --method table", "--table-bits"),
        (
            "collatz bench --table-bits 12 --device cpu",
            "--table-bits applies only to the method table",
        ),
        (
            "collatz bench --step 12 --method table --device cpu",
            "--step applies only to the method sieve",
        ),
        ("collatz bench --table-bits 7 --method table --device sim", "from 8 to 15: 7 is not"),
        ("collatz bench --delays --from 2^97", "delays are computed for numbers below 2^96"),
        ("collatz bench --delays --from 0", "0 has no delay"),
        (
            "collatz bench --device cpu --classes 0 --delays --from 2^96-1 --interval-bits 0",
            "delays are computed for numbers below 2^96",
        ),
        (
            "collatz bench --device cpu --classes 0 --from 2^128-1 --interval-bits 20",
            "2^20 numbers from 340282366920938463463374607431767162880 go beyond 2^127: give a smaller --from",
        ),
        (
            "collatz bench --device cpu --classes 0 --from 2^127 --interval-bits 1",
            "2^1 numbers from 2^127 go beyond 2^127",
        ),
        ("collatz bench --classes 16777217", "--classes"),
        ("collatz bench --classes 0 --interval-bits 0", "there is nothing to measure"),
        (
            "collatz bench --device cpu --method table --below-bits 60 --class-bits 22",
            "at most 37 low bits, but these have 38: give --class-bits 23 or more, or --classes 0",
        ),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
