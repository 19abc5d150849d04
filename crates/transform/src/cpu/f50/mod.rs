//! Products of polynomials modulo a 50-bit prime, on one thread, with vectors of four numbers.
//!
//! # The length
//!
//! A [`Prime`] computes a product c of N coefficients, where N = 2^k or N = 3/2·2^k.
//!
//! For N = 2^k, it computes c modulo x^N − 1.
//!
//! For N = 3/2·2^k, let M = 2^k and h = M/2, so that c has at most M + h coefficients. Let i be a
//! root of unity with i² = −1. The product is computed modulo x^M − 1 and modulo x^h − i. For
//! j < h, the remainder r = c mod (x^M − 1) has the coefficients r_j = c_j + c_(M+j) and
//! r_(h+j) = c_(h+j). The remainder s = c mod (x^h − i) has the coefficients s_j = c_j + i·c_(h+j)
//! − c_(M+j). Let d_j = s_j − i·r_(h+j) = c_j − c_(M+j). Then c_j = (r_j + d_j)/2 and
//! c_(M+j) = (r_j − d_j)/2. This is the truncated transform of van der Hoeven (2004) with three
//! quarters of 2M points.

mod lanes;
mod prime;
#[cfg(test)]
mod tests;
mod transform;

pub use prime::{Prime, Scratch, Shape};

/// Returns whether this CPU has fused multiply-adds. Without them, the transforms of this module
/// are slow.
#[must_use]
pub fn is_fast() -> bool {
    #[cfg(target_arch = "x86_64")]
    return std::arch::is_x86_feature_detected!("fma");
    #[cfg(not(target_arch = "x86_64"))]
    return cfg!(target_arch = "aarch64");
}
