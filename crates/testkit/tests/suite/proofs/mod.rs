//! Proofs: built as an independent program builds them, and refused when
//! anything in them is changed or they are forged.

mod built;
mod changed;
mod common;
mod forged;
mod trouble;
