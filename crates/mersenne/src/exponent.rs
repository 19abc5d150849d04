//! The exponent of a Mersenne number, and a search for small factors before a test.

use std::fmt;
use std::str::FromStr;

use warpint_arith::primes;
use warpint_files::ErrorKind;

/// A prime p with 2 ≤ p < 2^31. M_p = 2^p − 1 can be prime only if p is prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exponent(u32);

/// The reason why a number or text is not a valid [`Exponent`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ExponentError {
    /// The text does not consist of digits only.
    #[error("'{text}' is not a whole number")]
    NotANumber {
        /// The text that was given.
        text: String,
    },
    /// The number is below 2.
    #[error("{value} is not an exponent: the smallest Mersenne number is M2 = 3")]
    TooSmall {
        /// The number that was given.
        value: u64,
    },
    /// The number is 2^31 or more.
    #[error("{text} is too large: exponents are below 2147483648 (2^31)")]
    TooLarge {
        /// The number that was given, in decimal digits.
        text: String,
    },
    /// The number p is composite. If p = a·b, then 2^a − 1 divides 2^p − 1.
    #[error(
        "{value} is not prime ({value} = {factor} · {}), so M{value} is divisible by M{factor} \
         and need not be tested", value / factor
    )]
    Composite {
        /// The number that was given.
        value: u32,
        /// The smallest prime factor of the number.
        factor: u32,
    },
}

impl ExponentError {
    /// Returns the kind of the error, which is always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

impl Exponent {
    /// The upper bound on exponents, exclusive: 2^31.
    pub const LIMIT: u32 = 1 << 31;

    /// Creates the exponent p. Returns an error unless p is a prime below 2^31.
    pub fn new(p: u64) -> Result<Self, ExponentError> {
        if p < 2 {
            return Err(ExponentError::TooSmall { value: p });
        }
        let value = u32::try_from(p)
            .ok()
            .filter(|&v| v < Self::LIMIT)
            .ok_or_else(|| ExponentError::TooLarge { text: p.to_string() })?;
        if !primes::is_prime(p) {
            // p is below 2^31, so that p and its factor fit in 32 bits.
            let factor = primes::smallest_factor(p) as u32;
            return Err(ExponentError::Composite { value, factor });
        }
        Ok(Self(value))
    }

    /// Returns the exponent p as a number.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

impl FromStr for Exponent {
    type Err = ExponentError;

    fn from_str(text: &str) -> Result<Self, ExponentError> {
        if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
            return Err(ExponentError::NotANumber { text: text.into() });
        }
        match text.parse::<u64>() {
            Ok(p) => Self::new(p),
            Err(_) => Err(ExponentError::TooLarge { text: text.into() }),
        }
    }
}

impl fmt::Display for Exponent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Finds the smallest prime factor q = 2kp + 1 of M_p with k ≤ `max_k` and q ≤ √M_p. Returns `None`
/// if M_p has no such factor. Candidates q ≥ 2^63 are not tried.
///
/// If p is an odd prime, every factor of M_p has the form 2kp + 1 and is ±1 mod 8. A composite M_p
/// has a factor that is at most √M_p. Cost: O(max_k) for a sieve by small primes, and one power 2^p
/// mod q for each candidate that survives the sieve.
#[must_use]
pub fn trial_factor(p: Exponent, max_k: u64) -> Option<u64> {
    const SMALL: [u64; 12] = [3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41];
    let p = u64::from(p.get());
    if p == 2 {
        return None;
    }
    // q ≤ √M_p < 2^(p/2), and q < 2^63 for every max_k.
    let q_max = 1u64 << (p / 2 + 1).min(63);
    (1..=max_k)
        .map_while(|k| k.checked_mul(2 * p)?.checked_add(1).filter(|&q| q < q_max))
        .take_while(|&q| p >= 126 || u128::from(q) * u128::from(q) < 1 << p)
        .filter(|q| matches!(q % 8, 1 | 7))
        .filter(|&q| SMALL.iter().all(|&s| q == s || !q.is_multiple_of(s)))
        .find(|&q| primes::pow_mod(2, p, q) == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_what_is_wrong() {
        let message = |t: &str| t.parse::<Exponent>().unwrap_err().to_string();
        assert_eq!(message("12x"), "'12x' is not a whole number");
        assert_eq!(message(""), "'' is not a whole number");
        assert_eq!(message("-7"), "'-7' is not a whole number");
        assert!(message("1").contains("smallest Mersenne number"));
        assert!(message("2147483648").contains("below 2147483648"));
        assert!(message("99999999999999999999999").contains("too large"));
        assert!(message("216093").contains("216093 = 3 · 72031"));
        assert_eq!("2147483647".parse::<Exponent>().map(Exponent::get), Ok(2_147_483_647));
    }

    #[test]
    fn finds_the_known_factors() {
        let factor = |p: u64| trial_factor(Exponent::new(p).unwrap(), 1_000_000);
        // The smallest factors of the first composite M_p: OEIS A016047.
        for (p, q) in [
            (11, 23),
            (23, 47),
            (29, 233),
            (37, 223),
            (41, 13367),
            (43, 431),
            (47, 2351),
            (53, 6361),
            (59, 179_951),
            (67, 193_707_721),
            (71, 228_479),
            (73, 439),
            (79, 2687),
            (83, 167),
        ] {
            let found = if p == 67 {
                trial_factor(Exponent::new(p).unwrap(), 10_000_000)
            } else {
                factor(p)
            };
            assert_eq!(found, Some(q), "M{p}");
        }
        for p in [2, 3, 5, 7, 13, 17, 19, 31, 61, 89, 107, 127] {
            assert_eq!(factor(p), None, "M{p} is prime");
        }
    }
}
