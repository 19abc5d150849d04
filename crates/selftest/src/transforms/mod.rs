//! Transforms on devices against those of the CPU, and those of the CPU against the definition.

pub mod big;
pub mod cpu;
mod plans;
pub mod prime;
pub mod small;
