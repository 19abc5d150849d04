//! Tests for primality.

use rayon::prelude::*;
use warpint_natural::limbs::trimmed;
use warpint_natural::primality::{LucasTest, SmallPrimes, StrongTest, odd_part_of_predecessor};

use crate::gpu::Gpu;
use crate::{Executor, IntegerError, UintBatch, Width, cpu};

/// The bound of trial division, unless [`PrimalityTest::with_trial_division`] sets another.
const USUAL_BOUND: u32 = 1000;

/// A test for primality: trial division, then strong tests to chosen bases, then perhaps the strong
/// Lucas test.
///
/// A number n is a *probable prime* of this test if one of the following holds:
/// * n is a prime below the square of the bound of trial division;
/// * n is greater, has no prime factor below the bound, is a strong probable prime to each base
///   and, if the Lucas test is included, a strong Lucas probable prime.
///
/// Every prime is a probable prime. A composite number n may be one:
/// * Of the bases from 1 to n − 1, an odd composite n passes the strong test to at most a quarter
///   (Rabin 1980, *Probabilistic algorithm for testing primality*, Journal of Number Theory 12,
///   128–138). So n passes the tests to k random bases with probability at most 4^(−k). For fixed
///   bases, composite numbers that pass can be constructed (Arnault 1995, *Constructing Carmichael
///   numbers which are strong pseudoprimes to several bases*, Journal of Symbolic Computation 20,
///   151–161).
/// * No composite number is known that passes the strong test to base 2 and the strong Lucas test,
///   the Baillie–PSW test (Baillie and Wagstaff 1980, *Lucas pseudoprimes*, Mathematics of
///   Computation 35, 1391–1417; Pomerance, Selfridge and Wagstaff 1980). There is none below 2^64,
///   where all strong pseudoprimes to base 2 have been listed (Feitsma 2013).
#[derive(Debug, Clone)]
pub struct PrimalityTest {
    small: SmallPrimes,
    bases: Vec<u32>,
    lucas: bool,
}

/// The Baillie–PSW test.
impl Default for PrimalityTest {
    fn default() -> Self {
        Self { small: SmallPrimes::below(USUAL_BOUND), bases: vec![2], lucas: true }
    }
}

impl PrimalityTest {
    /// Returns the Baillie–PSW test: trial division by the primes below 1,000, the strong test to
    /// base 2, and the strong Lucas test with Selfridge's parameters.
    #[must_use]
    pub fn baillie_psw() -> Self {
        Self::default()
    }

    /// Returns the test by trial division by the primes below 1,000 and by the strong tests to the
    /// bases `bases` (Miller–Rabin), without a Lucas test.
    ///
    /// # Errors
    /// [`IntegerError::Base`] for a base below 2, to which every odd number passes.
    pub fn strong(bases: &[u32]) -> Result<Self, IntegerError> {
        if let Some(&base) = bases.iter().find(|&&base| base < 2) {
            return Err(IntegerError::Base { base });
        }
        Ok(Self { bases: bases.to_vec(), lucas: false, ..Self::default() })
    }

    /// Returns this test with another bound: trial division by 2 and all odd primes below `bound`.
    #[must_use]
    pub fn with_trial_division(self, bound: u32) -> Self {
        Self { small: SmallPrimes::below(bound.max(3)), ..self }
    }

    /// Returns this test with a Lucas test after the strong tests.
    #[must_use]
    pub fn with_lucas(self) -> Self {
        Self { lucas: true, ..self }
    }

    /// Returns whether a number is a prime, as far as trial division decides it.
    pub(crate) fn by_trial_division(&self, n: &[u64]) -> Option<bool> {
        let n = trimmed(n);
        if matches!(n, [] | [1]) {
            return Some(false);
        }
        if let Some(factor) = self.small.factor(n) {
            return Some(n == [u64::from(factor)]);
        }
        let bound = u64::from(self.small.bound());
        matches!(n, &[n] if n < bound * bound).then_some(true)
    }

    /// Tests numbers of `limbs`, each of the width `width`. The powers are computed by `executor`.
    fn run(
        &self,
        executor: &Executor,
        width: Width,
        limbs: &[u32],
    ) -> Result<Vec<bool>, IntegerError> {
        let row = |i: usize| &limbs[i * width.limbs()..][..width.limbs()];
        let count = limbs.len() / width.limbs();
        let known: Vec<Option<bool>> = executor.on_threads(|| {
            let known = (0..count).into_par_iter().with_min_len(64);
            known.map(|i| self.by_trial_division(&cpu::limbs_of(row(i)))).collect()
        });
        let mut results: Vec<bool> = known.iter().map(|known| known.unwrap_or(false)).collect();
        let mut open: Vec<usize> = (0..count).filter(|&i| known[i].is_none()).collect();
        for &base in &self.bases {
            open = strong_probable_primes(executor, width, open, limbs, base)?;
        }
        if self.lucas {
            open = executor.on_threads(|| {
                let passes = |test: &mut LucasTest, i: usize| {
                    test.passes(&cpu::limbs_of(row(i))).then_some(i)
                };
                let open = open.into_par_iter();
                open.map_init(LucasTest::default, passes).flatten_iter().collect()
            });
        }
        for i in open {
            results[i] = true;
        }
        Ok(results)
    }
}

/// Returns the indices in `open`, which ascend, of the numbers that pass the strong test to `base`. The
/// limbs of all numbers are `all`. Numbers with indices in `open` must be odd and greater than 1.
fn strong_probable_primes(
    executor: &Executor,
    width: Width,
    open: Vec<usize>,
    all: &[u32],
    base: u32,
) -> Result<Vec<usize>, IntegerError> {
    if open.is_empty() {
        return Ok(open);
    }
    let limbs = width.limbs();
    let row = |i: usize| &all[i * limbs..][..limbs];
    let mut exponents = vec![0; open.len() * limbs];
    let mut twos = vec![0; open.len()];
    executor.on_threads(|| {
        let rows = exponents.par_chunks_mut(limbs).zip(twos.par_iter_mut()).zip(&open);
        rows.with_min_len(64).for_each_init(Vec::new, |d: &mut Vec<u64>, ((exponent, s), &i)| {
            let n = cpu::limbs_of(row(i));
            d.resize(n.len(), 0);
            *s = odd_part_of_predecessor(d, &n);
            cpu::store(exponent, d);
        });
    });
    let moduli = if open.len() * limbs == all.len() {
        UintBatch::from_limbs(executor, width, all)?
    } else {
        let mut moduli = vec![0; open.len() * limbs];
        executor.on_threads(|| {
            let rows = moduli.par_chunks_mut(limbs).zip(&open).with_min_len(64);
            rows.for_each(|(modulus, &i)| modulus.copy_from_slice(row(i)));
        });
        UintBatch::from_vec(executor, width, moduli)?
    };
    let exponents = UintBatch::from_vec(executor, width, exponents)?;
    let bases = UintBatch::from_vec(executor, Width::of_limbs(1), vec![base])?;
    let powers = {
        let _turn = executor.gpu().ok().map(Gpu::turn);
        // No modulus is 0.
        bases.pow_mod(&exponents, &moduli)?.0.data.into_vec()?
    };
    Ok(executor.on_threads(|| {
        let passes = |test: &mut StrongTest, ((&i, &s), x): ((&usize, &usize), &[u32])| {
            let n = cpu::limbs_of(row(i));
            let divides = matches!(trimmed(&n), &[n] if u64::from(base).is_multiple_of(n));
            (divides || test.passes(&cpu::limbs_of(x), s, &n)).then_some(i)
        };
        let rows = open.par_iter().zip(&twos).zip(powers.par_chunks(limbs)).with_min_len(16);
        rows.map_init(StrongTest::default, passes).flatten_iter().collect()
    }))
}

impl UintBatch {
    /// Returns for each number whether it is a probable prime of `test` (see [`PrimalityTest`]).
    ///
    /// The powers of the strong tests are computed by [`Self::pow_mod`] on the CPU or the device of
    /// the batch. The host does the rest: trial division, the last squarings of the strong tests,
    /// and the Lucas test of the numbers that pass the strong tests. On a device, waits for the
    /// powers. Nothing here checks the powers of a device: see [`crate::check::probable_primes`]. A
    /// composite number that a wrong power makes a strong probable prime must still pass the Lucas
    /// test on the host.
    ///
    /// Cost for a number of b bits without a small factor: a power with an exponent of b bits for
    /// each base until a test fails; about 3.5·b products modulo the number for the Lucas test. The
    /// temporary memory is up to four times that of the batch. The time depends on the numbers: do
    /// not use this method with secret numbers.
    ///
    /// # Errors
    /// The errors of [`Self::pow_mod`].
    pub fn is_probable_prime(&self, test: &PrimalityTest) -> Result<Vec<bool>, IntegerError> {
        self.is_probable_prime_by(&self.executor, test)
    }

    /// Like [`Self::is_probable_prime`], but `executor` computes the powers. The batch may be elsewhere.
    /// For a batch on the CPU and a device, this saves two copies of the batch, because the host prepares
    /// the powers.
    ///
    /// Several threads may call this method for one device at the same time. The device then computes
    /// the powers of one batch while the host works on the others.
    ///
    /// # Errors
    /// The errors of [`Self::pow_mod`].
    pub fn is_probable_prime_by(
        &self,
        executor: &Executor,
        test: &PrimalityTest,
    ) -> Result<Vec<bool>, IntegerError> {
        self.with_limbs(|limbs| test.run(executor, self.width, limbs))?
    }
}

#[cfg(test)]
mod tests;
