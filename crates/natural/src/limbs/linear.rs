//! Shifts, copies and products by one limb, each in one pass over the limbs.

/// Computes to ← from·2^bits for 0 ≤ bits < 64. `to` must have one limb more than `from`.
pub(crate) fn shift_left_to(to: &mut [u64], from: &[u64], bits: u32) {
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

/// Computes x ← x − a·y mod 2^(64·n), where x and a have n limbs. Returns the limb that must be
/// subtracted from the limb above x.
#[inline]
pub(crate) fn sub_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0u64;
    for (x, &a) in x.iter_mut().zip(a) {
        // At most (2^64 − 1)² + 2^64 − 1 = 2^64·(2^64 − 1): if the upper half is 2^64 − 1, the
        // lower half is 0 and causes no borrow.
        let t = u128::from(a) * u128::from(y) + u128::from(carry);
        let (difference, borrow) = x.overflowing_sub(t as u64);
        *x = difference;
        carry = (t >> 64) as u64 + u64::from(borrow);
    }
    carry
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
