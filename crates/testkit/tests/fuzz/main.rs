//! Every file that is read and every number that is given, as they should not be: nothing panics,
//! takes much more memory than the file has bytes, or touches another file.
//!
//! 10,000 cases a test; `PROPTEST_CASES` says how many instead. Tests that write files at every
//! case make a tenth of that, and where every case waits for a disk several times a hundredth.
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

/// So many cases, or as many as `PROPTEST_CASES` says.
fn cases() -> ProptestConfig {
    let given = std::env::var("PROPTEST_CASES").ok().and_then(|text| text.parse().ok());
    ProptestConfig::with_cases(given.unwrap_or(10_000))
}

/// A tenth of them, where each writes files.
fn cases_on_disk() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(10))
}

/// A hundredth, where each waits several times.
fn cases_synced() -> ProptestConfig {
    ProptestConfig::with_cases(cases().cases.div_ceil(100))
}
