//! Division by a divisor of three to eight limbs, with the remainder in registers.

use super::clear;
use super::divisor::Divisor;
use crate::kernels::{Digits, Remainder};

/// Computes [`divide`](super::divide) for a divisor of at least three limbs, and a dividend a that
/// is not shorter and has no leading zero limbs. v is the reciprocal of the two top limbs of the
/// shifted divisor. Returns `false`, without changing q and r, if the divisor has more than eight
/// limbs, or if the processor has no kernels for this.
///
/// # Panics
/// May panic if q or r is too short.
#[inline(never)]
pub(super) fn divide(divisor: &Divisor, v: u64, q: &mut [u64], r: &mut [u64], a: &[u64]) -> bool {
    match divisor.limbs.len() {
        3 => by_limbs::<3>(divisor, v, q, r, a),
        4 => by_limbs::<4>(divisor, v, q, r, a),
        5 => by_limbs::<5>(divisor, v, q, r, a),
        6 => by_limbs::<6>(divisor, v, q, r, a),
        7 => by_limbs::<7>(divisor, v, q, r, a),
        8 => by_limbs::<8>(divisor, v, q, r, a),
        _ => false,
    }
}

/// Computes [`divide`] for a divisor of M limbs.
#[inline(never)]
fn by_limbs<const M: usize>(
    divisor: &Divisor,
    v: u64,
    q: &mut [u64],
    r: &mut [u64],
    a: &[u64],
) -> bool {
    let shift = divisor.shift;
    let (Some(d), Some((low, top))) = (divisor.limbs.first_chunk(), a.split_last_chunk::<M>())
    else {
        return false;
    };
    let Some(digits) = Digits::<M>::new(d, v) else { return false };
    let (q, high) = q.split_at_mut(low.len() + 1);
    clear(high);
    let (r, high) = r.split_at_mut(M);
    clear(high);
    let (low_q, top_q) = q.split_at_mut(low.len());

    // The limb of a·2^shift whose bits come from two adjacent limbs of a.
    // Two shifts, because a shift by 64 is not defined.
    let limb = |limb: u64, below: u64| limb << shift | below >> 1 >> (63 - shift);
    let mut current = low.last().copied().unwrap_or(0);
    let mut shifted = [0; M];
    for (i, to) in shifted.iter_mut().enumerate() {
        *to = limb(top[i], if i == 0 { current } else { top[i - 1] });
    }
    let above = limb(0, top[M - 1]);
    let mut rest;
    if above == 0 {
        // The first limb of the quotient is 0 or 1, because the top bit of the divisor is set.
        (top_q[0], rest) = digits.first(Remainder::new(shifted));
    } else {
        // `above` is below 2^shift, hence below the top limb of the divisor.
        let lowest = shifted[0];
        shifted.rotate_left(1);
        shifted[M - 1] = above;
        (top_q[0], rest) = digits.next(Remainder::new(shifted), lowest);
    }
    for (i, q) in low_q.iter_mut().enumerate().rev() {
        let below = if i == 0 { 0 } else { low[i - 1] };
        (*q, rest) = digits.next(rest, limb(current, below));
        current = below;
    }

    let rest = rest.limbs();
    for (i, r) in r.iter_mut().enumerate() {
        let above = if i + 1 < M { rest[i + 1] } else { 0 };
        *r = rest[i] >> shift | above << 1 << (63 - shift);
    }
    true
}
