//! The check of square roots and their remainders.

use std::cmp::Ordering;

use super::residue::{add, mul};
use super::{Numbers, failing};
use crate::{IntegerError, UintBatch};

/// Checks a = s² + r and r ≤ 2s, which implies s = ⌊√a⌋, and returns the indices of the results
/// that fail.
///
/// # Errors
/// The errors of [`super::sums`].
pub fn square_roots(
    a: &UintBatch,
    s: &UintBatch,
    r: &UintBatch,
) -> Result<Vec<usize>, IntegerError> {
    let count = s.count();
    let (a, s, r) = (Numbers::new(a, count)?, Numbers::new(s, count)?, Numbers::new(r, count)?);
    Ok(failing(count, |i| {
        let root = s.residue(i);
        compare_with_twice(r.limbs(i), s.limbs(i)).is_le()
            && add(mul(root, root), r.residue(i)) == a.residue(i)
    }))
}

/// Compares r with 2s.
fn compare_with_twice(r: &[u32], s: &[u32]) -> Ordering {
    let limb = |x: &[u32], j: usize| x.get(j).copied().unwrap_or(0);
    let below = |j: usize| j.checked_sub(1).map_or(0, |j| limb(s, j) >> 31);
    let twice = |j: usize| limb(s, j) << 1 | below(j);
    let limbs = (0..r.len().max(s.len() + 1)).rev();
    limbs.map(|j| limb(r, j).cmp(&twice(j))).find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
}
