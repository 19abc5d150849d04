//! Schoolbook multiplication: products, squares, and their low and high parts.
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
//! Otherwise the whole product is computed. For random factors, the probability of this is about
//! m/2^64.

/// Computes x ← x + a·y mod 2^(64·n), where x and a have n limbs. Returns the limb carried out.
#[inline]
pub(crate) fn add_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0u64;
    for (x, &a) in x.iter_mut().zip(a) {
        // At most (2^64−1)^2 + 2·(2^64−1) = 2^128 − 1: never overflows.
        let t = u128::from(a) * u128::from(y) + u128::from(*x) + u128::from(carry);
        *x = t as u64;
        carry = (t >> 64) as u64;
    }
    carry
}

/// Computes product ← a·b. a is multiplied by two limbs of b at a time. So two carry chains run in
/// parallel, and each limb of the product is read and written half as often. The initial contents
/// of `product` are ignored.
///
/// # Panics
/// Panics unless `product` has `a.len() + b.len()` limbs.
#[inline]
pub(super) fn mul(product: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(product.len(), a.len() + b.len(), "the product has the wrong length");
    product.fill(0);
    let mut pairs = b.chunks_exact(2);
    for (i, pair) in pairs.by_ref().enumerate() {
        let &[y0, y1] = pair else { continue };
        let out = &mut product[2 * i..][..a.len() + 2];
        let (mut carry0, mut carry1, mut previous) = (0u64, 0u64, 0u64);
        for (x, out) in a.iter().zip(&mut *out) {
            // At most (2^64−1)^2 + 2·(2^64−1) = 2^128 − 1: never overflows.
            let s = u128::from(*x) * u128::from(y0) + u128::from(*out) + u128::from(carry0);
            carry0 = (s >> 64) as u64;
            let t =
                u128::from(previous) * u128::from(y1) + u128::from(s as u64) + u128::from(carry1);
            carry1 = (t >> 64) as u64;
            *out = t as u64;
            previous = *x;
        }
        // The rows so far are below 2^(64·(a.len() + 2i + 2)): nothing leaves the top.
        let t = u128::from(previous) * u128::from(y1) + u128::from(carry0) + u128::from(carry1);
        out[a.len()] = t as u64;
        out[a.len() + 1] = (t >> 64) as u64;
    }
    if let &[y] = pairs.remainder() {
        let mut carry = 0u64;
        let out = &mut product[b.len() - 1..];
        for (x, out) in a.iter().zip(&mut *out) {
            let s = u128::from(*x) * u128::from(y) + u128::from(*out) + u128::from(carry);
            carry = (s >> 64) as u64;
            *out = s as u64;
        }
        out[a.len()] = carry;
    }
}

/// Computes out ← a², where `out` has 2·`a.len()` limbs. The product of two limbs at different
/// positions is computed once, then doubled.
pub(super) fn square(out: &mut [u64], a: &[u64]) {
    out.fill(0);
    for (i, &y) in a.iter().enumerate() {
        let later = &a[i + 1..];
        let row = &mut out[2 * i + 1..];
        row[later.len()] = add_row(&mut row[..later.len()], later, y);
    }
    double_and_add_squares(out, a);
}

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

/// Computes out ← 2·out + Σ a_i²·2^(128·i) mod 2^(64·l), where `out` has l limbs and a_i is limb i
/// of a.
fn double_and_add_squares(out: &mut [u64], a: &[u64]) {
    let (mut shifted, mut carry) = (0u64, 0u64);
    let mut double = |x: &mut u64, square: u64| {
        let doubled = *x << 1 | shifted;
        shifted = *x >> 63;
        let t = u128::from(doubled) + u128::from(square) + u128::from(carry);
        *x = t as u64;
        carry = (t >> 64) as u64;
    };
    for (pair, &a) in out.chunks_mut(2).zip(a) {
        let square = u128::from(a) * u128::from(a);
        for (x, square) in pair.iter_mut().zip([square as u64, (square >> 64) as u64]) {
            double(x, square);
        }
    }
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
        // Column i + j for j from `skipped` on.
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
    // Doubling starts at an even column, so one lower if necessary.
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
