//! Upper bounds of the memory that operations need, in bytes.
//!
//! Each function states the memory in addition to the operands; the result is included. The memory of
//! products is that of [`Multiplier::working_memory`].

use warpint_natural::product::Multiplier;

/// Returns the number of bytes of a number of n limbs.
fn limbs(n: usize) -> u64 {
    8 * n as u64
}

/// Returns the memory of a product of factors of `a` and `b` limbs.
#[must_use]
pub fn product(multiplier: &dyn Multiplier, a: usize, b: usize) -> u64 {
    limbs(a + b) + multiplier.working_memory(a, b)
}

/// Returns the memory of a division of a number of `a` limbs by a number of `b` limbs: the shifted
/// operands, quotient and remainder, a reciprocal, and a product of a block.
#[must_use]
pub fn division(multiplier: &dyn Multiplier, a: usize, b: usize) -> u64 {
    let block = a.saturating_sub(b).min(b);
    limbs(2 * a + 3 * b + 2 * block) + product(multiplier, block, b)
}

/// Returns the memory of a square root of a number of `a` limbs with its remainder.
#[must_use]
pub fn square_root(multiplier: &dyn Multiplier, a: usize) -> u64 {
    let half = a.div_ceil(2);
    let last = division(multiplier, half, half.div_ceil(2));
    limbs(2 * a + 3 * half) + last.max(product(multiplier, half, half))
}

/// Returns the memory of a greatest common divisor of numbers of `a` and `b` limbs: the division of the
/// longer one, then half-gcds of numbers as long as the shorter one.
#[must_use]
pub fn gcd(multiplier: &dyn Multiplier, a: usize, b: usize) -> u64 {
    let n = a.min(b);
    let half_gcd = limbs(12 * n) + product(multiplier, n, n);
    division(multiplier, a.max(b), n).max(half_gcd)
}

/// Returns the memory of a power of `result` limbs.
#[must_use]
pub fn power(multiplier: &dyn Multiplier, result: usize) -> u64 {
    let half = result.div_ceil(2) + 1;
    limbs(result + half) + product(multiplier, half, half)
}

/// Returns the memory of a product tree of which only the last two levels are kept, with a root of
/// `result` limbs.
#[must_use]
pub fn product_tree(multiplier: &dyn Multiplier, result: usize) -> u64 {
    let half = result.div_ceil(2) + 1;
    limbs(2 * result) + product(multiplier, half, half)
}

/// Returns an upper bound of the limbs of n!.
#[must_use]
pub fn factorial_limbs(n: u64) -> usize {
    (super::factorial::factorial_bits(n) / 64.0) as usize + 1
}

/// Returns an upper bound of the limbs of n#.
#[must_use]
pub fn primorial_limbs(n: u64) -> usize {
    (super::factorial::primorial_bits(n) / 64.0) as usize + 1
}

/// Returns the memory of a factorial or a primorial of `result` limbs: the product of the last two
/// factors, and the sieve to n.
#[must_use]
pub fn primes_product(multiplier: &dyn Multiplier, result: usize, n: u64) -> u64 {
    let base = 8 * n.isqrt();
    limbs(2 * result) + product_tree(multiplier, result) + base + (1 << 16)
}

/// Returns the memory to convert decimal digits to a number of `result` limbs: the groups of digits,
/// the numbers of two levels and the powers of ten, and products on all threads at the same time.
#[must_use]
pub fn from_decimal(multiplier: &dyn Multiplier, result: usize) -> u64 {
    let half = result.div_ceil(2) + 1;
    limbs(7 * result) + product(multiplier, half, half)
}

/// Returns the memory to convert a number of `a` limbs to decimal digits: the digits in groups and as
/// characters, the powers of ten, and a division by one of them.
#[must_use]
pub fn to_decimal(multiplier: &dyn Multiplier, a: usize) -> u64 {
    decimal_digits(a) + limbs(5 * a) + division(multiplier, 2 * a, a)
}

/// Returns an upper bound of the decimal digits of a number of `a` limbs.
#[must_use]
pub fn decimal_digits(a: usize) -> u64 {
    (a as u128 * 1927 / 100 + 20) as u64
}
