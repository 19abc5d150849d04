//! Transforms on devices against those of the CPU, and those of the CPU against the definition.

pub mod big;
pub mod cpu;
pub mod prime;
pub mod small;
