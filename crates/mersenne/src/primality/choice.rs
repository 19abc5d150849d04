//! Which test applies to a number, and what it proves.

use warpint_arith::primes;

use super::riesel::parameter;
use super::{LlStart, TestKind};
use crate::{Number, Sign};

/// The largest base of a power, which is the largest factor of
/// [`Step::SquareTimes`](crate::Step::SquareTimes).
const LARGEST_BASE: u32 = 1 << 16;

impl TestKind {
    /// Returns the test that proves most about a number:
    ///
    /// | number | test |
    /// |---|---|
    /// | 2^p − 1, p an odd prime | Lucas–Lehmer |
    /// | k·2^n − 1, 1 < k < 2^n, n ≥ 3 | Riesel |
    /// | k·2^n + 1, k < 2^n | Proth, to the smallest prime base with symbol −1; Pépin for k = 1 |
    /// | all others | Fermat ([`TestKind::fermat`]) |
    ///
    /// The number must be odd and have no prime factor below 2^16. For other numbers the result may be
    /// a test that does not apply to them ([`TestKind::suits`]).
    #[must_use]
    pub fn for_number(number: Number) -> Self {
        let proth = || {
            let mut bases = primes::primes_between(3, 1_000);
            bases.find(|&a| number.jacobi_of(a) == -1).map(|a| Self::Proth { base: a as u32 })
        };
        let candidates = [Some(Self::Ll(LlStart::Four)), Some(Self::Riesel), proth()];
        let best = candidates.into_iter().flatten().find(|kind| kind.suits(number));
        best.unwrap_or_else(|| Self::fermat(number))
    }

    /// Returns Fermat's test to the smallest prime base from 3 on that divides neither b nor N. A base
    /// that divides b is left out because b itself is no witness for many b^n + 1.
    #[must_use]
    pub fn fermat(number: Number) -> Self {
        let b = u64::from(number.base());
        let mut bases = primes::primes_between(3, 1_000);
        let base = bases.find(|&a| !b.is_multiple_of(a) && number.modulo(a) != 0);
        Self::Fermat { base: base.unwrap_or(3) as u32 }
    }

    /// Returns whether the verdicts of the test hold for the number. Only suitable tests are run.
    #[must_use]
    pub fn suits(self, number: Number) -> bool {
        let is_base = |base: u32| {
            (2..=LARGEST_BASE).contains(&base)
                && !number.is_even()
                && number.small().is_none_or(|n| n > u64::from(base))
                && number.is_coprime_to(base.into())
        };
        match self {
            Self::Prp | Self::Ll(_) => number.mersenne_exponent().is_some(),
            Self::Cert(_) => number.is_mersenne(),
            Self::Fermat { base } => is_base(base) && !number.is_trivial_for(base),
            Self::Proth { base } => {
                number.sign() == Sign::Plus
                    && number.has_short_multiplier()
                    && is_base(base)
                    && number.jacobi_of(base.into()) == -1
            }
            Self::Riesel => {
                number.sign() == Sign::Minus
                    && number.has_short_multiplier()
                    && number.multiplier() > 1
                    && number.exponent() >= 3
                    && parameter(number).is_some()
            }
        }
    }

    /// Returns the name of the theorem by which the test proves that the number is prime; `None` for
    /// tests whose positive verdict is not a proof.
    #[must_use]
    pub fn theorem(self, number: Number) -> Option<&'static str> {
        match self {
            Self::Ll(_) => Some("Lucas–Lehmer"),
            Self::Riesel => Some("Lucas–Lehmer–Riesel"),
            Self::Proth { .. } if number.multiplier() == 1 => Some("Pépin"),
            Self::Proth { .. } => Some("Proth"),
            Self::Prp | Self::Cert(_) | Self::Fermat { .. } => None,
        }
    }
}
