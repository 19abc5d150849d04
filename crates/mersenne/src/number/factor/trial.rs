//! The search for small prime factors.

use warpint_arith::{primes, sieve};

use super::super::{Number, Sign};

/// Small primes that divide most candidates of a class.
const SMALL: [u64; 11] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37];

/// Implements the search of [`Number::find_factor`] for a prime factor. The result is a proper factor,
/// the smallest of those up to `limit`.
pub(super) fn small_factor(number: Number, limit: u64) -> Option<u64> {
    let itself = number.small();
    let divides = |q: &u64| Some(*q) != itself && number.modulo(*q) == 0;
    sieve::primes(limit.min(sieve::MOST))
        .find(divides)
        .or_else(|| in_class(number, limit / 16).filter(divides))
}

/// Searches for the smallest factor q of b^(2^m) + 1 among the first `most` numbers of the class of
/// its prime factors. Returns `None` for numbers of another form.
///
/// Let q be an odd prime factor. Then b^(2^m) ≡ −1, so the order of b modulo q is 2^(m+1), which
/// divides q − 1. For b = 2 and m ≥ 2, q ≡ 1 mod 8, so 2 is a square modulo q. The order then divides
/// (q − 1)/2, and 2^(m+2) divides q − 1 (Lucas 1878).
fn in_class(number: Number, most: u64) -> Option<u64> {
    let n = number.exponent();
    let is_fermat = number.multiplier() == 1 && number.sign() == Sign::Plus && n.is_power_of_two();
    if !is_fermat || n == 1 {
        return None;
    }
    let m = n.trailing_zeros();
    let step = 1u64 << (m + if number.base() == 2 && m >= 2 { 2 } else { 1 });
    let is_prime_to_small = |q: &u64| SMALL.iter().all(|&s| *q == s || !q.is_multiple_of(s));
    (1..=most)
        .map_while(|j| j.checked_mul(step)?.checked_add(1))
        // A product of two factors below 2^63 is reduced in 128 bits.
        .take_while(|&q| q < 1 << 63)
        .filter(is_prime_to_small)
        .find(|&q| number.modulo(q) == 0 && number.small() != Some(q))
        .map(|q| primes::prime_factors(q).first().copied().unwrap_or(q))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn factors_of_fermat_numbers() {
        let factor =
            |b, m: u32| small_factor(Number::new(1, b, 1 << m, Sign::Plus).unwrap(), 1_000_000);
        // Euler 1732, Landry 1880, Western 1903, Brillhart 1963: F_5, F_6, F_9, F_11, F_12, F_13.
        assert_eq!(factor(2, 5), Some(641));
        assert_eq!(factor(2, 6), Some(274_177));
        assert_eq!(factor(2, 9), Some(2_424_833));
        assert_eq!(factor(2, 11), Some(319_489));
        assert_eq!(factor(2, 12), Some(114_689));
        // 2,710,954,639,361 is factor number 82,731,770 of the class, beyond this search.
        assert_eq!(factor(2, 13), None);
        assert_eq!(factor(2, 23), Some(167_772_161));
        // F_4 = 65537 is prime, and F_7 and F_8 have no small factor.
        assert_eq!(factor(2, 4), None);
        assert_eq!(factor(2, 7), None);
        assert_eq!(factor(2, 8), None);
    }

    #[test]
    fn the_smallest_factor_agrees_with_division() {
        for b in 2u32..12 {
            for k in 1..40u64 {
                for n in 1..8 {
                    for sign in [Sign::Minus, Sign::Plus] {
                        let Ok(number) = Number::new(k, b, n, sign) else { continue };
                        let value = number.small().unwrap();
                        let smallest = (2..1000.min(value)).find(|q| value % q == 0);
                        assert_eq!(small_factor(number, 1000), smallest, "{number}");
                    }
                }
            }
        }
    }
}
