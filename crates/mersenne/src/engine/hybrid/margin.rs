//! The longest words for which every product is exact: the bound and its proof.
//!
//! Let u = 2^−53, and let ‖x‖² = Σ_j (x_j·2^ε_j)² for the digits x_j and weights 2^ε_j of a residue
//! in N words, so that n = N/2 complex points have the same norm. All bounds below leave out terms
//! of order u²; the factor [`HIGHER_TERMS`] covers them.
//!
//! **Operations.** A sum has the relative error u, a complex product √5·u < 2.25u (Brent, Percival and
//! Zimmermann 2007; with FMA it is 2u, Jeannerod and others 2017). An entry of a table has u, since it
//! is rounded correctly. So a product by a root of unity from a table has 3.25u.
//!
//! **Levels.** A level of radix r transforms r points and multiplies them by roots. Its error,
//! compared with the norm √r·‖input‖ of its exact output, is at most c_r·u, with c_2 = 3.25 + 1 and c_4
//! = 3.25 + 2 (one and two sums). For c_3 = 3.25 + 6, let t = x_1 + x_2 and e = x_1 − x_2; the outputs
//! are x_0 + t and (x_0 − t/2) ± i·√¾·e. The errors of x_0 + t and of x_0 − t/2, of t in both, of
//! √¾·e (3u) and of the last sums are at most u·(1 + 1 + 3 + 1) times the norm. For c_7 = 3.25 + 24,
//! each output is a sum of x_0, three products by cosines and three by sines, each of which has at
//! most six roundings; Cauchy's inequality with Σ cos² = 1.25 and Σ sin² = 1.75 gives 6u·(1.5 +
//! 1.33)·√2·‖input‖ for each of six outputs, hence 22.3u of the norm. The output x_0 + Σ t errs by 4u,
//! and the last sums by u, so the total is at most √(22.3² + 4²)·u + u < 24u. For c_11 = 3.25 + 40,
//! there are five products of each kind, each of which has at most eight roundings. With Σ cos² =
//! 2.25 and Σ sin² = 2.75, each of ten outputs errs by 8u·(1.81 + 1.66)·√2·‖input‖, hence 37.5u of the
//! norm. The output x_0 + Σ t errs by 6u, so the total is at most √(37.5² + 6²)·u + u < 40u. The same
//! constants bound the error of an output relative to Σ|input|, as the inverse transform needs it.
//!
//! **Forward.** Weighting has four roundings: two tables, their product, and the product by a
//! digit. Levels are unitary except for their scale, so the spectrum has an error of at most F·u in
//! the 2-norm, F = 4 + 3.25 + Σ c_r; the 3.25 is for the roots between columns and rows.
//!
//! **Squares.** E and O, the transforms of the even and of the odd words, follow from Z = E + iO.
//! The spectrum of the product is P = E² + ω^k·O² + 2iEO. Let S² = |E|² + |O|². For a frequency k
//! and its partner k' (where E and O are conjugate), |P_k| + |P_k'| ≤ 2·√((S²)² + (S²)²), so Σ|P_k| ≤
//! √2·Σ S² = √2·n·‖x‖². In the same way an error of F·u in both factors causes an error of at most
//! 2√2·F·u·n·‖x‖² in Σ|P_k|. It is computed as P_k = Z_k² − ¼(1 + ω^k)·D², D = Z_k − conj Z_k', with
//! ω^k from two tables (4.25u). D² has the error 4.25u·|D|². ¼(1 + ω^k) is at most ½ and has the error
//! 1.06u + 0.5u; the product by it makes that (½·(4.25 + 2.25) + 1.56)·u·|D|² = 4.81u·|D|². As Σ|D|² ≤
//! 4·Σ|Z|² = 4n·‖x‖², and Z² has 2.25u, the last sum u, all roundings of squares cause at most (19.3 +
//! 2.25 + √2)·u·n·‖x‖² ≤ 23u·n·‖x‖² in Σ|P_k|.
//!
//! **Inverse.** A node of the inverse transform is a sum of spectrum entries times numbers of
//! magnitude 1, so it is at most the sum of their magnitudes, and an output depends on entries
//! without overlap. So a level adds an error of at most c_r·u·Σ|P_k|/n (Percival 2003, the proof of
//! theorem 5.1, in this form). With four roundings for the removal of the weights, the inverse has
//! I = 4 + 3.25 + Σ c_r.
//!
//! **Together** a word of the product of x and y has an error of at most K·u·‖x‖·‖y‖ with
//! K = √2·(2F + I) + 23.
//!
//! **Norm.** Digits are balanced: |x_j| ≤ 2^(b_j − 1). As b_j + ε_j = β + ε_(j+1) with β = p/N and
//! Σ 4^ε_j < 3N/ln 4 (module `goldilocks::margin`), ‖x‖² ≤ 4^(β−1)·3N/ln 4. Carries leave digits in
//! their range, except that up to two units may be added at the end; the factor 1 + 2^(2 − ⌊β⌋) of
//! each digit covers them.
//!
//! **Limit.** n = round((z̃ − r)/q) is right if |z̃ − z| < q/2 minus the error of computing the
//! quotient. This has three roundings of a number of magnitude |z|/q ≤ ‖x‖²/q, and must be below 1/128
//! for the limit 2^30·(1 − 1/64). If K ≥ 193, this follows from ‖x‖² < 2^30/(K·u): the error is below
//! 3u·2^52/K < 1/128. Lengths with a smaller K have at most 2^13 words of at most 30 bits. Their norm
//! is ‖x‖² < 2^73, and the error is below 3u·2^42 < 2^−9.

/// The least number of bits of a word. So the slack of digits stays small.
pub(super) const LEAST_BITS: usize = 8;

/// The largest number of bits of a word: digits and half a base fit into 31 bits.
pub(super) const MOST_BITS: usize = 30;

/// A factor for the terms of order u² and for the rounding of the bound itself.
const HIGHER_TERMS: f64 = 1.001;

/// Returns c_r for a radix r, in units of u.
fn level(radix: usize) -> f64 {
    3.25 + match radix {
        2 => 1.0,
        4 => 2.0,
        3 => 6.0,
        7 => 24.0,
        _ => 40.0,
    }
}

/// Returns Σ c_r over the levels of a transform of n = 2^a·3^b·7^c·11^d points, for any division into
/// rows and columns: there are at most two levels of radix 2.
fn levels(n: usize) -> f64 {
    let a = n.trailing_zeros();
    let twos = if a.is_multiple_of(2) { 2 } else { 1 };
    let fours = a.saturating_sub(twos) / 2;
    let (mut odd, mut sum) = (n >> a, f64::from(twos) * level(2) + f64::from(fours) * level(4));
    for radix in [3, 7, 11] {
        while odd.is_multiple_of(radix) {
            odd /= radix;
            sum += level(radix);
        }
    }
    sum
}

/// Returns K: a word of the product of x and y, in N = `length` words, has an FP64 error of at most
/// K·u·‖x‖·‖y‖.
pub(super) fn error_factor(length: usize) -> f64 {
    let one_way = 7.25 + levels(length / 2);
    HIGHER_TERMS * (2f64.sqrt() * 3.0 * one_way + 23.0)
}

/// Returns the bound on ‖x‖² for any digits of a residue mod 2^p − 1 in `length` words.
pub(super) fn largest_norm(p: u32, length: usize) -> f64 {
    let words = length as f64;
    let beta = f64::from(p) / words;
    let slack = 1.0 + (2.0 - beta.floor()).exp2();
    (2.0 * (beta - 1.0)).exp2() * words * 3.0 / 4f64.ln() * slack * slack
}

/// Returns the largest FP64 error with which every word is exact.
pub(super) fn limit() -> f64 {
    2f64.powi(30) * (1.0 - 1.0 / 64.0)
}

/// Returns log2 of the ratio of [`limit`] and the bound on the error of a product of any two
/// residues.
pub(super) fn spare_bits(p: u32, length: usize) -> f64 {
    let error = error_factor(length) * 2f64.powi(-53) * largest_norm(p, length);
    (limit() / error).log2()
}
