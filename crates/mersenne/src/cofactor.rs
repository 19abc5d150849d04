//! M_p without its known factors: is what is left a probable prime?
//!
//! With d the product of the known factors and N = M_p/d, the residue of type 5
//! is 3^(N·d − 1) = 3^(M_p − 1) mod M_p, the number that a test of M_p itself
//! finds, whatever the factors. If N is prime, 3^(N·d) ≡ 3^d, so N is a probable
//! prime exactly when the residue is 3^(d − 1) mod N (Suyama's test), that is
//! when d·(residue − 3^(d − 1)) ≡ 0 mod M_p.

use std::fmt;

use warpint_files::ErrorKind;
use warpint_natural::limbs;

use crate::{Engine, EngineError, Residue, Shift, Step, Verdict};

/// Factors of M_p, whose product d is below M_p.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownFactors {
    /// Decimal digits, ascending.
    texts: Vec<String>,
    /// d, little-endian limbs without leading zeros; empty for no factors.
    product: Vec<u64>,
}

/// Numbers that are not the known factors of M_p.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// Not decimal digits, or too many of them, alone or with the others.
    #[error(
        "'{text}' is not a factor: a whole number above 1; all have at most {MOST_DIGITS} digits"
    )]
    NotANumber {
        /// What was given.
        text: String,
    },
    /// It does not divide what the others leave.
    #[error("{factor} does not divide {}", Left { exponent: *exponent, others: *others })]
    NotAFactor {
        /// p.
        exponent: u32,
        /// The number.
        factor: String,
        /// How many smaller ones have been divided out.
        others: usize,
    },
    /// The product of the factors is M_p.
    #[error("the factors of M{exponent} are complete: nothing is left to test")]
    Complete {
        /// p.
        exponent: u32,
    },
}

impl FactorError {
    /// What kind of error it is: always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// `M67`, `what 2 smaller factors leave of M67`.
struct Left {
    exponent: u32,
    others: usize,
}

impl fmt::Display for Left {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.others {
            0 => write!(f, "M{}", self.exponent),
            1 => write!(f, "what the smaller factor leaves of M{}", self.exponent),
            n => write!(f, "what {n} smaller factors leave of M{}", self.exponent),
        }
    }
}

/// The digits of all factors together, which bound the cost: as many as a proof file can name.
const MOST_DIGITS: usize = 4096;

impl KnownFactors {
    /// Checks factors of M_p given as decimal digits, in any order.
    ///
    /// Cost: about |d|·log p limb products for a factor of |d| limbs.
    ///
    /// # Errors
    /// One of them is no number, does not divide M_p (or not as often as it is named), or nothing
    /// is left.
    pub fn new(p: u32, factors: &[impl AsRef<str>]) -> Result<Self, FactorError> {
        let mut digits = 0;
        let mut read = |text: &str| {
            digits += text.len();
            if digits > MOST_DIGITS { Err(refused(text)) } else { parse(text) }
        };
        let parsed: Result<Vec<_>, _> = factors.iter().map(|text| read(text.as_ref())).collect();
        let mut parsed = parsed?;
        parsed.sort_by(|(_, x), (_, y)| {
            x.len().cmp(&y.len()).then_with(|| x.iter().rev().cmp(y.iter().rev()))
        });
        let mut known = Self { texts: vec![], product: vec![] };
        for (text, q) in parsed {
            let product = match known.product.as_slice() {
                [] => q,
                of_others => limbs::trimmed(&limbs::mul(of_others, &q)).to_vec(),
            };
            if !divides(&product, p) {
                let others = known.texts.len();
                return Err(FactorError::NotAFactor { exponent: p, factor: text, others });
            }
            known.texts.push(text);
            known.product = product;
        }
        let whole = Residue::from_u64(p, 0);
        if known.bits() == u64::from(p) && limbs::reduce(&known.product, p) == whole.limbs() {
            return Err(FactorError::Complete { exponent: p });
        }
        Ok(known)
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Decimal digits, ascending.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// The bits of d.
    fn bits(&self) -> u64 {
        let top = self.product.last().map_or(0, |top| 64 - u64::from(top.leading_zeros()));
        64 * (self.product.len() as u64).saturating_sub(1) + top
    }

    /// d, little-endian limbs without leading zeros; 1 for no factors.
    pub(crate) fn product(&self) -> &[u64] {
        if self.product.is_empty() { &[1] } else { &self.product }
    }

    /// Whether N is a probable prime, by 3^(M_p − 1) mod M_p; `None` where two computations of
    /// 3^(d − 1) differ. Uses register 0 of an engine, for twice as many squarings as d has bits.
    pub(crate) fn judge(
        &self,
        engine: &mut dyn Engine,
        residue: &Residue,
    ) -> Result<Option<Verdict>, EngineError> {
        let expected = self.residue_of_a_prime(engine)?;
        Ok(expected.map(|expected| {
            let prime = self.are_congruent(residue, &expected);
            if prime { Verdict::ProbablePrime } else { Verdict::Composite }
        }))
    }

    /// 3^(d − 1) mod M_p, to which 3^(M_p − 1) is congruent mod N for every prime N; `None` where
    /// two computations differ. Register and cost as of [`KnownFactors::judge`].
    pub(crate) fn residue_of_a_prime(
        &self,
        engine: &mut dyn Engine,
    ) -> Result<Option<Residue>, EngineError> {
        let p = engine.exponent();
        if self.is_empty() {
            return Ok(Some(Residue::from_u64(p, 1)));
        }
        // At two shifts: no Gerbicz check looks at this.
        let once = self.power(engine, Shift::ZERO)?;
        let again = self.power(engine, Shift::new(p / 3 + 1, p))?;
        Ok((once == again).then_some(once))
    }

    /// Whether x ≡ y mod N, both given mod M_p: d·(x − y) ≡ 0 mod M_p.
    pub(crate) fn are_congruent(&self, x: &Residue, y: &Residue) -> bool {
        let p = x.exponent();
        let difference = limbs::sub_mod(x.limbs(), y.limbs(), p);
        Residue::from_limbs(p, &limbs::mul(self.product(), &difference)).is(0)
    }

    /// 3^(d − 1) mod M_p, from the highest bit of d − 1 down, in a register at a shift.
    fn power(&self, engine: &mut dyn Engine, shift: Shift) -> Result<Residue, EngineError> {
        let p = engine.exponent();
        // d is odd.
        let bit = |i: u64| i > 0 && self.product[(i / 64) as usize] >> (i % 64) & 1 == 1;
        engine.set(0, 1, shift)?;
        let mut at = shift;
        for i in (0..self.bits()).rev() {
            let step = if bit(i) { Step::SquareTimes(3) } else { Step::Square };
            engine.square(0, 1, step, at)?;
            at = at.after_squarings(1, p);
        }
        engine.read(0, at)
    }
}

/// A number above 1 from its decimal digits, which come back without leading zeros.
fn parse(text: &str) -> Result<(String, Vec<u64>), FactorError> {
    if text.is_empty() || !text.bytes().all(|b| b.is_ascii_digit()) {
        return Err(refused(text));
    }
    let mut value = vec![];
    for digit in text.bytes().map(|b| u64::from(b - b'0')) {
        let carry = limbs::mul_small_assign(&mut value, 10);
        if carry > 0 {
            value.push(carry);
        }
        if digit > 0 {
            value.push(0);
            limbs::add_assign(&mut value, &[digit]);
            limbs::trim(&mut value);
        }
    }
    if value.is_empty() || value == [1] {
        return Err(refused(text));
    }
    Ok((text.trim_start_matches('0').to_owned(), value))
}

fn refused(text: &str) -> FactorError {
    const SHOWN: usize = 40;
    let mut shown: String = text.chars().take(SHOWN).collect();
    if shown.len() < text.len() {
        shown.push('…');
    }
    FactorError::NotANumber { text: shown }
}

/// Whether q | 2^p − 1, by 2^p mod q, q > 1.
fn divides(q: &[u64], p: u32) -> bool {
    let times = |x: &[u64], y: &[u64]| limbs::div_rem(&limbs::mul(x, y), q).1;
    let mut power = vec![1];
    for i in (0..32 - p.leading_zeros()).rev() {
        power = times(&power, &power);
        if p >> i & 1 == 1 {
            power = times(&power, &[2]);
        }
    }
    power == [1]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::tampered::{Tampered, flipped};
    use crate::engine::{BuildOptions, EngineFamily, word::Word};

    #[test]
    fn factors_are_checked_and_sorted() {
        let known = KnownFactors::new(67, &["761838257287"]).unwrap();
        assert_eq!(known.texts(), ["761838257287"]);
        // M29 = 233 · 1103 · 2089.
        let known = KnownFactors::new(29, &["2089", "00233"]).unwrap();
        assert_eq!(known.texts(), ["233", "2089"]);
        assert_eq!(known.product, [233 * 2089]);
        assert!(KnownFactors::new(29, &[] as &[&str]).unwrap().is_empty());

        let refused = |p, factors: &[&str]| KnownFactors::new(p, factors).unwrap_err().to_string();
        assert_eq!(refused(29, &["235"]), "235 does not divide M29");
        assert_eq!(
            refused(29, &["233", "233"]),
            "233 does not divide what the smaller factor leaves of M29"
        );
        for text in ["", "0", "1", "-3", "2x", " 7", &"9".repeat(4097)] {
            assert!(refused(29, &[text]).contains("is not a factor"), "{text}");
        }
        assert!(refused(29, &["233", "1103", "2089"]).contains("complete"));
        assert!(refused(31, &["2147483647"]).contains("complete"));
    }

    /// Every way to split M_p, p below 64 and composite, into known factors and the rest.
    #[test]
    fn a_rest_is_judged_as_its_own_fermat_test_would() {
        use warpint_arith::primes::{is_prime, mul_mod, pow_mod};
        let mut judged = [0; 2];
        for p in [11u32, 23, 29, 37, 41, 43, 47, 53, 59] {
            let m = (1u64 << p) - 1;
            let divisors: Vec<u64> = (1..200_000)
                .map(|k| 2 * k * u64::from(p) + 1)
                .filter(|&q| m.is_multiple_of(q))
                .collect();
            assert!(!divisors.is_empty(), "M{p}");
            for q in divisors.into_iter().filter(|&q| q < m) {
                let known = KnownFactors::new(p, &[q.to_string()]).unwrap();
                let mut engine = Word.build(p, 1, BuildOptions::new(1, 1)).unwrap();
                let residue = Residue::from_u64(p, pow_mod(3, m - 1, m));
                let verdict = known.judge(engine.as_mut(), &residue).unwrap().unwrap();
                // 3^(N−1) mod N; the rests of these are no pseudoprimes to base 3.
                let n = m / q;
                let expected = is_prime(n);
                assert_eq!(mul_mod(1, pow_mod(3, n - 1, n), n) == 1, expected, "M{p}/{q}");
                assert_eq!(verdict == Verdict::ProbablePrime, expected, "M{p}/{q}");
                judged[usize::from(expected)] += 1;
            }
        }
        assert!(judged[0] > 3 && judged[1] > 3, "{judged:?}");
    }

    #[test]
    fn a_machine_that_does_not_square_alike_twice_is_told() {
        let p = 29;
        let known = KnownFactors::new(p, &["233"]).unwrap();
        let family = Tampered::leaked(&Word, 0, |squaring| squaring == 3, flipped);
        let mut engine = family.build(p, 1, BuildOptions::new(1, 1)).unwrap();
        let judged = known.judge(engine.as_mut(), &Residue::from_u64(p, 1));
        assert_eq!(judged, Ok(None));
    }
}
