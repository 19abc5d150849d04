//! Decimal and hexadecimal digits of numbers of any length.

use warpint_natural::limbs::{trim, trimmed};
use warpint_natural::product::Multiplier;
use warpint_natural::radix::{decimal, hex};

/// Returns the decimal digits of a, the highest first, without leading zeros. The number 0 becomes
/// `0`.
///
/// Cost O(M(n)·log n) for n limbs. Short parts of the number are distributed over the threads of
/// rayon's current pool.
#[must_use]
pub fn to_decimal(multiplier: &dyn Multiplier, a: &[u64]) -> Vec<u8> {
    decimal::format_by(multiplier, a)
}

/// Returns the number with the given decimal digits, the highest first. Other characters than `0` to
/// `9` give a wrong result or, in debug builds, a panic.
///
/// Cost O(M(n)·log n) for n limbs.
#[must_use]
pub fn from_decimal(multiplier: &dyn Multiplier, digits: &[u8]) -> Vec<u64> {
    decimal::parse_by(multiplier, digits)
}

/// Returns the hexadecimal digits of a in lower case, the highest first, without leading zeros. The
/// number 0 becomes `0`. Cost O(n).
#[must_use]
pub fn to_hex(a: &[u64]) -> Vec<u8> {
    hex::format(trimmed(a)).into_bytes()
}

/// Returns the number with the given hexadecimal digits, in lower or upper case, the highest first.
/// Other characters count as 0. Cost O(n).
#[must_use]
pub fn from_hex(digits: &[u8]) -> Vec<u64> {
    let mut number = hex::parse(digits);
    trim(&mut number);
    number
}
