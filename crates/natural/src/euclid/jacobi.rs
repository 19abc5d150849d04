//! The Jacobi symbol by half-gcds.

use super::half_gcd::{Cancelled, Context, reduce_by_top};
use super::lehmer::Quotients;
use super::pair::Pair;
use super::symbol::Symbol;
use crate::limbs::trimmed;
use crate::product::Multiplier;

/// The smallest number of limbs of the longer number for which half-gcds are used.
const HALF_GCD_FROM: usize = 600;

/// Returns the Jacobi symbol (a | b) for odd b: 1, −1, or 0 if a and b have a common factor.
/// Returns `None` if `cancel` returns true. The function `cancel` is called before each step and
/// before each half-gcd.
///
/// The method is Euclid's algorithm by half-gcds (see the source of `half_gcd`). Each quotient
/// updates the sign of the symbol. The cost is O(M(n)·log n) for n limbs, where M(n) is the cost of
/// a product of n limbs by `multiplier`. The memory is about 10·n limbs, plus the memory of the
/// multiplier.
///
/// # Panics
/// Panics if b is even.
#[must_use]
pub fn jacobi(
    a: &[u64],
    b: &[u64],
    multiplier: &dyn Multiplier,
    cancel: &dyn Fn() -> bool,
) -> Option<i8> {
    let (a, b) = (trimmed(a), trimmed(b));
    assert!(b.first().is_some_and(|low| low % 2 == 1), "the lower number must be odd");
    if a.is_empty() {
        return Some(i8::from(b == [1]));
    }
    let mut symbol = Symbol::new(a, b);
    let gcd = euclid(a, b, &mut symbol, &Context { multiplier, cancel }).ok()?;
    Some(if gcd == [1] { symbol.of_units() } else { 0 })
}

/// Returns gcd(a, b) for positive a and b. The smaller number is subtracted from the larger one
/// until both are equal. Updates `symbol` with every quotient.
fn euclid(
    a: &[u64],
    b: &[u64],
    symbol: &mut Symbol,
    context: &Context,
) -> Result<Vec<u64>, Cancelled> {
    let mut pair = Pair { a: a.to_vec(), b: b.to_vec() };
    while pair.longest() > 2 {
        if (context.cancel)() {
            return Err(Cancelled);
        }
        let n = pair.longest();
        // A half-gcd of the top third removes a sixth of the limbs. No product of matrices is kept.
        // So this is faster than a half-gcd of the top half, whose matrix is more expensive to
        // apply.
        if n >= HALF_GCD_FROM && reduce_by_top(&mut pair, 2 * n / 3, symbol, context)?.is_some() {
            continue;
        }
        if !pair.step(0, symbol, None, context.multiplier) {
            return Ok(pair.a);
        }
    }
    let word =
        |x: &[u64]| x.iter().rev().fold(0u128, |value, &limb| value << 64 | u128::from(limb));
    let gcd = gcd_128(word(&pair.a), word(&pair.b), symbol);
    Ok([gcd as u64, (gcd >> 64) as u64][..if gcd >> 64 == 0 { 1 } else { 2 }].to_vec())
}

/// Returns gcd(a, b) for positive a and b of up to 128 bits. Multiples of the smaller number are
/// subtracted from the larger one until both are equal. Updates `symbol` with every quotient.
fn gcd_128(mut a: u128, mut b: u128, symbol: &mut Symbol) -> u128 {
    loop {
        // The quotient may exceed 64 bits, but only its two lowest bits matter to `symbol`.
        let (q, rest) = if a >= b { last_but_one(a, b) } else { last_but_one(b, a) };
        if q == 0 {
            return a;
        }
        if a >= b {
            a = rest;
            symbol.reduce_a(q as u64);
        } else {
            b = rest;
            symbol.reduce_b(q as u64);
        }
    }
}

/// Returns the largest q with x − q·y ≥ 1, and the difference x − q·y, for x ≥ y ≥ 1.
fn last_but_one(x: u128, y: u128) -> (u128, u128) {
    let (q, rest) = (x / y, x % y);
    if rest == 0 { (q - 1, y) } else { (q, rest) }
}
