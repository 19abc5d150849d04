//! Shifts and copies, each in one pass over the limbs.

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
