//! Tests of `warpint bench mersenne` on the CPU and on the simulator, where times have no meaning.

use std::fs;

use crate::common::warpint;
use roxmltree::Document;
use serde_json::Value;
use warpint::mersenne::DeviceId;
use warpint::mersenne::engine::places;

/// Returns the number in the field `key` of a row. Panics if the number is not above 0.
fn positive(row: &Value, key: &str) -> f64 {
    let x = row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"));
    assert!(x > 0.0, "{key} of {row}");
    x
}

/// Returns the titles of all markers of a chart.
fn markers(path: &std::path::Path) -> Vec<String> {
    let text = fs::read_to_string(path).unwrap();
    let svg = Document::parse(&text).unwrap();
    let circles = svg.descendants().filter(|node| node.tag_name().name() == "circle");
    circles.map(|c| c.first_element_child().unwrap().text().unwrap().to_owned()).collect()
}

/// Fails unless a marker consists of `begin` and a time in µs with two decimals. A time read from JSON may
/// differ in its last bit from the one that was drawn, and then be rounded differently.
fn has_time(marker: &str, begin: &str, time: f64) {
    let drawn = marker.strip_prefix(begin).and_then(|rest| rest.strip_suffix(" µs"));
    let drawn: f64 = drawn.unwrap_or_else(|| panic!("{marker}")).parse().unwrap();
    assert!((drawn - time).abs() < 0.0051, "{marker} {time}");
}

/// Returns the names of the engine families on the simulator that support the exponent p.
fn on_simulator(p: u32) -> Vec<&'static str> {
    let families = places::families_on(DeviceId::Sim).unwrap().into_iter();
    families.filter(|family| family.exponent_range().contains(&p)).map(|f| f.name()).collect()
}

#[test]
fn a_device_has_floors_and_shares() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench mersenne 9941 --device sim --json --plot speed.svg");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["name"]), (&"sim".into(), &"simulator".into()));
    let rates = &json["rates"];
    for rate in ["fp64-fma-per-second", "products-per-second", "points-levels-per-second"] {
        positive(rates, rate);
    }
    let copy = &rates["copies"][0];
    let rows = json["rows"].as_array().unwrap();
    let engines: Vec<_> = rows.iter().map(|row| row["engine"].as_str().unwrap()).collect();
    assert_eq!(engines, on_simulator(9_941));
    for row in rows {
        let time = positive(row, "us-per-squaring");
        assert!(positive(row, "us-fastest-lap") <= time && time <= positive(row, "us-slowest-lap"));
        assert!(positive(row, "squarings") >= 16.0);
        // Four passes over 8 bytes per word, or 12 with both transforms of hybrid and hybrid-fast, at the rate of the
        // copy.
        let bytes = positive(row, "traffic-bytes");
        let both = row["engine"].as_str().is_some_and(|name| name.starts_with("hybrid"));
        let each = if both { 12.0 } else { 8.0 };
        assert_eq!(bytes, 4.0 * each * positive(row, "fft-length"));
        let floor = bytes / positive(copy, "in-place-gb-per-second") * 1e-3;
        let said = positive(row, "traffic-floor-us");
        // Times are whole nanoseconds.
        assert!((said - floor).abs() <= 0.001 + 1e-6 * floor, "{said} {floor}");
        let arithmetic = match row["engine"].as_str() {
            Some("fp64" | "hybrid" | "hybrid-fast") => {
                positive(row, "fp64-instructions") / positive(rates, "fp64-fma-per-second")
            }
            _ => {
                positive(row, "products") / positive(rates, "products-per-second")
                    + positive(row, "points-levels") / positive(rates, "points-levels-per-second")
            }
        };
        let said_arithmetic = positive(row, "arithmetic-floor-us");
        assert!((said_arithmetic - 1e6 * arithmetic).abs() <= 0.001 + arithmetic, "{row}");
        let ratio = time / said.max(said_arithmetic);
        assert!((positive(row, "ratio-to-floor") / ratio - 1.0).abs() < 1e-9, "{row}");
        let kernels = row["kernels"].as_array().unwrap();
        let names: Vec<_> = kernels.iter().map(|k| k["kernel"].as_str().unwrap()).collect();
        let expected: &[&str] = match row["engine"].as_str() {
            Some("hybrid" | "hybrid-fast") => &["square_rows", "square_exact_rows", "columns"],
            _ => &["square_rows", "columns"],
        };
        assert_eq!(names, expected);
        let shares: f64 = kernels.iter().map(|kernel| positive(kernel, "share")).sum();
        assert!((shares - 1.0).abs() < 1e-9 && kernels.iter().all(|k| positive(k, "us") > 0.0));
    }
    let drawn = markers(&dir.path().join("speed.svg"));
    assert_eq!(drawn.len(), rows.len());
    for (said, row) in drawn.iter().zip(rows) {
        let engine = row["engine"].as_str().unwrap();
        has_time(said, &format!("M9941 by {engine}: "), positive(row, "us-per-squaring"));
    }
}

#[test]
fn a_table_of_a_device_is_narrow() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench mersenne --device sim");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.lines().all(|line| line.chars().count() <= 120), "{ran:?}");
    // 1279 is too small for fp64 on a device.
    let rows: Vec<Vec<&str>> = ran
        .out
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|words| words.first().is_some_and(|p| p.parse::<u32>().is_ok()))
        .collect();
    let names: Vec<_> = rows.iter().map(|row| (row[0], row[1])).collect();
    assert!(!names.contains(&("1279", "fp64")));
    let expected = [(1_279, "1279"), (9_941, "9941")];
    let expected = expected
        .into_iter()
        .flat_map(|(p, said)| on_simulator(p).into_iter().map(move |name| (said, name)));
    assert_eq!(names, expected.collect::<Vec<_>>());
    assert!(rows.iter().all(|row| row.iter().filter(|&&word| word == "%").count() == 2));
}

#[test]
fn complex_numbers_and_integers_meet_in_one_plan() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "bench mersenne --device sim --same-plan=256 --json");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    let rows = json["rows"].as_array().unwrap();
    assert!((1..=4).contains(&rows.len()), "{rows:?}");
    assert!(rows.iter().all(|row| row["points"] == 256), "{rows:?}");
    for row in rows {
        let points = positive(row, "points");
        let plan = &row["plan"];
        assert_eq!(positive(plan, "rows") * positive(plan, "columns"), points);
        for (radices, length) in [("column-radices", "rows"), ("row-radices", "columns")] {
            let radices = plan[radices].as_array().unwrap();
            let product: f64 = radices.iter().map(|r| r.as_f64().unwrap()).product();
            assert_eq!(product, positive(plan, length), "{row}");
        }
        let (complex, integers) = (&row["fp64"], &row["goldilocks"]);
        assert_eq!(positive(complex, "fft-length"), 2.0 * points);
        assert_eq!(positive(integers, "fft-length"), points);
        let ratio = positive(integers, "us-per-squaring") / positive(complex, "us-per-squaring");
        assert!((positive(row, "ratio") / ratio - 1.0).abs() < 1e-9, "{row}");
        for side in [complex, integers] {
            let each = 1e3 * positive(side, "us-per-squaring") / positive(side, "exponent");
            assert!((positive(side, "ns-per-bit") / each - 1.0).abs() < 1e-9, "{side}");
        }
        // Products of words stay below 2^63, and below 2^53 by far.
        assert!(positive(integers, "exponent") < 31.5 * points);
        assert!(positive(complex, "exponent") < 2.0 * 26.0 * points);
    }
    let table = warpint(dir.path(), "bench mersenne --device sim --same-plan=256").out;
    assert!(table.lines().all(|line| line.chars().count() <= 120), "{table}");
    assert!(table.contains("16x16 "), "{table}");
}

#[test]
fn the_cpu_is_measured_beside_the_bare_transform() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("speed.svg"), "old").unwrap();
    fs::write(dir.path().join("other.txt"), "# P, us, program\n4423 12.5 another & program\n")
        .unwrap();
    let line = "bench mersenne 4423 --device cpu --engine fp64 --threads 1 --json --plot speed.svg \
                --beside other.txt";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!(json["threads"], 1);
    let row = &json["rows"][0];
    let mut keys: Vec<_> = row.as_object().unwrap().keys().map(String::as_str).collect();
    keys.sort_unstable();
    let expected = [
        "bits-per-word",
        "device",
        "engine",
        "exponent",
        "fft-floor-us",
        "fft-length",
        "fftw-us",
        "margin-bits",
        "ratio-to-floor",
        "us-per-squaring",
    ];
    assert_eq!(keys, expected);
    let time = positive(row, "us-per-squaring");
    let drawn = markers(&dir.path().join("speed.svg"));
    assert_eq!(drawn.len(), 2);
    has_time(&drawn[0], "M4423 by fp64: ", time);
    assert_eq!(drawn[1], "M4423 by another & program: 12.50 µs");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
}

#[test]
fn checks_of_a_test_too_short_are_not_measured() {
    let dir = tempfile::tempdir().unwrap();
    for p in [61, 521, 9689] {
        let ran = warpint(dir.path(), &format!("bench checks {p} --device cpu --json"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let begin = format!("the test of M{p} takes ");
        let error = ran.error();
        assert!(error.starts_with(&begin) && error.contains("whose test takes 10"), "{error}");
    }
    let help = warpint(dir.path(), "bench checks --help").out;
    let words: Vec<_> = help.split_whitespace().collect();
    for says in
        ["test of P must take 10 seconds or more", "cost of checkpoints depends on the disk"]
    {
        assert!(words.join(" ").contains(says), "{help}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused one leaves nothing");
}

#[test]
fn what_cannot_be_measured_or_drawn_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("--plot nowhere/speed.svg", "cannot write nowhere/speed.svg: "),
        ("--plot . 216091", "cannot write .: it is not a file"),
        ("--same-plan --device cpu", "--same-plan compares engines of a device"),
        (
            "--same-plan=300 --device sim",
            "fp64 and goldilocks have no plan of 300 points in common",
        ),
        ("--same-plan=18446744073709551615 --device sim", "have no plan of 18446744073709551615"),
        ("--same-plan=4x", "--same-plan: '4x' is not a length"),
        ("61 --device sim", "takes exponents from"),
        ("61 --plot x.svg --beside nowhere.txt", "cannot read nowhere.txt: "),
    ] {
        let ran = warpint(dir.path(), &format!("bench mersenne {line}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    // Times of other programs, exponents or an engine are misuse of the grammar.
    for more in ["--plot x.svg --beside y.txt", "216091", "--engine fp64"] {
        let ran = warpint(dir.path(), &format!("bench mersenne --same-plan --device sim {more}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{more}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
    fs::write(dir.path().join("others.txt"), "6972593 16.9 A\n6972593 fast B\n").unwrap();
    let ran = warpint(dir.path(), "bench mersenne 4423 --plot x.svg --beside others.txt");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().contains("others.txt, line 2: '6972593 fast B' is not"), "{ran:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a refused request leaves nothing");
}
