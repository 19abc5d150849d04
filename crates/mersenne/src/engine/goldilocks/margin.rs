//! The longest words for which every product is exact: the bound and its proof.
//!
//! A residue mod 2^p − 1 has N words. Let β = p/N and ε_j = ⌈pj/N⌉ − pj/N, so that word j has
//! b_j = β + ε_{j+1} − ε_j bits and the weight 2^ε_j. Digits are balanced: |x_j| ≤ 2^(b_j − 1).
//! Word k of the product of x and y is
//!
//! z_k = Σ_{i+j ≡ k mod N} x_i·y_j·2^(ε_i + ε_j − ε_k),
//!
//! where the power of two is an integer. (The terms with i + j ≥ N have a factor 2^p, which is 1.)
//! As i runs through all words, so do i + 1 and k − i + 1. Hence, by Cauchy and Schwarz,
//!
//! |z_k| ≤ 2^(2β − 2 − ε_k)·Σ_i 2^(ε_{i+1} + ε_{k−i+1}) ≤ 4^(β−1)·Σ_i 4^(ε_i).
//!
//! With g = gcd(p, N), the ε_i are the multiples of g/N in [0, 1), each g times:
//!
//! Σ_i 4^(ε_i) = 3g/(4^(g/N) − 1) < 3N/ln 4.
//!
//! The bound is nearly tight. For the digits −2^(b_j − 1) all terms have the same sign, and Σ_i
//! 2^(ε_{i+1} + ε_{k−i+1}) is nearly N·2^c·(2 − c) with c = ε_{k+2}. The largest value of this
//! expression is 2.12·N, compared with 3N/ln 4 = 2.16·N.
//!
//! After a carry around the end (`WordLayout::wrap_carry`) a digit may lie outside its range by one
//! unit. So the bound has a factor 1 + 2^(2 − ⌊β⌋) for each of the two digits of a term, which
//! allows for at least two units.
//!
//! The limit on |z_k| is 15/16·2^63. It is below q/2, where q = 2^64 − 2^32 + 1 is the modulus of
//! the field, so z_k is determined by its residue mod q. The limit also leaves room for the carry c
//! in the sum z_k + c. If the word has b bits, |c| ≤ 2^(63−b) + 1. Half the base of the word is
//! added for rounding. For b ≥ 5, this half and c together fit into the remaining 2^63/16. For
//! words of fewer than 5 bits |z_k| < 2^44, as N ≤ 5·2^25.

/// Returns log2 of 15/16·2^63, the limit on the magnitude of a word of a product. A word below the
/// limit is exact.
fn limit_bits() -> f64 {
    63.0 + (15.0f64 / 16.0).log2()
}

/// Returns log2 of the bound on the magnitude of a word of a product of two residues mod 2^p − 1 in
/// n words. With β = p/n, the bound is 4^(β−1)·3n/ln 4·(1 + 2^(2 − ⌊β⌋))².
pub(super) fn product_bits(p: u32, n: usize) -> f64 {
    let words = n as f64;
    let beta = f64::from(p) / words;
    let slack = 1.0 + (2.0 - beta.floor()).exp2();
    2.0 * (beta - 1.0) + (words * 3.0 / 4f64.ln()).log2() + 2.0 * slack.log2()
}

/// Returns the bits to spare in the largest possible word of a product: log2 of the limit minus
/// log2 of the bound. The result is negative if a product may be inexact.
///
/// A product is quadratic in its operands, so each word of an operand could be longer by half of
/// these bits.
pub(super) fn spare_bits(p: u32, n: usize) -> f64 {
    limit_bits() - product_bits(p, n)
}
