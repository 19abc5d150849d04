//! Tests whether the cofactor of M_p = 2^p − 1 is a probable prime. The cofactor is M_p divided by
//! its known factors.
//!
//! Let d be the product of the known factors and N = M_p/d the cofactor. What GIMPS calls the
//! residue of type 5 is 3^(N·d − 1) = 3^(M_p − 1) mod M_p. This residue does not depend on the
//! factors: a PRP test of M_p itself computes the same number. If N is prime, 3^(N·d) ≡ 3^d mod N,
//! so the residue is congruent to 3^(d − 1) mod N. Suyama's test checks this congruence: N is a
//! probable prime exactly when d·(residue − 3^(d − 1)) ≡ 0 mod M_p.

use std::fmt;

use warpint_files::ErrorKind;
use warpint_natural::limbs;

use crate::{Engine, EngineError, Residue, Shift, Step, Verdict};

/// The known factors of M_p. Their product d is below M_p.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownFactors {
    /// The factors in decimal digits, ascending.
    texts: Vec<String>,
    /// The product d of the factors, as little-endian limbs without leading zeros; empty if no
    /// factors are known.
    product: Vec<u64>,
}

/// The reason why a list of numbers is not a valid list of known factors of M_p.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FactorError {
    /// The text is not a decimal number above 1, or the list up to and including this text has more
    /// than 4,096 digits in all.
    #[error(
        "'{text}' is not a factor: give whole numbers above 1, with at most {MOST_DIGITS} digits in all"
    )]
    NotANumber {
        /// The text that was given. A text of more than 40 characters is cut after 40 characters,
        /// and `…` is appended.
        text: String,
    },
    /// The number does not divide M_p/s, where s is the product of the numbers before it in the
    /// list, sorted in ascending order.
    #[error("{factor} does not divide {}", Left { exponent: *exponent, others: *others })]
    NotAFactor {
        /// The exponent p of M_p.
        exponent: u32,
        /// The number in decimal digits, without leading zeros.
        factor: String,
        /// The number of factors before this one in the ascending list. M_p had been divided by
        /// these factors before this one was tried.
        others: usize,
    },
    /// The product of all factors is M_p, so there is no cofactor to test.
    #[error("the factors of M{exponent} are complete: nothing is left to test")]
    Complete {
        /// The exponent p of M_p.
        exponent: u32,
    },
}

impl FactorError {
    /// Returns the kind of the error, which is always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// Displays the number that a factor does not divide, for an error message. The number is M_p, or
/// M_p divided by the smaller factors. Examples: `M67`, `what 2 smaller factors leave of M67`.
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

/// The largest number of decimal digits of all factors together. The limit bounds the cost of
/// checking the factors, and lets them fit into the header of a proof file.
const MOST_DIGITS: usize = 4096;

impl KnownFactors {
    /// Checks a list of factors of M_p and returns it in ascending order. `factors` contains
    /// numbers in decimal digits, in any order.
    ///
    /// The cost for each factor is about log2(p) squarings modulo the product of this factor and
    /// all smaller ones.
    ///
    /// # Errors
    /// Returns an error if an item is not a number above 1, or if the product of all items does not
    /// divide M_p. Also returns an error if this product is M_p, or if the items have more than
    /// 4,096 digits in all.
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

    /// Returns whether no factors are known.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.texts.is_empty()
    }

    /// Returns the factors in decimal digits, ascending.
    #[must_use]
    pub fn texts(&self) -> &[String] {
        &self.texts
    }

    /// Returns the number of bits of the product of the known factors; 0 if no factors are known.
    fn bits(&self) -> u64 {
        let top = self.product.last().map_or(0, |top| 64 - u64::from(top.leading_zeros()));
        64 * (self.product.len() as u64).saturating_sub(1) + top
    }

    /// Returns the product of the known factors as little-endian limbs without leading zeros; 1 if
    /// no factors are known.
    pub(crate) fn product(&self) -> &[u64] {
        if self.product.is_empty() { &[1] } else { &self.product }
    }

    /// Decides whether the cofactor M_p/d is a probable prime, where d is the product of the known
    /// factors. `residue` must be 3^(M_p − 1) mod M_p. Computes 3^(d − 1) mod M_p twice and returns
    /// `None` if the results differ. Overwrites register 0 of the engine. Cost: twice as many
    /// squarings as d has bits.
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

    /// Returns 3^(d − 1) mod M_p, where d is the product of the known factors. If the cofactor
    /// N = M_p/d is prime, 3^(M_p − 1) is congruent to this number mod N. Computes the power twice
    /// and returns `None` if the results differ. Overwrites register 0 of the engine. Cost: twice
    /// as many squarings as d has bits.
    pub(crate) fn residue_of_a_prime(
        &self,
        engine: &mut dyn Engine,
    ) -> Result<Option<Residue>, EngineError> {
        let p = engine.exponent();
        if self.is_empty() {
            return Ok(Some(Residue::from_u64(p, 1)));
        }
        // Computed at two shifts, because no Gerbicz check covers this power.
        let once = self.power(engine, Shift::ZERO)?;
        let again = self.power(engine, Shift::new(p / 3 + 1, p))?;
        Ok((once == again).then_some(once))
    }

    /// Returns whether x ≡ y mod N, where N = M_p/d is the cofactor and d is the product of the
    /// known factors. x and y are residues mod M_p. The congruence holds exactly if d·(x − y) ≡ 0
    /// mod M_p.
    pub(crate) fn are_congruent(&self, x: &Residue, y: &Residue) -> bool {
        let p = x.exponent();
        let difference = limbs::sub_mod(x.limbs(), y.limbs(), p);
        Residue::from_limbs(p, &limbs::mul(self.product(), &difference)).is(0)
    }

    /// Returns 3^(d − 1) mod M_p, where d is the product of the known factors. Computes the power
    /// in register 0, starting with the given shift. Processes the bits of d − 1 from the highest
    /// to the lowest.
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

/// Parses a decimal number above 1. Returns its digits without leading zeros, and its little-endian
/// limbs.
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

/// Returns whether q > 1 divides 2^p − 1, by computing 2^p mod q.
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

    /// Tests composite M_p with p < 64. Every proper divisor d = 2kp + 1 of M_p with k < 200,000,
    /// prime or not, is taken as the known factor.
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
                // Compared with 3^(N−1) mod N; none of these cofactors is a pseudoprime to base 3.
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
