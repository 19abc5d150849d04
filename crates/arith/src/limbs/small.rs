//! Products, quotients and remainders of a number and a single limb.

/// Computes a ← a·m mod 2^(64·n), where n = `a.len()`. Returns the limb that is carried out, which
/// is ⌊a·m/2^(64·n)⌋. Cost: O(n).
pub fn mul_small_assign(a: &mut [u64], m: u64) -> u64 {
    let mut carry = 0u64;
    for x in a {
        let t = u128::from(*x) * u128::from(m) + u128::from(carry);
        *x = t as u64;
        carry = (t >> 64) as u64;
    }
    carry
}

/// Computes a ← ⌊a/d⌋. Returns a mod d. Cost: O(n) for n limbs.
///
/// # Panics
/// Panics if `d` is zero.
pub fn div_rem_small(a: &mut [u64], d: u64) -> u64 {
    assert!(d != 0, "division by zero");
    let mut rem = 0u64;
    for x in a.iter_mut().rev() {
        let t = (u128::from(rem) << 64) | u128::from(*x);
        // rem < d, so the quotient fits in one limb.
        *x = (t / u128::from(d)) as u64;
        rem = (t % u128::from(d)) as u64;
    }
    rem
}

/// Returns a mod d. Cost: O(n) for n limbs.
///
/// # Panics
/// Panics if `d` is zero.
#[must_use]
pub fn rem_small(a: &[u64], d: u64) -> u64 {
    assert!(d != 0, "division by zero");
    a.iter()
        .rev()
        .fold(0u64, |rem, &x| (((u128::from(rem) << 64) | u128::from(x)) % u128::from(d)) as u64)
}
