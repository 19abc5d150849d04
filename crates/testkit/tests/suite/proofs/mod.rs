//! Tests that proofs are identical to those of an independent program, and that changed and forged
//! proofs are refused.

mod built;
mod changed;
mod common;
mod forged;
mod trouble;
