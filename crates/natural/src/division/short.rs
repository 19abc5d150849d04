//! Division by a divisor of one or two limbs: one quotient limb at a time, by the reciprocal of the
//! divisor.

use super::reciprocal::{OneLimb, TwoLimbs};

/// Computes q ← ⌊a/x⌋ and returns a mod x, for a divisor x of one limb. q must be as long as a. `d`
/// contains x·2^shift and its reciprocal. The top bit of x·2^shift must be set.
#[inline]
pub(super) fn by_one_limb(q: &mut [u64], a: &[u64], shift: u32, d: OneLimb) -> u64 {
    // Limb i of a·2^shift.
    let limb = |i: usize| a[i] << shift | if i == 0 { 0 } else { a[i - 1] >> 1 >> (63 - shift) };
    let Some(&top) = a.last() else { return 0 };
    let (mut rest, mut left) = (top >> 1 >> (63 - shift), a.len());
    if rest == 0 {
        // The first limb of the quotient is 0 or 1, because the shifted divisor is at least 2^63.
        left -= 1;
        let (difference, less) = limb(left).overflowing_sub(d.divisor());
        q[left] = u64::from(!less);
        rest = if less { limb(left) } else { difference };
    }
    for (i, q) in q[..left].iter_mut().enumerate().rev() {
        (*q, rest) = d.div_rem(rest, limb(i));
    }
    rest >> shift
}

/// Computes q ← ⌊a/x⌋ and returns a mod x, for a divisor x of two limbs and a dividend a of at
/// least two limbs. q must have one limb less than a. `d` contains x·2^shift and its reciprocal.
/// The top bit of x·2^shift must be set.
#[inline]
pub(super) fn by_two_limbs(q: &mut [u64], a: &[u64], shift: u32, d: TwoLimbs) -> u128 {
    // Limb i of a·2^shift.
    let limb = |i: usize| a[i] << shift | if i == 0 { 0 } else { a[i - 1] >> 1 >> (63 - shift) };
    let mut left = a.len() - 1;
    let above = a[left] >> 1 >> (63 - shift);
    // `above` is below 2^shift ≤ 2^63, so `rest` is below the shifted divisor.
    let mut rest = u128::from(above) << 64 | u128::from(limb(left));
    if above == 0 && left > 0 {
        // The first limb of the quotient is 0 or 1, because the shifted divisor is at least 2^127.
        left -= 1;
        let two = rest << 64 | u128::from(limb(left));
        let (difference, less) = two.overflowing_sub(d.divisor());
        q[left] = u64::from(!less);
        rest = if less { two } else { difference };
    }
    for (i, q) in q[..left].iter_mut().enumerate().rev() {
        (*q, rest) = d.div_rem(rest, limb(i));
    }
    rest >> shift
}
