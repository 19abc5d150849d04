//! The checks of products and squares.

use super::residue::{add, mul, power_of_limbs};
use super::{Numbers, failing};
use crate::{Executor, IntegerError, UintBatch};

/// Checks r = a·b and returns the indices of the results that fail.
///
/// # Errors
/// The errors of [`super::sums`].
pub fn products(a: &UintBatch, b: &UintBatch, r: &UintBatch) -> Result<Vec<usize>, IntegerError> {
    let count = r.count();
    let (a, b, r) = (Numbers::new(a, count)?, Numbers::new(b, count)?, Numbers::new(r, count)?);
    Ok(failing(count, |i| mul(a.residue(i), b.residue(i)) == r.residue(i)))
}

/// Checks r = a² and returns the indices of the results that fail.
///
/// # Errors
/// The errors of [`super::sums`].
pub fn squares(a: &UintBatch, r: &UintBatch) -> Result<Vec<usize>, IntegerError> {
    let count = r.count();
    let (a, r) = (Numbers::new(a, count)?, Numbers::new(r, count)?);
    Ok(failing(count, |i| {
        let a = a.residue(i);
        mul(a, a) == r.residue(i)
    }))
}

/// Checks r = a·b mod 2^w, where w is the larger width of a and b in bits, and returns the indices
/// of the results that fail. The executor `on` computes the witnesses ⌊a·b/2^w⌋, which takes about
/// as long as computing r.
///
/// # Errors
/// The errors of [`super::sums`] and of [`UintBatch::mul_high`].
pub fn low_products(
    a: &UintBatch,
    b: &UintBatch,
    r: &UintBatch,
    on: &Executor,
) -> Result<Vec<usize>, IntegerError> {
    let count = r.count();
    let high = a.copy_to(on)?.mul_high(&b.copy_to(on)?)?.to(&Executor::cpu())?;
    let above = power_of_limbs(a.width().max(b.width()).limbs());
    let (a, b) = (Numbers::new(a, count)?, Numbers::new(b, count)?);
    let (r, high) = (Numbers::new(r, count)?, Numbers::new(&high, count)?);
    Ok(failing(count, |i| {
        mul(a.residue(i), b.residue(i)) == add(r.residue(i), mul(high.residue(i), above))
    }))
}
