//! The check of tests for primality.

use super::failing;
use crate::{Executor, IntegerError, PrimalityTest, UintBatch, Width, cpu};

/// Checks the results of [`UintBatch::is_probable_prime`] for the numbers a: `results` has 1 for
/// each probable prime, and 0 for each other number. Returns the indices of the results that fail.
///
/// Checks that each result is 0 or 1, and that it agrees with trial division if trial division
/// decides. The tests with the indices in `sample` are computed again on the CPU. No cheap identity
/// shows that a number is composite. If a share s of the results is wrong, a random sample of k
/// results contains no wrong result with probability (1 − s)^k. The sample must be drawn after the
/// results were computed.
///
/// This costs the trial divisions, and as much as the tests of the sample on the CPU.
///
/// # Errors
/// [`IntegerError::Places`] unless the batches are on the CPU; [`IntegerError::Counts`] unless there
/// is one result for each number, or for an index in `sample` that is not below their count.
pub fn probable_primes(
    a: &UintBatch,
    results: &UintBatch,
    sample: &[usize],
    test: &PrimalityTest,
) -> Result<Vec<usize>, IntegerError> {
    let numbers = a.as_limbs().ok_or(IntegerError::Places)?;
    let found = results.as_limbs().ok_or(IntegerError::Places)?;
    let (count, limbs, width) = (a.count(), a.width().limbs(), results.width().limbs());
    if results.count() != count {
        return Err(IntegerError::Counts { a: count, b: results.count() });
    }
    if let Some(&beyond) = sample.iter().find(|&&i| i >= count) {
        return Err(IntegerError::Counts { a: count, b: beyond });
    }
    let row = |i: usize| &numbers[i * limbs..][..limbs];
    let verdict = |i: usize| match &found[i * width..][..width] {
        [low @ (0 | 1), high @ ..] if high.iter().all(|&limb| limb == 0) => Some(*low == 1),
        _ => None,
    };
    let mut wrong = failing(count, |i| {
        let known = test.by_trial_division(&cpu::limbs_of(row(i)));
        verdict(i).is_some_and(|verdict| known.is_none_or(|known| known == verdict))
    });
    let again: Vec<u32> = sample.iter().flat_map(|&i| row(i)).copied().collect();
    let again = UintBatch::from_vec(&Executor::cpu(), Width::of_limbs(limbs), again)?;
    let again = again.is_probable_prime(test)?;
    let differing = sample.iter().zip(again).filter(|&(&i, prime)| verdict(i) != Some(prime));
    wrong.extend(differing.map(|(&i, _)| i));
    wrong.sort_unstable();
    wrong.dedup();
    Ok(wrong)
}
