//! Tests of `warpint make-keys` and `warpint batch isprime`.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::common::{Ran, WARPINT, end, signal, spawn, wait_for_work, warpint, with_input};

const LINE: &str = "make-keys --count 20 --bits 128 --seed 9 --weak-pairs 1 --rings 1 --duplicates 1 \
                    --close 2 --even 1 -o keys.txt";

#[test]
fn the_simulator_and_the_cpu_make_the_same_files() {
    let mut files = vec![];
    for device in ["cpu", "sim"] {
        let dir = tempfile::tempdir().unwrap();
        let ran = warpint(dir.path(), &format!("{LINE} --json --device {device}"));
        assert_eq!(ran.code, Some(0), "{ran:?}");
        let report = ran.json();
        for (field, value) in [("count", 20), ("bits", 128), ("weak-pairs", 1), ("close", 2)] {
            assert_eq!(report[field], value, "{report}");
        }
        assert_eq!(report["device"], device);
        assert_eq!((&report["out"], &report["seed"]), (&"keys.txt".into(), &"9".into()));
        let read = |name: &str| fs::read_to_string(dir.path().join(name)).unwrap();
        files.push((read("keys.txt"), read(report["planted"].as_str().unwrap())));
    }
    assert_eq!(files[0], files[1]);
    let (keys, planted) = &files[0];
    let moduli: Vec<&str> = keys.lines().filter(|line| !line.starts_with('#')).collect();
    assert_eq!(moduli.len(), 20);
    let is_digit = |c: char| c.is_ascii_digit() || ('a'..='f').contains(&c);
    let digits = moduli.iter().map(|line| line.strip_prefix("0x").unwrap());
    assert!({ digits }.all(|n| n.len() == 32 && n.chars().all(is_digit)));
    assert!(keys.lines().next().unwrap().contains("unfit for use"));
    let planted: Value = serde_json::from_str(planted).unwrap();
    let entries = planted["planted"].as_array().unwrap();
    let lines: Vec<&str> = keys.lines().collect();
    for entry in entries {
        let of = |i: usize| lines[entry["lines"][i].as_u64().unwrap() as usize - 1];
        match entry["kind"].as_str().unwrap() {
            "duplicate" => assert_eq!(of(0), of(1)),
            "even" => assert!("02468ace".contains(of(0).chars().last().unwrap())),
            _ => {}
        }
    }
    let kinds: Vec<&str> = entries.iter().map(|entry| entry["kind"].as_str().unwrap()).collect();
    for (kind, count) in
        [("shared-prime", 1), ("ring", 1), ("duplicate", 1), ("close-primes", 2), ("even", 1)]
    {
        assert_eq!(kinds.iter().filter(|&&of| of == kind).count(), count, "{kind}");
    }
}

#[test]
fn files_are_replaced_on_request_only() {
    let dir = tempfile::tempdir().unwrap();
    let line = "make-keys --count 3 --bits 128 --seed 1 -o keys.txt --device cpu";
    let first = warpint(dir.path(), line);
    assert_eq!((first.code, first.err.as_str()), (Some(0), ""), "{first:?}");
    assert!(first.out.starts_with("keys.txt: 3 test moduli of 128 bits, seed 1, unfit for use; "));
    let keys = fs::read(dir.path().join("keys.txt")).unwrap();
    let again = warpint(dir.path(), &line.replace("--seed 1", "--seed 2"));
    assert_eq!(again.code, Some(2));
    assert!(again.error().starts_with("keys.txt exists already: "), "{again:?}");
    assert_eq!(fs::read(dir.path().join("keys.txt")).unwrap(), keys);
    let forced = warpint(dir.path(), &(line.replace("--seed 1", "--seed 2") + " --force --quiet"));
    assert_eq!((forced.code, forced.out.as_str()), (Some(0), ""), "{forced:?}");
    assert_ne!(fs::read(dir.path().join("keys.txt")).unwrap(), keys);
}

#[test]
fn impossible_requests_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (arguments, says) in [
        ("--count 5 --bits 100 -o k", "100 bits: give a multiple of 64 from 128 to 32768"),
        ("--count 0 --bits 128 -o k", "0 moduli: give a number from 1 to 1073741824"),
        (
            "--count 5 --bits 128 --rings 2 -o k",
            "the planted weaknesses need 6 lines, but 5 are asked for",
        ),
        ("--count 5 --bits 128 -o -", "-o -: two files are written"),
        ("--count 5 --bits 128 -o none/k", "cannot write none/k: No such file"),
    ] {
        let ran = warpint(dir.path(), &format!("make-keys --seed 1 {arguments}"));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{arguments}: {ran:?}");
        assert!(ran.error().starts_with(says), "{arguments}: {ran:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "{arguments}");
    }
}

/// A request beyond the memory that the system grants ends with an error, not with an abort.
#[cfg(target_os = "linux")]
#[test]
fn a_lack_of_memory_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for (line, needed) in [
        ("--count 1073741824 --bits 128", "64.0 GiB"),
        ("--count 4000000 --bits 32768", "15.4 GiB"),
        ("--count 10000000 --bits 128 --close 10000000", "5.8 GiB"),
    ] {
        let limited = format!(
            "ulimit -v 4000000; exec {WARPINT} make-keys {line} --seed 1 -o k --device cpu"
        );
        let ran: Ran = Command::new("sh")
            .args(["-c", &limited])
            .current_dir(dir.path())
            .output()
            .unwrap()
            .into();
        assert_eq!((ran.code, ran.out.as_str()), (Some(4), ""), "{ran:?}");
        let says =
            format!("the moduli need about {needed} of memory, which could not be allocated: ");
        assert!(ran.error().starts_with(&says), "{ran:?}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
    }
}

#[cfg(unix)]
#[test]
fn a_stopped_run_writes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let line = "make-keys --count 1000000 --bits 1024 --seed 1 -o keys.txt --device cpu";
    let mut child = spawn(dir.path(), line);
    wait_for_work(&mut child);
    signal(&child, "INT");
    let ran = end(child);
    assert!(ran.ended_by("INT") && ran.out.is_empty(), "{ran:?}");
    assert!(ran.err.ends_with("stopped: nothing is written\n"), "{ran:?}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn isprime_is_the_baillie_psw_test() {
    let dir = tempfile::tempdir().unwrap();
    // Strong pseudoprimes to base 2, a strong Lucas pseudoprime, a Carmichael number, a square.
    let numbers = "0\n1\n2\n3\n4\n2047\n3277\n5459\n561\n1194649\n1018081\n4294967291\nx\n\
                   170141183460469231731687303715884105727\n340282366920938463463374607431768211455\n";
    let expected = "0\n0\n1\n1\n0\n0\n0\n0\n0\n0\n0\n1\nnone\n1\n0\n";
    for device in ["cpu", "sim"] {
        let line = format!("batch isprime - -o - -q --device {device} --check identity,3");
        let ran = with_input(dir.path(), &line, numbers.as_bytes());
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), expected), "{device}: {ran:?}");
    }
}
