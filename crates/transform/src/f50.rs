//! Primes below 2^50 with roots of unity for transforms.

use warpint_arith::f50::F50;

/// The error that fewer primes exist than requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "fewer than {wanted} primes from 2^46 to 2^50 have 2^{log2}-th roots of unity: use a shorter transform"
)]
pub struct TooFewPrimes {
    /// The number of primes requested.
    pub wanted: usize,
    /// The exponent m of the order 2^m of the roots of unity.
    pub log2: u32,
}

/// 2^LEAST divides p − 1 for every prime p returned, so that transforms of usual lengths use the
/// same primes.
const LEAST: u32 = 24;

/// Returns the fields of the `count` largest primes p = c·2^m + 1 below 2^50, in descending order,
/// where m is the larger of log2 and 24. They have 2^log2-th roots of unity. The first 340 for m =
/// 24 are above 2^50 − 2^38.
///
/// Cost: about 17 primality tests per prime, some ten microseconds.
///
/// # Errors
/// Fewer than `count` such primes are above 2^46.
pub fn primes(count: usize, log2: u32) -> Result<Vec<F50>, TooFewPrimes> {
    let m = log2.max(LEAST);
    let factors = if m < 50 { 1u64 << (50 - m) } else { 1 };
    let least = if m < 46 { 1u64 << (46 - m) } else { 1 };
    let found: Vec<F50> =
        (least..factors).rev().filter_map(|c| F50::new((c << m) + 1).ok()).take(count).collect();
    if found.len() < count { Err(TooFewPrimes { wanted: count, log2 }) } else { Ok(found) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn primes_are_distinct_and_have_roots() {
        let found = primes(340, 24).unwrap();
        assert!(found.windows(2).all(|pair| pair[0].modulus() > pair[1].modulus()));
        assert!(found[339].modulus() > (1 << 50) - (1 << 38));
        assert!(found.iter().all(|field| field.root_of_unity(24).is_some()));
        assert_eq!(primes(5, 3).unwrap(), found[..5]);
        assert!(primes(2, 30).unwrap().iter().all(|field| field.root_of_unity(30).is_some()));
    }

    #[test]
    fn there_are_not_always_enough() {
        assert_eq!(primes(1, 50), Err(TooFewPrimes { wanted: 1, log2: 50 }));
        assert_eq!(primes(1000, 44), Err(TooFewPrimes { wanted: 1000, log2: 44 }));
        assert_eq!(primes(1, 63), Err(TooFewPrimes { wanted: 1, log2: 63 }));
        assert_eq!(primes(0, 64), Ok(vec![]));
    }
}
