//! Small prime factors.

use std::sync::LazyLock;

use warpint_natural::limbs::{div_rem_small, trim};

use super::primes_below;
use super::residue::Divisor;

/// Prime factors below this number are small.
pub const SMALL_BELOW: u64 = 10_000;

/// The primes below [`SMALL_BELOW`] in groups, with the product of each group, which is below 2^64.
static GROUPS: LazyLock<Vec<(Divisor, Vec<u64>)>> = LazyLock::new(|| {
    let mut groups: Vec<(u64, Vec<u64>)> = vec![];
    for prime in primes_below(SMALL_BELOW as usize) {
        match groups.last_mut().and_then(|(p, some)| Some((p.checked_mul(prime)?, p, some))) {
            Some((product, place, some)) => {
                *place = product;
                some.push(prime);
            }
            None => groups.push((prime, vec![prime])),
        }
    }
    groups.into_iter().map(|(product, primes)| (Divisor::new(product), primes)).collect()
});

/// Returns the least prime factor of n that is below [`SMALL_BELOW`], if there is one and n is not
/// itself this prime. n must be above 1.
///
/// The method computes n modulo products of several primes. Cost: about 280·w divisions of two
/// limbs by one, for n of w limbs.
#[must_use]
pub fn small_factor(n: &[u64]) -> Option<u64> {
    let factor = GROUPS.iter().find_map(|(product, primes)| {
        let residue = product.residue(n);
        primes.iter().copied().find(|prime| residue % prime == 0)
    });
    factor.filter(|&prime| n != [prime])
}

/// Returns n divided by all its prime factors below [`SMALL_BELOW`], without leading zero limbs.
#[must_use]
pub fn without_small_factors(n: &[u64]) -> Vec<u64> {
    let mut rest = n.to_vec();
    for (product, primes) in GROUPS.iter() {
        let residue = product.residue(&rest);
        for &prime in primes.iter().filter(|&prime| residue % prime == 0) {
            let mut quotient = rest.clone();
            while div_rem_small(&mut quotient, prime) == 0 && !rest.is_empty() {
                trim(&mut quotient);
                rest.clone_from(&quotient);
            }
        }
    }
    rest
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
