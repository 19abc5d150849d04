//! Tests of the field arithmetic in the kernels, one function at a time.

pub mod f50;
pub mod goldilocks;
pub mod m31;
