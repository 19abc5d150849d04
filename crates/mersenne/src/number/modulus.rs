//! Arithmetic modulo a number k·b^n ± 1, on the CPU.

use std::cmp::Ordering;

use warpint_natural::division::{Prepared, div_rem_by};
use warpint_natural::limbs::{
    add_assign, compare, copy_to, div_rem_small, mul_small_assign, shifted_left, shifted_right,
    sub_assign, trim, trimmed,
};
use warpint_natural::product::Multiplier;

use super::{Number, Sign};

/// A number N = k·b^n + c as a modulus.
///
/// Residues are canonical: x has [`Number::limbs`] limbs, and 0 ≤ x < N. Products are reduced in one
/// of two ways.
///
/// * b = 2: x = q·2^n + l and q = u·k + r give x = u·k·2^n + r·2^n + l ≡ r·2^n + l − c·u, because
///   k·2^n ≡ −c. The cost is that of a division by one limb, O(n/64).
/// * Other b: the remainder of a division by N with a stored reciprocal. The cost is that of two
///   products of the length of N.
pub(crate) struct Modulus {
    number: Number,
    /// N, in as many limbs as a residue.
    value: Vec<u64>,
    /// The divisor N, if b is not 2.
    divisor: Option<Prepared>,
}

impl Modulus {
    /// Computes N, and its reciprocal if b is not 2.
    pub(crate) fn new(number: Number, multiplier: &dyn Multiplier) -> Self {
        let value = number.value_by(multiplier);
        let divisor = (number.base() != 2).then(|| Prepared::new(multiplier, &value));
        Self { number, value: resized(value, number.limbs()), divisor }
    }

    pub(crate) fn number(&self) -> Number {
        self.number
    }

    /// Returns whether N and the divisor are unchanged in memory: N is computed again, and divided by the
    /// divisor.
    pub(crate) fn is_intact(&self, multiplier: &dyn Multiplier) -> bool {
        let fresh = self.number.value_by(multiplier);
        let is_same = |divisor: &Prepared| {
            let (quotient, rest) = divisor.div_rem(multiplier, &fresh);
            *trimmed(&quotient) == [1] && trimmed(&rest).is_empty()
        };
        compare(&fresh, &self.value).is_eq() && self.divisor.as_ref().is_none_or(is_same)
    }

    /// Flips a bit of N, as a fault of the memory would do.
    #[cfg(test)]
    pub(crate) fn flip(&mut self, bit: usize, multiplier: &dyn Multiplier) {
        self.value[bit / 64] ^= 1 << (bit % 64);
        self.divisor =
            self.divisor.is_some().then(|| Prepared::new(multiplier, trimmed(&self.value)));
    }

    /// Returns N, in as many limbs as a residue.
    #[cfg(test)]
    pub(crate) fn value(&self) -> &[u64] {
        &self.value
    }

    /// Returns x mod N, or −x mod N if `is_negative`, as a canonical residue.
    pub(crate) fn reduce_signed(
        &self,
        multiplier: &dyn Multiplier,
        (x, is_negative): (Vec<u64>, bool),
    ) -> Vec<u64> {
        let x = self.reduce(multiplier, x);
        if !is_negative {
            return x;
        }
        let mut zero = vec![0; x.len()];
        self.sub_assign(&mut zero, &x);
        zero
    }

    /// Returns x mod N as a canonical residue. x may have any length.
    pub(crate) fn reduce(&self, multiplier: &dyn Multiplier, x: Vec<u64>) -> Vec<u64> {
        let limbs = self.number.limbs();
        let rest = match &self.divisor {
            _ if compare(&x, &self.value).is_lt() => x,
            Some(divisor) => divisor.div_rem(multiplier, &x).1,
            // A longer number would be folded very often.
            None if trimmed(&x).len() > 2 * limbs + 1 => div_rem_by(multiplier, &x, &self.value).1,
            None => self.fold(x),
        };
        resized(rest, limbs)
    }

    /// Returns x mod N in some number of limbs, for b = 2.
    fn fold(&self, mut x: Vec<u64>) -> Vec<u64> {
        if compare(&x, &self.value).is_lt() {
            return x;
        }
        let (k, n) = (self.number.multiplier(), self.number.exponent() as usize);
        let mut u = shifted_right(&x, n);
        let r = if k == 1 { 0 } else { div_rem_small(&mut u, k) };
        x.resize(self.number.limbs().max(n / 64 + 1) + 1, 0);
        x[n / 64] &= (1 << (n % 64)) - 1;
        x[n / 64 + 1..].fill(0);
        let high = shifted_left(&[r], n);
        // Bits below 2^n and a multiple of 2^n do not overlap. The sum is below k·2^n.
        add_assign(&mut x, &high);
        let u = self.fold(u);
        let u = trimmed(&u);
        match self.number.sign() {
            Sign::Minus => {
                // Both terms are at most N.
                add_assign(&mut x, u);
                while !compare(&x, &self.value).is_lt() {
                    sub_assign(&mut x, trimmed(&self.value));
                }
            }
            Sign::Plus => {
                if sub_assign(&mut x, u) {
                    add_assign(&mut x, trimmed(&self.value));
                }
            }
        }
        x
    }

    /// Returns a·b mod N for residues a and b. If both are the same slice, computes a square.
    pub(crate) fn mul(&self, multiplier: &dyn Multiplier, a: &[u64], b: &[u64]) -> Vec<u64> {
        self.reduce(multiplier, multiplier.mul(a, b))
    }

    /// Computes a ← a + b mod N for residues a and b.
    pub(crate) fn add_assign(&self, a: &mut [u64], b: &[u64]) {
        let carry = add_assign(a, b);
        if carry || compare(a, &self.value) != Ordering::Less {
            sub_assign(a, &self.value);
        }
    }

    /// Computes a ← a − b mod N for residues a and b.
    pub(crate) fn sub_assign(&self, a: &mut [u64], b: &[u64]) {
        if sub_assign(a, b) {
            add_assign(a, &self.value);
        }
    }

    /// Returns m·x mod N for a residue x.
    pub(crate) fn times(&self, multiplier: &dyn Multiplier, mut x: Vec<u64>, m: u64) -> Vec<u64> {
        let carry = mul_small_assign(&mut x, m);
        x.push(carry);
        self.reduce(multiplier, x)
    }
}

/// Returns x in `limbs` limbs. x must be below 2^(64·`limbs`).
fn resized(mut x: Vec<u64>, limbs: usize) -> Vec<u64> {
    trim(&mut x);
    let mut resized = vec![0; limbs];
    copy_to(&mut resized, &x);
    resized
}
