//! Tests that invalid requests are refused in one line with exit code 2.

use std::fs;

use crate::common::warpint;
#[cfg(unix)]
use crate::common::{command, in_time};

#[test]
fn what_makes_no_sense_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    for (line, says) in [
        ("prp 12x", "'12x' is not a whole number"),
        ("ll -7", "'-7' is not a whole number"),
        ("prp 1", "1 is not an exponent"),
        ("prp 216093", "216093 is not prime (216093 = 3 · 72031)"),
        ("ll 4294967296", "4294967296 is too large"),
        ("prp 99999999999999999999999", "99999999999999999999999 is too large"),
        ("prp 7 --length 12x", "--length: '12x' is not a length"),
        (
            "prp 7 --length 4K",
            "cannot hold M7 in 4096 words: the only length is 1; near it, 1 would do",
        ),
        ("prp 216091 --length 12000", "near it, 11520 and 12096 would do"),
        ("prp 7 --engine fp64", "engine fp64 takes exponents from 64"),
        (
            "prp 7 --engine gpu",
            "--engine: 'gpu' is none of auto, exact, word, fp64, goldilocks, hybrid, hybrid-fast, plain",
        ),
        ("prp 89 --engine word", "engine word takes exponents from 2 to 63, not 89"),
        ("ll 7 --start 5", "--start: '5' is none of 4, 10, 2/3"),
        ("ll 7 --check all", "--check: 'all' is none of every, jacobi"),
        (
            "ll 44497 --engine goldilocks --check every",
            "the engine goldilocks does not check squarings at",
        ),
        ("ll 44497 --engine goldilocks --check every", "take fp64, or --check jacobi"),
        ("ll 7 --threads 0", "--threads: '0' is not a number of threads"),
        ("bench mersenne 15", "15 is not prime"),
        ("bench jacobi 15", "15 is not prime"),
        ("bench jacobi 7 --threads 0", "--threads: '0' is not a number of threads"),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0, "a refused request leaves nothing");
}

#[test]
fn a_length_too_short_is_refused_with_one_that_is_not() {
    let dir = tempfile::tempdir().unwrap();
    let ran = warpint(dir.path(), "ll 44497 --no-tf --engine fp64 --length 1792");
    assert_eq!(ran.code, Some(2), "{ran:?}");
    assert!(ran.error().contains("length 1792 is too short for M44497"), "{ran:?}");
}

#[test]
fn a_results_path_that_no_file_can_have_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    fs::create_dir_all(dir.path().join("work/results.txt")).unwrap();
    for (line, says) in [
        ("prp 61 --results work", "work is a directory, not a file"),
        ("ll 61 --dir work --quiet", "work/results.txt is a directory, not a file"),
    ] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}: {ran:?}");
        assert!(ran.error().contains(says), "{line}: {ran:?}");
    }
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1, "a refused request leaves nothing");
    assert_eq!(fs::read_dir(dir.path().join("work")).unwrap().count(), 1);
}

#[cfg(unix)]
#[test]
fn a_fifo_or_socket_for_results_is_refused_before_the_test() {
    let dir = tempfile::tempdir().unwrap();
    let fifo = dir.path().join("fifo");
    assert!(std::process::Command::new("mkfifo").arg(fifo).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    for what in ["fifo", "socket"] {
        let ran = in_time(command(dir.path(), ["prp", "61", "--results", what]));
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
        let says = format!("{what} is a {}, not a file", what.replace("fifo", "FIFO"));
        assert!(ran.error().contains(&says), "{ran:?}");
    }
    assert!(!dir.path().join("warpint-work").exists());
}

#[test]
fn misuse_shows_the_usage_and_help_is_no_error() {
    let dir = tempfile::tempdir().unwrap();
    for line in ["ll", "frob", "prp 7 --length", "prp 7 --no-tf --tf-limit 5"] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{line}");
        assert!(ran.err.starts_with("error: "), "{line}: {ran:?}");
    }
    for line in ["--help", "prp --help", "ll -h", "bench mersenne --help", "--version"] {
        let ran = warpint(dir.path(), line);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{line}");
    }
    for (command, own, other) in
        [("prp", "warpint prp ", "warpint ll "), ("ll", "warpint ll ", "warpint prp ")]
    {
        let help = warpint(dir.path(), &format!("{command} --help")).out;
        assert!(help.contains(own) && !help.contains(other), "{help}");
    }
    let help = warpint(dir.path(), "--help").out;
    let first = help.lines().next().unwrap();
    assert!(first.contains("integers") && !first.contains("Mersenne"), "{first}");
}

#[test]
fn a_directory_that_cannot_be_made_is_named() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    let ran = warpint(dir.path(), "prp 7 --dir file/work");
    assert_eq!((ran.code, ran.out.as_str()), (Some(2), ""), "{ran:?}");
    assert!(ran.error().contains("file/work/M7: Not a directory"), "{ran:?}");
    assert!(ran.error().ends_with("choose another directory"), "{ran:?}");
    assert_eq!(ran.err.matches("os error").count(), 1, "{ran:?}");
}

#[test]
fn completions_are_made_for_every_shell() {
    let dir = tempfile::tempdir().unwrap();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let ran = warpint(dir.path(), &format!("completions {shell}"));
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        assert!(ran.out.contains("checkpoint-interval"), "{shell}");
    }
    let ran = warpint(dir.path(), "completions tcsh");
    assert_eq!(ran.code, Some(2));
    assert!(ran.error().contains("'tcsh' is none of bash"), "{ran:?}");
}
