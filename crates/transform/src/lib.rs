//! Discrete Fourier transforms over finite fields, on CPUs and GPUs.
//!
//! The transform of N = 2^m elements x_j is X_i = Σ_j x_j·ω^(ij), where ω = ω(m) is the root of
//! unity of order N that [`Field::root_of_unity`](warpint_arith::field::Field::root_of_unity)
//! returns. Inputs and outputs are in natural order unless a plan states otherwise. [`Plan`] is the
//! common interface of plans for such transforms.
//!
//! [`polynomial`] has products, quotients and values of polynomials over these fields.

pub mod check;
pub mod cpu;
pub mod definition;
pub mod f50;
pub mod gpu;
mod parallel;
mod plan;
pub mod polynomial;

pub use plan::{Order, Plan};
