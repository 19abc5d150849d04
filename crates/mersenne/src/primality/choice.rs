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
    /// | k·b^n + 1, b ≠ 2, k < b^n | Pocklington; for even b to a prime base with symbol −1 |
    /// | k·b^n − 1, b ≠ 2, k < b^n | Fermat, then Morrison |
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
        let pocklington = || Self::pocklington_after(number, 2, factors_of_proof(number));
        let morrison = || Self::morrison_after(number, 0, factors_of_proof(number));
        let first = [Some(Self::Ll(LlStart::Four)), Some(Self::Riesel)];
        let candidates = first.into_iter().chain([proth(), pocklington(), morrison()]);
        let best = candidates.flatten().find(|kind| kind.suits(number));
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

    /// Returns Pocklington's test for the open prime factors of b, whose product is `open`, to the smallest
    /// prime base above `last` that suits; `None` if there is no such base up to 1,000. A base that
    /// divides b is left out for the reason given at [`TestKind::fermat`].
    pub(super) fn pocklington_after(number: Number, last: u32, open: u32) -> Option<Self> {
        let b = u64::from(number.base());
        let bases = primes::primes_between(u64::from(last) + 1, 1_000);
        let kinds = bases.filter(|&a| !b.is_multiple_of(a));
        let mut kinds = kinds.map(|a| Self::Pocklington { base: a as u32, open });
        kinds.find(|kind| kind.suits(number))
    }

    /// Returns Morrison's test for the open prime factors of b, whose product is `open`, with the smallest
    /// t above `last` that suits and the smallest prime d with the symbol −1. Returns `None` if there is no
    /// such t or d up to 1,000.
    pub(super) fn morrison_after(number: Number, last: u32, open: u32) -> Option<Self> {
        if number.sign() == Sign::Plus || number.is_even() {
            return None;
        }
        let mut radicands = primes::primes_between(2, 1_000);
        let d = radicands.find(|&d| number.jacobi_of(d) == -1)? as u32;
        let mut kinds = (last + 1..1_000).map(|t| Self::Morrison { d, t, open });
        kinds.find(|kind| kind.suits(number))
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
            Self::Pocklington { base, open } => {
                number.sign() == Sign::Plus
                    && number.base() != 2
                    && number.has_multiplier_below_power()
                    && open > 1
                    && radical(number.base()).is_multiple_of(open)
                    && is_base(base)
                    && !number.is_trivial_for(base)
                    && (open % 2 == 1 || number.jacobi_of(base.into()) == -1)
            }
            Self::Morrison { d, t, open } => {
                let bounds = 1..=LARGEST_BASE;
                let norm = i64::from(t).pow(2) - i64::from(d);
                number.sign() == Sign::Minus
                    && number.base() != 2
                    && number.has_multiplier_below_power()
                    && open > 1
                    && radical(number.base()).is_multiple_of(open)
                    && Self::fermat(number).suits(number)
                    && bounds.contains(&d)
                    && bounds.contains(&t)
                    && number.jacobi_of(d.into()) == -1
                    && number.is_coprime_to(t.into())
                    && norm != 0
                    && number.is_coprime_to(norm.unsigned_abs())
                    && (open % 2 == 1 || signed_symbol(number, norm) == -1)
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
            Self::Pocklington { .. } => Some("Pocklington"),
            Self::Morrison { .. } => Some("Morrison"),
            Self::Prp | Self::Cert(_) | Self::Fermat { .. } => None,
        }
    }
}

/// Returns the Jacobi symbol (a | N) for odd N and a ≠ 0.
fn signed_symbol(number: Number, a: i64) -> i8 {
    let symbol = number.jacobi_of(a.unsigned_abs());
    if a < 0 && number.modulo(4) == 3 { -symbol } else { symbol }
}

/// Returns the product of the distinct prime factors of b.
fn radical(b: u32) -> u32 {
    // The product divides b.
    primes::prime_factors(b.into()).into_iter().product::<u64>() as u32
}

/// Returns whether the prime factors of b that divide `open` are enough for the theorems of Pocklington and of
/// Morrison: whether R < F with k·b^n = F·R, where F has all these prime factors of b^n, and R the others
/// and k.
pub(crate) fn is_enough(number: Number, open: u32) -> bool {
    let (b, n) = (number.base(), f64::from(number.exponent()));
    if open == radical(b) {
        return number.has_multiplier_below_power();
    }
    let [mut f, mut r] = [0.0, (number.multiplier() as f64).log2()];
    for q in primes::prime_factors(b.into()) {
        let bits = n * f64::from(multiplicity(b, q)) * (q as f64).log2();
        *if u64::from(open).is_multiple_of(q) { &mut f } else { &mut r } += bits;
    }
    // The sums are below 2^32, and their errors below 2^−15.
    r + 1.0 < f
}

/// Returns how often q divides b.
fn multiplicity(b: u32, q: u64) -> u32 {
    let mut rest = u64::from(b);
    let mut count = 0;
    while rest.is_multiple_of(q) {
        (rest, count) = (rest / q, count + 1);
    }
    count
}

/// Returns the product of the prime factors of b with which the tests of Pocklington and of Morrison are
/// expected to take the fewest runs, among those that are enough. If N is prime, a run leaves q open with
/// probability 1/q, but not q = 2. If no product is enough, returns that of all prime factors.
fn factors_of_proof(number: Number) -> u32 {
    let factors = primes::prime_factors(number.base().into());
    let all = radical(number.base());
    let cost = |open: u32| -> f64 {
        let odd = factors.iter().filter(|&&q| q > 2 && u64::from(open).is_multiple_of(q));
        odd.map(|&q| 1.0 / q as f64).sum()
    };
    // b has at most nine prime factors.
    let products = (1..1u32 << factors.len()).map(|set| {
        let chosen = factors.iter().enumerate().filter(|(i, _)| set >> i & 1 == 1);
        chosen.map(|(_, &q)| q as u32).product::<u32>()
    });
    let enough = products.filter(|&open| is_enough(number, open));
    enough.min_by(|&a, &b| cost(a).total_cmp(&cost(b)).then(a.cmp(&b))).unwrap_or(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prime_factors_of_a_proof_are_enough_and_few() {
        for (text, open) in [
            ("2*12^148+1", 2),
            // 3^148·k is above 4^148.
            ("9223372036854775807*12^148+1", 6),
            ("5*6^100+1", 3),
            ("1000*6^10+1", 6),
            ("46^512+1", 23),
            ("7*10^300+1", 5),
            ("7*20^300+1", 5),
            ("7*40^300+1", 2),
            ("7*30^300+1", 10),
        ] {
            let number: Number = text.parse().unwrap();
            assert_eq!(factors_of_proof(number), open, "{text}");
            assert!(is_enough(number, open), "{text}");
        }
        let number: Number = "5*6^100+1".parse().unwrap();
        assert!(!is_enough(number, 2) && is_enough(number, 3) && is_enough(number, 6));
    }
}
