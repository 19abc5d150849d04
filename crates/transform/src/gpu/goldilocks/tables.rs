//! Tables of powers of roots of unity modulo q = 2^64 − 2^32 + 1, in the order in which the kernels
//! read them.

use warpint_arith::goldilocks::{add, halve, inverse, mul, root_of_unity, sub};

/// Returns the root of unity of order n, or its inverse. n divides q − 1.
pub(super) fn root(n: usize, is_inverse: bool) -> u64 {
    let root = root_of_unity(n as u64).unwrap_or(1);
    if is_inverse { inverse(root).unwrap_or(1) } else { root }
}

/// Returns root^i for i < count.
pub(super) fn powers(root: u64, count: usize) -> Vec<u64> {
    std::iter::successors(Some(1), |&power| Some(mul(power, root))).take(count).collect()
}

/// Returns the tables `TWIDDLES` and `OUTER` of `goldilocks_pass.cu` for lines of Q·A·B points.
pub(super) fn of_line([q, a, b]: [usize; 3], join: bool, is_inverse: bool) -> Vec<u64> {
    let (m, length) = (a * b, q * a * b);
    let all = powers(root(length, is_inverse), length);
    let twiddles = (0..m).map(|i| q * if join { i / b * (i % b) } else { i / a * (i % a) });
    let outer = (0..length).map(|i| if join { i / m * (i % m) } else { i / q * (i % q) });
    twiddles.chain(outer).map(|exponent| all[exponent % length]).collect()
}

/// Returns (ω + ω^4)/2, (ω^2 + ω^3)/2, (ω − ω^4)/2 and (ω^2 − ω^3)/2, where ω has order 5: the
/// constants of `goldilocks_tile.cuh`.
pub(super) fn fifths() -> [u64; 4] {
    let w = powers(root(5, false), 5);
    [add(w[1], w[4]), add(w[2], w[3]), sub(w[1], w[4]), sub(w[2], w[3])].map(halve)
}
