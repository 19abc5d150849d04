//! Transforms modulo q = 2^64 − 2^32 + 1 of 2^k, 3·2^k and 5·2^k points (Hérault 2025, §2–4). In
//! transforms of 2^k ≤ 64 points, products by roots are shifts. The roots are powers of 2, because
//! 2 is a root of unity of order 192.
//!
//! | file | subject |
//! |---|---|
//! | `lanes`, `avx2` | operations on one element, and on four elements at a time |
//! | `butterfly`, `odd`, `fft` | short transforms in registers, the radices 3 and 5, and a whole column or row |
//! | `shape`, `columns` | N = rows × columns, and the step between columns and rows |
//! | `cyclic` | convolutions of natural numbers, split into digits |
//! | `pool`, `shared` | a pool of threads, and a slice that several threads share |
//!
//! A caller that must process entries before, between or after the transforms of columns and rows
//! composes a convolution from [`Shape`], [`ColumnPass`] and [`Fft`]. [`cyclic`](cyclic()) computes
//! whole convolutions of natural numbers.

#[cfg(target_arch = "x86_64")]
pub mod avx2;
mod butterfly;
mod columns;
mod cyclic;
mod fft;
mod lanes;
mod odd;
mod pool;
mod shape;
mod shared;
#[cfg(test)]
mod tests;

pub use columns::ColumnPass;
pub use cyclic::{Cyclic, Digits, Pools, Term, cyclic};
pub use fft::Fft;
pub use lanes::{Kernel, Lanes};
pub use pool::Pool;
pub use shape::Shape;
pub use shared::Shared;
