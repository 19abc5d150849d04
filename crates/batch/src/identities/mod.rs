//! Computation of results, and their check against the operands. Both precede the conversion and
//! the writing of the results.

use warpint_integer::{Evidence, Executor, Flags, IntegerError, Operation, UintBatch};

use crate::check::Sample;

/// The check of powers recomputes 1 in `POWERS_PER_SAMPLE` powers of a piece on the CPU, but at
/// least [`LEAST_POWERS`] powers.
const POWERS_PER_SAMPLE: u64 = 1024;
/// The smallest number of powers of a piece that are recomputed on the CPU. If a piece has fewer
/// powers, all are recomputed.
const LEAST_POWERS: u64 = 16;
/// The factor by which the sample of recomputed powers is enlarged after a wrong power. The larger
/// sample detects recurring faults more reliably.
const MORE_POWERS: u64 = 64;

/// The check of results by the identities of [`warpint_integer::check`].
#[derive(Debug)]
pub(crate) struct Identities {
    asked_for: bool,
    /// The seed for the random choice of the powers to recompute.
    seed: u64,
}

/// The results of a piece in host memory, and the outcome of their check.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) results: Vec<UintBatch>,
    /// The indices of the numbers without a result.
    pub(crate) none: Vec<usize>,
    /// The number of checked results. For powers, this is the number of recomputed results.
    pub(crate) checked: u64,
    /// The contradiction found in the results of the first computation, if any.
    pub(crate) erred: Option<Contradiction>,
    /// The contradiction found in the results of the second computation, if any.
    pub(crate) wrong: Option<Contradiction>,
}

/// A description of results that contradict their operands: the index of the first of these
/// results, and their count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Contradiction {
    pub(crate) first: usize,
    pub(crate) count: usize,
}

impl Contradiction {
    fn of(failing: &[usize]) -> Option<Self> {
        failing.first().map(|&first| Self { first, count: failing.len() })
    }
}

impl Identities {
    pub(crate) fn new(asked_for: bool, seed: u64) -> Self {
        Self { asked_for, seed }
    }

    /// Computes an operation on operands in host memory, and checks the results if a check was
    /// requested. If some results fail the check, all results are computed and checked once more.
    ///
    /// An operation may have several batches of results, such as quotients and remainders. At least
    /// the first `wanted` batches are returned.
    pub(crate) fn compute(
        &mut self,
        operation: Operation,
        executor: &Executor,
        operands: [&UintBatch; 3],
        wanted: usize,
    ) -> Result<Outcome, IntegerError> {
        if !self.asked_for {
            let (results, none) = results(operation, executor, operands, wanted)?;
            return Ok(Outcome { results, none, checked: 0, erred: None, wrong: None });
        }
        let sampled = operation.evidence() == Some(Evidence::Sample);
        let (mut erred, mut again) = (None, vec![]);
        loop {
            let (results, none) = results(operation, executor, operands, usize::MAX)?;
            let count = results.first().map_or(0, UintBatch::count);
            let sample = match (sampled, erred.is_some()) {
                (false, _) => vec![],
                (true, false) => self.sample(count, 1, &[]),
                (true, true) => self.sample(count, MORE_POWERS, &again),
            };
            let flags = flags(&none, count);
            let failing = operation.failing(operands, &results, &flags, &sample, executor)?;
            let contradiction = Contradiction::of(&failing);
            if failing.is_empty() || erred.is_some() {
                let checked = if sampled { sample.len() } else { count } as u64;
                return Ok(Outcome { results, none, checked, erred, wrong: contradiction });
            }
            (erred, again) = (contradiction, failing);
        }
    }

    /// Returns the indices of the powers to recompute, in ascending order. These are the indices in
    /// `failed` and random indices. `failed` must be in ascending order. The number of random
    /// indices is `times` the size of the usual sample, but at most `count`. Each call draws new
    /// random indices.
    fn sample(&mut self, count: usize, times: u64, failed: &[usize]) -> Vec<usize> {
        let wanted = times * (count as u64 / POWERS_PER_SAMPLE).max(LEAST_POWERS);
        let mut sample = Sample::new(wanted.min(count as u64), count as u64, self.seed);
        self.seed = self.seed.wrapping_add(1);
        (0..count).filter(|i| sample.draw() || failed.binary_search(i).is_ok()).collect()
    }
}

/// Computes an operation on operands in host memory. Returns its batches of results, such as
/// quotients and remainders, and the indices of the numbers without a result. The results are in
/// host memory. If a device computes, only the first `wanted` batches are copied from the device
/// and returned.
fn results(
    operation: Operation,
    executor: &Executor,
    operands: [&UintBatch; 3],
    wanted: usize,
) -> Result<(Vec<UintBatch>, Vec<usize>), IntegerError> {
    let cpu = Executor::cpu();
    if executor.is_cpu() {
        let (results, flags) = operation.apply(operands)?;
        return Ok((results, set(flags)?));
    }
    // The first operand stands in for a missing one.
    let [a, b, m] = operands;
    let there_a = a.copy_to(executor)?;
    let copy = |x: &UintBatch| (!std::ptr::eq(x, a)).then(|| x.copy_to(executor)).transpose();
    let (there_b, there_m) = (copy(b)?, copy(m)?);
    let (results, flags) = operation.apply([
        &there_a,
        there_b.as_ref().unwrap_or(&there_a),
        there_m.as_ref().unwrap_or(&there_a),
    ])?;
    let none = set(flags)?;
    let results = results.into_iter().take(wanted).map(|r| r.to(&cpu)).collect::<Result<_, _>>()?;
    Ok((results, none))
}

/// Returns the indices of the flags that are not 0, in ascending order.
fn set(flags: Option<Flags>) -> Result<Vec<usize>, IntegerError> {
    let flags = flags.map_or(Ok(vec![]), |flags| flags.to_vec())?.into_iter().enumerate();
    Ok(flags.filter(|&(_, flag)| flag != 0).map(|(i, _)| i).collect())
}

/// Returns `count` flags. The flags with the indices in `none` are 1, and the others are 0. This is
/// the inverse of [`set`].
fn flags(none: &[usize], count: usize) -> Vec<u8> {
    let mut flags = vec![0; count];
    for &i in none {
        if let Some(flag) = flags.get_mut(i) {
            *flag = 1;
        }
    }
    flags
}

#[cfg(test)]
mod tests;
