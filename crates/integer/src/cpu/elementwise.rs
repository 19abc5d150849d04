//! Limb-wise operations: comparisons, shifts, logic, products with a word.

use std::cmp::Ordering;

use rayon::prelude::*;

use super::sum::accumulate;
use super::{Operand, rows_at_a_time};
use crate::operation::{Bitwise, Extreme, Sum, TableRows};

/// Calls `row(i, out_i)` for all rows i of `out`, on all cores. A row has `each` elements, and is
/// computed from numbers of `limbs` limbs.
fn for_rows<T: Send>(
    out: &mut [T],
    each: usize,
    limbs: usize,
    row: impl Fn(usize, &mut [T]) + Sync,
) {
    let rows = rows_at_a_time(limbs);
    out.par_chunks_mut(rows * each).enumerate().for_each(|(chunk, out)| {
        for (j, out) in out.chunks_exact_mut(each).enumerate() {
            row(chunk * rows + j, out);
        }
    });
}

/// Computes out_i ← −a_i mod 2^w, where w is the width of a in bits.
pub(crate) fn neg(a: Operand, out: &mut [u32]) {
    for_rows(out, a.width(), a.width(), |i, out| {
        // −a = ¬a + 1.
        for (out, a) in out.iter_mut().zip(a.row(i)) {
            *out = !a;
        }
        accumulate(Sum::Add, out, &[1]);
    });
}

/// Computes out_i ← −1, 0 or 1 for a_i less than, equal to or greater than b_i.
pub(crate) fn compare(a: Operand, b: Operand, out: &mut [i8]) {
    for_rows(out, 1, a.width().max(b.width()), |i, out| {
        out[0] = compare_limbs(a.row(i), b.row(i)) as i8;
    });
}

/// Compares the numbers with the limbs a and b, the lowest first. a and b may have different
/// numbers of limbs.
pub(crate) fn compare_limbs(a: &[u32], b: &[u32]) -> Ordering {
    let common = a.len().min(b.len());
    let ((a, a_top), (b, b_top)) = (a.split_at(common), b.split_at(common));
    let any = |top: &[u32]| top.iter().any(|&limb| limb != 0);
    // At most one of a and b has limbs beyond the other.
    any(a_top).cmp(&any(b_top)).then_with(|| a.iter().rev().cmp(b.iter().rev()))
}

/// Computes out_i ← the smaller or the larger of a_i and b_i, with `limbs` limbs.
pub(crate) fn choose(extreme: Extreme, a: Operand, b: Operand, out: &mut [u32], limbs: usize) {
    let wanted = match extreme {
        Extreme::Minimum => Ordering::Less,
        Extreme::Maximum => Ordering::Greater,
    };
    for_rows(out, limbs, limbs, |i, out| {
        let (a, b) = (a.row(i), b.row(i));
        resize_row(if compare_limbs(a, b) == wanted { a } else { b }, out);
    });
}

/// Copies a to out, extended by zeros or truncated. Returns whether a nonzero limb was cut off.
fn resize_row(a: &[u32], out: &mut [u32]) -> bool {
    let (low, top) = a.split_at(a.len().min(out.len()));
    out[..low.len()].copy_from_slice(low);
    out[low.len()..].fill(0);
    top.iter().any(|&limb| limb != 0)
}

/// Computes out_i ← a_i mod 2^(32·limbs). lost_i is 1 where out_i differs from a_i, otherwise 0.
pub(crate) fn resize(a: Operand, out: &mut [u32], limbs: usize, lost: &mut [u8]) {
    let rows = rows_at_a_time(limbs);
    let chunks = out.par_chunks_mut(rows * limbs).zip(lost.par_chunks_mut(rows)).enumerate();
    chunks.for_each(|(chunk, (out, lost))| {
        for ((j, out), lost) in out.chunks_exact_mut(limbs).enumerate().zip(lost) {
            *lost = u8::from(resize_row(a.row(chunk * rows + j), out));
        }
    });
}

/// Computes out_i ← a_i·2^bits mod 2^(32·limbs).
pub(crate) fn shift_left(a: Operand, bits: u32, out: &mut [u32], limbs: usize) {
    let (whole, bits) = ((bits / 32) as usize, bits % 32);
    for_rows(out, limbs, limbs, |i, out| {
        let row = a.row(i);
        let (zeros, out) = out.split_at_mut(whole.min(limbs));
        zeros.fill(0);
        let (moved, top) = out.split_at_mut(row.len().min(out.len()));
        let mut below = 0;
        for (out, &limb) in moved.iter_mut().zip(row) {
            // Two shifts, because a shift of a `u32` by 32 is not defined.
            *out = limb << bits | below >> 1 >> (31 - bits);
            below = limb;
        }
        top.fill(0);
        if let Some(out) = top.first_mut() {
            *out = below >> 1 >> (31 - bits);
        }
    });
}

/// Computes out_i ← ⌊a_i/2^bits⌋ mod 2^(32·limbs).
pub(crate) fn shift_right(a: Operand, bits: u32, out: &mut [u32], limbs: usize) {
    let (whole, bits) = ((bits / 32) as usize, bits % 32);
    for_rows(out, limbs, limbs, |i, out| {
        let row = a.row(i);
        let row = &row[whole.min(row.len())..];
        let (moved, top) = out.split_at_mut(row.len().min(limbs));
        top.fill(0);
        let (row, above) = row.split_at(moved.len());
        let mut above = above.first().copied().unwrap_or(0);
        for (out, &limb) in moved.iter_mut().zip(row).rev() {
            *out = limb >> bits | above << 1 << (31 - bits);
            above = limb;
        }
    });
}

/// Computes out_i ← the bit length of a_i: 0 for 0, otherwise ⌊log2 a_i⌋ + 1.
pub(crate) fn bit_lengths(a: Operand, out: &mut [u32]) {
    for_rows(out, 1, a.width(), |i, out| {
        let row = a.row(i);
        let top = row.iter().rposition(|&limb| limb != 0);
        out[0] = top.map_or(0, |top| 32 * (top as u32 + 1) - row[top].leading_zeros());
    });
}

/// Computes out_i ← a_i AND, OR or XOR b_i, with `limbs` limbs. Shorter operands are extended by
/// zeros.
pub(crate) fn bitwise(operation: Bitwise, a: Operand, b: Operand, out: &mut [u32], limbs: usize) {
    let with = |f: fn(u32, u32) -> u32, out: &mut [u32], b: &[u32]| {
        for (out, &b) in out.iter_mut().zip(b) {
            *out = f(*out, b);
        }
    };
    for_rows(out, limbs, limbs, |i, out| {
        resize_row(a.row(i), out);
        let b = b.row(i);
        match operation {
            Bitwise::And => {
                with(|a, b| a & b, out, b);
                out[b.len()..].fill(0);
            }
            Bitwise::Or => with(|a, b| a | b, out, b),
            Bitwise::Xor => with(|a, b| a ^ b, out, b),
        }
    });
}

/// Computes out_i ← 2^w − 1 − a_i, the complement of a_i, where w is the width of a in bits.
pub(crate) fn not(a: Operand, out: &mut [u32]) {
    for_rows(out, a.width(), a.width(), |i, out| {
        for (out, a) in out.iter_mut().zip(a.row(i)) {
            *out = !a;
        }
    });
}

/// Computes out_i ← a_i·word. Results have `limbs` limbs: at least two more than a, or at least one
/// more if `word` is less than 2^32.
pub(crate) fn mul_word(a: Operand, word: u64, out: &mut [u32], limbs: usize) {
    for_rows(out, limbs, limbs, |i, out| {
        let row = a.row(i);
        let mut carry = 0u64;
        let (low, top) = out.split_at_mut(row.len());
        for (out, &limb) in low.iter_mut().zip(row) {
            // At most (2^32 − 1)(2^64 − 1) + 2^64 − 1 < 2^96: the carry stays below 2^64.
            let t = u128::from(limb) * u128::from(word) + u128::from(carry);
            *out = t as u32;
            carry = (t >> 32) as u64;
        }
        for out in top {
            *out = carry as u32;
            carry >>= 32;
        }
    });
}

/// Computes out_i ← the row of the table that the exponent e_i selects according to `rows`. out_i
/// has as many limbs as a row.
pub(crate) fn take(table: Operand, e: Operand, rows: TableRows, out: &mut [u32]) {
    let limbs = table.width();
    for_rows(out, limbs, limbs, |i, out| {
        let e = e.row(i);
        let limb = |j: usize| u64::from(e.get(j).copied().unwrap_or(0));
        let both = limb(rows.bit / 32 + 1) << 32 | limb(rows.bit / 32);
        let digit = both >> (rows.bit % 32) & ((1 << rows.window) - 1);
        out.copy_from_slice(table.row(digit as usize * rows.step + rows.first));
    });
}

/// Computes out_i ← (u_i − p_i) mod m_i by up to three subtractions of m_i. Requires 0 ≤ u_i − p_i
/// < 4·m_i. out_i has as many limbs as m_i.
pub(crate) fn reduce(u: Operand, p: Operand, m: Operand, out: &mut [u32]) {
    let limbs = m.width();
    for_rows(out, limbs, limbs, |i, out| {
        let (u, p, m) = (u.row(i), p.row(i), m.row(i));
        let limb = |x: &[u32]| x.get(limbs).copied().unwrap_or(0);
        resize_row(u, out);
        let borrow = accumulate(Sum::Subtract, out, &p[..limbs.min(p.len())]);
        // The part of u − p above `out`, which is less than 4. Computed modulo 2^32.
        let mut top = limb(u).wrapping_sub(limb(p)).wrapping_sub(u32::from(borrow));
        while top > 0 || compare_limbs(out, m).is_ge() {
            top = top.wrapping_sub(u32::from(accumulate(Sum::Subtract, out, m)));
        }
    });
}
