//! Schoolbook multiplication: low and high parts of products and squares. Whole products are in
//! [`crate::kernels`].
//!
//! # High parts
//!
//! Let B = 2^64. Then a·b = Σ c_k·B^k, where *column* k is the sum c_k = Σ a_i·b_(k−i). It has at
//! most m products, where m ≤ 2^32 is the number of limbs of the shorter factor. Only the columns
//! k ≥ K = f − 2 are used to compute ⌊a·b/B^f⌋. For the high half of a product, they are about half
//! of all columns. The sum of the omitted columns is at most
//! m·(B − 1)²·(B^K − 1)/(B − 1) < m·B·B^K.
//!
//! Let s be the sum of the columns used, in units of B^K. Let g = s mod B² be its two lowest limbs.
//! If g + m·B < B², the omitted columns carry nothing into limb 2 of s, and ⌊s/B²⌋ is the result.
//! Otherwise the whole product is computed. For random factors, this happens with a probability of
//! about m/2^64.

use crate::kernels::{add_row, double_and_add_squares};

/// Computes out ← a² mod 2^(64·l), where `out` has l limbs. a may not be longer than `out`.
pub(super) fn square_low(out: &mut [u64], a: &[u64]) {
    out.fill(0);
    for (i, &y) in a.iter().enumerate() {
        let row = out.get_mut(2 * i + 1..).unwrap_or_default();
        let later = &a[i + 1..];
        let len = later.len().min(row.len());
        let carry = add_row(&mut row[..len], &later[..len], y);
        if let Some(top) = row.get_mut(len) {
            *top = carry;
        }
    }
    double_and_add_squares(out, a);
}

/// Computes out ← a·b mod 2^(64·l), where `out` has l limbs. Neither factor may be longer than
/// `out`.
pub(super) fn mul_low(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    for (i, &y) in b.iter().enumerate() {
        let row = &mut out[i..];
        let len = a.len().min(row.len());
        let carry = add_row(&mut row[..len], &a[..len], y);
        if let Some(top) = row.get_mut(len) {
            *top = carry;
        }
    }
}

/// Computes out ← ⌊a·b/2^(64·from)⌋, where `out` has `a.len() + b.len() − from` limbs, and returns
/// `true`. Returns `false`, without changing `out`, if `from` < 2, or if a carry from the omitted
/// columns could change the result.
pub(super) fn mul_high(
    out: &mut [u64],
    a: &[u64],
    b: &[u64],
    from: usize,
    columns: &mut Vec<u64>,
) -> bool {
    let Some(lowest) = from.checked_sub(2) else { return false };
    columns.clear();
    columns.resize(a.len() + b.len() - lowest, 0);
    for (i, &y) in b.iter().enumerate() {
        // This row has the products a_j·b_i that belong to columns i + j ≥ `lowest`.
        let skipped = lowest.saturating_sub(i);
        let Some(a) = a.get(skipped..) else { continue };
        let row = &mut columns[i + skipped - lowest..];
        row[a.len()] = add_row(&mut row[..a.len()], a, y);
    }
    take_high(out, columns, a.len().min(b.len()))
}

/// Computes out ← ⌊a²/2^(64·from)⌋, where `out` has 2·`a.len()` − `from` limbs, and returns `true`.
/// Returns `false`, without changing `out`, if `from` < 2, or if a carry from the omitted columns
/// could change the result.
pub(super) fn square_high(out: &mut [u64], a: &[u64], from: usize, columns: &mut Vec<u64>) -> bool {
    // Doubling starts at an even column. So if `from` is odd, one more column is computed.
    let Some(lowest) = from.checked_sub(2).map(|k| k & !1) else { return false };
    columns.clear();
    columns.resize(2 * a.len() - lowest, 0);
    for (i, &y) in a.iter().enumerate() {
        let first = (i + 1).max(lowest.saturating_sub(i));
        let Some(later) = a.get(first..) else { continue };
        let row = &mut columns[i + first - lowest..];
        row[later.len()] = add_row(&mut row[..later.len()], later, y);
    }
    double_and_add_squares(columns, &a[lowest / 2..]);
    take_high(out, &columns[from - 2 - lowest..], a.len())
}

/// Computes out ← ⌊columns/2^128⌋ and returns `true`. The columns below the lowest limb of
/// `columns` were omitted. Their sum is less than m·2^64, in units of this limb. If a carry from
/// this sum could change the result, returns `false` without changing `out`.
fn take_high(out: &mut [u64], columns: &[u64], m: usize) -> bool {
    let (guards, high) = columns.split_at(2);
    let certain = guards[1].checked_add(m as u64).is_some();
    if certain {
        out.copy_from_slice(high);
    }
    certain
}
