//! Factorials and primorials, from products of primes.

use warpint_arith::sieve;
use warpint_natural::limbs::{shifted_left, trim};
use warpint_natural::product::Multiplier;

use super::tree::product_of_limbs;
use super::{MOST_BITS, product, square};
use crate::IntegerError;

/// Returns n!, by the method of *prime swing* (Luschny 2008, *Divide, swing and conquer the
/// factorial and the lcm{1, 2, …, n}*; for factorials from powers of primes, Borwein 1985, *On the
/// complexity of calculating factorials*, Journal of Algorithms 6, 376–380).
///
/// n! = (⌊n/2⌋!)²·s(n), where s(n) = n!/(⌊n/2⌋!)² is the swinging factorial. The exponent of a prime p
/// in s(n) is Σ_(i ≥ 1) (⌊n/p^i⌋ mod 2), so p to this exponent is at most n. The prime 2 is left out:
/// its exponent in n! is n − k, where k is the number of ones among the bits of n.
///
/// Cost O(M(l)·log l) for a result of l limbs; a sieve to n takes O(n·log log n).
///
/// # Errors
/// [`IntegerError::TooLong`] if n! has more than [`MOST_BITS`] bits.
pub fn factorial(multiplier: &dyn Multiplier, n: u64) -> Result<Vec<u64>, IntegerError> {
    if factorial_bits(n) > MOST_BITS as f64 {
        return Err(IntegerError::TooLong { operation: "a factorial", most: MOST_BITS });
    }
    // The odd part of ⌊n/2^i⌋!, for falling i.
    let mut odd = vec![1];
    for i in (0..64 - n.leading_zeros()).rev() {
        odd = square(multiplier, &odd);
        odd = product(multiplier, &odd, &odd_swing(multiplier, n >> i));
    }
    Ok(shifted_left(&odd, (n - u64::from(n.count_ones())) as usize))
}

/// Returns the odd part of the swinging factorial s(n) = n!/(⌊n/2⌋!)².
fn odd_swing(multiplier: &dyn Multiplier, n: u64) -> Vec<u64> {
    let factors = sieve::primes(n).skip(1).filter_map(|p| {
        let mut factor = 1;
        let mut quotient = n / p;
        while quotient > 0 {
            if quotient % 2 == 1 {
                factor *= p;
            }
            quotient /= p;
        }
        Some(factor).filter(|&factor| factor > 1)
    });
    product_of_limbs(multiplier, &packed(factors))
}

/// Returns n#, the product of all primes up to n.
///
/// Cost O(M(l)·log l) for a result of l limbs; a sieve to n takes O(n·log log n).
///
/// # Errors
/// [`IntegerError::TooLong`] if n# may have more than [`MOST_BITS`] bits.
pub fn primorial(multiplier: &dyn Multiplier, n: u64) -> Result<Vec<u64>, IntegerError> {
    if primorial_bits(n) > MOST_BITS as f64 {
        return Err(IntegerError::TooLong { operation: "a primorial", most: MOST_BITS });
    }
    let mut product = product_of_limbs(multiplier, &packed(sieve::primes(n)));
    trim(&mut product);
    Ok(product)
}

/// Multiplies consecutive factors as long as the product fits in a limb, and returns these products.
fn packed(factors: impl Iterator<Item = u64>) -> Vec<u64> {
    let mut limbs = vec![];
    let mut limb = 1u64;
    for factor in factors {
        match limb.checked_mul(factor) {
            Some(product) => limb = product,
            None => {
                limbs.push(limb);
                limb = factor;
            }
        }
    }
    limbs.push(limb);
    limbs
}

/// Returns an upper bound of the number of bits of n!, by Stirling's formula.
pub(super) fn factorial_bits(n: u64) -> f64 {
    let n = n.max(2) as f64;
    n * (n.log2() - std::f64::consts::LOG2_E) + 0.5 * (n.log2() + 2.7) + 2.0
}

/// Returns an upper bound of the number of bits of n#: Σ ln p < 1.01624·n over the primes p up to n (Rosser and
/// Schoenfeld 1962, *Approximate formulas for some functions of prime numbers*, theorem 9).
pub(super) fn primorial_bits(n: u64) -> f64 {
    1.01624 * n as f64 * std::f64::consts::LOG2_E + 1.0
}
