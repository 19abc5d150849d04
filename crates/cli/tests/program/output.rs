//! Tests with a standard output that is full or has no reader.

use std::fs;
use std::os::unix::process::ExitStatusExt;

use super::common::{Ran, command, in_time};

/// Command lines with every kind of output: help, text, JSON, a table that is printed line by line,
/// a script.
const REPORTS: [&str; 8] = [
    "--help",
    "prp --help",
    "--version",
    "devices",
    "devices --json",
    "completions bash",
    "status . --json",
    "collatz path 27",
];

const SIGPIPE: i32 = 13;

#[test]
fn a_reader_that_has_gone_ends_the_program_without_a_word() {
    let dir = tempfile::tempdir().unwrap();
    let slow =
        ["bench mersenne 1279 --device cpu --threads 1", "selftest word::", "prp 61 --no-tf"];
    for line in REPORTS.into_iter().chain(slow) {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let ended = command(dir.path(), line.split(' ')).stdout(writer).output().unwrap();
        let said = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.signal(), Some(SIGPIPE), "{line}: {said}");
        // A test says what it does on standard error; nothing is said of the pipe.
        assert!(line.starts_with("prp 61") || said.is_empty(), "{line}: {said}");
        assert!(!said.contains("error") && !said.contains("panic"), "{line}: {said}");
    }
    // The result is not lost.
    let results = fs::read_to_string(dir.path().join("warpint-work/results.txt")).unwrap();
    assert_eq!(results.lines().count(), 1);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_standard_output_is_an_error() {
    let dir = tempfile::tempdir().unwrap();
    for line in REPORTS.into_iter().chain(["collatz --help", "help batch"]) {
        let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
        let output = command(dir.path(), line.split(' ')).stdout(full).output().unwrap();
        let ran = Ran::from(output);
        assert_eq!(ran.code, Some(2), "{line}: {ran:?}");
        assert!(ran.error().starts_with("cannot write to standard output: No space"), "{ran:?}");
    }
}

#[test]
fn the_table_of_exit_codes_is_in_the_help() {
    let dir = tempfile::tempdir().unwrap();
    let help = in_time(command(dir.path(), ["--help"])).out;
    let table = help.split_once("Exit codes:\n").unwrap().1;
    let codes: Vec<&str> = table.lines().filter(|l| l.starts_with("  ")).collect();
    assert_eq!(codes.len(), 5, "{help}");
    for (code, line) in codes.iter().enumerate() {
        assert!(line.starts_with(&format!("  {code}  ")), "{line}");
    }
}
