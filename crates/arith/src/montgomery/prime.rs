//! Tests whether a modulus is a strong probable prime.

use super::{PrimeField, words};
use crate::field::Field;

/// The first twelve primes.
const BASES: [u64; 12] = [2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Returns whether the modulus p ≥ 3 is one of the first twelve primes, or a strong probable prime
/// to each of these twelve bases b.
///
/// Let p − 1 = d·2^s with odd d. Then p is a strong probable prime to the base b if b^d ≡ 1, or if
/// b^(d·2^i) ≡ −1 mod p for some i < s (Miller 1976, Rabin 1980).
///
/// The arithmetic of `ring` is correct for any odd p, prime or composite.
pub(super) fn is_probable_prime<const L: usize>(ring: &PrimeField<L>) -> bool {
    let p = ring.modulus();
    let odd = words::shifted_right(&words::less(p, 1), ring.two_adicity());
    let (one, minus_one) = (ring.one(), ring.neg(&ring.one()));
    BASES.iter().all(|&base| {
        let element = ring.from_u64(base);
        if element == ring.zero() {
            // p divides the base, which is prime.
            return true;
        }
        let mut x = ring.pow(&element, &odd);
        if x == one || x == minus_one {
            return true;
        }
        (1..ring.two_adicity()).any(|_| {
            x = ring.square(&x);
            x == minus_one
        })
    })
}
