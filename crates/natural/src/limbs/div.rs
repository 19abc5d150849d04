//! Schoolbook division.

use core::cmp::Ordering;

use super::{add_assign, compare, shift_left_to, shift_right_assign, trim, trimmed};

/// Returns ⌊a/b⌋ and a mod b, both without leading zero limbs.
///
/// The method is algorithm D (Knuth 1997, *The Art of Computer Programming* 2, §4.3.1). The cost is
/// (l − m + 1)·m limb products, where a has l limbs and b has m limbs.
///
/// # Panics
/// Panics if `b` is zero.
#[must_use]
pub fn div_rem(a: &[u64], b: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let (a, b) = (trimmed(a), trimmed(b));
    assert!(!b.is_empty(), "division by zero");
    if compare(a, b) == Ordering::Less {
        return (vec![], a.to_vec());
    }
    // The top bit of the divisor is set, so a quotient of the top limbs is at most 2 too large.
    let shift = b[b.len() - 1].leading_zeros();
    let shifted = |x: &[u64]| {
        let mut shifted = vec![0; x.len() + 1];
        shift_left_to(&mut shifted, x, shift);
        shifted
    };
    let (b, mut rem) = (shifted(b), shifted(a));
    let b = trimmed(&b);
    let mut quotient = vec![0; rem.len() - b.len()];
    for (i, digit) in quotient.iter_mut().enumerate().rev() {
        *digit = next_digit(&mut rem[i..=i + b.len()], b);
    }
    rem.truncate(b.len());
    shift_right_assign(&mut rem, shift);
    trim(&mut rem);
    trim(&mut quotient);
    (quotient, rem)
}

/// Returns the quotient limb ⌊rem/b⌋, and computes rem ← rem mod b. `rem` must be below 2^64·b and
/// have one limb more than b. The top bit of b must be set.
fn next_digit(rem: &mut [u64], b: &[u64]) -> u64 {
    let m = b.len();
    let (top, second) = (b[m - 1], if m > 1 { b[m - 2] } else { 0 });
    let high = (u128::from(rem[m]) << 64) | u128::from(rem[m - 1]);
    let third = if m > 1 { rem[m - 2] } else { 0 };
    let (mut digit, mut rest) = if rem[m] >= top {
        (u128::from(u64::MAX), high - u128::from(u64::MAX) * u128::from(top))
    } else {
        (high / u128::from(top), high % u128::from(top))
    };
    while rest >> 64 == 0 && digit * u128::from(second) > ((rest << 64) | u128::from(third)) {
        digit -= 1;
        rest += u128::from(top);
    }
    let digit = digit as u64;
    if sub_mul(rem, b, digit) {
        // Still one too large; this is rare.
        add_assign(rem, b);
        return digit - 1;
    }
    digit
}

/// Computes a ← a − b·m mod 2^(64·n), where n = `a.len()` is greater than `b.len()`. Returns
/// whether a − b·m was negative.
fn sub_mul(a: &mut [u64], b: &[u64], m: u64) -> bool {
    let mut carry = 0u64;
    for (x, &y) in a.iter_mut().zip(b) {
        let t = u128::from(y) * u128::from(m) + u128::from(carry);
        let (d, borrow) = x.overflowing_sub(t as u64);
        *x = d;
        // t ≤ 2^64·(2^64 − 1): if the high limb is 2^64 − 1, the low limb is 0 and causes no
        // borrow.
        carry = (t >> 64) as u64 + u64::from(borrow);
    }
    let mut borrow = carry;
    for x in &mut a[b.len()..] {
        let (d, under) = x.overflowing_sub(borrow);
        *x = d;
        borrow = u64::from(under);
    }
    borrow != 0
}
