//! The fraction at the root of a scaled remainder tree.

use warpint_natural::division::reciprocal;
use warpint_natural::limbs::{shift_left_to, trimmed};
use warpint_natural::product::Multiplier;

/// Returns X with 0 ≤ D/P − X/B^(m+1) < 2/B^(m+1) modulo 1, in m + 1 limbs, where B = 2^64, P has m
/// limbs, of which the top ones may be 0, and D < B^m has m limbs. D/P must be below B/2.
///
/// Let t be the number of limbs of P without leading zeros, and 2^s·P its multiple with the top bit
/// set. A = 2^s·P·B^(n−t) with n = m + 2 has a reciprocal R with 0 < 1/A − R/B^(2n) ≤ 2/B^(2n)
/// ([`reciprocal`], with its top limb). X = ⌊2^s·D·R/B^(t+1)⌋ mod B^(m+1). The error of the reciprocal is at most
/// 2·(D/P)·A/B^(2n) < 2·(D/P)/B^(m+2) < 1/B^(m+1), and that of the floor is below 1/B^(m+1).
///
/// Cost O(M(m)): about five products of m by m limbs.
pub(super) fn of(multiplier: &dyn Multiplier, numerator: &[u64], product: &[u64]) -> Vec<u64> {
    let m = product.len();
    let p = trimmed(product);
    let t = p.len();
    let shift = p.last().map_or(0, |top| top.leading_zeros());
    let n = m + 2;
    let mut a = vec![0; n + 1];
    shift_left_to(&mut a[n - t..], p, shift);
    // 2^s·P has t limbs.
    a.truncate(n);
    let mut r = reciprocal(multiplier, &a);
    r.push(1);
    drop(a);
    let mut d = vec![0; m + 1];
    shift_left_to(&mut d, numerator, shift);
    // m + 1 and m + 3 limbs.
    let whole = multiplier.mul(&d, &r);
    whole[t + 1..][..m + 1].to_vec()
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_natural::limbs::{add_assign, compare, div_rem, sub_assign};
    use warpint_natural::product::FastProducts;

    /// Compares with ⌊D·B^(m+1)/P⌋ by division: X is this number or one less.
    #[test]
    fn fractions_are_quotients() {
        let mut seed = 1u64;
        let mut word = || {
            seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            seed ^ seed >> 29
        };
        for m in (1..20).chain([40, 90]) {
            for zeros in 0..m.min(4) {
                for case in 0..20 {
                    let mut p: Vec<u64> = (0..m).map(|_| word()).collect();
                    p[m - zeros..].fill(0);
                    match case {
                        0 => p[m - zeros - 1] = 1,
                        1 => p[..m - zeros].fill(u64::MAX),
                        2 => {
                            p.fill(0);
                            p[m - zeros - 1] = 1 << 63;
                        }
                        _ => p[m - zeros - 1] |= 1,
                    }
                    // Fractions, and numbers a little above P.
                    let mut d = div_rem(&(0..m).map(|_| word()).collect::<Vec<_>>(), &p).1;
                    d.resize(m, 0);
                    if case % 3 == 0 && zeros > 0 {
                        add_assign(&mut d, &p);
                    }
                    let mut dividend = vec![0; m + 1];
                    dividend.extend(&d);
                    let mut quotient = div_rem(&dividend, &p).0;
                    quotient.resize(m + 1, 0);
                    let x = of(&FastProducts, &d, &p);
                    let mut difference = quotient.clone();
                    sub_assign(&mut difference, &x);
                    assert!(compare(&difference, &[1]).is_le(), "{x:x?} {quotient:x?} {p:x?}");
                }
            }
        }
    }
}
