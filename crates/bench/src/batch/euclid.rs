//! Greatest common divisors by Euclid's algorithm. Each step computes one remainder for every
//! instance of the batch. This measures the cost of greatest common divisors by division alone.

use std::time::{Duration, Instant};

use warpint_integer::{Executor, Flags, UintBatch, Width};

use super::Work;
use super::operands::Operands;
use crate::BenchError;

/// The number of timed runs. It is small because a run takes about 0.6·n divisions of n-bit
/// numbers.
const RUNS: usize = 3;

/// The number of steps after which the host tests whether all instances are done.
const STRIDE: usize = 8;

/// Two batches of positive numbers, a and b, and the memory for remainders. The greatest common
/// divisor of each pair a, b is computed.
///
/// The algorithm computes r_0 = a, r_1 = b, and r_(k+1) ≡ r_(k−1) mod r_k with 1 ≤ r_(k+1) ≤ r_k.
/// An instance is done when r_k = gcd(a, b); its r_k then stays unchanged while other instances
/// continue. The batches hold s_k = r_k − 1, so that a step consists of one addition and one
/// remainder: s_(k+1) = s_(k−1) mod (s_k + 1). In a large batch of n-bit numbers, the slowest
/// instance takes about 0.6·n steps.
#[derive(Debug)]
pub(super) struct Euclid {
    a: UintBatch,
    b: UintBatch,
    one: UintBatch,
    /// The batches of s_(k−1), s_k and s_(k+1), where s_k = r_k − 1.
    rests: [UintBatch; 3],
    divisors: UintBatch,
    zero_divisors: Flags,
    divisors_found: UintBatch,
}

impl Euclid {
    /// Creates the batches from the operands of a row. Zeros are replaced by ones.
    pub(super) fn new(
        executor: &Executor,
        work: &Work,
        operands: &Operands,
    ) -> Result<Self, BenchError> {
        let width = Width::new(work.bits())?;
        let one = UintBatch::from_vec(executor, Width::new(32)?, vec![1])?;
        let from_one = |limbs: &[u32]| -> Result<UintBatch, BenchError> {
            let limbs = limbs
                .get(..work.count * work.limbs)
                .ok_or(BenchError::Missing { what: "operands" })?;
            Ok(UintBatch::from_limbs(executor, width, limbs)?.max(&one)?)
        };
        let zeros = || UintBatch::zeros(executor, work.count, width);
        Ok(Self {
            a: from_one(&operands.a)?,
            b: from_one(&operands.b)?,
            rests: [zeros()?, zeros()?, zeros()?],
            divisors: zeros()?,
            zero_divisors: Flags::zeros(executor, work.count)?,
            divisors_found: zeros()?,
            one,
        })
    }

    /// Computes the greatest common divisors of all instances.
    pub(super) fn run(&mut self) -> Result<(), BenchError> {
        let Self { a, b, one, rests, divisors, zero_divisors, divisors_found } = self;
        let [x, y, _] = rests;
        a.sub_into(one, x, None)?;
        b.sub_into(one, y, None)?;
        loop {
            for _ in 0..STRIDE {
                let [x, y, z] = rests;
                y.add_into(one, divisors, None)?;
                x.rem_into(divisors, z, zero_divisors)?;
                rests.rotate_left(1);
            }
            let [x, y, _] = rests;
            if x.compare(y)?.iter().all(|order| order.is_eq()) {
                return Ok(y.add_into(one, divisors_found, None)?);
            }
        }
    }

    /// Compares the results with the results of [`UintBatch::gcd`].
    ///
    /// # Errors
    /// The results differ, or an operation fails.
    pub(super) fn check(&self) -> Result<(), BenchError> {
        let orders = self.a.gcd(&self.b)?.compare(&self.divisors_found)?;
        let differs = orders.iter().position(|order| order.is_ne());
        match differs {
            None => Ok(()),
            Some(i) => {
                let line = format!("the common divisor of instance {i} differs from that by gcd");
                Err(BenchError::Wrong(line))
            }
        }
    }

    /// Returns the limbs of the greatest common divisor of instance i.
    pub(super) fn result(&self, i: usize) -> Result<Vec<u32>, BenchError> {
        let found = self.divisors_found.get(i)?;
        found.ok_or(BenchError::NoResult { instance: i })
    }

    /// Times several runs by the host's clock, and returns the times. Each run ends with a test
    /// whether all instances are done; the host waits for the result of the test.
    pub(super) fn times(&mut self) -> Result<Vec<Duration>, BenchError> {
        let run = |_| {
            let begin = Instant::now();
            self.run()?;
            Ok(begin.elapsed())
        };
        (0..RUNS).map(run).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::super::Operation;
    use super::*;

    #[test]
    fn all_numbers_are_those_of_gcd_however_long_they_take() {
        let executor = Executor::cpu();
        for (limbs, count) in [(1, 400), (2, 100), (7, 20)] {
            let work = Work { operation: Operation::GcdByDivision, limbs, count, method: None };
            let mut operands = Operands::draw(5, limbs * count, true).unwrap();
            // Zeros, all ones, equal numbers, a divisor, and consecutive Fibonacci numbers.
            operands.a[..limbs].fill(0);
            operands.b[..2 * limbs].fill(0);
            operands.a[2 * limbs..3 * limbs].fill(u32::MAX);
            let same = operands.a[3 * limbs..4 * limbs].to_vec();
            operands.b[3 * limbs..4 * limbs].copy_from_slice(&same);
            operands.b[4 * limbs..5 * limbs].fill(0);
            operands.b[4 * limbs] = 1;
            operands.a[5 * limbs..6 * limbs].fill(0);
            operands.b[5 * limbs..6 * limbs].fill(0);
            (operands.a[5 * limbs], operands.b[5 * limbs]) = (2_971_215_073, 1_836_311_903);
            let mut euclid = Euclid::new(&executor, &work, &operands).unwrap();
            euclid.run().unwrap();
            euclid.check().unwrap();
            operands.check(&work, |i| euclid.result(i)).unwrap();
            assert_eq!(euclid.result(0).unwrap()[0], 1);
            euclid.divisors_found = euclid.divisors_found.not().unwrap();
            let said = euclid.check().unwrap_err().to_string();
            assert_eq!(said, "the common divisor of instance 0 differs from that by gcd");
        }
    }
}
