//! Conversions of elements to and from integers, bytes and digits.

use super::Gfn;
use crate::field::Field;
use crate::limbs;

/// The reason why a sequence of digits is not an element of a [`Gfn`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum NoElement {
    /// The number of digits is not K.
    #[error("an element has {expected} digits, not {found}")]
    Length {
        /// K, the number of digits of an element.
        expected: usize,
        /// The number of digits given.
        found: usize,
    },
    /// A digit is r or more, where r is the radix. The only element with such a digit is r^K, whose
    /// digits are 0, …, 0, r, but the digits given are different.
    #[error(
        "digit {at} is {digit}, but digits must be below the radix {radix} (only the element r^k has the highest digit {radix})"
    )]
    Digit {
        /// The index of the digit. The lowest digit has index 0.
        at: usize,
        /// The value of the digit.
        digit: u64,
        /// The radix r.
        radix: u64,
    },
}

impl<const K: usize> Gfn<K> {
    /// Returns the element whose digits in radix r are `digits`, the lowest first.
    ///
    /// # Errors
    /// Returns an error if the number of digits is not K. Returns an error if a digit is r or more,
    /// unless the digits are 0, …, 0, r, which represent r^K.
    pub fn from_digits(&self, digits: &[u64]) -> Result<[u64; K], NoElement> {
        let length = NoElement::Length { expected: K, found: digits.len() };
        let element: [u64; K] = digits.try_into().map_err(|_| length)?;
        match digits.iter().position(|&digit| digit >= self.r) {
            Some(at) if element != self.minus_one() => {
                Err(NoElement::Digit { at, digit: digits[at], radix: self.r })
            }
            _ => Ok(element),
        }
    }

    /// Returns x mod p, where p is the modulus of the field. The natural number x is given in
    /// little-endian limbs and may have any size. Cost: O(n²) for n limbs.
    #[must_use]
    pub fn from_limbs(&self, x: &[u64]) -> [u64; K] {
        let mut rest = limbs::trimmed(x).to_vec();
        let mut sum = self.zero();
        // r^k = −1: blocks of K digits with alternating signs.
        let mut negative = false;
        while !rest.is_empty() {
            let mut block = [0; K];
            for digit in &mut block {
                *digit = limbs::div_rem_small(&mut rest, self.r);
                limbs::trim(&mut rest);
            }
            sum = if negative { self.sub(&sum, &block) } else { self.add(&sum, &block) };
            negative = !negative;
        }
        sum
    }

    /// Returns the integer from 0 to p − 1 that the element represents, in little-endian limbs. The
    /// result has as many limbs as the modulus p. Cost: O(K²).
    #[must_use]
    pub fn to_limbs(&self, a: &[u64; K]) -> Vec<u64> {
        let words = self.form.bits().div_ceil(64) as usize;
        let mut x = vec![0; words];
        for &digit in a.iter().rev() {
            // x < p throughout: no limb is carried out.
            limbs::mul_small_assign(&mut x, self.r);
            limbs::add_assign(&mut x, &[digit]);
        }
        x
    }

    /// Returns x mod p, where p is the modulus of the field. The natural number x is given in
    /// little-endian bytes and may have any size. Cost: O(n²) for n bytes.
    #[must_use]
    pub fn from_bytes(&self, bytes: &[u8]) -> [u64; K] {
        let word = |bytes: &[u8]| bytes.iter().rev().fold(0, |x, &byte| x << 8 | u64::from(byte));
        let x: Vec<u64> = bytes.chunks(8).map(word).collect();
        self.from_limbs(&x)
    }

    /// Returns the integer from 0 to p − 1 that the element represents, in little-endian bytes. The
    /// result has as many bytes as the modulus p.
    #[must_use]
    pub fn to_bytes(&self, a: &[u64; K]) -> Vec<u8> {
        let mut bytes: Vec<u8> = self.to_limbs(a).iter().flat_map(|x| x.to_le_bytes()).collect();
        bytes.truncate(self.form.bits().div_ceil(8) as usize);
        bytes
    }
}
