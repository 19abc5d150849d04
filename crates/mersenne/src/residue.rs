//! Canonical residues modulo a number: the form in which residues leave an engine and are stored in
//! checkpoints.

use std::fmt;
use std::sync::Arc;

use warpint_files::ErrorKind;
use warpint_natural::limbs;
use warpint_natural::product::FastProducts;

use crate::Number;
use crate::number::Modulus;

/// A number x modulo N = k·b^n ± 1 in canonical form: 0 ≤ x < N.
///
/// Functions that take a [`Number`] also take the exponent p of a Mersenne number M_p = 2^p − 1.
///
/// The limbs are ⌈B/64⌉ little-endian `u64`, where B is [`Number::bits`], which is p for M_p. Clones
/// share the limbs, so that cloning is cheap.
#[derive(Clone, PartialEq, Eq)]
pub struct Residue {
    number: Number,
    limbs: Arc<Vec<u64>>,
}

/// The reason why bytes are not a canonical residue.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ResidueError {
    /// The number of bytes is not ⌈B/8⌉, where B is [`Number::bits`].
    #[error("a residue mod {number} has {expected} bytes, not {found}")]
    Length {
        /// The modulus.
        number: Number,
        /// The required number of bytes, ⌈B/8⌉.
        expected: usize,
        /// The number of bytes that were given.
        found: usize,
    },
    /// The value is not below the modulus.
    #[error("the bytes are not a canonical residue mod {number}: the value is not below {number}")]
    NotCanonical {
        /// The modulus.
        number: Number,
    },
}

impl ResidueError {
    /// Returns the kind of the error, which is always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

impl Residue {
    /// Returns v mod N.
    #[must_use]
    pub fn from_u64(number: impl Into<Number>, v: u64) -> Self {
        let number = number.into();
        // With more than 65 bits by the upper bound, N is above 2^64.
        if number.bits() <= 65 {
            return Self::from_limbs(number, &[v]);
        }
        let mut limbs = vec![0; number.limbs()];
        limbs[0] = v;
        Self { number, limbs: limbs.into() }
    }

    /// Returns x mod N. x is given as little-endian limbs, and may have any length. Cost: O(length)
    /// for a Mersenne number, otherwise that of [`Number::value`] and of a division.
    #[must_use]
    pub fn from_limbs(number: impl Into<Number>, x: &[u64]) -> Self {
        let number = number.into();
        let limbs = if number.is_mersenne() {
            limbs::reduce(x, number.exponent())
        } else {
            Modulus::new(number, &FastProducts).reduce(&FastProducts, x.to_vec())
        };
        Self { number, limbs: limbs.into() }
    }

    /// Creates a residue from limbs that must already be in canonical form.
    pub(crate) fn from_canonical(number: impl Into<Number>, limbs: Vec<u64>) -> Self {
        let number = number.into();
        debug_assert_eq!(limbs.len(), number.limbs(), "the length");
        debug_assert!(
            !number.is_mersenne() || limbs == limbs::reduce(&limbs, number.exponent()),
            "not canonical"
        );
        Self { number, limbs: limbs.into() }
    }

    /// Creates a residue modulo N from ⌈B/8⌉ little-endian bytes, where B is [`Number::bits`]. Returns
    /// an error unless the bytes are in canonical form. Cost: that of [`Number::value`].
    pub fn from_le_bytes(number: impl Into<Number>, bytes: &[u8]) -> Result<Self, ResidueError> {
        let number = number.into();
        let expected = Self::byte_len(number);
        if bytes.len() != expected {
            return Err(ResidueError::Length { number, expected, found: bytes.len() });
        }
        let raw: Vec<u64> = bytes
            .chunks(8)
            .map(|chunk| {
                let mut limb = [0u8; 8];
                limb[..chunk.len()].copy_from_slice(chunk);
                u64::from_le_bytes(limb)
            })
            .collect();
        if limbs::compare(&raw, &number.value()).is_lt() {
            Ok(Self { number, limbs: raw.into() })
        } else {
            Err(ResidueError::NotCanonical { number })
        }
    }

    /// Returns the number of bytes of [`Residue::to_le_bytes`], ⌈B/8⌉, where B is [`Number::bits`].
    #[must_use]
    pub fn byte_len(number: impl Into<Number>) -> usize {
        (number.into().bits() as usize).div_ceil(8)
    }

    /// Returns the value as ⌈B/8⌉ little-endian bytes.
    #[must_use]
    pub fn to_le_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![0; 8 * self.limbs.len()];
        for (to, limb) in bytes.chunks_exact_mut(8).zip(self.limbs.iter()) {
            to.copy_from_slice(&limb.to_le_bytes());
        }
        bytes.truncate(Self::byte_len(self.number));
        bytes
    }

    /// Returns the modulus N.
    #[must_use]
    pub fn number(&self) -> Number {
        self.number
    }

    /// Returns the exponent n of the modulus k·b^n ± 1, which is p for M_p.
    #[must_use]
    pub fn exponent(&self) -> u32 {
        self.number.exponent()
    }

    /// Returns the little-endian limbs of the value.
    #[must_use]
    pub fn limbs(&self) -> &[u64] {
        &self.limbs
    }

    /// Returns whether the value of the residue is v.
    #[must_use]
    pub fn is(&self, v: u64) -> bool {
        self.limbs.first() == Some(&v) && self.limbs[1..].iter().all(|&l| l == 0)
    }

    /// Returns the low 64 bits, which GIMPS calls res64.
    #[must_use]
    pub fn res64(&self) -> u64 {
        self.limbs.first().copied().unwrap_or(0)
    }

    /// Returns res64 as GIMPS writes it: 16 upper-case hexadecimal digits.
    #[must_use]
    pub fn res64_hex(&self) -> String {
        format!("{:016X}", self.res64())
    }

    /// Returns the low 2048 bits as 512 lower-case hexadecimal digits, most significant first.
    #[must_use]
    pub fn res2048_hex(&self) -> String {
        (0..32).rev().map(|i| format!("{:016x}", self.limbs.get(i).copied().unwrap_or(0))).collect()
    }

    /// Returns whether the residue is −v ≢ 0 mod N, that is, whether its value is N − v.
    #[must_use]
    pub fn is_minus(&self, v: u64) -> bool {
        let mut sum = self.limbs.to_vec();
        sum.push(0);
        limbs::add_assign(&mut sum, &[v]);
        limbs::compare(&sum, &self.number.value()).is_eq()
    }

    /// Returns x + v mod N for this residue x. Cost: that of [`Number::value`].
    pub(crate) fn plus(&self, v: u64) -> Self {
        let n = self.number.value();
        let mut sum = self.limbs.to_vec();
        sum.push(0);
        limbs::add_assign(&mut sum, Self::from_u64(self.number, v).limbs());
        if !limbs::compare(&sum, &n).is_lt() {
            limbs::sub_assign(&mut sum, &n);
        }
        sum.truncate(self.limbs.len());
        Self::from_canonical(self.number, sum)
    }

    /// Returns x − v mod N for this residue x. Cost: that of [`Number::value`].
    pub(crate) fn minus(&self, v: u64) -> Self {
        let mut difference = self.limbs.to_vec();
        if limbs::sub_assign(&mut difference, Self::from_u64(self.number, v).limbs()) {
            limbs::add_assign(&mut difference, &self.number.value());
        }
        Self::from_canonical(self.number, difference)
    }

    /// Returns 2^s·x mod M_p for this residue x: the p bits of x rotated left by s.
    ///
    /// # Panics
    /// Panics if the modulus is not a Mersenne number, unless s is 0.
    #[must_use]
    pub fn rotated_left(&self, s: u32) -> Self {
        let p = self.exponent();
        if s.is_multiple_of(p) && (s == 0 || self.number.is_mersenne()) {
            return self.clone();
        }
        assert!(self.number.is_mersenne(), "a rotation modulo {}", self.number);
        let mut limbs = limbs::rotate_left(&self.limbs, s, p);
        limbs::canonicalise(&mut limbs, p);
        Self { number: self.number, limbs: limbs.into() }
    }

    /// Returns 2^−s·x mod M_p for this residue x: the p bits of x rotated right by s.
    ///
    /// # Panics
    /// Panics if the modulus is not a Mersenne number, unless s is 0.
    #[must_use]
    pub fn rotated_right(&self, s: u32) -> Self {
        let p = self.exponent();
        if s == 0 { self.clone() } else { self.rotated_left(p - s % p) }
    }

    /// Returns m·x mod N for this residue x.
    #[must_use]
    pub fn times(&self, m: u64) -> Self {
        let mut limbs = self.limbs.to_vec();
        let carry = limbs::mul_small_assign(&mut limbs, m);
        limbs.push(carry);
        Self::from_limbs(self.number, &limbs)
    }

    /// Returns x/d mod M_p for this residue x. Returns `None` if d and M_p have a common factor.
    ///
    /// # Panics
    /// Panics if `d` is zero, or if the modulus is not a Mersenne number.
    #[must_use]
    pub fn divided_by(&self, d: u32) -> Option<Self> {
        assert!(self.number.is_mersenne(), "a quotient modulo {}", self.number);
        let limbs = limbs::div_small_mod(&self.limbs, d, self.exponent())?;
        Some(Self { number: self.number, limbs: limbs.into() })
    }
}

/// Displays the low 64 bits of the residue in the form of [`Residue::res64_hex`]. Reports identify
/// residues in this way.
impl fmt::Display for Residue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.res64_hex())
    }
}

impl fmt::Debug for Residue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "…{} mod {}", self.res64_hex(), self.number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_residue_is_displayed_by_its_low_64_bits() {
        let residue = Residue::from_limbs(127u32, &[0xabc, 1]);
        assert_eq!(residue.to_string(), "0000000000000ABC");
        assert_eq!(format!("{residue:>18}"), "  0000000000000ABC");
    }
    use proptest::prelude::*;

    #[test]
    fn bytes_that_are_not_canonical_are_refused() {
        assert_eq!(
            Residue::from_le_bytes(13u32, &[0; 3]),
            Err(ResidueError::Length { number: 13u32.into(), expected: 2, found: 3 })
        );
        let not_canonical = Err(ResidueError::NotCanonical { number: 13u32.into() });
        // M13 = 0x1fff itself, and 0x1fff with a bit above it.
        assert_eq!(Residue::from_le_bytes(13u32, &[0xff, 0x1f]), not_canonical);
        assert_eq!(Residue::from_le_bytes(13u32, &[0x00, 0x20]), not_canonical);
        assert_eq!(
            Residue::from_le_bytes(13u32, &[0xfe, 0x1f]),
            Ok(Residue::from_u64(13u32, 0x1ffe))
        );
        // Exponents with one and two whole limbs: M64 and M128 themselves, and these numbers minus
        // 1.
        for p in [64, 128] {
            let mut bytes = vec![0xff; p as usize / 8];
            assert_eq!(
                Residue::from_le_bytes(p, &bytes),
                Err(ResidueError::NotCanonical { number: p.into() })
            );
            bytes[0] = 0xfe;
            let before = Residue::from_le_bytes(p, &bytes).unwrap();
            assert_eq!(before.to_le_bytes(), bytes);
        }
    }

    proptest! {
        #[test]
        fn canonical_bytes_are_those_that_reduction_leaves(
            p in 2u32..200,
            bytes in proptest::collection::vec(prop_oneof![Just(0u8), Just(0xff), any::<u8>()], 25),
        ) {
            let bytes = &bytes[..Residue::byte_len(p)];
            let mut limbs = [0u8; 32];
            limbs[..bytes.len()].copy_from_slice(bytes);
            let limbs: Vec<u64> =
                limbs.chunks(8).map(|c| c.iter().rev().fold(0, |x, &b| x << 8 | u64::from(b))).collect();
            let reduced = Residue::from_limbs(p, &limbs);
            let read = Residue::from_le_bytes(p, bytes);
            prop_assert_eq!(read.is_ok(), reduced.to_le_bytes() == bytes);
            prop_assert!(read.is_err() || read == Ok(reduced));
        }
    }

    #[test]
    fn written_as_gimps_writes_it() {
        let x = Residue::from_limbs(3000u32, &[0xfedc_ba98_7654_3210, 0xab]);
        assert_eq!(x.res64_hex(), "FEDCBA9876543210");
        let long = x.res2048_hex();
        assert_eq!(long.len(), 512);
        assert!(long.ends_with("00000000000000abfedcba9876543210"));
        assert_eq!(Residue::from_u64(89u32, 5).res64_hex(), "0000000000000005");
    }

    #[test]
    fn a_factor_of_the_modulus_does_not_divide() {
        // M11 = 23 · 89.
        assert_eq!(Residue::from_u64(11u32, 46).divided_by(23), None);
        assert_eq!(Residue::from_u64(11u32, 46).divided_by(2), Some(Residue::from_u64(11u32, 23)));
    }

    proptest! {
        #[test]
        fn bytes_rotations_and_quotients_invert(
            p in 2u32..700,
            s in any::<u32>(),
            d in 1u32..1000,
            limbs in proptest::collection::vec(any::<u64>(), 11),
        ) {
            let x = Residue::from_limbs(p, &limbs);
            prop_assert_eq!(Residue::from_le_bytes(p, &x.to_le_bytes()), Ok(x.clone()));
            prop_assert_eq!(x.rotated_left(s).rotated_right(s), x.clone());
            if let Some(q) = x.divided_by(d) {
                let d = Residue::from_u64(p, u64::from(d));
                let product = limbs::mul_mod(q.limbs(), d.limbs(), p);
                prop_assert_eq!(Residue::from_limbs(p, &product), x);
            }
        }
    }
}
