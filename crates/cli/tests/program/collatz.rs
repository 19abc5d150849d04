//! Tests of `warpint collatz path` and `warpint collatz delay`.

use std::fs;

use crate::common::{Ran, end, signal, spawn, wait_for_work, warpint};

fn ran(line: &str) -> Ran {
    let dir = tempfile::tempdir().unwrap();
    warpint(dir.path(), &format!("collatz {line}"))
}

#[test]
fn a_path_is_followed() {
    let text = ran("path 27");
    assert_eq!((text.code, text.err.as_str()), (Some(0), ""), "{text:?}");
    assert_eq!(
        text.out,
        "27 reaches 1 after 111 steps (41 odd, 70 even) and rises to 9232; it is below itself after 96 steps\n"
    );
    assert_eq!(ran("path 1").out, "1 reaches 1 after 0 steps (0 odd, 0 even) and rises to 1\n");
    let json = ran("path 63_728_127 --json").json();
    assert_eq!((json["delay"].as_u64(), json["n"].as_str()), (Some(949), Some("63728127")));
    let json = ran("path 2^1000-1 --json").json();
    assert_eq!(json["n-bits"], 1000);
    // 3^1000 has 1585 bits.
    assert_eq!(json["maximum-bits"], 1586);
    assert!(ran("path 2^1000-1").out.contains("a number of 1000 bits reaches 1 after "));
}

#[test]
fn long_paths_are_followed_at_once() {
    // 2^k − 1 rises to 2·(3^k − 1) or higher, which has ⌊300000·log2(3)⌋ + 2 bits.
    let json = ran("path 2^300000-1 --json").json();
    assert_eq!((&json["n-bits"], &json["maximum-bits"]), (&300_000.into(), &475_490.into()));
    let json = ran("path 2^10000000 --json").json();
    assert_eq!((&json["delay"], &json["maximum-bits"]), (&10_000_000.into(), &10_000_001.into()));
}

#[test]
fn delays_and_records_are_found() {
    for device in ["cpu", "auto", "sim"] {
        let ran = ran(&format!("delay 1 10^5 --records --json --device {device}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let json = ran.json();
        assert_eq!(
            (json["status"].as_str(), json["numbers"].as_str()),
            (Some("done"), Some("99999"))
        );
        assert_eq!(
            (&json["longest"]["n"], &json["longest"]["delay"]),
            (&"77031".into(), &350.into())
        );
        assert_eq!(json["sum"], "10753712");
        let delays = json["delay-records"].as_array().unwrap();
        assert_eq!((delays.len(), &delays[8]["n"]), (35, &"27".into()));
        let paths = json["path-records"].as_array().unwrap();
        assert_eq!(paths.last().unwrap()["n"], "77671");
        assert_eq!(paths.last().unwrap()["maximum"], "1570824736");
    }
}

#[test]
fn a_range_goes_on_from_known_records() {
    let line = "delay 837000 838000 --records --delay-record 508 --path-record 90239155648";
    let json = ran(&format!("{line} --json")).json();
    assert_eq!(json["delay-records"].as_array().unwrap().len(), 1);
    assert_eq!(json["delay-records"][0]["n"], "837799");
    assert_eq!(json["path-records"].as_array().unwrap().len(), 0);
    let text = ran(line).out;
    assert!(text.contains("delay record: 837799 takes 524 steps\n"), "{text}");
    assert!(text.contains("1000 delays from 837000 to below 838000: sum "), "{text}");
}

#[test]
fn delays_are_written() {
    let dir = tempfile::tempdir().unwrap();
    let line = "collatz delay 26 29 --out d.txt";
    let ran = warpint(dir.path(), line);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{ran:?}");
    let path = dir.path().join("d.txt");
    assert_eq!(fs::read_to_string(&path).unwrap(), "26 10\n27 111\n28 18\n");
    let one = self::ran("delay 27 28 --records").out;
    assert!(
        one.contains(
            "\n1 delay from 27 to below 28: sum 111, mean 111.000, the largest 111 of 27; "
        )
    );
    // Delays go to standard output, the report to standard error.
    let piped = self::ran("delay 26 29 --out -");
    assert_eq!((piped.code, piped.out.as_str()), (Some(0), "26 10\n27 111\n28 18\n"));
    assert!(piped.err.starts_with("3 delays from 26 to below 29: sum 139, "), "{piped:?}");
    let json = self::ran("delay 26 29 -o - --json");
    assert!(
        json.out.starts_with("26 10\n") && json.err.starts_with("{\"status\":\"done\""),
        "{json:?}"
    );
    // Longer than a piece, from beyond 64 bits, with records as well.
    let ran = warpint(dir.path(), "collatz delay 2^65 2^65+1100000 --records -o d.txt --json");
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let text = fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 1_100_000);
    assert!(text.starts_with("36893488147419103232 65\n"), "{}", &text[..60]);
    let json = ran.json();
    let sum: u64 =
        text.lines().map(|l| l.rsplit(' ').next().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(json["sum"], sum.to_string());
    let last = json["delay-records"].as_array().unwrap().last().unwrap().clone();
    assert_eq!(last, json["longest"]);
}

#[test]
fn what_makes_no_sense_is_said() {
    for (line, says) in [
        ("path 0", "0 never reaches 1, as 0/2 is 0: give a number from 1 up"),
        ("path 12x", "'12x' is not a number: write it like 123456, 10^12 or 2^70+5"),
        ("path -5", "'-5' is below 0"),
        ("path 2^999999999", "'2^999999999' is too large: it has more than 134217728 bits"),
        ("delay 0 5", "0 has no delay, as it never reaches 1: begin with 1 or more"),
        ("delay 5 5", "the range from 5 to 5 is empty: its end must be larger than its start"),
        ("delay 6 5", "the range from 6 to 5 is empty: its end must be larger than its start"),
        ("delay 1 2^96+1", "delays are computed for numbers below 2^96, but the range"),
        ("delay 1 2^128", "'2^128' is too large: numbers are below 2^128"),
        ("delay 1 x", "'x' is not a number"),
        ("delay 1 9 --out nowhere/d.txt", "cannot write nowhere/d.txt: No such file"),
        ("delay 1 9 --device gpu", "--device: 'gpu' is none of"),
    ] {
        let ran = ran(line);
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
        assert_eq!(ran.out, "", "{line}");
    }
    assert_eq!(ran("delay 1 9 --delay-record 5").code, Some(2));
}

#[cfg(unix)]
#[test]
fn a_stopped_run_says_what_was_done() {
    let dir = tempfile::tempdir().unwrap();
    for line in ["collatz delay 1 2^60 --device cpu --json", "collatz path 2^20000000-1"] {
        let mut child = spawn(dir.path(), line);
        wait_for_work(&mut child);
        signal(&child, "INT");
        let ran = end(child);
        assert!(ran.ended_by("INT"), "{ran:?}");
        assert!(ran.err.contains("stopped after "), "{ran:?}");
        if line.contains("delay") {
            let json = ran.json();
            assert_eq!(json["status"], "stopped");
            let numbers: u128 = json["numbers"].as_str().unwrap().parse().unwrap();
            let sum: u128 = json["sum"].as_str().unwrap().parse().unwrap();
            assert!(numbers == 0 || sum > numbers, "{ran:?}");
        }
    }
}
