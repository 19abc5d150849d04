//! Powers.

use warpint_natural::limbs::{bit_length, shifted_left, shifted_right, trim, trimmed};
use warpint_natural::product::Multiplier;

use super::{MOST_BITS, square};
use crate::IntegerError;

/// Returns a^e, where a^0 = 1.
///
/// Let a = 2^t·u with odd u. The power of u is computed by squares and products from the highest bit
/// of e down, and shifted by t·e bits. Cost about M(n) for a power of u of n limbs.
///
/// # Errors
/// [`IntegerError::TooLong`] if the power may have more than [`MOST_BITS`] bits.
pub fn power(multiplier: &dyn Multiplier, a: &[u64], e: u64) -> Result<Vec<u64>, IntegerError> {
    let a = trimmed(a);
    if e == 0 {
        return Ok(vec![1]);
    }
    let Some(first) = a.iter().position(|&limb| limb != 0) else { return Ok(vec![]) };
    let bits = u128::from(bit_length(a) - 1) * u128::from(e) + 1;
    if bits > u128::from(MOST_BITS) {
        return Err(IntegerError::TooLong { operation: "a power", most: MOST_BITS });
    }
    let twos = 64 * first + a[first].trailing_zeros() as usize;
    let odd = shifted_right(a, twos);
    let mut power = odd.clone();
    if odd != [1] {
        for bit in (0..e.ilog2()).rev() {
            power = square(multiplier, &power);
            if e >> bit & 1 == 1 {
                power = multiplier.mul(&power, &odd);
                trim(&mut power);
            }
        }
    }
    Ok(if twos == 0 { power } else { shifted_left(&power, twos * e as usize) })
}
