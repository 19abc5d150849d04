//! Fuzz tests of the parsers of the command line: malformed input must not cause a panic.
//!
//! Each test runs 10,000 cases, or the number in the environment variable `PROPTEST_CASES`.

use std::time::Duration;

use clap::Parser;
use proptest::collection::vec;
use proptest::prelude::*;

use crate::args::Cli;
use crate::units;

fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

/// Returns a strategy that generates numbers, texts similar to numbers, and arbitrary texts.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[-+]?[0-9]{0,24}[kKmMG.e]{0,2}[0-9]{0,3}",
        "[0-9]{1,8}[kKmM]?\\.{1,3}[0-9]{1,8}[kKmM]?",
        "(nan|inf|-inf|1e400|-0|0x10|1_000|٣)",
        any::<f64>().prop_map(|x| x.to_string()),
        ".{0,20}",
    ]
}

/// Returns a strategy that generates a word of a command line.
fn word() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "prp",
        "ll",
        "test",
        "3*2^189+1",
        "--base",
        "batch",
        "mul",
        "calc",
        "fac",
        "--force",
        "-o",
        "--bits",
        "--format",
        "--check",
        "bench",
        "mersenne",
        "batch",
        "device",
        "tune",
        "--again",
        "stress",
        "selftest",
        "devices",
        "config",
        "--no-config",
        "completions",
        "--start",
        "--engine",
        "--device",
        "--threads",
        "--length",
        "--lengths",
        "--iterations",
        "--checkpoint-interval",
        "--tf-limit",
        "--no-tf",
        "--same-plan",
        "--op",
        "--bits",
        "--count",
        "--method",
        "--json",
        "--faults",
        "--time",
        "--variants",
        "-q",
        "--",
        "216091",
        "auto",
        "cuda:0",
        "bash",
    ]);
    prop_oneof![2 => known.prop_map(str::to_owned), 1 => text()]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_length(text in text()) {
        if let Ok(n) = units::parse_words(&text) {
            prop_assert!(n > 0);
            // Read back unchanged, with the suffixes K and M.
            prop_assert_eq!(units::parse_words(&units::words(n)), Ok(n));
        }
        if let Ok(range) = units::parse_word_range(&text) {
            prop_assert!(!range.is_empty());
        }
    }

    #[test]
    fn fuzz_seconds(text in text()) {
        if let Ok(time) = units::parse_seconds(&text) {
            prop_assert!(!time.is_zero() && time <= Duration::from_secs(86_400));
        }
    }

    #[test]
    fn fuzz_times_are_said(seconds: u64, nanos in 0u32..1_000_000_000) {
        let time = Duration::new(seconds, nanos);
        prop_assert!(!units::elapsed(time).is_empty() && !units::clock(time).is_empty());
        prop_assert!(!units::memory(seconds).is_empty());
    }

    #[test]
    fn fuzz_command_line(words in vec(word(), 0..7)) {
        // Every error is an error message or help, never a panic.
        let _ = Cli::try_parse_from([String::from("warpint")].iter().chain(&words));
    }
}
