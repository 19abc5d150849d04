//! Malformed input for every file that is read and every number that is given: nothing must panic,
//! use much more memory than the file has bytes, or change another file.
//!
//! Each test makes 10,000 cases; `PROPTEST_CASES` sets another number. Tests that write files in
//! every case make a tenth of that, and tests whose cases wait for the disk several times a
//! hundredth.
#![cfg(test)]

mod checkpoints;
mod memory;
mod mutate;
mod numbers;
mod proofs;
mod results;
mod tunings;
mod worktodo;

use proptest::prelude::ProptestConfig;

/// Returns the configuration for 10,000 cases, or for `PROPTEST_CASES` if it is set.
fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

/// Returns a tenth of the cases, for tests that write files.
fn cases_on_disk() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(10))
}

/// Returns a hundredth of the cases, for tests that wait for the disk several times.
fn cases_synced() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(100))
}
