//! Schoolbook multiplication, two rows at a time.

/// a·b as [`mul`](super::mul()), but faster: see [`mul_to`].
pub(super) fn mul_by_row_pairs(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0u64; a.len() + b.len()];
    mul_to(&mut product, a, b);
    product
}

/// product ← a·b, faster than [`mul`](super::mul()): two chains of carries run side by
/// side, and each limb of the product is read and written half as often. What was in
/// `product` does not matter.
///
/// # Panics
/// Unless `product` has `a.len() + b.len()` limbs.
#[inline]
pub fn mul_to(product: &mut [u64], a: &[u64], b: &[u64]) {
    assert_eq!(product.len(), a.len() + b.len(), "a product of another length");
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
