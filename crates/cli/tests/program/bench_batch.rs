//! Tests of `warpint bench batch` on the CPU and on the simulator, where times have no meaning.

use std::collections::BTreeSet;
use std::fs;

use crate::common::warpint;
use roxmltree::Document;
use serde_json::Value;

/// Returns the number in the field `key` of a row. Panics if the number is not above 0.
fn positive(row: &Value, key: &str) -> f64 {
    let x = row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"));
    assert!(x > 0.0, "{key} of {row}");
    x
}

fn rows(json: &Value) -> &[Value] {
    json["rows"].as_array().unwrap()
}

/// Checks that the figures of a row follow from its time, its bits and its operation.
fn check(row: &Value) {
    let (bits, ns) = (positive(row, "bits"), positive(row, "ns-per-operation"));
    assert!(positive(row, "ns-fastest-run") <= ns && ns <= positive(row, "ns-slowest-run"));
    let operands = match row["operation"].as_str().unwrap() {
        "mul" => 4.0,
        "add" | "sqr" | "mullo" => 3.0,
        other => panic!("{other}"),
    };
    let near = |key: &str, expected: f64| {
        let found = positive(row, key);
        assert!((found / expected - 1.0).abs() < 1e-9, "{key} {expected}: {row}");
    };
    near("bytes-per-operation", operands * bits / 8.0);
    near("gb-per-second", operands * bits / 8.0 / ns);
    near("operations-per-second", 1e9 / ns);
    near("floor-ns", operands * bits / 8.0 / positive(row, "copy-gb-per-second"));
    near("share-of-floor", positive(row, "floor-ns") / ns);
    if row["operation"] == "add" {
        assert!(row["gu32ops-per-second"].is_null() && row["method"].is_null(), "{row}");
    } else {
        near("gu32ops-per-second", (bits / 32.0).powi(2) / ns);
    }
}

#[test]
fn each_operation_has_a_row_for_each_width() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench batch --device sim --op add,mul,sqr,mullo --bits 64,96 --count 5 --seed 7";
    let ran = warpint(dir.path(), &format!("{line} --json --plot batch.svg"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["name"]), (&"sim".into(), &"simulator".into()));
    assert_eq!((&json["seed"], &json["threads"]), (&7.into(), &Value::Null));
    let of = |row: &Value| (row["operation"].as_str().unwrap().to_owned(), row["bits"].as_u64());
    let expected = ["add", "mul", "sqr", "mullo"];
    let expected: Vec<_> = expected
        .iter()
        .flat_map(|op| [64, 96].map(|bits| ((*op).to_owned(), Some(bits))))
        .collect();
    assert_eq!(rows(&json).iter().map(of).collect::<Vec<_>>(), expected);
    for row in rows(&json) {
        check(row);
        assert_eq!((&row["count"], &row["runs"]), (&5.into(), &3.into()));
        positive(row, "compile-s");
        if row["operation"] != "add" {
            assert_eq!(row["method"], "single", "the library's choice for short numbers");
        }
    }
    let text = fs::read_to_string(dir.path().join("batch.svg")).unwrap();
    let svg = Document::parse(&text).unwrap();
    let all = |name: &str| svg.descendants().filter(|n| n.tag_name().name() == name).count();
    // A line and a floor for each operation, a marker for each row.
    assert_eq!((all("polyline"), all("circle")), (8, 8));
    assert!(text.contains("mullo of 96 bits: ") && text.contains("ns per operation"), "{text}");
}

/// Tests that a quotient is compared with a product of the same width, whether the product has a
/// row of its own or is measured only for the comparison. Also tests greatest common divisors by
/// division.
#[test]
fn quotients_are_compared_with_products() {
    let dir = tempfile::tempdir().unwrap();
    for device in ["sim", "cpu"] {
        for operations in ["divrem", "divrem,gcd,gcd-by-division,mul"] {
            let line = format!("bench batch --device {device} --op {operations} --bits 64,96");
            let ran = warpint(dir.path(), &format!("{line} --count 5 --json"));
            assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
            let json = ran.json();
            assert_eq!(rows(&json).len(), 2 * operations.split(',').count());
            for row in rows(&json) {
                let keys = ["product-ns", "times-a-product"];
                if row["operation"] != "divrem" {
                    assert!(keys.iter().all(|key| row[key].is_null()), "{row}");
                    continue;
                }
                let [product, times] = keys.map(|key| positive(row, key));
                let ratio = positive(row, "ns-per-operation") / product;
                assert!((times / ratio - 1.0).abs() < 1e-9, "{row}");
                let same =
                    |other: &&Value| other["operation"] == "mul" && other["bits"] == row["bits"];
                if let Some(other) = rows(&json).iter().find(same) {
                    assert_eq!(row["product-ns"], other["ns-per-operation"]);
                }
            }
            let last = rows(&json).last().unwrap();
            assert_eq!(last["operation"], "divrem", "after what they are compared with");
        }
    }
    let ran = warpint(dir.path(), "bench batch --device sim --op gcd-by-division,divrem");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let lines: Vec<_> = ran.out.lines().skip(2).collect();
    assert!(lines[0].contains("  ÷/×  "), "{ran:?}");
    assert!(lines[1].starts_with("gcd         64") && lines[1].contains(" division "), "{ran:?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 100), "{ran:?}");
}

#[test]
fn methods_are_compared() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(
        dir.path(),
        "bench batch --device sim --op add,mul --bits 256 --count 2 --method all --json",
    );
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    rows(&json).iter().for_each(check);
    let methods: BTreeSet<_> =
        rows(&json).iter().filter_map(|row| row["method"].as_str()).collect();
    // A sum has no method, and each method of a product has one row.
    assert_eq!(methods.len() + 1, rows(&json).len());
    for method in ["single", "karatsuba1", "karatsuba2", "ntt3", "ntt4", "ntt5"] {
        assert!(methods.contains(method), "{methods:?}");
    }
    let one = warpint(
        dir.path(),
        "bench batch --device sim --op mul,sqr --bits 256 --count 2 --method karatsuba2 --json",
    );
    let json = one.json();
    assert!(rows(&json).iter().all(|row| row["method"] == "karatsuba2"), "{json}");
    assert_eq!(rows(&json).len(), 2);
}

#[test]
fn a_table_is_narrow_and_fills_the_memory_it_is_to_fill() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench batch --device sim");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 100), "{ran:?}");
    let rows: Vec<Vec<&str>> =
        ran.out.lines().skip(3).map(|line| line.split_whitespace().collect()).collect();
    let names: BTreeSet<_> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(names, BTreeSet::from(["add", "mul", "sqr"]));
    for row in rows {
        let (bits, count) = (row[1].parse::<u64>().unwrap(), row[2].parse::<u64>().unwrap());
        assert_eq!(bits / 8 * count, 1 << 10, "{row:?}");
    }
}

#[test]
fn the_cpu_has_no_methods() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench batch --device cpu --op add,mul,sqr,mullo --bits 32,4096 --count 3 --json";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["driver"]), (&"cpu".into(), &Value::Null));
    assert!(positive(&json, "threads") >= 1.0 && json["seed"].is_u64());
    assert_eq!(rows(&json).len(), 8);
    for row in rows(&json) {
        check(row);
        assert_eq!((&row["method"], &row["compile-s"]), (&Value::Null, &Value::Null));
        assert_eq!(row["runs"], 9);
        // GMP is measured where it is installed.
        assert_eq!(row["gmp-ns"].is_number(), json["gmp"].is_string());
        assert_eq!(row["ratio-to-gmp"].is_number(), json["gmp"].is_string());
    }
}

#[test]
fn what_makes_no_sense_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("--bits 33", "--bits: 33 bits: a width must be a multiple of 32"),
        ("--bits 64,x", "--bits: 'x' is not a number of bits"),
        ("--bits 0", "--bits: 0 bits: a width"),
        ("--op div", "--op: 'div' is none of add, sub, mul, mullo, sqr"),
        ("--method toom3", "--method: unknown method `toom3`: the methods are single, "),
        ("--method all --device cpu", "--method needs a device"),
        ("--count 0", "--count: '0' is not a number from 1 up"),
        ("--count 5000000000", "--count: 5000000000 numbers are too many"),
        ("--plot nowhere/batch.svg", "cannot write nowhere/batch.svg: "),
        ("--device cuda:63", ""),
        (
            "--device sim --method single --bits 4096",
            "single does not support mul of 4096 bits on sim: ",
        ),
        (
            "--device sim --method ntt6 --bits 1048576",
            "ntt6 does not support mul of 1048576 bits on sim: ",
        ),
        (
            "--device sim --method karatsuba5 --op mul",
            "the method supports none of the usual widths",
        ),
        ("--device sim --count 900000000 --bits 64", "numbers of 64 bits and their results need "),
    ] {
        let ran = warpint(dir.path(), &format!("bench batch {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
