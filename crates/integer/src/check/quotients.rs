//! The check of quotients and remainders.

use super::residue::{add, mul};
use super::{Numbers, as_many, failing};
use crate::cpu::compare_limbs;
use crate::{IntegerError, UintBatch};

/// Checks a = q·d + r and r < d, and returns the indices of the results that fail. Where d = 0,
/// checks instead that the flag in `by_zero` is 1 and q = r = 0. Where d > 0, checks that the flag
/// is 0.
///
/// # Errors
/// The errors of [`super::sums`].
pub fn quotients(
    a: &UintBatch,
    d: &UintBatch,
    q: &UintBatch,
    r: &UintBatch,
    by_zero: &[u8],
) -> Result<Vec<usize>, IntegerError> {
    let count = q.count();
    let (a, d) = (Numbers::new(a, count)?, Numbers::new(d, count)?);
    let (q, r) = (Numbers::new(q, count)?, Numbers::new(r, count)?);
    as_many(by_zero, count)?;
    Ok(failing(count, |i| {
        if d.is_zero(i) {
            return by_zero[i] == 1 && q.is_zero(i) && r.is_zero(i);
        }
        by_zero[i] == 0
            && compare_limbs(r.limbs(i), d.limbs(i)).is_lt()
            && add(mul(q.residue(i), d.residue(i)), r.residue(i)) == a.residue(i)
    }))
}
