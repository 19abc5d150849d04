//! Computing, and results compared with their operands before they are converted and written.

use warpint::integer::{Executor, IntegerError, UintBatch, check};

use super::check::Sample;
use super::operation::Operation;

/// One of so many powers of a piece is computed again on the CPU, and at least [`LEAST_POWERS`].
const POWERS_PER_SAMPLE: u64 = 1024;
const LEAST_POWERS: u64 = 16;
/// So many times as many after a power was wrong: a fault that came back must not be missed.
const MORE_POWERS: u64 = 64;

/// Whether results are checked by the identities of [`check`].
#[derive(Debug)]
pub(crate) struct Identities {
    asked_for: bool,
    /// Draws the powers that are computed again.
    seed: u64,
}

/// Results on the host.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) results: Vec<UintBatch>,
    /// Those that are none.
    pub(crate) none: Vec<usize>,
    /// How many were checked; of powers, how many were computed again.
    pub(crate) checked: u64,
    /// What contradicted its operands when it was computed first.
    pub(crate) erred: Option<Contradiction>,
    /// The same when it was computed again.
    pub(crate) wrong: Option<Contradiction>,
}

/// Results that contradict their operands.
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

    /// The results of operands that are on the host. What fails its check is computed once more, from
    /// the operands on the host.
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
        let powers = operation == Operation::Power;
        let (mut erred, mut again) = (None, vec![]);
        loop {
            let (results, none) = results(operation, executor, operands, usize::MAX)?;
            let count = results.first().map_or(0, UintBatch::count);
            let sample = match (powers, erred.is_some()) {
                (false, _) => vec![],
                (true, false) => self.sample(count, 1, &[]),
                (true, true) => self.sample(count, MORE_POWERS, &again),
            };
            let failing = failing(operation, operands, &results, &none, &sample, executor)?;
            let contradiction = Contradiction::of(&failing);
            if failing.is_empty() || erred.is_some() {
                let checked = if powers { sample.len() } else { count } as u64;
                return Ok(Outcome { results, none, checked, erred, wrong: contradiction });
            }
            (erred, again) = (contradiction, failing);
        }
    }

    /// Powers to be computed again, ascending: others each time, `times` as many as usual, and those of
    /// `failed`, ascending.
    fn sample(&mut self, count: usize, times: u64, failed: &[usize]) -> Vec<usize> {
        let wanted = times * (count as u64 / POWERS_PER_SAMPLE).max(LEAST_POWERS);
        let mut sample = Sample::new(wanted.min(count as u64), count as u64, self.seed);
        self.seed = self.seed.wrapping_add(1);
        (0..count).filter(|i| sample.draw() || failed.binary_search(i).is_ok()).collect()
    }
}

/// The first `wanted` results, brought to the host, and which of them are none.
fn results(
    operation: Operation,
    executor: &Executor,
    operands: [&UintBatch; 3],
    wanted: usize,
) -> Result<(Vec<UintBatch>, Vec<usize>), IntegerError> {
    let cpu = Executor::cpu();
    if executor.is_cpu() {
        return operation.apply(operands);
    }
    // What stands for a missing operand is the first one.
    let [a, b, m] = operands;
    let there_a = a.copy_to(executor)?;
    let copy = |x: &UintBatch| (!std::ptr::eq(x, a)).then(|| x.copy_to(executor)).transpose();
    let (there_b, there_m) = (copy(b)?, copy(m)?);
    let (results, none) = operation.apply([
        &there_a,
        there_b.as_ref().unwrap_or(&there_a),
        there_m.as_ref().unwrap_or(&there_a),
    ])?;
    let results = results.into_iter().take(wanted).map(|r| r.to(&cpu)).collect::<Result<_, _>>()?;
    Ok((results, none))
}

/// The numbers of the results that contradict their operands.
fn failing(
    operation: Operation,
    [a, b, m]: [&UintBatch; 3],
    results: &[UintBatch],
    none: &[usize],
    sample: &[usize],
    on: &Executor,
) -> Result<Vec<usize>, IntegerError> {
    let Some(first) = results.first() else { return Ok(vec![]) };
    let second = results.get(1).unwrap_or(first);
    let mut flags = vec![0; first.count()];
    for &i in none {
        if let Some(flag) = flags.get_mut(i) {
            *flag = 1;
        }
    }
    match operation {
        Operation::Add => check::sums(a, b, first, None),
        Operation::Subtract => check::differences(a, b, first, Some(&flags)),
        Operation::Multiply => check::products(a, b, first),
        Operation::MultiplyLow => check::low_products(a, b, first, on),
        Operation::Square => check::squares(a, first),
        Operation::Divide => check::quotients(a, b, first, second, &flags),
        Operation::Gcd => check::divisors(a, b, first, on),
        Operation::Inverse => check::inverses(a, b, first, &flags, on),
        Operation::SquareRoot => check::square_roots(a, first, second),
        Operation::Power => check::powers([a, b, m], first, &flags, sample),
    }
}

#[cfg(test)]
mod tests;
