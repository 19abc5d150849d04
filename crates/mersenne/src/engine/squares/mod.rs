//! The check of squarings by sums over the words.
//!
//! The engine `fp64` squares residues of N words by a weighted cyclic convolution, and then
//! propagates carries. Let F be the field GF((2^31 − 1)²) and s an element with s^N = 2^(−p). Then
//! L(v) = Σ v_j·2^⌈pj/N⌉·s^j maps convolutions to products: L(z) = L(x)² for the convolution z of
//! the digits x with themselves. Carries change the sum by a known amount ([`Root::square`]). So a
//! squaring reports two sums: L(y) of the new digits y, and L(c) of the carries c. They are verified
//! against the sum of the digits that were squared, which is the sum that the squaring before has
//! reported.
//!
//! The page `docs/checks/squarings.md` proves the identity, and states what it detects.

mod known;
mod root;

/// An element of GF((2^31 − 1)²).
pub(crate) use warpint_arith::m31::Gauss as Element;

pub(crate) use known::Known;
pub(crate) use root::Root;

/// The least number of squarings with the same root; few in tests, so that roots are drawn there.
pub(crate) const LEAST_WITH_A_ROOT: u64 = if cfg!(test) { 50 } else { 1_000 };

/// Returns whether the carries of squarings in `length` words are so small that their lower 32 bits
/// determine them.
///
/// By the law of margins, the carry out of a word of weight a and b bits has a root mean square of at
/// most R/(a·2^b) ≤ R/2^β for β = p/N and R = 0.255·√N·4^β. Eight times this must be below 2^31. So
/// a carry of a right squaring exceeds 32 bits with a probability below 2^−49, and the sum then is
/// wrong. The condition fails only for the longest words of transforms of 2^25 words and more.
pub(crate) fn carries_fit(p: u32, length: usize) -> bool {
    let n = length as f64;
    8.0 * 0.255 * n.sqrt() * (f64::from(p) / n).exp2() < 2f64.powi(31)
}
