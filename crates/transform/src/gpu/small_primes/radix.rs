//! Slow arithmetic on numbers in the radix of a form, digit by digit, for the computation of
//! constants.

use warpint_arith::gfn::Form;

/// The ring Z/pZ, p = r^k + 1. An element has k digits, the lowest first. All digits are below r,
/// except in the element r^k, whose digits are 0, …, 0, r.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Radix {
    pub(super) r: u64,
    pub(super) digits: usize,
}

impl Radix {
    pub(super) fn new(form: Form) -> Self {
        Self { r: form.radix(), digits: form.digits() }
    }

    /// Returns the digits of 1.
    pub(super) fn one(self) -> Vec<u64> {
        let mut digits = vec![0; self.digits];
        digits[0] = 1;
        digits
    }

    /// Replaces x by x·w mod p.
    pub(super) fn multiply(self, x: &mut [u64], w: u64) {
        let r = u128::from(self.r);
        let mut carry = 0;
        for digit in x.iter_mut() {
            let sum = u128::from(*digit) * u128::from(w) + carry;
            (*digit, carry) = ((sum % r) as u64, sum / r);
        }
        self.subtract(x, carry as i128);
    }

    /// Replaces x by Σ x_i·r^i − c mod p, with canonical digits. A carry from the highest digit is
    /// subtracted from the lowest digit, because r^k = −1.
    fn subtract(self, x: &mut [u64], c: i128) {
        let r = i128::from(self.r);
        let mut c = c;
        while c != 0 {
            if c == 1 && x.iter().all(|&digit| digit == 0) {
                x[self.digits - 1] = self.r;
                return;
            }
            let mut carry = -c;
            for digit in x.iter_mut() {
                let sum = i128::from(*digit) + carry;
                (*digit, carry) = (sum.rem_euclid(r) as u64, sum.div_euclid(r));
            }
            c = carry;
        }
    }

    /// Replaces x by −x mod p.
    pub(super) fn negate(self, x: &mut [u64]) {
        let r = i128::from(self.r);
        let mut carry = 0;
        for digit in x.iter_mut() {
            let sum = carry - i128::from(*digit);
            (*digit, carry) = (sum.rem_euclid(r) as u64, sum.div_euclid(r));
        }
        self.subtract(x, carry);
    }

    /// Replaces x by x/2 mod p. Requires that r is even; p is then odd.
    pub(super) fn halve(self, x: &mut [u64]) {
        let mut carry = x[0] % 2;
        // (x + 1 + r^k)/2.
        x[0] += carry;
        for digit in x.iter_mut().rev() {
            let half = *digit / 2 + carry * (self.r / 2);
            carry = *digit % 2;
            *digit = half;
        }
    }

    /// Returns the constants with which `small_carry.cu` divides by r. The array contains r, r·2^s
    /// and ⌊(2^128 − 1)/(r·2^s)⌋ − 2^64. The second result is the shift s, with 2^63 ≤ r·2^s <
    /// 2^64.
    pub(super) fn constants(self) -> ([u64; 3], u32) {
        let shift = self.r.leading_zeros();
        let normal = self.r << shift;
        ([self.r, normal, (u128::MAX / u128::from(normal)) as u64], shift)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tests all elements of the field of (2^3 − 2)^2 + 1 = 37.
    #[test]
    fn small_field() {
        let radix = Radix::new(Form::minus(3, 1, 2).unwrap());
        let value = |x: &[u64]| (x[0] + 6 * x[1]) % 37;
        for x in 0..37 {
            let element = if x == 36 { vec![0, 6] } else { vec![x % 6, x / 6] };
            for w in [0, 1, 2, 35, 36, 37, u64::MAX] {
                let mut product = element.clone();
                radix.multiply(&mut product, w);
                assert_eq!(value(&product), (u128::from(x) * u128::from(w) % 37) as u64);
                assert!(product == [0, 6] || product.iter().all(|&digit| digit < 6));
            }
            let mut half = element.clone();
            radix.halve(&mut half);
            assert_eq!(2 * value(&half) % 37, x);
            let mut negative = element;
            radix.negate(&mut negative);
            assert_eq!((value(&negative) + x) % 37, 0);
        }
    }
}
