//! Carries through the digits of a register.

use crate::layout::{WordLayout, carry_out};

/// Adds `carry` to word j and propagates carries, past the last word into word 0 if necessary.
///
/// `carry` must be below 2^62 in magnitude. Balanced digits stay balanced, unless a carry is left
/// after two rounds through all words. Such a carry is added to word j (compare
/// [`WordLayout::wrap_carry`]).
pub(in crate::engine) fn add_at(layout: &WordLayout, digits: &mut [i32], j: usize, carry: i64) {
    let (n, mut j, mut carry) = (digits.len(), j, carry);
    for _ in 0..2 * n {
        if carry == 0 {
            return;
        }
        let bits = layout.bits(j);
        let v = i64::from(digits[j]) + carry;
        carry = carry_out(v, bits);
        // The digit is balanced: |d| ≤ 2^(b−1) ≤ 2^30.
        digits[j] = (v - (carry << bits)) as i32;
        j = if j + 1 == n { 0 } else { j + 1 };
    }
    digits[j] += carry as i32;
}

/// Replaces the N digits d_j by the balanced digits of Σ v_j·2^⌈pj/N⌉, where p is the exponent of
/// `layout` and v_j = `value`(j, d_j). Every v_j must be below 2^62 in magnitude. Cost: O(N).
pub(in crate::engine) fn balance(
    layout: &WordLayout,
    digits: &mut [i32],
    value: impl Fn(usize, i64) -> i64,
) {
    let n = layout.len() as u64;
    let (p, base) = (u64::from(layout.exponent()), layout.exponent() / layout.len() as u32);
    // The weight exponent decreases by p mod N per word; a word is long if the exponent would fall
    // below 0.
    let step = p % n;
    let (mut e, mut carry) = (0u64, 0i64);
    for (j, d) in digits.iter_mut().enumerate() {
        let long = e < step;
        let bits = base + u32::from(long);
        e = if long { e + n - step } else { e - step };
        let v = value(j, i64::from(*d)) + carry;
        carry = carry_out(v, bits);
        *d = (v - (carry << bits)) as i32;
    }
    add_at(layout, digits, 0, carry);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Residue;
    use proptest::prelude::*;
    use warpint_natural::limbs;

    fn residue_of_i64(p: u32, v: i64) -> Residue {
        let magnitude = Residue::from_u64(p, v.unsigned_abs());
        if v >= 0 {
            return magnitude;
        }
        let zero = Residue::from_u64(p, 0);
        Residue::from_limbs(p, &limbs::sub_mod(zero.limbs(), magnitude.limbs(), p))
    }

    fn add(x: &Residue, y: &Residue) -> Residue {
        let p = x.exponent();
        Residue::from_limbs(p, &limbs::add_mod(x.limbs(), y.limbs(), p))
    }

    #[test]
    fn a_carry_ripples_all_the_way_round() {
        for (p, n) in [(127u32, 8usize), (521, 20), (89, 40), (67, 64)] {
            let layout = WordLayout::new(p, n);
            // The largest digit in every word: adding 1 to any word changes all of them.
            let full: Vec<i32> =
                (0..n).map(|j| ((1i64 << layout.bits(j) >> 1) - 1) as i32).collect();
            let before = layout.residue(&full);
            for j in 0..n {
                let mut digits = full.clone();
                add_at(&layout, &mut digits, j, 1);
                let one = Residue::from_u64(p, 1).rotated_left(layout.offset(j) as u32);
                assert_eq!(layout.residue(&digits), add(&before, &one), "M{p}, word {j} of {n}");
                for (j, d) in digits.iter().enumerate() {
                    let half = 1i32 << layout.bits(j) >> 1;
                    assert!((-half..=half).contains(d), "digit {j}: {d}");
                }
            }
        }
    }

    proptest! {
        #[test]
        fn balances_any_values(
            p in 64u32..900,
            words in 3usize..900,
            values in proptest::collection::vec(-(1i64 << 62) + 1..1 << 62, 900),
        ) {
            let n = words.clamp((p as usize).div_ceil(31), p as usize);
            let layout = WordLayout::new(p, n);
            let mut digits = vec![0; n];
            balance(&layout, &mut digits, |j, _| values[j]);
            let mut sum = Residue::from_u64(p, 0);
            for (j, &v) in values[..n].iter().enumerate() {
                let term = residue_of_i64(p, v).rotated_left((layout.offset(j) % u64::from(p)) as u32);
                sum = add(&sum, &term);
            }
            prop_assert_eq!(layout.residue(&digits), sum);
            for (j, &d) in digits.iter().enumerate() {
                let half = 1i64 << layout.bits(j) >> 1;
                prop_assert!((-half - 1..=half + 1).contains(&i64::from(d)));
            }
        }
    }
}
