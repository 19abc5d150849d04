//! Benchmarks and tuning without the program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod rows;
mod tuning;
