//! The shift of a residue: the bit position at which a register holds it.

use warpint_arith::primes;

/// The shift s of a register, 0 ≤ s < p: the register holds x·2^s mod M_p instead of x.
///
/// Two runs with different shifts put the same numbers into different words. So a systematic error
/// in the arithmetic does not affect both runs in the same way. Squaring doubles s mod p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Shift(u32);

impl Shift {
    /// The shift s = 0: the register holds x itself.
    pub const ZERO: Self = Self(0);

    /// Returns the shift s mod p, for registers modulo 2^p − 1.
    #[must_use]
    pub fn new(s: u32, p: u32) -> Self {
        Self(s % p)
    }

    /// Returns the shift s, in bits.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }

    /// Returns the shift after n squarings, s·2^n mod p, where s is `self`. Cost: O(log n).
    #[must_use]
    pub fn after_squarings(self, n: u64, p: u32) -> Self {
        let p = u64::from(p);
        let s = primes::mul_mod(u64::from(self.0), primes::pow_mod(2, n, p), p);
        // The result is below p, which is a u32.
        Self(s as u32)
    }

    /// Returns the shift of the product of two registers: s + t mod p, where s is `self` and t is
    /// `other`.
    #[must_use]
    pub fn of_product(self, other: Self, p: u32) -> Self {
        Self(((u64::from(self.0) + u64::from(other.0)) % u64::from(p)) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_with_each_squaring_and_adds_in_products() {
        let p = 61;
        let mut s = Shift::new(1000, p);
        assert_eq!(s.bits(), 1000 % 61);
        for n in 0..200 {
            assert_eq!(Shift::new(1000, p).after_squarings(n, p), s);
            s = s.of_product(s, p);
        }
        assert_eq!(Shift::ZERO.after_squarings(u64::MAX, 2_147_483_647), Shift::ZERO);
        let most = Shift::new(2_147_483_646, 2_147_483_647);
        assert_eq!(most.of_product(most, 2_147_483_647).bits(), 2_147_483_645);
    }
}
