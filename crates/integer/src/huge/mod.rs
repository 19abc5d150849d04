//! Operations on single natural numbers of any length, with the products of any
//! [`Multiplier`].
//!
//! A number is a little-endian slice of limbs of 64 bits: x = Σ x_i·2^(64·i). Operands may have
//! leading zero limbs; results have none. The number 0 has no limbs.
//!
//! | function | result |
//! |---|---|
//! | [`product`], [`square`] | a·b, a² |
//! | [`low_product`], [`high_product`], [`middle_product`] | the lowest, the highest, or any adjacent limbs of a·b |
//! | [`div_rem`] | ⌊a/b⌋ and a mod b |
//! | [`div_exact`] | a/b, if b divides a |
//! | [`Prepared`] | many quotients and remainders by one number, whose reciprocal it keeps |
//! | [`sqrt_rem`] | ⌊√a⌋ and a − ⌊√a⌋² |
//! | [`gcd`] | the greatest common divisor of a and b |
//! | [`power`] | a^e |
//! | [`factorial`] | n! |
//! | [`primorial`] | the product of all primes up to n |
//! | [`product_of`], [`product_of_limbs`] | the product of many numbers |
//! | [`ProductTree`] | the product of many numbers, and the remainders of a number modulo each |
//! | [`to_decimal`], [`from_decimal`] | decimal digits and back |
//! | [`to_hex`], [`from_hex`] | hexadecimal digits and back |
//! | [`Residues`] | a number modulo five primes, to check results |
//! | [`Metered`], [`work`], [`memory`] | progress, and estimates of work and memory |
//! | [`stoppable`] | a computation that ends early on request |
//! | [`available_memory`] | the memory that this process may still take |
//! | [`device`] | products, division and decimal digits on a GPU, as a multiplier and in its memory |
//!
//! In estimates of costs, M(n) is the time of a product of two numbers of n limbs.
//!
//! The multiplier decides where products are computed. On the CPU it is
//! [`TransformMultiplier`](warpint_natural::product::TransformMultiplier) with all threads, on a GPU
//! [`DeviceMultiplier`](device::DeviceMultiplier). The
//! algorithms are those of [`warpint_natural`].

pub mod device;
mod digits;
mod factorial;
mod host;
pub mod memory;
mod metered;
mod parts;
mod power;
mod residues;
mod stop;
mod tree;
pub mod work;

#[cfg(test)]
mod tests;

pub use digits::{from_decimal, from_hex, to_decimal, to_hex};
pub use factorial::{factorial, primorial};
pub use host::available_memory;
pub use metered::Metered;
pub use parts::{high_product, low_product, middle_product};
pub use power::power;
pub use residues::{PRIMES, Residues};
pub use stop::{Stopped, stoppable};
pub use tree::{ProductTree, product_of, product_of_limbs};
pub use warpint_natural::division::Prepared;

use warpint_natural::division::div_rem_by;
use warpint_natural::limbs::{compare, trim, trimmed};
use warpint_natural::product::Multiplier;
use warpint_natural::{euclid, root};

use crate::IntegerError;

/// The largest number of bits of a result. It is far above the memory of any machine, and keeps the
/// sizes of results far below the limits of 64-bit integers.
pub const MOST_BITS: u64 = 1 << 48;

/// Returns a·b. If both slices are the same, the square is computed, which is faster.
///
/// Cost M(n) for factors of n limbs.
#[must_use]
pub fn product(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = multiplier.mul(a, b);
    trim(&mut product);
    product
}

/// Returns a². Cost: about two thirds of that of [`product`].
#[must_use]
pub fn square(multiplier: &dyn Multiplier, a: &[u64]) -> Vec<u64> {
    product(multiplier, a, a)
}

/// Returns ⌊a/b⌋ and a mod b.
///
/// If quotient and divisor have n limbs, the cost is about 3.75·M(n). The lengths may differ by any
/// amount: a long dividend is divided block by block with one reciprocal of the divisor.
///
/// # Errors
/// [`IntegerError::ZeroDivisor`] if b = 0.
pub fn div_rem(
    multiplier: &dyn Multiplier,
    a: &[u64],
    b: &[u64],
) -> Result<(Vec<u64>, Vec<u64>), IntegerError> {
    if trimmed(b).is_empty() {
        return Err(IntegerError::ZeroDivisor);
    }
    Ok(div_rem_by(multiplier, a, b))
}

/// Returns a/b, if b divides a.
///
/// Cost: that of [`div_rem`], whose remainder shows whether b divides a. A division from the lowest
/// limb up (Jebelean 1993) takes only the lowest limbs of both numbers. If the quotient and b have n
/// limbs, it costs about 3·M(n) with whole products, but the proof that b divides a takes one more
/// product, so that it is slower than 3.75·M(n) in all.
///
/// # Errors
/// [`IntegerError::ZeroDivisor`] if b = 0, and [`IntegerError::Inexact`] if b does not divide a.
pub fn div_exact(
    multiplier: &dyn Multiplier,
    a: &[u64],
    b: &[u64],
) -> Result<Vec<u64>, IntegerError> {
    let (quotient, rest) = div_rem(multiplier, a, b)?;
    if rest.is_empty() { Ok(quotient) } else { Err(IntegerError::Inexact) }
}

/// Returns s = ⌊√a⌋ and a − s², which is at most 2s.
///
/// Cost: at most about 3·M(n) for a of n limbs.
#[must_use]
pub fn sqrt_rem(multiplier: &dyn Multiplier, a: &[u64]) -> (Vec<u64>, Vec<u64>) {
    root::sqrt_rem_by(multiplier, a)
}

/// Returns gcd(a, b), where gcd(a, 0) = a.
///
/// The longer number is first reduced modulo the shorter one. Then half-gcds reduce both (Möller
/// 2008). Cost O(M(n)·log n) if the shorter number has n limbs, and the cost of one division.
#[must_use]
pub fn gcd(multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> Vec<u64> {
    let (a, b) = (trimmed(a), trimmed(b));
    let (long, short) = if compare(a, b).is_ge() { (a, b) } else { (b, a) };
    if short.is_empty() {
        return long.to_vec();
    }
    let rest = div_rem_by(multiplier, long, short).1;
    // It is not cancelled.
    euclid::gcd(short, &rest, multiplier, &|| false).unwrap_or_default()
}
