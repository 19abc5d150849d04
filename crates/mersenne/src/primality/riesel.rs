//! The first term of the test of Lucas, Lehmer and Riesel.
//!
//! Let N = k·2^n − 1 with odd k < 2^n and n ≥ 3, and let P have the Jacobi symbols (P − 2 | N) = 1 and
//! (P + 2 | N) = −1. Let α be a root of α² − P·α + 1 = 0, V_m = α^m + α^(−m), s_0 = V_k, and
//! s_(j+1) = s_j² − 2, so that s_j = V_(k·2^j). Then N is prime exactly if s_(n−2) ≡ 0 mod N (Riesel
//! 1969, *Lucasian criteria for the primality of N = h·2^n − 1*; Rödseth 1994, *A note on primality
//! tests for N = h·2^n − 1*, which gives the condition on P for every k).
//!
//! Proof. If s_(n−2) ≡ 0, then α^(k·2^(n−1)) = −1 modulo every prime factor q of N. So α^k has the
//! order 2^n in a group whose order divides q − 1 or q + 1, and q ≡ ±1 mod 2^n. If N were composite, its
//! smallest factor q would satisfy q² ≤ N < 2^(2n), so q = 2^n − 1. But (2^n − 1)·q' = k·2^n − 1 gives
//! q' ≡ 1 mod 2^n, so q' ≥ 2^n + 1 and N ≥ 2^(2n) − 1, which is a contradiction. Conversely, let N be
//! prime, and β = (√(P + 2) + √(P − 2))/2, so that β² = α. Raising to the power N changes the sign of
//! √(P + 2) only, so β^N = −1/β, α^((N+1)/2) = β^(N+1) = −1, and s_(n−2) = α^(k·2^(n−2)) +
//! α^(−k·2^(n−2)) = 0, because the square of α^(k·2^(n−2)) is −1.

use warpint_natural::product::FastProducts;

use crate::number::Modulus;
use crate::{Number, Residue};

/// The largest P that is tried. For a number without small factors, the smallest P is far below.
const MOST: u64 = 1 << 16;

/// The number of times that the first term is computed before an error is reported.
const ATTEMPTS: usize = 2;

/// Returns the smallest P ≥ 3 with (P − 2 | N) = 1 and (P + 2 | N) = −1, for odd N. Returns `None` if
/// there is none up to 2^16.
pub(super) fn parameter(number: Number) -> Option<u64> {
    (3..MOST).find(|p| number.jacobi_of(p - 2) == 1 && number.jacobi_of(p + 2) == -1)
}

/// Returns s_0 = V_k(P) mod N for N = k·2^n − 1. Returns `None` if there is no P, or if the term is
/// wrong by its check.
///
/// The terms v = V_m and w = V_(m+1) are computed together, for each bit of k: V_(2m) = v² − 2, V_(2m+1)
/// = v·w − P and V_(2m+2) = w² − 2. The check is the identity v² − P·v·w + w² = 4 − P², which holds for
/// every m. Cost: 2·log2 k products modulo N, and three for the check.
pub(super) fn first_term(number: Number) -> Option<Residue> {
    let p = parameter(number)?;
    let modulus = Modulus::new(number, &FastProducts);
    let term = |v| Residue::from_canonical(number, v);
    (0..ATTEMPTS).find_map(|_| ladder(&modulus, p)).map(term)
}

/// Computes V_k, and returns it if the check holds.
fn ladder(modulus: &Modulus, p: u64) -> Option<Vec<u64>> {
    let (number, by) = (modulus.number(), &FastProducts);
    let small = |v| Residue::from_u64(number, v).limbs().to_vec();
    let (two, one_p) = (small(2), small(p));
    let less = |mut x: Vec<u64>, y: &[u64]| {
        modulus.sub_assign(&mut x, y);
        x
    };
    let (mut v, mut w) = (two.clone(), one_p.clone());
    let k = number.multiplier();
    for bit in (0..u64::BITS - k.leading_zeros()).rev() {
        let between = less(modulus.mul(by, &v, &w), &one_p);
        if k >> bit & 1 == 1 {
            w = less(modulus.mul(by, &w, &w), &two);
            v = between;
        } else {
            v = less(modulus.mul(by, &v, &v), &two);
            w = between;
        }
    }
    let mut sum = modulus.mul(by, &v, &v);
    modulus.add_assign(&mut sum, &modulus.mul(by, &w, &w));
    let product = modulus.mul(by, &v, &w);
    modulus.add_assign(&mut sum, &small(p * p));
    let rest = less(sum, &modulus.times(by, product, p));
    (rest == small(4)).then_some(v)
}
