//! Karatsuba's method: three products of halves instead of four (Karatsuba and Ofman 1962,
//! *Multiplication of many-digital numbers by automatic computers*, Doklady Akademii Nauk SSSR 145,
//! 293–294).
//!
//! Let a = a0 + a1·X and b = b0 + b1·X, where X = 2^(64·h) and a0 and b0 have h limbs. Then
//! a·b = a0·b0 + (a0·b0 + a1·b1 − (a0 − a1)(b0 − b1))·X + a1·b1·X². No memory is allocated.

use std::cmp::Ordering;

use crate::kernels;
use crate::limbs::{add_assign, compare, reversed_sub_assign, sub_assign};

/// Returns the number of limbs of scratch memory that [`mul`] needs if the shorter factor has m
/// limbs.
///
/// Factors of equal length m need s(m) = 2h + s(h) limbs, where h = ⌈m/2⌉. The number s(m) is at
/// most 2m + 128. For unequal lengths, the longer factor is cut into pieces of the shorter length.
/// The last piece may be shorter; its product is computed in the same way. Each level of this
/// recursion needs twice its shorter length. After two levels, this length is at most half of what
/// it was, so 8m limbs are enough for all levels.
pub(super) fn mul_scratch(m: usize) -> usize {
    10 * m + 128
}

/// Returns the number of limbs of scratch memory that [`square`] needs for a number of n limbs.
pub(super) fn square_scratch(n: usize) -> usize {
    2 * n + 128
}

/// Computes out ← a·b, where `out` has `a.len() + b.len()` limbs. If a factor has fewer than `from`
/// limbs, the schoolbook method is used. `from` must be at least 4. The length of `scratch` must be
/// at least [`mul_scratch`] of the shorter length.
pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64], from: usize) {
    let (a, b) = if a.len() >= b.len() { (a, b) } else { (b, a) };
    if b.len() < from {
        kernels::mul(out, a, b);
    } else if a.len() == b.len() {
        balanced(out, a, b, scratch, from);
    } else {
        // Pieces of the longer factor, each as long as the shorter one.
        let (product, scratch) = scratch.split_at_mut(2 * b.len());
        out.fill(0);
        for (i, piece) in a.chunks(b.len()).enumerate() {
            let product = &mut product[..piece.len() + b.len()];
            mul(product, piece, b, scratch, from);
            add_assign(&mut out[i * b.len()..], product);
        }
    }
}

fn balanced(out: &mut [u64], a: &[u64], b: &[u64], scratch: &mut [u64], from: usize) {
    let h = a.len().div_ceil(2);
    let ((a0, a1), (b0, b1)) = (a.split_at(h), b.split_at(h));
    let (cross, scratch) = scratch.split_at_mut(2 * h);
    let (a_size, b_size) = out[..2 * h].split_at_mut(h);
    let same_sign = distance(a_size, a0, a1) == distance(b_size, b0, b1);
    mul(cross, a_size, b_size, scratch, from);
    let (low, high) = out.split_at_mut(2 * h);
    mul(low, a0, b0, scratch, from);
    mul(high, a1, b1, scratch, from);
    join(out, cross, h, same_sign);
}

/// Computes out ← a², where `out` has 2·`a.len()` limbs. Numbers of fewer than `from` limbs are
/// squared by the schoolbook method. `from` must be at least 4. The length of `scratch` must be at
/// least [`square_scratch`] of `a.len()`.
pub(super) fn square(out: &mut [u64], a: &[u64], scratch: &mut [u64], from: usize) {
    if a.len() < from {
        return kernels::square(out, a);
    }
    let h = a.len().div_ceil(2);
    let (a0, a1) = a.split_at(h);
    let (cross, scratch) = scratch.split_at_mut(2 * h);
    let size = &mut out[..h];
    distance(size, a0, a1);
    square(cross, size, scratch, from);
    let (low, high) = out.split_at_mut(2 * h);
    square(low, a0, scratch, from);
    square(high, a1, scratch, from);
    join(out, cross, h, true);
}

/// Computes size ← |a − b|, and returns whether a < b. a must be at least as long as b.
fn distance(size: &mut [u64], a: &[u64], b: &[u64]) -> bool {
    let negative = compare(a, b) == Ordering::Less;
    let (large, small) = if negative { (b, &a[..b.len()]) } else { (a, b) };
    size[..large.len()].copy_from_slice(large);
    size[large.len()..].fill(0);
    sub_assign(size, small);
    negative
}

/// Adds the middle term of Karatsuba's formula to `out` = low + high·2^(128·h), where `low` and
/// `cross` have 2h limbs. The middle term is (low + high − cross)·2^(64·h) if `subtract` is true,
/// and (low + high + cross)·2^(64·h) otherwise. The contents of `cross` are overwritten.
fn join(out: &mut [u64], cross: &mut [u64], h: usize, subtract: bool) {
    let (low, high) = out.split_at(2 * h);
    // The factor of 2^(64·h) is from 0 to 2^(128·h + 1) − 1: one bit more than `cross` has.
    let mut top = if subtract {
        // −1 for a borrow.
        u64::from(reversed_sub_assign(cross, low)).wrapping_neg()
    } else {
        u64::from(add_assign(cross, low))
    };
    top = top.wrapping_add(u64::from(add_assign(cross, high)));
    let carry = add_assign(&mut out[h..][..2 * h], cross);
    add_assign(&mut out[3 * h..], &[top + u64::from(carry)]);
}
