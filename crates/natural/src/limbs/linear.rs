//! Shifts and copies, each in one pass over the limbs.

use warpint_arith::limbs::{trim, trimmed};

/// Computes to ← from·2^bits for 0 ≤ bits < 64. `to` must have one limb more than `from`.
///
/// # Panics
/// Panics if `to` has too few limbs, or if `bits` is 64 or more.
pub fn shift_left_to(to: &mut [u64], from: &[u64], bits: u32) {
    let mut below = 0;
    let (top, low) = (from.len(), &mut to[..from.len()]);
    for (to, &limb) in low.iter_mut().zip(from) {
        // Two shifts, because a shift by 64 is not defined.
        *to = limb << bits | below >> 1 >> (63 - bits);
        below = limb;
    }
    to[top] = below >> 1 >> (63 - bits);
}

/// Computes a ← ⌊a/2^bits⌋ for 0 ≤ bits < 64.
pub(crate) fn shift_right_assign(a: &mut [u64], bits: u32) {
    let mut above = 0;
    for limb in a.iter_mut().rev() {
        (*limb, above) = (*limb >> bits | above << 1 << (63 - bits), *limb);
    }
}

/// Returns a·2^bits without leading zero limbs.
#[must_use]
pub fn shifted_left(a: &[u64], bits: usize) -> Vec<u64> {
    let mut shifted = vec![0; bits / 64 + a.len() + 1];
    shift_left_to(&mut shifted[bits / 64..], a, (bits % 64) as u32);
    trim(&mut shifted);
    shifted
}

/// Returns ⌊a/2^bits⌋ without leading zero limbs.
#[must_use]
pub fn shifted_right(a: &[u64], bits: usize) -> Vec<u64> {
    let mut shifted = a.get(bits / 64..).unwrap_or_default().to_vec();
    shift_right_assign(&mut shifted, (bits % 64) as u32);
    trim(&mut shifted);
    shifted
}

/// Returns the number of bits of a without leading zero bits; 0 for a = 0.
#[must_use]
pub fn bit_length(a: &[u64]) -> u64 {
    let a = trimmed(a);
    a.last().map_or(0, |top| 64 * a.len() as u64 - u64::from(top.leading_zeros()))
}

/// Copies `from` to the lowest limbs of `to`, and sets the other limbs of `to` to zero.
///
/// # Panics
/// Panics if `from` is longer than `to`.
pub fn copy_to(to: &mut [u64], from: &[u64]) {
    let (low, top) = to.split_at_mut(from.len());
    low.copy_from_slice(from);
    top.fill(0);
}

/// Returns the first `len` limbs of the vector `limbs`. A shorter vector is extended. The contents
/// of the limbs are unspecified.
pub(crate) fn at_least(limbs: &mut Vec<u64>, len: usize) -> &mut [u64] {
    if limbs.len() < len {
        limbs.resize(len, 0);
    }
    &mut limbs[..len]
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares shifts with shifts of 128-bit integers.
    #[test]
    fn shifts_of_short_numbers() {
        for x in [0, 1, 3, u64::MAX, 1 << 63] {
            for bits in 0..=64 {
                let wide = u128::from(x) << bits;
                let limbs = [wide as u64, (wide >> 64) as u64];
                assert_eq!(shifted_left(&[x, 0], bits), trimmed(&limbs), "{x:x} by {bits}");
                assert_eq!(shifted_right(&limbs, bits), trimmed(&[x]), "{x:x} by {bits}");
                assert_eq!(bit_length(&limbs), u64::from(128 - wide.leading_zeros()));
            }
            assert_eq!(shifted_right(&shifted_left(&[x], 200), 199), shifted_left(&[x], 1));
            assert!(shifted_right(&[x], 500).is_empty());
        }
    }
}
