//! The check of inverses modulo numbers.

use super::residue::{add, mul};
use super::{Numbers, as_many, failing};
use crate::cpu::compare_limbs;
use crate::{Executor, IntegerError, UintBatch, Width};

/// Checks the inverses x of a modulo m and returns the indices of the results that fail. Checks
/// that a·x ≡ 1 mod m and x < m, and that x = 0 where m = 1. A flag in `none` is 1 if no inverse
/// exists. Where the flag is 1, checks instead that x = 0, and that m = 0 or a number greater than
/// 1 divides both a and m.
///
/// The executor `on` computes the witnesses: ⌊a·x/m⌋ for all numbers, by a product and a quotient,
/// and g = gcd(a, m), a/g and m/g for the numbers whose flag is set.
///
/// # Errors
/// The errors of [`super::sums`] and of [`UintBatch::mul`] and [`UintBatch::gcd`].
pub fn inverses(
    a: &UintBatch,
    m: &UintBatch,
    x: &UintBatch,
    none: &[u8],
    on: &Executor,
) -> Result<Vec<usize>, IntegerError> {
    let count = x.count();
    as_many(none, count)?;
    let (of_a, of_m) = (Numbers::new(a, count)?, Numbers::new(m, count)?);
    let of_x = Numbers::new(x, count)?;
    let product = a.copy_to(on)?.mul(&x.copy_to(on)?)?;
    let multiples = product.div(&m.copy_to(on)?)?.0.to(&Executor::cpu())?;
    let multiples = Numbers::new(&multiples, count)?;
    let without: Vec<usize> = (0..count).filter(|&i| none[i] != 0).collect();
    let unexplained = if without.is_empty() {
        vec![]
    } else {
        without_common_divisor(&of_a, a.width(), &of_m, m.width(), &without, on)?
    };
    Ok(failing(count, |i| {
        let (m, x) = (of_m.limbs(i), of_x.limbs(i));
        match none[i] {
            0 if is_one(m) => of_x.is_zero(i),
            0 => {
                let multiple = mul(multiples.residue(i), of_m.residue(i));
                compare_limbs(x, m).is_lt()
                    && mul(of_a.residue(i), of_x.residue(i)) == add(multiple, 1)
            }
            1 => of_x.is_zero(i) && unexplained.binary_search(&i).is_err(),
            _ => false,
        }
    }))
}

/// Returns the indices i in `which` for which m_i > 0 and no common divisor of a_i and m_i greater
/// than 1 is found. The executor `on` computes gcd(a_i, m_i), and the quotients of a_i and m_i by
/// this divisor.
fn without_common_divisor(
    a: &Numbers<'_>,
    a_width: Width,
    m: &Numbers<'_>,
    m_width: Width,
    which: &[usize],
    on: &Executor,
) -> Result<Vec<usize>, IntegerError> {
    let cpu = Executor::cpu();
    let gathered = |numbers: &Numbers<'_>, width| {
        let limbs = which.iter().flat_map(|&i| numbers.limbs(i)).copied().collect();
        UintBatch::from_vec(on, width, limbs)
    };
    let (a_there, m_there) = (gathered(a, a_width)?, gathered(m, m_width)?);
    let g_there = a_there.gcd(&m_there)?;
    let a_over_g = a_there.div(&g_there)?.0.to(&cpu)?;
    let m_over_g = m_there.div(&g_there)?.0.to(&cpu)?;
    let g = g_there.to(&cpu)?;
    let of = |batch| Numbers::new(batch, which.len());
    let (g, a_over_g, m_over_g) = (of(&g)?, of(&a_over_g)?, of(&m_over_g)?);
    let failing = failing(which.len(), |j| {
        let divides =
            |quotients: &Numbers<'_>, of: u64| mul(quotients.residue(j), g.residue(j)) == of;
        let i = which[j];
        m.is_zero(i)
            || !g.is_zero(j)
                && !is_one(g.limbs(j))
                && divides(&a_over_g, a.residue(i))
                && divides(&m_over_g, m.residue(i))
    });
    Ok(failing.into_iter().map(|j| which[j]).collect())
}

fn is_one(limbs: &[u32]) -> bool {
    limbs.split_first().is_some_and(|(&lowest, above)| lowest == 1 && super::is_zero(above))
}
