//! The operands of a benchmark of batches, and the check of results.

use rand::{Rng, RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::Work;
use crate::BenchError;

/// The limbs of the two operands, which all rows share. A row uses as many limbs as it needs from
/// the beginning of each vector.
#[derive(Debug)]
pub(super) struct Operands {
    seed: u32,
    pub(super) a: Vec<u32>,
    /// The limbs of the second operand; empty if no operation has a second operand.
    pub(super) b: Vec<u32>,
}

/// The number of limbs that are drawn from one random stream. Each stretch of this length has its
/// own stream, so that threads can draw the stretches independently.
const STRETCH: usize = 1 << 16;

impl Operands {
    /// Draws `limbs` limbs for the first operand and, if `two` is true, for the second. The limbs
    /// depend only on the seed, not on the number of threads.
    pub(super) fn draw(seed: u32, limbs: usize, two: bool) -> Result<Self, BenchError> {
        let operand = |which: u64| -> Result<Vec<u32>, BenchError> {
            let mut drawn = vec![];
            let bytes = 4 * limbs as u64;
            drawn
                .try_reserve_exact(limbs)
                .map_err(|_| BenchError::NoMemoryForOperands { bytes })?;
            drawn.resize(limbs, 0);
            drawn.par_chunks_mut(STRETCH).enumerate().for_each(|(i, stretch)| {
                stream(seed, 2 * i as u64 + which).fill(stretch);
            });
            Ok(drawn)
        };
        Ok(Self { seed, a: operand(0)?, b: if two { operand(1)? } else { vec![] } })
    }

    /// Returns the seed from which the operands are drawn.
    pub(super) fn seed(&self) -> u32 {
        self.seed
    }

    /// Returns the limbs of instance i of an operand, or an empty slice if the operand is too
    /// short. Instances have `limbs` limbs each and are stored one after the other.
    pub(super) fn instance(operand: &[u32], i: usize, limbs: usize) -> &[u32] {
        operand.get(i * limbs..(i + 1) * limbs).unwrap_or(&[])
    }

    /// Returns the limbs of the modulus of instance i, a random odd number. Returns no limbs if the
    /// operation has no modulus.
    fn modulus(&self, work: &Work, i: usize) -> Vec<u32> {
        let mut limbs = vec![0; if work.operation.is_modular() { work.limbs } else { 0 }];
        stream(self.seed, 1 << 63 | i as u64).fill(&mut limbs[..]);
        if let Some(lowest) = limbs.first_mut() {
            *lowest |= 1;
        }
        limbs
    }

    /// Returns the moduli of all instances, one after the other.
    pub(super) fn moduli(&self, work: &Work) -> Vec<u32> {
        (0..work.count).into_par_iter().flat_map_iter(|i| self.modulus(work, i)).collect()
    }

    /// Returns the indices of the instances whose results are compared: the first three, the last,
    /// and four random ones.
    fn looked_at(&self, work: &Work) -> Vec<usize> {
        let mut rng = stream(self.seed, u64::MAX - work.limbs as u64);
        let drawn = (0..4).map(|_| (rng.next_u64() % work.count as u64) as usize);
        let mut all: Vec<usize> = [0, 1, 2, work.count - 1].into_iter().chain(drawn).collect();
        all.retain(|&i| i < work.count);
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Compares the results of some instances with results computed limb by limb on the CPU.
    /// `result` returns the result of an instance.
    ///
    /// # Errors
    /// A result differs from the expected one, or `result` fails.
    pub(super) fn check(
        &self,
        work: &Work,
        result: impl Fn(usize) -> Result<Vec<u32>, BenchError>,
    ) -> Result<(), BenchError> {
        let found: Vec<(usize, Vec<u32>)> = self
            .looked_at(work)
            .into_iter()
            .map(|i| Ok((i, result(i)?)))
            .collect::<Result<_, BenchError>>()?;
        let wrong = found.par_iter().find_map_first(|(i, found)| {
            let b_limbs = work.operation.b_limbs(work.limbs);
            let a = Self::instance(&self.a, *i, work.limbs);
            let b = Self::instance(&self.b, *i, b_limbs);
            let expected = work.operation.expected(a, b, &self.modulus(work, *i));
            let differs =
                expected.iter().zip(found).position(|(expected, found)| expected != found);
            match differs {
                None if expected.len() == found.len() => None,
                None => Some(format!("instance {i} has a result of {} limbs", found.len())),
                Some(j) => Some(format!(
                    "the result of instance {i} is wrong: limb {j} is {:#010x}, not {:#010x}",
                    found[j], expected[j]
                )),
            }
        });
        wrong.map_or(Ok(()), |wrong| Err(BenchError::Wrong(wrong)))
    }
}

fn stream(seed: u32, number: u64) -> ChaCha8Rng {
    let mut rng = ChaCha8Rng::seed_from_u64(seed.into());
    rng.set_stream(number);
    rng
}

#[cfg(test)]
mod tests {
    use super::super::{Listed, Operation};
    use super::*;

    const ADD: Operation = Operation::Listed(Listed::Add);

    fn work(count: usize) -> Work {
        Work { operation: ADD, limbs: 2, count, method: None }
    }

    #[test]
    fn a_seed_draws_the_same_operands_again() {
        let limbs = STRETCH + 3;
        let draw = |seed| Operands::draw(seed, limbs, true).unwrap();
        let (one, again, other) = (draw(1), draw(1), draw(2));
        assert!(one.a == again.a && one.b == again.b);
        assert!(one.a != one.b && one.a != other.a && one.a.len() == limbs);
        assert_ne!(one.a[..3], one.a[STRETCH..]);
        assert!(Operands::draw(1, limbs, false).unwrap().b.is_empty());
    }

    #[test]
    fn ends_and_some_between_are_looked_at() {
        let operands = Operands::draw(3, 4, false).unwrap();
        assert_eq!(operands.looked_at(&work(1)), [0]);
        assert_eq!(operands.looked_at(&work(3)), [0, 1, 2]);
        let many = operands.looked_at(&work(1 << 20));
        assert!(
            many.len() == 8 && many.starts_with(&[0, 1, 2]) && many.ends_with(&[(1 << 20) - 1])
        );
    }

    #[test]
    fn a_wrong_result_is_named() {
        let operands = Operands::draw(4, 10, true).unwrap();
        let right = |i: usize| {
            let of = |operand| Operands::instance(operand, i, 2);
            ADD.expected(of(&operands.a), of(&operands.b), &[])
        };
        assert!(operands.check(&work(5), |i| Ok(right(i))).is_ok());
        for bad in [0, 2, 4] {
            let spoiled = |i: usize| {
                let mut result = right(i);
                result[1] ^= u32::from(i == bad) << 31;
                Ok(result)
            };
            let said = operands.check(&work(5), spoiled).unwrap_err().to_string();
            let (wrong, expected) = (right(bad)[1] ^ 1 << 31, right(bad)[1]);
            let limbs = format!("limb 1 is {wrong:#010x}, not {expected:#010x}");
            assert_eq!(said, format!("the result of instance {bad} is wrong: {limbs}"));
        }
        let short = operands.check(&work(5), |i| Ok(right(i)[..1].to_vec())).unwrap_err();
        assert_eq!(short.to_string(), "instance 0 has a result of 1 limbs");
    }
}
