//! Tests of `warpint bench bigprime` on the CPU and on the simulator, where times have no meaning.

use std::fs;

use crate::common::{check_times, warpint};
use roxmltree::Document;
use serde_json::Value;

fn rows(json: &Value) -> &[Value] {
    json["rows"].as_array().unwrap()
}

#[test]
fn every_prime_has_a_row_for_each_length_on_the_cpu() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench bigprime --device cpu --lengths 1..2,4 --runs 2 --json --plot big.svg";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    assert_eq!((&json["device"], &json["driver"]), (&"cpu".into(), &Value::Null));
    assert!(json["threads"].as_u64() >= Some(1));
    let of = |row: &Value| (row["digits"].as_u64().unwrap(), row["log2"].as_u64().unwrap());
    let expected: Vec<_> =
        (1..=7).flat_map(|log2_k| [1, 2, 4].map(|log2| (1 << log2_k, log2))).collect();
    assert_eq!(rows(&json).iter().map(of).collect::<Vec<_>>(), expected);
    for row in rows(&json) {
        for key in ["transform", "inverse", "convolution"] {
            check_times(&row["big"][key], 2);
        }
        assert_eq!((&row["small"], &row["small-over-big"]), (&Value::Null, &Value::Null));
        assert_eq!((&row["big"]["passes"], &row["missing"]), (&Value::Null, &Value::from([(); 0])));
        let checked = &row["checked"];
        assert_eq!((&checked["equal"], &checked["inverse"]), (&false.into(), &true.into()));
        assert!(checked["outputs"].as_u64() >= Some(1), "{row}");
    }
    assert_eq!(rows(&json)[6]["prime"], "(2^63+2^34)^8+1");
    assert_eq!(rows(&json)[6]["bits"], 505);
    assert_eq!(json["crossovers"], Value::from([(); 0]));
    let text = fs::read_to_string(dir.path().join("big.svg")).unwrap();
    let svg = Document::parse(&text).unwrap();
    let all = |name: &str| svg.descendants().filter(|n| n.tag_name().name() == name).count();
    assert_eq!((all("polyline"), all("circle")), (7, 21));
    assert!(text.contains("k = 128, 2^4 elements: ") && text.contains("ns per element"), "{text}");
}

#[test]
fn both_ways_are_equal_and_compared_on_a_device() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench bigprime --device sim --prime 2 --lengths 3,5";
    let ran = warpint(dir.path(), &format!("{line} --runs 1 --json --plot ratio.svg"));
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let json = ran.json();
    for row in rows(&json) {
        assert_eq!(row["checked"]["equal"], true);
        let [big, small] = ["big", "small"].map(|way| check_times(&row[way]["transform"], 1));
        let ratio = row["small-over-big"].as_f64().unwrap();
        assert!((ratio * big / small - 1.0).abs() < 1e-9, "{row}");
        check_times(&row["small"]["ring"]["transform"], 1);
        let passes = &row["big"]["passes"];
        let log2 = row["log2"].as_u64().unwrap();
        assert_eq!(passes["count"], log2.div_ceil(2));
        // All passes except one multiply each element, by products of two by two digits.
        assert_eq!(passes["digit-products"], ((log2.div_ceil(2) - 1) * 4) << log2);
        assert!(row["small"]["primes"].as_u64() > row["small"]["ring"]["primes"].as_u64());
    }
    let crossovers = json["crossovers"].as_array().unwrap();
    assert_eq!(crossovers.len(), 1);
    let faster = crossovers[0]["faster"].as_array().unwrap();
    assert_eq!((&faster[0]["from"], &faster[faster.len() - 1]["to"]), (&3.into(), &5.into()));
    let text = fs::read_to_string(dir.path().join("ratio.svg")).unwrap();
    let svg = Document::parse(&text).unwrap();
    let all = |name: &str| svg.descendants().filter(|n| n.tag_name().name() == name).count();
    // The ratios, and a line at one.
    assert_eq!((all("polyline"), all("circle")), (2, 2));

    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    assert!(ran.out.contains("p = (2^63+2^53)^2+1: k = 2, 127 bits\n"), "{ran:?}");
    assert!(ran.out.contains("| equal, inverse, 3\n"), "{ran:?}");
    assert!(ran.out.lines().last().unwrap().starts_with("(2^63+2^53)^2+1      "), "{ran:?}");
    let small =
        warpint(dir.path(), "bench bigprime --device sim --prime 2 --lengths 3 --way small");
    assert_eq!(small.code, Some(0), "{small:?}");
    assert!(small.out.trim_end().ends_with("| inverse, 3"), "{small:?}");
}

#[test]
fn a_prime_of_ones_own_is_measured() {
    let dir = tempfile::tempdir().unwrap();
    let line = "bench bigprime --device cpu --prime (2^60+2^36)^8+1,4 --lengths 3 --runs 1";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    for title in ["p = (2^60+2^36)^8+1: k = 8, 481 bits", "p = (2^64-2^50)^4+1: k = 4, 256 bits"] {
        assert!(ran.out.lines().any(|line| line == title), "{ran:?}");
    }
}

#[test]
fn what_makes_no_sense_is_refused_first() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("--lengths 0", "--lengths: '0' is not an exponent of two from 1 to 30"),
        ("--lengths 10..40", "--lengths: '40' in '10..40' is not an exponent of two from 1 to 30"),
        ("--lengths 22..10", "--lengths: '22..10' ends before it begins"),
        ("--prime 3", "--prime: no prime of 3 digits is known: use 2, 4, 8, 16, 32, 64"),
        ("--prime 2^64-2^32+1", "--prime: '2^64-2^32+1' is not a supported number: "),
        ("--prime (2^63+2^35)^8+1", "--prime: (2^63+2^35)^8+1 is not a prime"),
        ("--prime (2^3-2^2)^2+1 --lengths 5", "(2^3-2^2)^2+1 has no transform of 2^5 elements"),
        ("--prime (2^3-2^2)^2+1 --lengths 3 --device sim", "w from 56 to 64"),
        ("--prime (2^3-2^2)^2+1 --device cpu", "at most 2^4 elements"),
        ("--lengths 10..", "'' in '10..' is not an exponent of two from 1 to 30"),
        ("--way small --device cpu", "--way: the small-primes method is only supported on devices"),
        ("--runs 0", "--runs: '0' is not a number from 1 up"),
        ("--plot nowhere/big.svg", "cannot write nowhere/big.svg: "),
        ("--device cuda:63", ""),
    ] {
        let ran = warpint(dir.path(), &format!("bench bigprime {line}"));
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}
