//! The longest words for which every product is exact: the bound, with proof.
//!
//! Let β = p/N and ε_j = ⌈pj/N⌉ − pj/N, so that word j has
//! b_j = β + ε_{j+1} − ε_j bits and the weight 2^ε_j. With balanced digits,
//! |x_j| ≤ 2^(b_j − 1), the word k of the product of x and y is
//!
//! z_k = Σ_{i+j ≡ k mod N} x_i·y_j·2^(ε_i + ε_j − ε_k),
//!
//! where the power of two is a whole number ≥ 0 (the weights of the words i, j
//! and k add up: the factor 2^p of the terms with i + j ≥ N is 1). Hence
//!
//! |z_k| ≤ 2^(2β − 2 − ε_k)·Σ_i 2^(ε_{i+1} + ε_{k−i+1}) ≤ 4^(β−1)·Σ_i 4^(ε_i)
//!
//! by Cauchy and Schwarz, as i + 1 and k − i + 1 each run through all words.
//! With g = gcd(p, N) the ε_i are the multiples of g/N in [0, 1), each g times:
//!
//! Σ_i 4^(ε_i) = 3g/(4^(g/N) − 1) < 3N/ln 4.
//!
//! Not much is given away: for the digits −2^(b_j − 1) all terms have one sign,
//! and Σ_i 2^(ε_{i+1} + ε_{k−i+1}) = N·2^c·(2 − c) nearly, c = ε_{k+2}, whose
//! largest value 2.12·N compares with 3N/ln 4 = 2.16·N.
//!
//! A digit may lie outside its range by one unit after a carry around the end
//! (`WordLayout::wrap_carry`), so every digit is granted the factor
//! 1 + 2^(2 − ⌊β⌋), which is at least two units.
//!
//! The limit is 15/16·2^63, below q/2, so that z_k is known from its residue
//! mod q. There is also room for the carry c in z_k + c: with b bits in the
//! word |c| ≤ 2^(63−b) + 1, and for b ≥ 5 half a word and the sixteenth left
//! over hold it; words of fewer than 5 bits have |z_k| < 2^44, as N ≤ 5·2^25.

/// log2 of the limit on |z_k|.
fn limit_bits() -> f64 {
    63.0 + (15.0f64 / 16.0).log2()
}

/// log2 of the bound on |z_k|: 4^(β−1)·3N/ln 4·(1 + 2^(2 − ⌊β⌋))².
pub(super) fn product_bits(p: u32, n: usize) -> f64 {
    let words = n as f64;
    let beta = f64::from(p) / words;
    let slack = 1.0 + (2.0 - beta.floor()).exp2();
    2.0 * (beta - 1.0) + (words * 3.0 / 4f64.ln()).log2() + 2.0 * slack.log2()
}

/// Bits to spare in the largest possible product: log2(limit/bound).
///
/// A product is quadratic in the words: half of these are bits that a word
/// could be longer.
pub(super) fn spare_bits(p: u32, n: usize) -> f64 {
    limit_bits() - product_bits(p, n)
}
