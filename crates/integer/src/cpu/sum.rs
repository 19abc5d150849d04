//! Sums and differences of the numbers of a batch.

use rayon::prelude::*;

use super::{Operand, join, rows_at_a_time};
use crate::operation::Sum;

/// Computes out_i ← a_i ± b_i mod 2^(32·limbs). Neither a nor b has more than `limbs` limbs.
/// carries_i is 1 where a carry or a borrow leaves the highest limb, otherwise 0.
pub(crate) fn sum(
    sum: Sum,
    a: Operand,
    b: Operand,
    out: &mut [u32],
    limbs: usize,
    carries: Option<&mut [u8]>,
) {
    let row = |i: usize, out: &mut [u32]| {
        let x = a.row(i);
        out[..x.len()].copy_from_slice(x);
        out[x.len()..].fill(0);
        accumulate(sum, out, b.row(i))
    };
    for_rows(out, limbs, carries, row);
}

/// Computes out_i ← out_i ± b_i mod 2^(32·limbs). b has at most `limbs` limbs. carries_i is 1 where
/// a carry or a borrow leaves the highest limb, otherwise 0.
pub(crate) fn sum_assign(sum: Sum, out: &mut [u32], b: Operand, limbs: usize, carries: &mut [u8]) {
    for_rows(out, limbs, Some(carries), |i, out| accumulate(sum, out, b.row(i)));
}

/// Calls `row(i, out_i)` for all rows i of `out`, on all cores, and stores the returned flags
/// unless `flags` is `None`. A row has `limbs` limbs.
fn for_rows(
    out: &mut [u32],
    limbs: usize,
    flags: Option<&mut [u8]>,
    row: impl Fn(usize, &mut [u32]) -> bool + Sync,
) {
    let rows = rows_at_a_time(limbs);
    let chunks = out.par_chunks_mut(rows * limbs).enumerate();
    match flags {
        Some(flags) => chunks.zip(flags.par_chunks_mut(rows)).for_each(|((chunk, out), flags)| {
            for ((j, out), flag) in out.chunks_exact_mut(limbs).enumerate().zip(flags) {
                *flag = u8::from(row(chunk * rows + j, out));
            }
        }),
        None => chunks.for_each(|(chunk, out)| {
            for (j, out) in out.chunks_exact_mut(limbs).enumerate() {
                row(chunk * rows + j, out);
            }
        }),
    }
}

/// Computes x ← x ± y mod 2^(32·n), where x has n limbs and y at most n. Returns the carry or
/// borrow.
pub(super) fn accumulate(sum: Sum, x: &mut [u32], y: &[u32]) -> bool {
    match sum {
        Sum::Add => chain(x, y, |x, y, c| {
            let (s, c1) = x.overflowing_add(y);
            let (s, c2) = s.overflowing_add(u64::from(c));
            (s, c1 | c2)
        }),
        Sum::Subtract => chain(x, y, |x, y, c| {
            let (d, b1) = x.overflowing_sub(y);
            let (d, b2) = d.overflowing_sub(u64::from(c));
            (d, b1 | b2)
        }),
    }
}

/// Computes x ← step(x, y, carry) limb by limb, the lowest limb first, and returns the last carry.
/// `step` returns the new limb and the next carry. Where y has a pair of 32-bit limbs, `step` gets
/// the pairs of x and y as limbs of 64 bits. For the higher limbs of x, `step` gets single limbs of
/// 32 bits, and 0 for each missing limb of y.
#[inline]
fn chain(x: &mut [u32], y: &[u32], step: impl Fn(u64, u64, bool) -> (u64, bool)) -> bool {
    let (low, high) = x.split_at_mut(y.len());
    let mut carry = false;
    let mut pairs = low.chunks_exact_mut(2);
    let mut others = y.chunks_exact(2);
    for (x, y) in pairs.by_ref().zip(others.by_ref()) {
        let (r, c) = step(join(x), join(y), carry);
        (x[0], x[1], carry) = (r as u32, (r >> 32) as u32, c);
    }
    // The upper half of a sum of 32-bit limbs holds the carry, 1, or the borrow, all ones.
    let mut half = |x: &mut u32, y: u32| {
        let r = step(u64::from(*x), u64::from(y), carry).0;
        (*x, carry) = (r as u32, r >> 32 != 0);
    };
    if let (Some(x), Some(&y)) = (pairs.into_remainder().first_mut(), others.remainder().first()) {
        half(x, y);
    }
    for x in high {
        half(x, 0);
    }
    carry
}
