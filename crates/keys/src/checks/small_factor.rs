//! Small prime factors.

use std::sync::LazyLock;

use warpint_natural::limbs::{div_rem_small, trim};

use super::residue::{Divisor, inverse};
use super::{grouped, primes_below};

/// Prime factors below this number are small.
pub const SMALL_BELOW: u64 = 10_000;

/// The odd primes below [`SMALL_BELOW`] in groups, with the product of each group, which is below
/// 2^58.
static GROUPS: LazyLock<Vec<(Divisor, Vec<Prime>)>> = LazyLock::new(|| {
    let primes = primes_below(SMALL_BELOW as usize).into_iter().skip(1).map(Prime::new);
    let groups = grouped(primes, |prime| prime.p);
    groups.into_iter().map(|(product, primes)| (Divisor::new(product), primes)).collect()
});

/// An odd prime p, with numbers for tests of divisibility by p.
#[derive(Debug)]
struct Prime {
    p: u64,
    /// p^(−1) mod 2^64.
    inverse: u64,
    /// ⌊(2^64 − 1)/p⌋.
    most: u64,
}

impl Prime {
    fn new(p: u64) -> Self {
        Self { p, inverse: inverse(p), most: u64::MAX / p }
    }

    /// Returns whether p divides x (Granlund and Montgomery 1994, *Division by invariant integers
    /// using multiplication*, PLDI, §9). The map x ↦ x·p^(−1) is a permutation modulo 2^64, which takes
    /// the multiples of p to the numbers 0 to ⌊(2^64 − 1)/p⌋.
    fn divides(&self, x: u64) -> bool {
        x.wrapping_mul(self.inverse) <= self.most
    }
}

/// Returns the least prime factor of n that is below [`SMALL_BELOW`], if there is one and n is not
/// itself this prime. n must be above 1.
///
/// The method computes n modulo products of several primes. Cost: about 280 residues modulo one
/// limb, and a product of one limb for each prime.
#[must_use]
pub fn small_factor(n: &[u64]) -> Option<u64> {
    let odd = || {
        GROUPS.iter().find_map(|(product, primes)| {
            let residue = product.residue(n);
            primes.iter().find(|prime| prime.divides(residue)).map(|prime| prime.p)
        })
    };
    let factor = if is_even(n) { Some(2) } else { odd() };
    factor.filter(|&prime| n != [prime])
}

fn is_even(n: &[u64]) -> bool {
    n.first().is_none_or(|low| low % 2 == 0)
}

/// Returns n divided by all its prime factors below [`SMALL_BELOW`], without leading zero limbs.
#[must_use]
pub fn without_small_factors(n: &[u64]) -> Vec<u64> {
    let mut rest = n.to_vec();
    if is_even(&rest) {
        divide_while_divisible(&mut rest, 2);
    }
    for (product, primes) in GROUPS.iter() {
        let residue = product.residue(&rest);
        for prime in primes.iter().filter(|prime| prime.divides(residue)) {
            divide_while_divisible(&mut rest, prime.p);
        }
    }
    rest
}

/// Divides n by the prime as long as it divides n.
fn divide_while_divisible(n: &mut Vec<u64>, prime: u64) {
    let mut quotient = n.clone();
    while div_rem_small(&mut quotient, prime) == 0 && !n.is_empty() {
        trim(&mut quotient);
        n.clone_from(&quotient);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::{mul, trimmed};

    /// Compares with trial division, for all numbers below 20,000, and for products with 2^127 − 1,
    /// which is a prime.
    #[test]
    fn small_factors_are_those_of_trial_division() {
        let mersenne = [u64::MAX, u64::MAX >> 1];
        assert_eq!(small_factor(&mersenne), None);
        for n in 2..20_000u64 {
            let least = (2..SMALL_BELOW.min(n)).find(|d| n % d == 0);
            assert_eq!(small_factor(&[n]), least, "{n}");
            let product = mul(&mersenne, &[n]);
            let least = (2..SMALL_BELOW.min(n + 1)).find(|d| n % d == 0);
            assert_eq!(small_factor(trimmed(&product)), least, "{n}·(2^127 − 1)");
        }
    }

    #[test]
    fn divisibility_is_that_of_division() {
        for prime in GROUPS.iter().flat_map(|(_, primes)| primes) {
            let p = prime.p;
            let last = u64::MAX / p * p;
            for x in (0..3 * p).chain(last - p..=last).chain([u64::MAX, u64::MAX - 1, 1 << 63]) {
                assert_eq!(prime.divides(x), x % p == 0, "{x} by {p}");
            }
        }
    }

    #[test]
    fn cofactors_have_no_small_factors() {
        let mersenne = [u64::MAX, u64::MAX >> 1];
        for small in [1, 2, 4096, 9973, 9973 * 9973, 2 * 3 * 5 * 7 * 11 * 13 * 17] {
            assert_eq!(without_small_factors(trimmed(&mul(&mersenne, &[small]))), mersenne);
            assert_eq!(without_small_factors(&[small]), [1]);
        }
        // 10,007 is the least prime that is not small.
        assert_eq!(without_small_factors(&[2 * 10_007]), [10_007]);
    }
}
