//! The check of greatest common divisors.

use super::residue::{add, mul, sub};
use super::{Numbers, as_many, failing};
use crate::{Executor, IntegerError, UintBatch};

/// Checks g = gcd(a, b) and returns the indices of the results that fail. Checks that g divides a
/// and b, and that x·a + y·b = g, which implies that every common divisor of a and b divides g. For
/// a = b = 0 only g = 0 passes.
///
/// The executor `on` computes the witnesses: a/g and b/g by two divisions, and the cofactors x and
/// y by [`UintBatch::gcd_ext`]. On a device this takes about two to four times as long as computing
/// g.
///
/// # Errors
/// The errors of [`super::sums`] and of [`UintBatch::gcd_ext`].
pub fn divisors(
    a: &UintBatch,
    b: &UintBatch,
    g: &UintBatch,
    on: &Executor,
) -> Result<Vec<usize>, IntegerError> {
    let count = g.count();
    let cpu = Executor::cpu();
    let (there_a, there_b, there_g) = (a.copy_to(on)?, b.copy_to(on)?, g.copy_to(on)?);
    let cofactors = there_a.gcd_ext(&there_b)?;
    let (x_negative, y_negative) = (cofactors.x_negative.to_vec()?, cofactors.y_negative.to_vec()?);
    let (x, y) = (cofactors.x.to(&cpu)?, cofactors.y.to(&cpu)?);
    let (a_over_g, b_over_g) =
        (there_a.div(&there_g)?.0.to(&cpu)?, there_b.div(&there_g)?.0.to(&cpu)?);

    let of = |batch| Numbers::new(batch, count);
    let (a, b, g) = (of(a)?, of(b)?, of(g)?);
    let (x, y, a_over_g, b_over_g) = (of(&x)?, of(&y)?, of(&a_over_g)?, of(&b_over_g)?);
    as_many(&x_negative, count)?;
    as_many(&y_negative, count)?;
    Ok(failing(count, |i| {
        if g.is_zero(i) {
            return a.is_zero(i) && b.is_zero(i);
        }
        let (of_a, of_b, of_g) = (a.residue(i), b.residue(i), g.residue(i));
        let with_sign = |size, negative| if negative == 0 { size } else { sub(0, size) };
        let x = with_sign(x.residue(i), x_negative[i]);
        let y = with_sign(y.residue(i), y_negative[i]);
        mul(a_over_g.residue(i), of_g) == of_a
            && mul(b_over_g.residue(i), of_g) == of_b
            && add(mul(x, of_a), mul(y, of_b)) == of_g
    }))
}
