//! The engine `hybrid`: a convolution by complex FP64 transforms and, modulo 2^31 − 1, by exact
//! ones.

#[allow(dead_code, unused_imports, reason = "the engine that uses the bound is not merged yet")]
mod bound;
