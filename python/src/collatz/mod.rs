//! Verification of the Collatz conjecture, delays and paths.

pub(crate) mod delay;
pub(crate) mod merge;
mod pooled;
pub(crate) mod verify;
