//! Tests of `warpint tune batch` on the simulator, where times have no meaning.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{Ran, end, signal, warpint};

fn array<'a>(json: &'a Value, key: &str) -> &'a [Value] {
    json[key].as_array().unwrap_or_else(|| panic!("{key} of {json}"))
}

/// Runs a benchmark of products of 512 bits. Returns its output, the method that the library
/// chooses, and the kind of price by which it chooses.
fn taken(dir: &Path) -> (Ran, String, String) {
    let ran = warpint(dir, "bench batch --device sim --op mul --bits 512 --count 2 --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let row = ran.json()["rows"][0].clone();
    let text = |key: &str| row[key].as_str().unwrap().to_owned();
    (ran, text("method"), text("chosen-by"))
}

#[test]
fn prices_are_measured_once_and_decide() {
    let dir = tempfile::tempdir().unwrap();
    let (_, method, chosen_by) = taken(dir.path());
    assert_eq!((method.as_str(), chosen_by.as_str()), ("single", "estimate"));

    let ran = warpint(dir.path(), "tune batch --device sim --json -q");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["stopped"]), (&"sim".into(), &false.into()));
    let rows = array(&json, "rows");
    let of = |row: &Value| (row["operation"].clone(), row["method"].clone(), row["bits"].clone());
    for method in ["single", "karatsuba1"] {
        let wanted = ("mul".into(), method.into(), 512.into());
        let row = rows.iter().find(|row| of(row) == wanted).unwrap();
        assert!(row["ns-per-product"].as_f64().unwrap() > 0.0, "{row}");
        assert!(row["estimated-ns"].as_f64().unwrap() > 0.0, "{row}");
    }
    // From 32 bits on each width has a method, of products and of squares.
    for operation in ["mul", "sqr"] {
        let rungs = array(&json, "ladder").iter().filter(|rung| rung["operation"] == operation);
        let ends = rungs.map(|rung| (rung["from-bits"].as_u64(), rung["to-bits"].as_u64()));
        let end = ends.fold(0, |before, (from, to)| {
            assert_eq!(from, Some(before + 32), "{json}");
            to.unwrap()
        });
        assert_eq!(end, 32 * 24, "{json}");
    }
    let kept = dir.path().join("config/tuning.json");
    let text = fs::read_to_string(&kept).unwrap();
    assert_eq!(text.matches("\"subject\"").count(), rows.len(), "{text}");
    assert!(text.contains("\"batch mul karatsuba1 of 8 limbs\""), "{text}");

    // What is known is not measured again, unless it is asked for.
    let ran = warpint(dir.path(), "tune batch --device sim -q");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.contains("all prices are known") && ran.out.contains("measured"), "{ran:?}");
    assert_eq!(fs::read_to_string(&kept).unwrap(), text);
    let ran = warpint(dir.path(), "tune batch --device sim --again");
    assert!(ran.out.contains(" prices measured in ") && ran.out.contains("tuning.json"), "{ran:?}");

    // Another price, another method; and only what is missing is measured.
    let mut store: Value = serde_json::from_slice(&fs::read(&kept).unwrap()).unwrap();
    let entries = store["entries"].as_array_mut().unwrap();
    entries.retain(|entry| entry["subject"] != "batch mul single of 16 limbs");
    for entry in entries.iter_mut() {
        let fast = entry["subject"] == "batch mul karatsuba1 of 8 limbs";
        entry["microseconds"] = if fast { 1e-6 } else { 1.0 }.into();
    }
    fs::write(&kept, store.to_string()).unwrap();
    let (_, method, chosen_by) = taken(dir.path());
    assert_eq!((method.as_str(), chosen_by.as_str()), ("karatsuba1", "measured"));
    fs::write(dir.path().join("a.txt"), "12345678901234567890\n").unwrap();
    let product = || {
        let ran = warpint(dir.path(), "batch sqr a.txt --bits 512 --device sim -o out.txt");
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let product = fs::read_to_string(dir.path().join("out.txt")).unwrap();
        assert_eq!(product, "152415787532388367501905199875019052100\n");
        ran
    };
    product();

    // A damaged store is told of, set aside, and costs nothing else.
    fs::write(&kept, "{").unwrap();
    let ran = product();
    assert_eq!(ran.err.matches("tuning.json.bad").count(), 1, "{ran:?}");
    let (ran, method, chosen_by) = taken(dir.path());
    assert_eq!((method.as_str(), chosen_by.as_str()), ("single", "estimate"));
    assert_eq!(ran.err, "");
}

#[test]
fn what_makes_no_sense_is_refused_and_nothing_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("--device cpu", "--device: 'cpu' is not a GPU: give cuda, or cuda:1 for the second"),
        ("--device auto", "--device: 'auto' is not a GPU"),
        ("--device cuda:63", ""),
    ] {
        let ran = warpint(dir.path(), &format!("tune batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    for line in ["tune 9941 batch", "tune --json batch", "tune batch 9941"] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
    // A store that cannot be read is no reason to measure for minutes.
    fs::create_dir_all(dir.path().join("config/tuning.json")).unwrap();
    let ran = warpint(dir.path(), "tune batch --device sim");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().starts_with("cannot read the timings in "), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn prices_that_cannot_be_stored_are_printed() {
    let dir = tempfile::tempdir().unwrap();
    // There is nothing to be read, and nothing can be made.
    std::os::unix::fs::symlink("nowhere", dir.path().join("config")).unwrap();
    let ran = warpint(dir.path(), "tune batch --device sim -q");
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{ran:?}");
    assert!(ran.err.starts_with("warning: cannot write the timings in "), "{ran:?}");
    assert!(ran.out.contains("karatsuba1") && ran.out.ends_with(", not stored\n"), "{ran:?}");
}

#[cfg(unix)]
#[test]
fn ctrl_c_keeps_what_was_measured_and_the_rest_is_for_the_next_time() {
    use std::process::Stdio;
    use std::time::Duration;

    let dir = tempfile::tempdir().unwrap();
    let cache = dir.path().join("cache");
    let tune = |more: &[&str]| {
        let args = ["tune", "batch", "--device", "sim"].iter().chain(more);
        let mut command = crate::common::command(dir.path(), args);
        command.env("WARPINT_CACHE_DIR", &cache);
        command
    };
    let child = tune(&[]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // The first kernels are being compiled, which takes a second.
    while !cache.exists() {
        std::thread::sleep(Duration::from_millis(1));
    }
    signal(&child, "INT");
    let ran: Ran = end(child);
    assert!(ran.ended_by("INT") && ran.err.is_empty(), "{ran:?}");
    assert!(ran.out.contains("stopped: ") && ran.out.contains("the same command goes on"));
    let stored = |json: &Value| array(json, "rows").len();
    let before = fs::read_to_string(dir.path().join("config/tuning.json")).unwrap_or_default();
    let rest: Ran = tune(&["--json"]).output().unwrap().into();
    assert_eq!(rest.code, Some(0), "{rest:?}");
    let after = fs::read_to_string(dir.path().join("config/tuning.json")).unwrap();
    let entries = |text: &str| text.matches("\"subject\"").count();
    assert_eq!(entries(&before) + stored(&rest.json()), entries(&after));
}
