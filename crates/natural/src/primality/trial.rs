//! Trial division by all primes below a bound. The primes are grouped: the product of a group fits
//! in a limb, so one pass over the limbs of a number serves the whole group.

use warpint_arith::primes::primes_between;

use crate::division::OneLimb;

/// All primes below a bound, with precomputed reciprocals.
#[derive(Debug, Clone)]
pub struct SmallPrimes {
    bound: u32,
    groups: Vec<Group>,
}

/// Primes whose product fits in a limb.
#[derive(Debug, Clone)]
struct Group {
    primes: Vec<u32>,
    product: u64,
    /// The product, shifted to the left until its top bit is set. A remainder modulo this number,
    /// taken modulo the product, is a remainder modulo the product.
    shifted: OneLimb,
}

impl Group {
    fn new(primes: Vec<u32>, product: u64) -> Self {
        Self { primes, product, shifted: OneLimb::new(product << product.leading_zeros()) }
    }

    fn residue(&self, n: &[u64]) -> u64 {
        n.iter().rev().fold(0, |rest, &limb| self.shifted.div_rem(rest, limb).1) % self.product
    }
}

impl SmallPrimes {
    /// Finds the primes below `bound`. Cost: a primality test of each integer below `bound`.
    #[must_use]
    pub fn below(bound: u32) -> Self {
        let (mut groups, mut primes, mut product) = (vec![], vec![], 1u64);
        let all = primes_between(2, u64::from(bound.max(1)) - 1);
        for prime in all {
            match product.checked_mul(prime) {
                Some(more) => product = more,
                None => {
                    groups.push(Group::new(std::mem::take(&mut primes), product));
                    product = prime;
                }
            }
            // Below the bound, which is a u32.
            primes.push(prime as u32);
        }
        if !primes.is_empty() {
            groups.push(Group::new(primes, product));
        }
        Self { bound, groups }
    }

    /// Returns the bound: all primes below it are tried.
    #[must_use]
    pub fn bound(&self) -> u32 {
        self.bound
    }

    /// Calls `each` with every prime p and n mod p, in ascending order of p. Cost for n of l limbs:
    /// O(l) limb products for each group of primes whose product fits in a limb.
    pub fn residues(&self, n: &[u64], mut each: impl FnMut(u32, u32)) {
        for group in &self.groups {
            let residue = group.residue(n);
            for &prime in &group.primes {
                // Below the prime, which is a u32.
                each(prime, (residue % u64::from(prime)) as u32);
            }
        }
    }

    /// Returns the smallest prime below the bound that divides n. Returns `None` if there is none.
    /// Every prime divides n = 0. Costs as much as [`Self::residues`], or less if there is a
    /// factor.
    #[must_use]
    pub fn factor(&self, n: &[u64]) -> Option<u32> {
        self.groups.iter().find_map(|group| {
            let residue = group.residue(n);
            group.primes.iter().copied().find(|&prime| residue.is_multiple_of(u64::from(prime)))
        })
    }
}
