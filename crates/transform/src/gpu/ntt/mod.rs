//! Transforms over a field Z/pZ on a device, of 2^k, 3·2^k or 5·2^k points, modulo one prime or
//! several primes at once.
//!
//! | plan | primes p | words |
//! |---|---|---|
//! | [`Ntt64`](super::goldilocks::Ntt64) | 2^64 − 2^32 + 1 | `u64`, any; results are from 0 to p − 1 |
//! | [`Ntt50`](super::f50::Ntt50) | one or several from 2^46 to 2^50 | `f64`, integers x with −p ≤ x ≤ p; results are from 0 to p − 1 |
//!
//! # Definition
//!
//! A transform of N points is X_k = Σ_j x_j·ω^(jk) mod p. The inverse transform is x_j = 1/N·Σ_k
//! X_k·ω^(−jk). ω = ω_N is the root of unity of order N that [`goldilocks`](super::goldilocks) and
//! [`f50`](super::f50) state. The roots of different orders are compatible: ω_(mN)^m = ω_N. N is
//! 2^k, 3·2^k or 5·2^k, from 1 to 2^30, and must divide p − 1.
//!
//! Points x_j are in natural order. The order of the X_k is a choice of the plan, [`Order`]. In
//! natural order, X_k is at place k. In bit-reversed order of N = f·2^m points with f = 1, 3 or 5,
//! X_(u + f·v) with u < f is at place u·2^m + r, where the m bits of r are those of v in reverse
//! order. [`Plan::frequency`](crate::Plan::frequency) computes k from the place.
//!
//! # Layout
//!
//! A buffer has S·batch vectors for S primes: first those of the first prime, then those of the
//! second prime, and so on. Point j of vector v is word v·stride + j, for 0 ≤ v < S·batch and stride
//! ≥ N. So the buffer has (S·batch − 1)·stride + N words. Words between vectors are neither read nor
//! written.
//!
//! # Method and cost
//!
//! A transform of up to 2^12 points is one pass over memory, one of up to 2^24 points takes two or
//! three passes, and a longer one three. A pass reads and writes every point once. It transforms
//! lines of up to 2^12 points in shared memory by two or three steps of up to 32 points. Between the
//! steps, and between the passes, there are products by roots of unity. The factors within a line are in
//! tables. The factors between passes are powers of ω; a thread computes them from two tables of
//! about √N powers. A plan needs no other memory, except one batch for transforms in natural order
//! of more than one pass.
//!
//! Decimation in frequency (Gentleman and Sande 1966) computes X_k in bit-reversed order from x_j in
//! natural order, and decimation in time (Cooley and Tukey 1965) does the opposite. For results in
//! natural order, the last pass writes X_k to the places of natural order: it transforms several
//! lines side by side, so that it writes several adjacent words. A cyclic convolution takes three
//! transforms in bit-reversed order and one pass of products.
//!
//! | file | subject |
//! |---|---|
//! | `request` | requests and errors |
//! | `plan` | plans |
//! | `passes` | the passes of which a transform consists |
//! | `field` | what a plan requires of a field |
//! | `ntt_pass.cuh` | the kernel of a pass, over any field |
//! | `goldilocks_pass.cu`, `f50_pass.cu` | the arithmetic of the fields |

mod field;
mod passes;
mod plan;
mod request;

pub use field::NttField;
pub(super) use field::{PassField, pointer};
pub(crate) use passes::odd_factor;
pub(super) use passes::{Costs, Pass};
pub use plan::Ntt;
pub(super) use plan::THREADS;
pub(crate) use request::frequency_of_place;
pub use request::{NttError, NttRequest};

use std::collections::HashSet;

use warpint_device::Source;

use crate::Order;

/// Returns the sources of the kernels of transforms of these lengths, forward and inverse, each source
/// once.
pub(super) fn sources_of<F: PassField>(
    lengths: impl IntoIterator<Item = usize>,
    order: Order,
    shared_memory: u32,
) -> Vec<Source> {
    let mut known = HashSet::new();
    let mut all = vec![];
    for length in lengths {
        for inverse in [false, true] {
            let passes = Pass::sequence(&F::COSTS, length, order, inverse, shared_memory);
            all.extend(passes.iter().map(F::pass_source).filter(|s| known.insert(s.clone())));
        }
    }
    all
}

/// Returns the sources of the shipped kernels of a field, for devices whose blocks have
/// `shared_memory` bytes of shared memory.
pub(super) fn sources<F: PassField>(shared_memory: u32) -> Vec<Source> {
    let mut all = vec![F::product_source()];
    for (length, order) in [
        (6, Order::Natural),
        (160, Order::BitReversed),
        (1 << 12, Order::Natural),
        (1 << 20, Order::Natural),
        (1 << 20, Order::BitReversed),
        (1 << 24, Order::BitReversed),
    ] {
        for inverse in [false, true] {
            let passes = Pass::sequence(&F::COSTS, length, order, inverse, shared_memory);
            all.extend(passes.iter().map(F::pass_source));
        }
    }
    all
}
