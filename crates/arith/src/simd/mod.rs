//! Instruction sets of the processor, and vectors of `f64` for algorithms that are written once and
//! compiled for each instruction set.
//!
//! | item | subject |
//! |---|---|
//! | [`Level`] | an instruction set for vectors |
//! | [`Cpu`] | which instruction sets this processor has |
//! | [`F64s`] | a vector of numbers of type `f64` |
//! | [`U64s`] | a vector of 64-bit integers |
//! | [`Kernel`], [`run`] | a computation with vectors, compiled for each instruction set; runs it |
//! | [`prefetch`] | a hint to load a cache line |
//! | [`copy_lines_past_caches`], [`finish_copies`] | copies of results that exceed the caches |
//!
//! The environment variable `WARPINT_CPU` restricts the choice, so that every path can be tested on
//! one machine: see [`Cpu::get`].

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod cpu;
mod integers;
mod portable;
mod stream;
#[cfg(test)]
mod tests;
mod vector;

#[cfg(target_arch = "x86_64")]
pub use avx2::Avx2F64s;
#[cfg(target_arch = "x86_64")]
pub use avx512::Avx512F64s;
pub use cpu::{Cpu, Level};
pub use integers::U64s;
pub use portable::PortableF64s;
pub use stream::{copy_lines_past_caches, finish_copies};
pub use vector::{F64s, Kernel, prefetch, run};
