//! The Jacobi symbol and the greatest common divisor of large numbers.
//!
//! | file | subject |
//! |---|---|
//! | `binary` | the slow, obvious symbol |
//! | `symbol` | its sign through Euclid's algorithm |
//! | `lehmer` | steps on the top 128 bits |
//! | `matrix`, `pair` | the matrices and the numbers of Euclid's algorithm |
//! | `half_gcd` | half of the algorithm, recursively |

mod binary;
mod half_gcd;
mod lehmer;
mod matrix;
mod pair;
mod symbol;

pub use binary::jacobi_binary;

use crate::limbs::{Multiplier, trim, trimmed};
use half_gcd::{Cancelled, Context, reduce_by_top};
use lehmer::gcd_128;
use matrix::Matrix;
use pair::Pair;
use symbol::Symbol;

/// Limbs below which no half-gcd is used.
const HALF_GCD_FROM: usize = 600;

/// The Jacobi symbol (a | b) for odd b: 1, −1, or 0 where a and b have a common
/// factor. `None` if `cancel` said true, which is asked many times a second.
///
/// Euclid's algorithm by half-gcds (see the source of `half_gcd`), with the sign
/// kept up through its quotients. Cost O(M(n)·log n) for n limbs, M(n) being a
/// product by `multiplier`; memory of some 10·n limbs beside the multiplier's.
///
/// # Panics
/// If b is even.
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

/// gcd(a, b) without leading zero limbs; gcd(a, 0) = a. `None` if `cancel` said
/// true. Cost as of [`jacobi`].
#[must_use]
pub fn gcd(
    a: &[u64],
    b: &[u64],
    multiplier: &dyn Multiplier,
    cancel: &dyn Fn() -> bool,
) -> Option<Vec<u64>> {
    let (a, b) = (trimmed(a), trimmed(b));
    if a.is_empty() || b.is_empty() {
        return Some(if a.is_empty() { b } else { a }.to_vec());
    }
    // Its sign means nothing here, and costs next to nothing.
    let mut symbol = Symbol::new(a, b);
    euclid(a, b, &mut symbol, &Context { multiplier, cancel }).ok()
}

/// A piece of Euclid's algorithm by a half-gcd of what a and b have above limb p: a and b, both
/// positive, become a' and b', both positive, with (a; b) = M·(a'; b'), and M is returned, by rows.
/// Its entries are natural and its determinant is 1. `None`, and a and b without leading zero
/// limbs but otherwise as they were, if there is nothing to be done above limb p.
///
/// With n limbs of the longer one, a' and b' have some n − (n − p)/2 limbs. Cost
/// O(M(n − p)·log n) and products of n limbs by n − p.
#[must_use]
pub fn reduce_top(
    a: &mut Vec<u64>,
    b: &mut Vec<u64>,
    p: usize,
    multiplier: &dyn Multiplier,
) -> Option<[[Vec<u64>; 2]; 2]> {
    trim(a);
    trim(b);
    let mut symbol = Symbol::new(a, b);
    let mut pair = Pair { a: core::mem::take(a), b: core::mem::take(b) };
    let reduced =
        reduce_by_top(&mut pair, p, &mut symbol, &Context { multiplier, cancel: &|| false });
    (*a, *b) = (pair.a, pair.b);
    // Nobody cancels.
    reduced.ok().flatten().map(Matrix::into_entries)
}

/// gcd(a, b) for positive a and b: subtractions of the smaller from the larger
/// down to a = b.
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
        // The top third gives a sixth of the limbs. No matrix is kept, so a
        // part that is cheap to apply is better than a half.
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

#[cfg(test)]
mod tests;
