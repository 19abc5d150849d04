//! Public exponents.

use warpint_natural::limbs::compare;

/// What is wrong with a public exponent e.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ExponentFlaw {
    /// e is 0 or 1: a ciphertext is the message, and anyone can sign.
    One,
    /// e is even, so that e has no inverse modulo λ(n).
    Even,
    /// e is odd and 3 ≤ e < 2^16 + 1: too small for FIPS 186-5 (2023, §A.1.1). Keys with e = 3 are
    /// weak where padding is missing or checked badly.
    Small,
    /// e ≥ 2^256: too large for FIPS 186-5, and often the sign of a small private exponent.
    Large,
}

/// Returns what is wrong with the public exponent e: the first flaw that applies, in the order of
/// [`ExponentFlaw`].
#[must_use]
pub fn exponent(e: &[u64]) -> Option<ExponentFlaw> {
    let low = e.first().copied().unwrap_or(0);
    if compare(e, &[1]).is_le() {
        Some(ExponentFlaw::One)
    } else if low % 2 == 0 {
        Some(ExponentFlaw::Even)
    } else if compare(e, &[65_537]).is_lt() {
        Some(ExponentFlaw::Small)
    } else if compare(e, &[0, 0, 0, 0, 1]).is_ge() {
        Some(ExponentFlaw::Large)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_at_the_limits() {
        for (e, flaw) in [
            (&[][..], Some(ExponentFlaw::One)),
            (&[1], Some(ExponentFlaw::One)),
            (&[2], Some(ExponentFlaw::Even)),
            (&[65_536], Some(ExponentFlaw::Even)),
            (&[3], Some(ExponentFlaw::Small)),
            (&[65_535], Some(ExponentFlaw::Small)),
            (&[65_537], None),
            (&[65_539], None),
            (&[u64::MAX; 4], None),
            (&[1, 0, 0, 0, 1], Some(ExponentFlaw::Large)),
            (&[0, 0, 0, 0, 1], Some(ExponentFlaw::Even)),
        ] {
            assert_eq!(exponent(e), flaw, "{e:x?}");
        }
    }
}
