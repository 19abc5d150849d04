//! Slow and simple products (limb by limb) and remainders (bit by bit). Tests of fields compare
//! their results with these functions.

use super::{add_assign, compare, mul_small_assign, sub_assign};

/// Returns a·b in `a.len() + b.len()` limbs, by adding the products of a and each limb of b.
pub(crate) fn mul(a: &[u64], b: &[u64]) -> Vec<u64> {
    let mut product = vec![0; a.len() + b.len()];
    for (i, &limb) in b.iter().enumerate() {
        let mut row = a.to_vec();
        let carry = mul_small_assign(&mut row, limb);
        row.push(carry);
        add_assign(&mut product[i..], &row);
    }
    product
}

/// Returns a mod m in `m.len()` limbs. The bits of a are processed one at a time, the highest
/// first. Each step doubles the remainder and adds the next bit.
///
/// # Panics
/// Panics if m is zero.
pub(crate) fn rem(a: &[u64], m: &[u64]) -> Vec<u64> {
    assert!(m.iter().any(|&limb| limb != 0), "division by zero");
    let mut rem = vec![0; m.len() + 1];
    for &limb in a.iter().rev() {
        for bit in (0..64).rev() {
            mul_small_assign(&mut rem, 2);
            rem[0] |= limb >> bit & 1;
            if compare(&rem, m).is_ge() {
                sub_assign(&mut rem, m);
            }
        }
    }
    rem.truncate(m.len());
    rem
}
