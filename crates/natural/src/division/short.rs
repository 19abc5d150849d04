//! Division by a divisor of one or two limbs: one quotient limb at a time, by the reciprocal of the
//! divisor.

use super::clear;
use super::divisor::{Divisor, Top};
#[cfg(target_arch = "x86_64")]
use super::reciprocal::divide_two_limbs;
use super::reciprocal::{OneLimb, TwoLimbs};

/// Implements [`divide`](super::divide) for a divisor of one limb whose reciprocal is known.
#[inline(always)]
pub(super) fn by_one(d: OneLimb, shift: u32, q: &mut [u64], r: &mut [u64], a: &[u64]) {
    let (q, high) = q.split_at_mut(a.len());
    clear(high);
    let rest = by_one_limb(q, a, shift, d);
    let (low, high) = r.split_at_mut(1);
    low[0] = rest;
    clear(high);
}

/// Implements [`divide`](super::divide) for a shifted divisor d of one limb, and keeps its
/// reciprocal.
#[inline(never)]
pub(super) fn by_new(divisor: &mut Divisor, d: u64, q: &mut [u64], r: &mut [u64], a: &[u64]) {
    let d = OneLimb::prepare(d);
    divisor.top = Top::One(d);
    by_one(d, divisor.shift, q, r, a);
}

/// Implements [`divide`](super::divide) for a shifted divisor d of one limb and a dividend of two
/// limbs, if one hardware division is enough. Otherwise returns `false`, without changing q and r.
/// This is faster than to compute the reciprocal first, which takes a hardware division too.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn two_by_one(d: u64, shift: u32, q: &mut [u64], r: &mut [u64], a: &[u64]) -> bool {
    let &[a0, a1] = a else { return false };
    if a1 >> 1 >> (63 - shift) != 0 {
        return false;
    }
    let (q, high) = q.split_at_mut(2);
    clear(high);
    let (r, high) = r.split_at_mut(1);
    clear(high);
    // The upper limb of the quotient is 0 or 1, because the top bit of d is set.
    let top = a1 << shift | a0 >> 1 >> (63 - shift);
    let (difference, less) = top.overflowing_sub(d);
    q[1] = u64::from(!less);
    let top = if less { top } else { difference };
    let rest;
    (q[0], rest) = divide_two_limbs(top, a0 << shift, d);
    r[0] = rest >> shift;
    true
}

/// There is no hardware division of two limbs by one limb.
#[cfg(not(target_arch = "x86_64"))]
#[inline(always)]
pub(super) fn two_by_one(_: u64, _: u32, _: &mut [u64], _: &mut [u64], _: &[u64]) -> bool {
    false
}

/// Implements [`divide`](super::divide) for a divisor of two limbs. The dividend a has at least two
/// limbs.
#[inline(always)]
pub(super) fn by_two(d: TwoLimbs, shift: u32, q: &mut [u64], r: &mut [u64], a: &[u64]) {
    let (q, high) = q.split_at_mut(a.len() - 1);
    clear(high);
    let rest = by_two_limbs(q, a, shift, d);
    let (low, high) = r.split_at_mut(2);
    (low[0], low[1]) = (rest as u64, (rest >> 64) as u64);
    clear(high);
}

/// Computes q ← ⌊a/x⌋ and returns a mod x, for a divisor x of one limb. q must be as long as a. `d`
/// contains x·2^shift and its reciprocal. The top bit of x·2^shift must be set.
#[inline]
fn by_one_limb(q: &mut [u64], a: &[u64], shift: u32, d: OneLimb) -> u64 {
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
fn by_two_limbs(q: &mut [u64], a: &[u64], shift: u32, d: TwoLimbs) -> u128 {
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
