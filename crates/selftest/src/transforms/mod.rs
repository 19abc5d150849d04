//! Tests of transforms: those on devices are compared with those of the CPU, and those of the CPU
//! with the definition.

pub mod big;
pub mod cpu;
mod plans;
pub mod prime;
pub mod small;
