//! Tests of transforms. The transforms of devices are compared with those of the CPU, and the
//! transforms of the CPU with the definition.

pub mod big;
pub mod cpu;
pub mod ntt;
mod plans;
pub mod prime;
pub mod small;
