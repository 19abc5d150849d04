//! A sieve of candidates for primes.

use warpint_natural::limbs::add_assign;
use warpint_natural::primality::SmallPrimes;

/// The odd numbers are sieved in this number of parts, each when it is needed. With 4 odd numbers for each
/// bit, 19 of 20 searches for a prime end in the first part.
const PARTS: u32 = 4;

/// Odd numbers base + 2i without small prime factors, for 0 ≤ i < `length`.
#[derive(Debug, Clone)]
pub(crate) struct Candidates {
    base: Vec<u64>,
    length: u32,
    /// All i below have been sieved.
    sieved: u32,
    /// The remaining i below `sieved`, descending.
    left: Vec<u32>,
}

impl Candidates {
    /// Sieves `length` odd numbers from `base` on by the primes in `small`, below which `base` must
    /// not be. `base` must be odd.
    pub(crate) fn new(base: Vec<u64>, length: u32, small: &SmallPrimes) -> Self {
        let mut candidates = Self { base, length, sieved: 0, left: vec![] };
        candidates.sieve(small);
        candidates
    }

    /// Sieves the next part.
    fn sieve(&mut self, small: &SmallPrimes) {
        let from = self.sieved;
        let part = self.length.div_ceil(PARTS).min(self.length - from);
        let mut composite = vec![false; part as usize];
        small.residues(&plus(&self.base, 2 * u64::from(from)), |prime, residue| {
            if prime == 2 {
                return;
            }
            // The part begins with b. b + 2i ≡ 0 mod p for i ≡ −b/2 mod p. If p − b mod p is odd, p is added
            // to make it even.
            let negative = if residue == 0 { 0 } else { prime - residue };
            let mut i = (negative / 2 + if negative % 2 == 1 { prime / 2 + 1 } else { 0 }) as usize;
            while let Some(multiple) = composite.get_mut(i) {
                *multiple = true;
                i += prime as usize;
            }
        });
        self.sieved = from + part;
        self.left = (0..part).rev().filter(|&i| !composite[i as usize]).map(|i| from + i).collect();
    }

    /// Removes the least candidate and stores its lowest limbs of 32 bits in `to`. Returns `false` if no
    /// candidate is left. `small` must be as for [`Self::new`].
    pub(crate) fn next(&mut self, small: &SmallPrimes, to: &mut [u32]) -> bool {
        loop {
            if let Some(i) = self.left.pop() {
                let mut carry = 2 * u64::from(i);
                for (to, &limb) in to.chunks_mut(2).zip(&self.base) {
                    let (sum, over) = limb.overflowing_add(carry);
                    carry = u64::from(over);
                    to.iter_mut().zip([sum as u32, (sum >> 32) as u32]).for_each(|(to, x)| *to = x);
                }
                return true;
            }
            if self.sieved == self.length {
                return false;
            }
            self.sieve(small);
        }
    }

    /// Returns the first odd number after those that [`Self::new`] was given to sieve.
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
                for length in [1, 2, 3, 5, 100, 3000, 3001] {
                    let mut candidates = Candidates::new(vec![base], length, &small);
                    let expected: Vec<u64> = (0..u64::from(length))
                        .map(|i| base + 2 * i)
                        .filter(|&n| small.factor(&[n]).is_none())
                        .collect();
                    assert_eq!(candidates.end(), [base + 2 * u64::from(length)]);
                    let (mut found, mut to) = (vec![], [0; 2]);
                    while candidates.next(&small, &mut to) {
                        found.push(u64::from(to[0]) | u64::from(to[1]) << 32);
                    }
                    assert_eq!(found, expected, "{bound} {base} {length}");
                }
            }
        }
    }

    #[test]
    fn a_candidate_has_carries_and_any_number_of_limbs() {
        let small = SmallPrimes::below(3);
        let base = vec![u64::MAX, u64::MAX, 5];
        let mut candidates = Candidates::new(base, 3, &small);
        let (mut to, mut longer) = ([9; 5], [9; 6]);
        assert!(candidates.next(&small, &mut to));
        assert_eq!(to, [u32::MAX, u32::MAX, u32::MAX, u32::MAX, 5]);
        assert!(candidates.next(&small, &mut longer));
        assert_eq!(longer, [1, 0, 0, 0, 6, 0]);
        assert!(candidates.next(&small, &mut to));
        assert_eq!(to, [3, 0, 0, 0, 6]);
        assert!(!candidates.next(&small, &mut to));
    }
}
