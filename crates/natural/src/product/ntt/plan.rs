//! The choice of the number of primes, of the size of the digits, and of the transform's length.

use std::sync::OnceLock;

use warpint_transform::cpu::f50::{Prime, Shape};

/// How a product is computed: with k primes, from digits of b bits, by transforms of one shape.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Plan {
    /// The number of primes, k.
    pub(super) primes: usize,
    /// The number of bits of a digit, b.
    pub(super) bits: usize,
    pub(super) shape: Shape,
}

/// The numbers of primes for which there are plans.
pub(super) const PRIMES: std::ops::RangeInclusive<usize> = 2..=8;

/// Returns the number of whole limbs in a digit, for each number of primes.
pub(super) const fn whole_limbs(primes: usize) -> usize {
    match primes {
        ..=2 => 0,
        3..=5 => 1,
        _ => 2,
    }
}

/// Returns log2(p_1⋯p_k), rounded down to a multiple of 2^−20.
fn log2_of_product(primes: usize) -> f64 {
    static LOGS: OnceLock<Vec<f64>> = OnceLock::new();
    let logs = LOGS.get_or_init(|| {
        let mut sum = 0.0;
        let log2 = |prime: &Prime| {
            sum += (prime.field().modulus() as f64).log2();
            (sum * 1_048_576.0).floor() / 1_048_576.0
        };
        Prime::all().iter().map(log2).collect()
    });
    logs[primes - 1]
}

/// Returns the number of digits of b bits in `limbs` limbs.
pub(super) fn digits(limbs: usize, bits: usize) -> usize {
    (64 * limbs).div_ceil(bits)
}

impl Plan {
    /// Returns the plan with the least estimated time for a product of factors of `long` and
    /// `short` limbs, `short` ≤ `long`, on `threads` threads. Returns `None` if the product is too
    /// long.
    pub(super) fn new(long: usize, short: usize, threads: usize) -> Option<Self> {
        let plans = PRIMES.filter_map(|primes| Self::with(primes, long, short));
        plans.min_by(|x, y| x.cost(threads, 3).total_cmp(&y.cost(threads, 3)))
    }

    /// Returns the plan with the least estimated time for a product modulo x^N − 1, where N is a power of two
    /// and the digits of N coefficients have at least `ring` limbs. The shorter factor has `short` limbs, and
    /// none has more than `ring` limbs. Returns `None` if there is no such plan.
    ///
    /// As for [`Self::with`], the primes determine every coefficient: it is a sum of at most m products of
    /// digits, where m is the number of digits of the shorter factor.
    pub(super) fn cyclic(short: usize, ring: usize, threads: usize) -> Option<Self> {
        let plans = PRIMES.filter_map(|primes| {
            let bits = Self::bits(primes, short)?;
            let shape = Shape::cyclic(digits(ring, bits))?;
            Some(Self { primes, bits, shape })
        });
        plans.min_by(|x, y| x.cost(threads, 2).total_cmp(&y.cost(threads, 2)))
    }

    /// Returns the plan for a number of primes, with the longest digits for which the primes
    /// determine every coefficient of the product. Returns `None` if these digits do not have
    /// [`whole_limbs`] whole limbs, or if the product is too long.
    ///
    /// A coefficient is at most m·(2^b − 1)², where m is the number of digits of the shorter
    /// factor. The plan satisfies m·2^(2b) ≤ 2^−(1/1000)·p_1⋯p_k. The factor 2^−(1/1000) leaves
    /// room for the rounding errors of logarithms.
    pub(super) fn with(primes: usize, long: usize, short: usize) -> Option<Self> {
        let bits = Self::bits(primes, short)?;
        let shape = Shape::of(digits(long, bits) + digits(short, bits) - 1)?;
        Some(Self { primes, bits, shape })
    }

    /// Returns the number of bits of a digit: see [`Self::with`].
    fn bits(primes: usize, short: usize) -> Option<usize> {
        let most = log2_of_product(primes) - 0.001;
        let fits = |bits: usize| 2.0 * bits as f64 + (digits(short, bits) as f64).log2() <= most;
        // A lower bound of m: digits have at most `most`/2 bits, so m is at least
        // 64·`short`/(`most`/2).
        let fewest = 128.0 * short as f64 / most;
        let largest = ((most - fewest.max(1.0).log2()) / 2.0) as usize;
        let bits = (1..=largest).rev().find(|&bits| fits(bits))?;
        (bits / 64 == whole_limbs(primes)).then_some(bits)
    }

    /// Returns the estimated time on `threads` threads for a product by a number of transforms. The unit is
    /// the time that one level of a transform takes per point and prime.
    pub(super) fn cost(&self, threads: usize, transforms: u32) -> f64 {
        let n = self.shape.points() as f64;
        let levels = f64::from(self.shape.points().ilog2());
        let rounds = self.primes.div_ceil(threads) as f64;
        let other = OTHER_STEPS[self.primes - PRIMES.start()];
        n * rounds * f64::from(transforms) * levels + n * other / threads as f64
    }
}

/// The time per coefficient of the steps whose time does not depend on log2(N), in the unit of
/// [`Plan::cost`], for 2 to 8 primes. It depends on how digits lie in limbs. With these values, the
/// chosen plan took at most 1.08 times as long as the best one for 80 lengths from 512 to 458,752
/// limbs, and 1.01 times on average (`plans` in `ntt`, on an AMD EPYC (Zen 4), AVX-512 and AVX2).
const OTHER_STEPS: [f64; 7] = [5.0, 35.0, 32.0, 60.0, 102.0, 160.0, 200.0];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;

    /// Compares the largest coefficient with the product of the primes, in exact arithmetic.
    #[test]
    fn primes_determine_the_largest_coefficient() {
        let mut product = vec![1u64];
        for (k, prime) in Prime::all().iter().enumerate() {
            product = limbs::mul(&product, &[prime.field().modulus()]);
            limbs::trim(&mut product);
            for short in [1usize, 2, 100, 1 << 10, 1 << 20, 1 << 24] {
                for primes in PRIMES.filter(|&primes| primes == k + 1) {
                    let Some(plan) = Plan::with(primes, short, short) else { continue };
                    // m·2^(2b), with a limb to spare.
                    let mut largest = vec![0; 2 * plan.bits / 64 + 3];
                    let (at, shift) = (2 * plan.bits / 64, 2 * plan.bits % 64);
                    let m = (digits(short, plan.bits) as u128) << shift;
                    (largest[at], largest[at + 1]) = (m as u64, (m >> 64) as u64);
                    limbs::trim(&mut largest);
                    let bits = |x: &[u64]| 64 * x.len() - x[x.len() - 1].leading_zeros() as usize;
                    assert!(bits(&largest) <= bits(&product), "{plan:?}");
                    let is_less = largest.len() < product.len()
                        || largest.iter().rev().lt(product.iter().rev());
                    assert!(is_less, "{plan:?} for {short} limbs");
                    assert!(bits(&largest) + 3 >= bits(&product), "{plan:?} wastes bits");
                }
            }
        }
    }
}
