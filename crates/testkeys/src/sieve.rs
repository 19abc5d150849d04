//! A sieve of candidates for primes.

use warpint_natural::limbs::add_assign;
use warpint_natural::primality::SmallPrimes;

/// Odd numbers base + 2i without small prime factors, for 0 ≤ i < `length`.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    base: Vec<u64>,
    length: u32,
    /// The remaining i, descending.
    left: Vec<u32>,
}

impl Candidates {
    /// Sieves `length` odd numbers from `base` on by the primes in `small`, below which `base` must
    /// not be. `base` must be odd.
    pub(crate) fn new(base: Vec<u64>, length: u32, small: &SmallPrimes) -> Self {
        let mut composite = vec![false; length as usize];
        small.residues(&base, |prime, residue| {
            if prime == 2 {
                return;
            }
            // base + 2i ≡ 0 mod p for i ≡ −base/2 mod p, and 1/2 ≡ (p + 1)/2.
            let (prime, negative) = (prime as usize, (prime - residue) as usize);
            let first = negative * prime.div_ceil(2) % prime;
            for multiple in composite.iter_mut().skip(first).step_by(prime) {
                *multiple = true;
            }
        });
        let left = (0..length).rev().filter(|&i| !composite[i as usize]).collect();
        Self { base, length, left }
    }

    /// Removes and returns up to `most` candidates, in ascending order.
    pub(crate) fn take(&mut self, most: usize) -> impl Iterator<Item = Vec<u64>> {
        let from = self.left.len() - most.min(self.left.len());
        let base = &self.base;
        self.left.drain(from..).rev().map(move |i| plus(base, 2 * u64::from(i)))
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.left.is_empty()
    }

    /// Returns the first odd number after the sieved ones.
    pub(crate) fn end(&self) -> Vec<u64> {
        plus(&self.base, 2 * u64::from(self.length))
    }
}

/// Returns a + b, which must not have more limbs than a.
pub(crate) fn plus(a: &[u64], b: u64) -> Vec<u64> {
    let mut sum = a.to_vec();
    add_assign(&mut sum, &[b]);
    sum
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_are_the_numbers_without_small_factors() {
        for bound in [3, 5, 53, 1000] {
            let small = SmallPrimes::below(bound);
            for base in [1_000_001u64, 1_000_003, 1_022_117, 3_000_000_001, (1 << 62) - 1] {
                for length in [1, 2, 100, 3000] {
                    let mut candidates = Candidates::new(vec![base], length, &small);
                    let expected: Vec<Vec<u64>> = (0..u64::from(length))
                        .map(|i| vec![base + 2 * i])
                        .filter(|n| small.factor(n).is_none())
                        .collect();
                    assert_eq!(candidates.end(), [base + 2 * u64::from(length)]);
                    let mut found = vec![];
                    while !candidates.is_empty() {
                        let some: Vec<Vec<u64>> = candidates.take(7).collect();
                        assert!(!some.is_empty() && some.len() <= 7);
                        found.extend(some);
                    }
                    assert_eq!(found, expected, "{bound} {base} {length}");
                }
            }
        }
    }
}
