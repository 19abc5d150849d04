//! Powers modulo a number.

use super::div::div_rem;
use super::mul::mul;
use super::trimmed;

/// Returns a^e mod m without leading zero limbs; a^0 = 1. Returns `None` for m = 0.
///
/// The method squares once for each bit of e, the highest bit first, and multiplies by a for each
/// bit that is set. Each product is divided by m. Cost O(n²·log e) limb products for n limbs of m.
#[must_use]
pub fn pow_mod(a: &[u64], e: &[u64], m: &[u64]) -> Option<Vec<u64>> {
    if trimmed(m).is_empty() {
        return None;
    }
    let residue = |x: &[u64]| div_rem(x, m).1;
    let a = residue(a);
    let mut power = residue(&[1]);
    for limb in e.iter().rev() {
        for bit in (0..64).rev() {
            power = residue(&mul(&power, &power));
            if limb >> bit & 1 == 1 {
                power = residue(&mul(&power, &a));
            }
        }
    }
    Some(power)
}
