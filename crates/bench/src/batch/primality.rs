//! Tests for primality on a device, which computes the powers, while the host does the rest.

use std::time::{Duration, Instant};

use warpint_integer::{Executor, PrimalityTest, UintBatch, Width};

use super::Work;
use super::operands::Operands;
use crate::BenchError;

/// The number of timed runs.
const RUNS: usize = 3;

/// A batch of numbers on a device, and the results of the last run.
#[derive(Debug)]
pub(super) struct Primality {
    numbers: UintBatch,
    test: PrimalityTest,
    found: Vec<bool>,
}

impl Primality {
    /// Moves the numbers of a row to the device of `executor`.
    pub(super) fn new(
        executor: &Executor,
        work: &Work,
        operands: &Operands,
    ) -> Result<Self, BenchError> {
        let limbs = operands.a.get(..work.count * work.limbs);
        let limbs = limbs.ok_or(BenchError::Missing { what: "operands" })?;
        let numbers = UintBatch::from_limbs(executor, Width::new(work.bits())?, limbs)?;
        Ok(Self { numbers, test: PrimalityTest::baillie_psw(), found: vec![] })
    }

    /// Tests all numbers, and returns the time by the host's clock.
    pub(super) fn run(&mut self) -> Result<Duration, BenchError> {
        let begin = Instant::now();
        self.found = self.numbers.is_probable_prime(&self.test)?;
        Ok(begin.elapsed())
    }

    /// Returns the result of instance i: one limb, 1 or 0.
    pub(super) fn result(&self, i: usize) -> Result<Vec<u32>, BenchError> {
        let found = self.found.get(i).ok_or(BenchError::NoResult { instance: i })?;
        Ok(vec![u32::from(*found)])
    }

    /// Returns the times of several runs by the host's clock.
    pub(super) fn times(&mut self) -> Result<Vec<Duration>, BenchError> {
        (0..RUNS).map(|_| self.run()).collect()
    }
}
