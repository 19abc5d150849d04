//! The Jacobi symbol by the binary algorithm: slow and obvious.

use crate::limbs::{compare, shift_right_assign, sub_assign, trim};

/// Returns the Jacobi symbol (a | b) for odd b, by three laws: the value of (2 | b), quadratic
/// reciprocity, and (a | b) = (a − b | b).
///
/// The method is algorithm 1.4.12 of Cohen 1993, *A Course in Computational Algebraic Number
/// Theory*, with subtraction instead of division. Cost O(n²) for n bits.
///
/// # Panics
/// Panics if b is even.
#[must_use]
pub fn jacobi_binary(a: &[u64], b: &[u64]) -> i8 {
    assert!(b.first().is_some_and(|low| low % 2 == 1), "the lower number must be odd");
    let (mut a, mut b) = (a.to_vec(), b.to_vec());
    trim(&mut b);
    let mut sign = 1;
    loop {
        trim(&mut a);
        if a.is_empty() {
            return if b == [1] { sign } else { 0 };
        }
        let zeros = strip_zeros(&mut a);
        // (2 | b) = −1 for b ≡ ±3 mod 8.
        if zeros % 2 == 1 && matches!(b[0] % 8, 3 | 5) {
            sign = -sign;
        }
        if compare(&a, &b).is_lt() {
            if a[0] % 4 == 3 && b[0] % 4 == 3 {
                sign = -sign;
            }
            std::mem::swap(&mut a, &mut b);
        }
        sub_assign(&mut a, &b);
    }
}

/// Divides a ≠ 0 by the highest power 2^k that divides it; returns k.
fn strip_zeros(a: &mut Vec<u64>) -> u64 {
    let limbs = a.iter().take_while(|&&x| x == 0).count();
    a.drain(..limbs);
    let bits = a.first().map_or(0, |low| low.trailing_zeros());
    shift_right_assign(a, bits);
    trim(a);
    64 * limbs as u64 + u64::from(bits)
}
