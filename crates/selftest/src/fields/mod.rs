//! The field arithmetic of the kernels, one function at a time.

pub mod f50;
pub mod goldilocks;
