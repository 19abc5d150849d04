//! Primes below 2^50 with roots of unity for transforms.

use warpint_arith::f50::F50;

/// The error that there are fewer suitable primes between 2^46 and 2^50 than requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "fewer than {wanted} primes from 2^46 to 2^50 have 2^{log2}-th roots of unity: use a shorter transform"
)]
pub struct TooFewPrimes {
    /// The number of primes requested.
    pub wanted: usize,
    /// The base-2 logarithm of the order of the requested roots of unity.
    pub log2: u32,
}

/// The smallest exponent m for which [`primes`] returns primes c·2^m + 1. [`primes`] uses this
/// exponent for shorter transforms too, so all transforms of up to 2^24 points use the same primes.
const LEAST: u32 = 24;

/// Returns the fields Z/pZ for the `count` largest primes p = c·2^m + 1 below 2^50, where m is the
/// larger of `log2` and 24. The primes are in descending order. The fields have roots of unity of
/// order 2^log2. For m = 24, the 340 largest of these primes are above 2^50 − 2^38.
///
/// Cost: about 17 primality tests, or ten microseconds, for each prime.
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

/// The product of the primes' powers that divides p − 1 for the primes p of
/// [`primes_for_all_lengths`].
const ALL_LENGTHS: u64 = 15 << 31;

/// Returns the fields Z/pZ for the `count` largest primes p = c·15·2^31 + 1 below 2^50, in descending
/// order. They have roots of unity of the order of every transform of
/// [`Ntt50`](crate::gpu::f50::Ntt50), 2^k, 3·2^k and 5·2^k up to 2^30, and of twice this order for
/// negacyclic convolutions. There are 3,655 such primes from 2^46 to 2^50.
///
/// # Errors
/// Fewer than `count` such primes are above 2^46.
pub fn primes_for_all_lengths(count: usize) -> Result<Vec<F50>, TooFewPrimes> {
    let multiples = ((1 << 46) / ALL_LENGTHS..(1 << 50) / ALL_LENGTHS + 1).rev();
    let fields = multiples.filter_map(|c| F50::new(c * ALL_LENGTHS + 1).ok());
    let found: Vec<F50> = fields.take(count).collect();
    if found.len() < count { Err(TooFewPrimes { wanted: count, log2: 31 }) } else { Ok(found) }
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
    fn primes_with_roots_of_every_length() {
        let found = primes_for_all_lengths(4).unwrap();
        assert!(found.windows(2).all(|pair| pair[0].modulus() > pair[1].modulus()));
        for field in &found {
            let orders = [1u64 << 31, 3 << 30, 5 << 29];
            assert!(orders.iter().all(|&n| field.root_of_order(n).is_some()));
        }
        assert_eq!(primes_for_all_lengths(3655).unwrap().len(), 3655);
        let error = TooFewPrimes { wanted: 3656, log2: 31 };
        assert_eq!(primes_for_all_lengths(3656), Err(error));
    }

    #[test]
    fn there_are_not_always_enough() {
        assert_eq!(primes(1, 50), Err(TooFewPrimes { wanted: 1, log2: 50 }));
        assert_eq!(primes(1000, 44), Err(TooFewPrimes { wanted: 1000, log2: 44 }));
        assert_eq!(primes(1, 63), Err(TooFewPrimes { wanted: 1, log2: 63 }));
        assert_eq!(primes(0, 64), Ok(vec![]));
    }
}
