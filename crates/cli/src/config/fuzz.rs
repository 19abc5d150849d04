//! Fuzz tests of the reader of configuration files.

use clap::Parser;
use proptest::collection::vec;
use proptest::prelude::*;

use super::file::parse;
use super::{ConfigFile, KEYS, Place};
use crate::args::Cli;

/// Each test runs 1,000 cases, or the number in the environment variable `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(1_000))
}

/// Returns a strategy that generates lines of a file: keys with values of any kind, and parts of
/// TOML in any order.
fn line() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        3 => (0..KEYS.len()).prop_map(|index| KEYS[index].name.to_owned()),
        1 => "[a-z_.\"'-]{0,20}",
        1 => ".{0,8}",
    ];
    let value = prop_oneof![
        "-?[0-9_]{1,22}",
        "(0x[0-9a-f]{1,9}|1e400|inf|-nan|true|1979-05-27|\\{ a = 1 \\}|\\[1, 2\\])",
        any::<f64>().prop_map(|x| format!("{x:?}")),
        "[\"'].{0,20}[\"']",
        prop::sample::select(vec!["'cpu'", "'cuda:1'", "'fp64'", "\"\"\"", "\"\\u0000\"", "'all'"])
            .prop_map(str::to_owned),
        ".{0,20}",
    ];
    prop_oneof![
        5 => (key, value).prop_map(|(key, value)| format!("{key} = {value}")),
        1 => ".{0,30}",
        1 => "\\[{1,40}[a-z]{0,3}\\]{0,40}",
    ]
}

proptest! {
    #![proptest_config(cases())]

    #[test]
    fn fuzz_bytes_of_a_configuration_file(bytes in vec(any::<u8>(), 0..200)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("warpint.toml");
        std::fs::write(&path, &bytes).unwrap();
        if let Err(error) = ConfigFile::read(Place::User, path) {
            prop_assert_eq!(error.to_string().lines().count(), 1);
        }
    }

    #[test]
    fn fuzz_text_of_a_configuration_file(lines in vec(line(), 0..5)) {
        // What is accepted is an option of `warpint work`, and what is refused has a reason.
        if let Ok(settings) = parse(&lines.join("\n")) {
            let options = settings.iter().map(super::Setting::option);
            let words = ["warpint", "work"].map(Into::into).into_iter().chain(options);
            prop_assert!(Cli::try_parse_from(words).is_ok());
        }
    }
}
