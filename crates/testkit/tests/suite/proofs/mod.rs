//! Proofs: identical to those of an independent program, and refused if they are changed or forged.

mod built;
mod changed;
mod common;
mod forged;
mod trouble;
