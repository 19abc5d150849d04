//! Batches with a copy of their numbers on the host, and comparisons with expected results.

use rand::RngExt;
use warpint_integer::{Executor, Flags, IntegerError, UintBatch, Width};
use warpint_natural::limbs;

use super::elementwise::oracle;
use crate::sample::Random;

/// The reason why a case failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// An operation returned an error.
    #[error(transparent)]
    Refused(#[from] IntegerError),
    /// A result is wrong. The text says which result.
    #[error("{0}")]
    Wrong(String),
}

/// A batch of numbers of `limbs` 32-bit limbs, and a copy of the numbers on the host.
#[derive(Debug)]
pub(super) struct Numbers {
    pub(super) batch: UintBatch,
    pub(super) limbs: usize,
    rows: Vec<Vec<u32>>,
}

impl Numbers {
    /// Creates a batch of numbers of `limbs` limbs each.
    pub(super) fn new(
        executor: &Executor,
        limbs: usize,
        rows: Vec<Vec<u32>>,
    ) -> Result<Self, Failure> {
        let batch = UintBatch::from_vec(executor, width(limbs)?, rows.concat())?;
        Ok(Self { batch, limbs, rows })
    }

    /// Creates a batch of the `count` numbers that [`drawn`] returns.
    pub(super) fn hard(
        executor: &Executor,
        rng: &mut Random,
        limbs: usize,
        count: usize,
    ) -> Result<Self, Failure> {
        Self::new(executor, limbs, drawn(rng, limbs, count))
    }

    /// Returns a batch that contains only number i. Operations combine this number with every
    /// number of another batch.
    pub(super) fn single(&self, i: usize) -> Result<Self, Failure> {
        Self::new(self.batch.executor(), self.limbs, vec![self.row(i).to_vec()])
    }

    pub(super) fn count(&self) -> usize {
        self.rows.len()
    }

    /// Returns the limbs of number i. If the batch has a single number, returns the limbs of this
    /// number for every i.
    pub(super) fn row(&self, i: usize) -> &[u32] {
        let i = if self.rows.len() == 1 { 0 } else { i };
        self.rows.get(i).map_or(&[], Vec::as_slice)
    }
}

/// Returns `count` numbers of `limbs` limbs. All bits of the first number are 1. The other numbers
/// are hard for carries ([`oracle::hard`]) or random, in random order.
pub(super) fn drawn(rng: &mut Random, limbs: usize, count: usize) -> Vec<Vec<u32>> {
    let mut rows = oracle::hard(rng, limbs);
    while rows.len() < count {
        rows.push((0..limbs).map(|_| rng.random()).collect());
    }
    for i in 0..rows.len() {
        let j = rng.random_range(0..rows.len());
        rows.swap(i, j);
    }
    rows.truncate(count);
    if let Some(first) = rows.first_mut() {
        first.fill(u32::MAX);
    }
    rows
}

pub(super) fn width(limbs: usize) -> Result<Width, IntegerError> {
    Width::new(u32::try_from(32 * limbs).unwrap_or(u32::MAX))
}

/// Returns a·b in la + lb limbs, where a has la limbs and b has lb limbs.
pub(super) fn product(a: &[u32], b: &[u32]) -> Vec<u32> {
    let wide = |x: &[u32]| -> Vec<u64> {
        let limb = |pair: &[u32]| pair.iter().rev().fold(0, |x, &half| x << 32 | u64::from(half));
        x.chunks(2).map(limb).collect()
    };
    let product = limbs::mul(&wide(a), &wide(b));
    let halves = product.into_iter().flat_map(|limb| [limb as u32, (limb >> 32) as u32]);
    let mut halves: Vec<u32> = halves.collect();
    halves.resize(a.len() + b.len(), 0);
    halves
}

/// Returns an error if the batch does not have `count` numbers of `limbs` limbs, or if number i
/// differs from `expected(i)`. `what` names the operation in the message.
pub(super) fn check(
    what: &str,
    found: &UintBatch,
    limbs: usize,
    count: usize,
    expected: impl Fn(usize) -> Vec<u32>,
) -> Result<(), Failure> {
    let shape = (found.count(), found.width().limbs());
    if shape != (count, limbs) {
        let shape = format!("{what}: {shape:?} numbers and limbs, not {:?}", (count, limbs));
        return Err(Failure::Wrong(shape));
    }
    for (i, found) in found.to_limbs()?.chunks(limbs).enumerate() {
        let expected = expected(i);
        if let Some(j) = (0..limbs).find(|&j| found.get(j) != expected.get(j)) {
            let expected = oracle::limb(&expected, j);
            return Err(Failure::Wrong(format!(
                "{what}: limb {j} of number {i} is {:#x}, not {expected:#x}",
                found[j]
            )));
        }
    }
    Ok(())
}

/// Returns an error if the flags, or the number of set flags, differ from `expected`. `what` names
/// the operation in the message.
pub(super) fn check_flags(
    what: &str,
    found: &Flags,
    expected: impl Iterator<Item = bool>,
) -> Result<(), Failure> {
    let expected: Vec<u8> = expected.map(u8::from).collect();
    let all = found.to_vec()?;
    let set = expected.iter().filter(|&&flag| flag == 1).count();
    if all != expected || found.count()? != set || found.any()? != (set > 0) {
        let i = (0..expected.len()).find(|&i| all.get(i) != expected.get(i)).unwrap_or(0);
        return Err(Failure::Wrong(format!(
            "{what}: the flags are wrong, first that of number {i}"
        )));
    }
    Ok(())
}

/// Returns an error if the values differ from `expected`. `what` names the operation in the
/// message.
pub(super) fn check_values<T: PartialEq + std::fmt::Debug>(
    what: &str,
    found: &[T],
    expected: impl Iterator<Item = T>,
) -> Result<(), Failure> {
    let expected: Vec<T> = expected.collect();
    if found == expected {
        return Ok(());
    }
    let i = (0..expected.len()).find(|&i| found.get(i) != expected.get(i)).unwrap_or(0);
    let (found, expected) = (found.get(i), expected.get(i));
    Err(Failure::Wrong(format!("{what}: of number {i} it is {found:?}, not {expected:?}")))
}
