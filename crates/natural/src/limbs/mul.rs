//! Schoolbook multiplication.

/// Returns a·b in `a.len() + b.len()` limbs. Cost: `a.len()`·`b.len()` limb products.
#[must_use]
pub fn mul(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0u64; a.len() + b.len()];
    for (i, &x) in a.iter().enumerate() {
        let mut carry = 0u64;
        for (j, &y) in b.iter().enumerate() {
            // At most (2^64−1)^2 + 2·(2^64−1) = 2^128 − 1: never overflows.
            let t = u128::from(x) * u128::from(y) + u128::from(product[i + j]) + u128::from(carry);
            product[i + j] = t as u64;
            carry = (t >> 64) as u64;
        }
        product[i + b.len()] = carry;
    }
    product
}
