//! Factors that are found without a test: small factors, and factors of the form itself.

mod algebraic;
mod trial;

use std::fmt;

use warpint_arith::primes::{is_prime, prime_factors};

pub use algebraic::AlgebraicFactor;

use super::Number;
pub(super) use algebraic::gcd;
use trial::small_factor;

/// A proper factor of a number, which makes a test unnecessary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Factor {
    /// A prime factor that a search has found.
    Small(u64),
    /// A factor that follows from the form of the number.
    Algebraic(AlgebraicFactor),
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Small(q) => q.fmt(f),
            Self::Algebraic(factor) => factor.fmt(f),
        }
    }
}

impl Number {
    /// Returns whether N is a prime below 2^63. This is proven ([`is_prime`]).
    #[must_use]
    pub fn is_small_prime(self) -> bool {
        self.word().is_some_and(is_prime)
    }

    /// Returns N if it is below 2^63.
    fn word(self) -> Option<u64> {
        self.small().filter(|&n| n < 1 << 63)
    }

    /// Searches for a proper factor of N: first for a prime factor up to `limit`, then for an algebraic
    /// factor. Returns `None` if neither exists. If N is below 2^63, returns its smallest prime factor,
    /// unless N is prime.
    ///
    /// The search tries all primes up to `limit`. For k = 1, c = 1 and n = 2^m, it also tries the first
    /// `limit`/16 numbers of the class that contains all prime factors: q ≡ 1 mod 2^(m+1), or, for
    /// b = 2 and m ≥ 2, mod 2^(m+2). For Mersenne numbers, [`crate::trial_factor`] searches further.
    ///
    /// Cost: O(π(`limit`)·log n), and the factorisation of k.
    #[must_use]
    pub fn find_factor(self, limit: u64) -> Option<Factor> {
        if let Some(n) = self.word() {
            let smallest = prime_factors(n).first().copied();
            return smallest.filter(|&q| q < n).map(Factor::Small);
        }
        small_factor(self, limit)
            .map(Factor::Small)
            .or_else(|| self.algebraic_factor().map(Factor::Algebraic))
    }
}
