//! Transforms modulo q = 2^64 − 2^32 + 1 on a device.
//!
//! # Definition
//!
//! A transform of N points is X_k = Σ_j x_j·ω^(jk) mod q, where ω = ω_N is
//! [`root_of_unity`](warpint_arith::goldilocks::root_of_unity)(N) = 554^((q − 1)/N). The inverse
//! transform is x_j = 1/N·Σ_k X_k·ω^(−jk). The roots of different orders are compatible: ω_(mN)^m =
//! ω_N. N is 2^k, 3·2^k or 5·2^k, from 1 to 2^30.
//!
//! * Inputs may be any words. A word x stands for the element x mod q.
//! * Outputs are from 0 to q − 1.
//! * Points x_j are in natural order. The order of the X_k is a choice of the plan, [`Order`].
//! * Vectors of a batch are contiguous, or a fixed number of words apart.
//!
//! # Method
//!
//! A transform of up to 2^12 points is one pass over memory, one of up to about 2^22 points takes
//! two passes, and a longer one three. A pass transforms lines of up to 2^12 points in shared memory
//! by two or three steps of up to 32 points. Roots of unity whose order divides 192 are powers of
//! two, so the products within a step are shifts, except those of a factor 5. Between the steps, and between the passes, there
//! are products by general factors. The factors between passes are powers of ω; a thread computes
//! them from two tables of about √N powers. A plan needs no other memory, except one batch for
//! transforms in natural order of more than one pass.
//!
//! Decimation in frequency (Gentleman and Sande 1966) computes X_k in bit-reversed order from x_j in
//! natural order, and decimation in time (Cooley and Tukey 1965) does the opposite. For results in
//! natural order, the last pass writes X_k to the places of natural order: it transforms several
//! lines side by side, so that it writes several adjacent words.

mod passes;
mod plan;
mod tables;
#[cfg(test)]
mod tests;

pub use plan::{Ntt64, Ntt64Error, Ntt64Request};

use std::collections::HashSet;

use warpint_device::Source;

use crate::Order;
use passes::Pass;

/// Returns the sources of the kernels of transforms of these lengths, forward and inverse, each source
/// once. A caller that will need several plans can compile their kernels in parallel
/// ([`Device::programs`](warpint_device::Device::programs)) before it creates them.
#[must_use]
pub fn sources_of(
    lengths: impl IntoIterator<Item = usize>,
    order: Order,
    shared_memory: u32,
) -> Vec<Source> {
    let mut known = HashSet::new();
    let mut all = vec![];
    for length in lengths {
        for inverse in [false, true] {
            let passes = Pass::sequence(length, order, inverse, shared_memory);
            all.extend(passes.iter().map(Pass::source).filter(|s| known.insert(s.clone())));
        }
    }
    all
}

/// Returns the sources of the shipped kernels of this module, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
#[must_use]
pub fn sources(shared_memory: u32) -> Vec<Source> {
    let mut all = vec![plan::multiply_source()];
    for (length, order) in [
        (6, Order::Natural),
        (160, Order::BitReversed),
        (1 << 12, Order::Natural),
        (1 << 20, Order::Natural),
        (1 << 20, Order::BitReversed),
        (1 << 24, Order::BitReversed),
    ] {
        for inverse in [false, true] {
            let passes = Pass::sequence(length, order, inverse, shared_memory);
            all.extend(passes.iter().map(Pass::source));
        }
    }
    all
}
