//! Primes below 2^50 with roots of unity for transforms, as many as are wanted.

use warpint_arith::f50::F50;

/// There are not so many primes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "there are no {wanted} primes from 2^46 to 2^50 with 2^{log2}-th roots of unity: take a shorter transform"
)]
pub struct TooFewPrimes {
    /// How many were asked for.
    pub wanted: usize,
    /// m.
    pub log2: u32,
}

/// 2^LEAST divides p − 1 for all of them, so that transforms of usual lengths have the same primes.
const LEAST: u32 = 24;

/// The largest primes p = c·2^m + 1 below 2^50, m = log2 but at least 24, in descending order: fields with
/// 2^log2-th roots of unity. The first 340 for m = 24 are above 2^50 − 2^38.
///
/// # Errors
/// There are not so many above 2^46.
///
/// Cost: about 17 tests of primality a prime, some ten microseconds.
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
