//! Approximate reciprocals by Newton's iteration.

use super::div_rem_by;
use crate::limbs::{add_assign, compare, reversed_sub_assign, sub_assign, trimmed};
use crate::product::Multiplier;

/// The number of limbs up to which the reciprocal is computed by a division.
const DIVIDED_TO: usize = 32;

/// Returns X with a·X < B^(2n) < a·(X + 2), where B = 2^64 and a has n limbs. X has n + 1 limbs.
/// The top bit of a must be set.
///
/// Newton's iteration (Brent and Zimmermann 2010, *Modern Computer Arithmetic*, algorithm 3.5 and
/// lemma 3.7). From the reciprocal X' of the h = n − l top limbs of a, l = ⌊(n − 1)/2⌋, it computes
/// T = B^(n+h) − a·X' and X = B^l·X' + ⌊⌊T/B^l⌋·X'/B^(2h−l)⌋. If T is negative, X' is decreased
/// first.
///
/// Cost O(M(n)), where M(n) is the cost of a product of n limbs: two products of n by n/2 limbs in
/// the last step.
///
/// # Panics
/// Panics if a is empty or its top bit is not set.
#[must_use]
pub fn reciprocal(multiplier: &dyn Multiplier, a: &[u64]) -> Vec<u64> {
    let n = a.len();
    assert!(a.last().is_some_and(|top| top >> 63 == 1), "the top bit is not set");
    if n <= DIVIDED_TO {
        // ⌈B^(2n)/a⌉ − 1 = ⌊(B^(2n) − 1)/a⌋.
        let mut x = div_rem_by(multiplier, &vec![u64::MAX; 2 * n], a).0;
        x.resize(n + 1, 0);
        return x;
    }
    let l = (n - 1) / 2;
    let h = n - l;
    let mut x = reciprocal(multiplier, &a[l..]);
    // n + h + 1 limbs.
    let mut t = multiplier.mul(a, &x);
    // B^(n+h), which is one limb more than n + h limbs hold.
    let mut power = vec![0; n + h + 1];
    power[n + h] = 1;
    while compare(&t, &power).is_ge() {
        sub_assign(&mut x, &[1]);
        sub_assign(&mut t, a);
    }
    reversed_sub_assign(&mut t, &power);
    let high = trimmed(&t[l..]);
    let u = if high.is_empty() { vec![] } else { multiplier.mul(high, &x) };
    let mut whole = vec![0; n + 1];
    whole[l..].copy_from_slice(&x);
    let correction = u.get(2 * h - l..).map_or(&[][..], trimmed);
    add_assign(&mut whole, correction);
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limbs;
    use crate::product::{FastProducts, Schoolbook};
    use crate::sample::Sample;

    /// Checks a·X < B^(2n) < a·(X + 2).
    #[track_caller]
    fn check(multiplier: &dyn Multiplier, a: &[u64]) {
        let mut x = reciprocal(multiplier, a);
        assert_eq!(x.len(), a.len() + 1);
        let mut power = vec![0; 2 * a.len() + 1];
        power[2 * a.len()] = 1;
        assert!(compare(&limbs::mul(a, &x), &power).is_lt(), "{} limbs: too large", a.len());
        assert!(!add_assign(&mut x, &[2]));
        assert!(compare(&limbs::mul(a, &x), &power).is_gt(), "{} limbs: too small", a.len());
    }

    #[test]
    fn reciprocals_are_within_their_bounds() {
        let mut sample = Sample::new(11);
        for n in (1..=140).chain([255, 256, 257, 300, 513]) {
            let mut a = sample.number(n);
            a[n - 1] |= 1 << 63;
            check(&FastProducts, &a);
            // The least and the largest number, and numbers between runs of equal bits.
            let mut least = vec![0; n];
            least[n - 1] = 1 << 63;
            check(&Schoolbook, &least);
            least[0] |= 1;
            check(&FastProducts, &least);
            check(&FastProducts, &vec![u64::MAX; n]);
            let mut half = vec![u64::MAX; n];
            half[..n / 2].fill(0);
            check(&FastProducts, &half);
            half.reverse();
            half[n - 1] = 1 << 63;
            check(&FastProducts, &half);
        }
    }
}
