//! The suites that ship, run by `cargo test`.
#![cfg(test)]

mod engines;
mod faults;
mod kernels;
mod run;
mod simulator;
