//! Runs the program's self-test suites under `cargo test`.
#![cfg(test)]

mod engines;
mod faults;
mod kernels;
mod run;
mod simulator;
