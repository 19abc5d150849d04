//! Tests of benchmarks and tuning as a library, without the command-line program.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

mod charts;
mod charts_of_the_book;
mod rows;
mod tuning;
