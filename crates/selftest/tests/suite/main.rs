//! The suites of the program, run by `cargo test`.
#![cfg(test)]

mod engines;
mod faults;
mod kernels;
mod run;
mod simulator;
