//! Tests of `warpint bench product` on the CPU and on the simulator, where times have no meaning.

use std::fs;

use crate::common::{check_times, warpint};
use serde_json::Value;

#[test]
fn products_on_the_cpu() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench product --device cpu --threads 1 --bits 6..8,15 --runs 2";
    let ran = warpint(dir.path(), &format!("{line} --json --plot product.svg"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["threads"], 1);
    let rows = json["rows"].as_array().unwrap();
    let bits: Vec<_> = rows.iter().map(|row| row["log2"].as_u64().unwrap()).collect();
    assert_eq!(bits, [6, 7, 8, 15]);
    for row in rows {
        check_times(&row["products"]["product"], 2);
        check_times(&row["products"]["square"], 2);
        for what in ["division", "to-decimal", "from-decimal"] {
            check_times(&row["products"][what], 2);
        }
        let missing = [&row["missing"], &row["products"]["from-host"]];
        assert_eq!(missing, [&Value::Null; 2], "{row}");
    }
    let text = fs::read_to_string(dir.path().join("product.svg")).unwrap();
    assert!(text.contains("square, 2^15 bits: "), "{text}");

    let ran = warpint(dir.path(), line);
    let lines: Vec<_> = ran.out.lines().collect();
    assert_eq!((ran.code, lines.len()), (Some(0), 7), "{ran:?}");
    assert!(lines[2].starts_with("log2 bits ") && lines[6].starts_with("       15 "), "{ran:?}");
}

#[test]
fn products_on_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench product --device sim --bits 10,16 --runs 1 --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    for row in ran.json()["rows"].as_array().unwrap() {
        for what in ["product", "square", "from-host", "division"] {
            check_times(&row["products"][what], 1);
        }
        assert!(row["products"]["working-bytes"].as_u64() >= Some(4 << 10), "{row}");
    }
}

#[test]
fn impossible_requests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (bits, said) in [("5", "--bits: factors of 2^5 bits"), ("35", "'35' is not an exponent")] {
        let ran = warpint(dir.path(), &format!("bench product --device cpu --bits {bits}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        assert!(ran.err.contains(said), "{ran:?}");
    }
}
