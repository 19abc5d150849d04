//! Kernels for all processors. Products of two limbs are written as `u128`. Compilers translate
//! such a product to one or two instructions: `mul` on x86-64, `mul` and `umulh` on AArch64.

/// Computes x ← x + a·y mod 2^(64·n), where x and a have n limbs. Returns the limb carried out.
#[inline]
pub(super) fn add_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0u64;
    for (x, &a) in x.iter_mut().zip(a) {
        // At most (2^64−1)^2 + 2·(2^64−1) = 2^128 − 1: never overflows.
        let t = u128::from(a) * u128::from(y) + u128::from(*x) + u128::from(carry);
        *x = t as u64;
        carry = (t >> 64) as u64;
    }
    carry
}

/// Computes x ← x − a·y mod 2^(64·n), where x and a have n limbs. Returns the limb that must be
/// subtracted from the limb above x.
#[inline]
pub(super) fn sub_row(x: &mut [u64], a: &[u64], y: u64) -> u64 {
    let mut carry = 0u64;
    for (x, &a) in x.iter_mut().zip(a) {
        // At most (2^64 − 1)² + 2^64 − 1 = 2^64·(2^64 − 1): if the upper half is 2^64 − 1, the
        // lower half is 0 and causes no borrow.
        let t = u128::from(a) * u128::from(y) + u128::from(carry);
        let (difference, borrow) = x.overflowing_sub(t as u64);
        *x = difference;
        carry = (t >> 64) as u64 + u64::from(borrow);
    }
    carry
}

/// Computes x ← x + (y0 + y1·2^64)·a mod 2^(64·n), where x and a have n limbs. Returns the two
/// limbs carried out, the lower one first. Two carry chains run in parallel, and each limb of x is
/// read and written half as often as in two calls of [`add_row`].
#[inline]
fn add_two_rows(x: &mut [u64], a: &[u64], [y0, y1]: [u64; 2]) -> [u64; 2] {
    let (mut carry0, mut carry1, mut previous) = (0u64, 0u64, 0u64);
    for (x, &a) in x.iter_mut().zip(a) {
        // At most (2^64−1)² + 2·(2^64−1) = 2^128 − 1: never overflows.
        let s = u128::from(a) * u128::from(y0) + u128::from(*x) + u128::from(carry0);
        carry0 = (s >> 64) as u64;
        let t = u128::from(previous) * u128::from(y1) + u128::from(s as u64) + u128::from(carry1);
        carry1 = (t >> 64) as u64;
        *x = t as u64;
        previous = a;
    }
    let t = u128::from(previous) * u128::from(y1) + u128::from(carry0) + u128::from(carry1);
    [t as u64, (t >> 64) as u64]
}

/// Computes out ← a·b. a is multiplied by two limbs of b at a time. `out` must have
/// `a.len() + b.len()` limbs; its initial contents are ignored.
#[inline]
pub(super) fn mul(out: &mut [u64], a: &[u64], b: &[u64]) {
    out.fill(0);
    let mut pairs = b.chunks_exact(2);
    for (i, pair) in pairs.by_ref().enumerate() {
        let &[y0, y1] = pair else { continue };
        // The sum of the rows so far is below 2^(64·(a.len() + 2i)), so the limbs that receive the
        // carries are still 0.
        let (row, above) = out[2 * i..].split_at_mut(a.len());
        above[..2].copy_from_slice(&add_two_rows(row, a, [y0, y1]));
    }
    if let &[y] = pairs.remainder() {
        let (row, above) = out[b.len() - 1..].split_at_mut(a.len());
        above[0] = add_row(row, a, y);
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

/// Computes out ← 2·out + Σ a_i²·2^(128·i) mod 2^(64·l), where `out` has l limbs and a_i is limb i
/// of a.
pub(crate) fn double_and_add_squares(out: &mut [u64], a: &[u64]) {
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

/// Computes [`super::reduce`], two limbs at a time, or one at the end. `inverse` is
/// −m^(−1) mod 2^64.
pub(super) fn reduce(x: &mut [u64], m: &[u64], inverse: u64) {
    let l = m.len();
    let mut i = 0;
    while i + 2 <= l {
        let row = &mut x[i..i + l];
        let digits = two_digits(row, m, inverse);
        let carries = add_two_rows(row, m, digits);
        x[i..i + 2].copy_from_slice(&carries);
        i += 2;
    }
    if i < l {
        let row = &mut x[i..i + l];
        let digit = row[0].wrapping_mul(inverse);
        x[i] = add_row(row, m, digit);
    }
}

/// Returns the limbs q0 and q1 for which the two lowest limbs of x + (q0 + q1·2^64)·m are 0. x and
/// m must have at least two limbs each; `inverse` is −m^(−1) mod 2^64.
#[inline]
fn two_digits(x: &[u64], m: &[u64], inverse: u64) -> [u64; 2] {
    let q0 = x[0].wrapping_mul(inverse);
    let first = u128::from(q0) * u128::from(m[0]) + u128::from(x[0]);
    let second = x[1].wrapping_add(q0.wrapping_mul(m[1])).wrapping_add((first >> 64) as u64);
    [q0, second.wrapping_mul(inverse)]
}
