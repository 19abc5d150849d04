//! Tests malformed files of Mersenne tests (checkpoints, proofs, residues for proofs, results,
//! timings and lists of assignments), of public keys, and malformed numbers on a command line. The program must not
//! panic, use much more memory than the file has bytes, or change another file.
//!
//! Each test runs 10,000 cases; `PROPTEST_CASES` sets another number. Tests that write files in
//! every case run a tenth of this number. Tests whose cases wait for the disk several times run a
//! hundredth of this number.
#![cfg(test)]

mod checkpoints;
mod keys;
mod memory;
mod mutate;
mod numbers;
mod proofs;
mod results;
mod tunings;
mod worktodo;

use proptest::prelude::ProptestConfig;

/// Returns the configuration for 10,000 cases, or for the number in `PROPTEST_CASES`.
fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

/// Returns the configuration for a tenth of the number of [`cases`], for tests that write files in
/// every case.
fn cases_on_disk() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(10))
}

/// Returns the configuration for a hundredth of the number of [`cases`], for tests whose cases wait
/// for the disk several times.
fn cases_synced() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(100))
}
