//! The checks of sums and differences.

use super::residue::{add, mul, power_of_limbs};
use super::{Numbers, as_many, failing};
use crate::{IntegerError, UintBatch};

/// Checks r = a + b − c·2^w, where w is the width of r in bits and c the carry, 0 or 1. If
/// `carries` is `None`, c is 0. Returns the indices of the results that fail.
///
/// # Errors
/// [`IntegerError::Places`] for batches on a device; [`IntegerError::Counts`] for counts that do
/// not match.
pub fn sums(
    a: &UintBatch,
    b: &UintBatch,
    r: &UintBatch,
    carries: Option<&[u8]>,
) -> Result<Vec<usize>, IntegerError> {
    balanced([a, b], r, carries, |[a, b], r, carry| add(a, b) == add(r, carry))
}

/// Checks r = a − b + c·2^w, where w is the width of r in bits and c the borrow, 0 or 1. If
/// `borrows` is `None`, c is 0. Returns the indices of the results that fail.
///
/// # Errors
/// The errors of [`sums`].
pub fn differences(
    a: &UintBatch,
    b: &UintBatch,
    r: &UintBatch,
    borrows: Option<&[u8]>,
) -> Result<Vec<usize>, IntegerError> {
    balanced([a, b], r, borrows, |[a, b], r, borrow| add(r, b) == add(a, borrow))
}

fn balanced(
    [a, b]: [&UintBatch; 2],
    r: &UintBatch,
    flags: Option<&[u8]>,
    holds: impl Fn([u64; 2], u64, u64) -> bool + Sync,
) -> Result<Vec<usize>, IntegerError> {
    let count = r.count();
    let of_flag = power_of_limbs(r.width().limbs());
    let (a, b, r) = (Numbers::new(a, count)?, Numbers::new(b, count)?, Numbers::new(r, count)?);
    flags.map_or(Ok(()), |flags| as_many(flags, count))?;
    Ok(failing(count, |i| {
        let flag = flags.map_or(0, |flags| flags[i]);
        let operands = [a.residue(i), b.residue(i)];
        flag <= 1 && holds(operands, r.residue(i), mul(flag.into(), of_flag))
    }))
}
