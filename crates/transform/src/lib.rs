//! Discrete Fourier transforms over finite fields, on CPUs and GPUs.
//!
//! The transform of N = 2^m elements x_j is X_i = Σ_j x_j·ω^(ij), with ω = ω(m) of
//! [`Field::root_of_unity`](warpint_arith::field::Field::root_of_unity); inputs and outputs are in
//! natural order. [`Plan`] is the common interface of plans for such transforms.

pub mod check;
pub mod cpu;
pub mod definition;
pub mod f50;
pub mod gpu;
mod plan;

pub use plan::Plan;
