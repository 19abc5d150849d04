//! Discrete Fourier transforms over finite fields, on CPUs and GPUs.
//!
//! The transform of N elements x_j is X_i = Σ_j x_j·ω^(ij), where ω is a root of unity of order N; the
//! inverse transform is x_j = 1/N·Σ_i X_i·ω^(−ij). Inputs and outputs are in natural order unless a plan
//! states otherwise. [`Plan`] is the common interface of plans.
//!
//! # Which plan
//!
//! | field | on a device | on the CPU | N |
//! |---|---|---|---|
//! | 2^64 − 2^32 + 1 | [`Ntt64`](gpu::goldilocks::Ntt64) | [`Transform`](cpu::Transform) | 2^k, on devices also 3·2^k and 5·2^k, to 2^30 |
//! | one or several primes from 2^46 to 2^50 | [`Ntt50`](gpu::f50::Ntt50) | [`CpuNtt50`](cpu::ntt50::CpuNtt50) | 2^k, 3·2^k and 5·2^k to 2^30, as far as N divides p − 1 |
//! | p = r^k + 1 of up to 8,192 bits | [`GfnFft`](gpu::gfn::GfnFft), [`SmallPrimes`](gpu::small_primes::SmallPrimes) | [`Transform`](cpu::Transform) | 2^k |
//! | other odd primes of up to 4,096 bits | [`PrimeFft`](gpu::prime::PrimeFft) | [`Transform`](cpu::Transform) | 2^k |
//!
//! # The contract
//!
//! *The root.* For N = 2^m, all plans use
//! [`Field::root_of_unity`](warpint_arith::field::Field::root_of_unity)(m). For other N, the roots are
//! those of [`goldilocks::root_of_unity`](warpint_arith::goldilocks::root_of_unity) and
//! [`F50::root_of_order`](warpint_arith::f50::F50::root_of_order). Roots of different orders are
//! compatible: ω_(mN)^m = ω_N.
//!
//! *The order.* [`Order`] defines natural and bit-reversed order, and [`Plan::frequency`] returns the
//! i of the X_i at a place of the output.
//!
//! *Bounds.* Elements of the CPU's generic plans are those of the field, below p. Each plan on devices
//! states which words it accepts, and what its outputs are; [`gpu::ntt`] does so for `Ntt64` and `Ntt50`.
//! All results are exact.
//!
//! *Memory and threads.* Plans own their tables, and free them when they are dropped. Plans on the CPU
//! run on the threads of rayon's current pool; plans on devices are asynchronous as [`Plan`] states.
//!
//! [`definition`] has the slow and obvious versions with which tests compare all plans, and [`check`]
//! verifies results at random points. [`polynomial`] has products, quotients and values of polynomials
//! over these fields.

pub mod check;
pub mod cpu;
pub mod definition;
pub mod f50;
pub mod gpu;
mod parallel;
mod plan;
pub mod polynomial;

pub use plan::{Order, Plan};
