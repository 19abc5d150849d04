//! Products of polynomials modulo a 50-bit prime, on one thread, with vectors of four numbers.
//!
//! # The length
//!
//! A [`Prime`] computes a product c of N coefficients, N = 2^k or 3/2·2^k. For N = 2^k it works
//! modulo x^N − 1. For N = 3/2·2^k, with M = 2^k and h = M/2, it works modulo x^M − 1 and modulo
//! x^h − i, i² = −1. For j < h and c of at most M + h coefficients, r = c mod (x^M − 1) has r_j =
//! c_j + c_(M+j) and r_(h+j) = c_(h+j), and s = c mod (x^h − i) has s_j = c_j + i·c_(h+j) −
//! c_(M+j). So with d_j = s_j − i·r_(h+j), c_j = (r_j + d_j)/2 and c_(M+j) = (r_j − d_j)/2. (For
//! lengths between powers of two this is the truncated transform of van der Hoeven 2004, cut at
//! three quarters of 2M.)

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
