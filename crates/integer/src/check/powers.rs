//! The check of powers modulo numbers.

use super::{Numbers, as_many, failing};
use crate::cpu::compare_limbs;
use crate::{Executor, IntegerError, UintBatch, Width};

/// Checks the powers r = a^e mod m and returns the indices of the powers that fail. Where m > 0,
/// checks that r < m and that the flag in `zero_moduli` is 0. Where m = 0, checks that the flag is
/// 1 and r = 0. Compares the results with the indices in `sample` with powers recomputed on the
/// CPU.
///
/// No cheap identity for powers is known. If a share s of the results is wrong, a random sample of
/// n results contains no wrong result with probability (1 − s)^n. The sample must be drawn after
/// the results were computed.
///
/// This costs as much as the computation of the sample by [`UintBatch::pow_mod`] on the CPU.
///
/// # Errors
/// The errors of [`super::sums`]; [`IntegerError::Counts`] for an index in `sample` that is not
/// below the number of results.
pub fn powers(
    [a, e, m]: [&UintBatch; 3],
    r: &UintBatch,
    zero_moduli: &[u8],
    sample: &[usize],
) -> Result<Vec<usize>, IntegerError> {
    let count = r.count();
    as_many(zero_moduli, count)?;
    if let Some(&beyond) = sample.iter().find(|&&i| i >= count) {
        return Err(IntegerError::Counts { a: count, b: beyond });
    }
    let cpu = Executor::cpu();
    let gathered = |numbers: &Numbers<'_>, width: Width| {
        let limbs = sample.iter().flat_map(|&i| numbers.limbs(i)).copied().collect();
        UintBatch::from_vec(&cpu, width, limbs)
    };
    let of = |batch| Numbers::new(batch, count);
    let (of_m, of_r) = (of(m)?, of(r)?);
    let again = [(of(a)?, a), (of(e)?, e), (of_m, m)];
    let [a, e, moduli] = again.map(|(numbers, batch)| gathered(&numbers, batch.width()));
    let again = a?.pow_mod(&e?, &moduli?)?.0;
    let again = Numbers::new(&again, sample.len())?;
    let wrong =
        failing(sample.len(), |j| compare_limbs(again.limbs(j), of_r.limbs(sample[j])).is_eq());
    let mut wrong: Vec<usize> = wrong.into_iter().map(|j| sample[j]).collect();
    wrong.extend(failing(count, |i| {
        if of_m.is_zero(i) {
            return zero_moduli[i] == 1 && of_r.is_zero(i);
        }
        zero_moduli[i] == 0 && compare_limbs(of_r.limbs(i), of_m.limbs(i)).is_lt()
    }));
    wrong.sort_unstable();
    wrong.dedup();
    Ok(wrong)
}
