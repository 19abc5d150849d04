//! Powers of roots of unity modulo q = 2^64 − 2^32 + 1.

use warpint_arith::goldilocks::{add, halve, inverse, mul, root_of_unity, sub};

/// Returns the root of unity of order n, or its inverse. Returns `None` if n does not divide q − 1.
pub(super) fn root(n: usize, is_inverse: bool) -> Option<u64> {
    let root = root_of_unity(n as u64)?;
    if is_inverse { inverse(root) } else { Some(root) }
}

/// Returns root^i for i < count.
pub(super) fn powers(root: u64, count: usize) -> Vec<u64> {
    std::iter::successors(Some(1), |&power| Some(mul(power, root))).take(count).collect()
}

/// Returns (ω + ω^4)/2, (ω^2 + ω^3)/2, (ω − ω^4)/2 and (ω^2 − ω^3)/2, where ω has order 5: the
/// constants of `goldilocks_tile.cuh`.
pub(super) fn fifths() -> [u64; 4] {
    let w = powers(root(5, false).unwrap_or(1), 5);
    [add(w[1], w[4]), add(w[2], w[3]), sub(w[1], w[4]), sub(w[2], w[3])].map(halve)
}
