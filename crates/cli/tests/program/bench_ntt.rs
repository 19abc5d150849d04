//! Tests of `warpint bench ntt` on the CPU and on the simulator, where times have no meaning.

use std::fs;

use crate::common::{check_times, warpint};
use roxmltree::Document;
use serde_json::{Value, json};

/// Returns the log2 of the length, the order and the number of vectors of each row.
fn cases(json: &Value) -> Value {
    let rows = json["rows"].as_array().unwrap().iter();
    rows.map(|row| json!([row["log2"], row["order"], row["batch"]])).collect()
}

#[test]
fn every_length_has_a_row_on_the_cpu() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench ntt --device cpu --threads 1 --lengths 1..2,7 --batch 6 --runs 2";
    let ran = warpint(dir.path(), &format!("{line} --json --plot ntt.svg"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["driver"]), (&"cpu".into(), &Value::Null));
    assert_eq!(json["threads"], 1);
    let expected = json!([[1, "natural", 32], [2, "natural", 16], [7, "natural", 1]]);
    assert_eq!(cases(&json), expected);
    for row in json["rows"].as_array().unwrap() {
        let (log2, batch) = (row["log2"].as_u64().unwrap(), row["batch"].as_u64().unwrap());
        let measured = &row["transforms"];
        let us = check_times(&measured["forward"], 2);
        check_times(&measured["inverse"], 2);
        let rate = measured["gpoints-per-second"].as_f64().unwrap();
        assert!((rate * us * 1e3 / (batch << log2) as f64 - 1.0).abs() < 1e-9, "{row}");
        assert_eq!((&measured["floors"], &row["missing"]), (&Value::Null, &Value::Null));
        assert!(measured["outputs-compared"].as_u64() >= Some(1), "{row}");
    }
    let text = fs::read_to_string(dir.path().join("ntt.svg")).unwrap();
    let svg = Document::parse(&text).unwrap();
    let all = |name: &str| svg.descendants().filter(|n| n.tag_name().name() == name).count();
    assert_eq!((all("polyline"), all("circle")), (1, 3));
    assert!(text.contains("natural, 2^7 points: ") && text.contains("ns per point"), "{text}");

    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!(lines.len(), 6, "{ran:?}");
    assert!(lines[0].starts_with("cpu  ") && lines[0].ends_with(", 1 thread"), "{ran:?}");
    assert!(lines[2].starts_with("points  order") && lines[2].ends_with("| checked"), "{ran:?}");
    assert!(lines[5].starts_with("   2^7  natural              1       –  "), "{ran:?}");
    assert!(lines[5].contains("| inverse, "), "{ran:?}");
}

#[test]
fn both_orders_and_their_floors_are_on_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench ntt --device sim --lengths 4,6 --batch 5 --runs 1";
    let ran = warpint(dir.path(), &format!("{line} --json --plot ntt.svg"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    let expected = json!([
        [4, "natural", 2],
        [4, "bit-reversed", 2],
        [6, "natural", 1],
        [6, "bit-reversed", 1]
    ]);
    assert_eq!(cases(&json), expected);
    for row in json["rows"].as_array().unwrap() {
        let points = row["batch"].as_u64().unwrap() << row["log2"].as_u64().unwrap();
        let us = check_times(&row["transforms"]["forward"], 1);
        check_times(&row["transforms"]["inverse"], 1);
        let floors = &row["transforms"]["floors"];
        assert_eq!((&floors["passes"], &floors["bytes"]), (&1.into(), &(16 * points).into()));
        assert_eq!(floors["points-levels"], points * row["log2"].as_u64().unwrap());
        let floor = |key: &str| floors[key].as_f64().unwrap();
        let largest = floor("memory-floor-us").max(floor("arithmetic-floor-us"));
        assert!((floor("forward-over-floor") * largest / us - 1.0).abs() < 1e-9, "{row}");
        let memory = (16 * points) as f64 / floor("copy-gb-per-second") * 1e-3;
        assert!((memory / floor("memory-floor-us") - 1.0).abs() < 1e-9, "{row}");
    }
    let text = fs::read_to_string(dir.path().join("ntt.svg")).unwrap();
    let svg = Document::parse(&text).unwrap();
    let all = |name: &str| svg.descendants().filter(|n| n.tag_name().name() == name).count();
    // A line and a floor for each order.
    assert_eq!((all("polyline"), all("circle")), (4, 4));

    let ran = warpint(dir.path(), &format!("{line} --order bit-reversed"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let last = ran.out.lines().last().unwrap();
    assert!(last.starts_with("   2^6  bit-reversed         1       1  "), "{ran:?}");
    assert!(last.ends_with("| inverse, 3") && !ran.out.contains("natural"), "{ran:?}");
}

#[test]
fn other_fields_and_odd_factors() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench ntt --device sim --field f50 --odd 3 --lengths 4 --order natural --runs 1";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let last = ran.out.lines().last().unwrap();
    assert!(last.starts_with(" 3·2^4  natural              1       1  "), "{ran:?}");
    assert!(last.ends_with("| inverse, 3"), "{ran:?}");
    let json = warpint(dir.path(), &format!("{line} --json")).json();
    assert_eq!((&json["field"], &json["rows"][0]["odd"]), (&"f50".into(), &3.into()));
    let floors = &json["rows"][0]["transforms"]["floors"];
    assert_eq!((&floors["bytes"], &floors["points-levels"]), (&(16 * 48).into(), &(48 * 6).into()));
}

#[test]
fn a_row_without_room_says_so() {
    let dir = tempfile::tempdir().unwrap();
    // The batch takes 32 GiB. The simulator has 16 GiB.
    let line = "bench ntt --device sim --lengths 4 --order natural --batch 32";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let last = ran.out.lines().last().unwrap();
    assert!(last.trim_start().starts_with("out of memory on simulator: "), "{ran:?}");
    let json = warpint(dir.path(), &format!("{line} --json")).json();
    assert_eq!(json["rows"][0]["transforms"], Value::Null);
    assert!(json["rows"][0]["missing"].is_string(), "{json}");
}

#[test]
fn what_makes_no_sense_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("--lengths 0", "--lengths: '0' is not an exponent of two from 1 to 30"),
        ("--lengths 10..40", "--lengths: '40' in '10..40' is not an exponent of two from 1 to 30"),
        ("--lengths 22..10", "--lengths: '22..10' ends before it begins"),
        ("--batch 0", "--batch: '0' is not an exponent of two from 1 to 36"),
        ("--batch 37", "--batch: '37' is not an exponent of two from 1 to 36"),
        ("--lengths 4 --batch 33", "--batch: 2^33 points in vectors of 2^4 points are too many: "),
        ("--order backwards", "--order"),
        (
            "--order both --device cpu",
            "--order: on the CPU, transforms in bit-reversed order are only supported modulo",
        ),
        ("--odd 7", "--odd: '7' is not 1, 3 or 5"),
        (
            "--odd 3 --device cpu",
            "--odd: on the CPU, transforms of 3·2^k and 5·2^k points are only",
        ),
        ("--odd 5 --lengths 28", "--lengths: no transform has 5·2^28 points"),
        ("--field f51", "--field"),
        ("--runs 0", "--runs: '0' is not a number from 1 up"),
        ("--runs 1001", "--runs: 1001 runs are too many: give at most 1000"),
        ("--threads 0", "--threads: '0' is not a number of threads"),
        ("--plot nowhere/ntt.svg", "cannot write nowhere/ntt.svg: "),
        ("--device cuda:63", ""),
    ] {
        let ran = warpint(dir.path(), &format!("bench ntt {line}"));
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
