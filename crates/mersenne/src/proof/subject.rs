//! The tests that have proofs, and the sequences of residues that their proofs are about.

use std::fmt;

use crate::primality::{Steps, is_enough};
use crate::{Exponent, Number, TestKind};

/// The number of iterations at the end of a test of k·b^n ± 1 that its proof leaves to the verifier.
///
/// A forger can multiply the last residue of a proof by an element whose order is a power of two. This
/// takes at least 2^64 hashes unless the order divides 2^(65·power) (`docs/checks/proofs.md`). After
/// 1,024 > 65·15 squarings such an element has become 1.
const TAIL: u32 = 1024;

/// A test that has proofs: the PRP test of M_p, or a power of a small base modulo N = k·b^n ± 1.
///
/// | test | kind | x_0 | iterations of the proof |
/// |---|---|---|---|
/// | PRP of M_p | [`TestKind::Prp`] | 3 | p |
/// | Fermat, Proth, Pocklington | [`TestKind::Fermat`], … | 1 | T − 1,024 |
///
/// The residues are x_(j+1) = x_j²·a^(e_j), where a is the base and the e_j are bits of the exponent of
/// the test ([`primality::run`](crate::primality::run)); for M_p all of them are 0. T is the number of
/// iterations of the test. A proof of Pocklington's test is about the power to the first base.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Subject {
    kind: TestKind,
    number: Number,
}

impl Subject {
    /// Returns the subject of proofs of a test. Returns `None` if the kind of test has no proofs, or does
    /// not suit the number ([`TestKind::suits`]). A later run of Pocklington's test, which does not settle
    /// enough prime factors of b for the theorem, has no proofs either.
    #[must_use]
    pub fn new(kind: TestKind, number: Number) -> Option<Self> {
        let has_proofs = match kind {
            TestKind::Prp | TestKind::Fermat { .. } | TestKind::Proth { .. } => true,
            TestKind::Pocklington { open, .. } => is_enough(number, open),
            TestKind::Ll(_) | TestKind::Cert(_) | TestKind::Morrison { .. } | TestKind::Riesel => {
                false
            }
        };
        (has_proofs && kind.suits(number)).then_some(Self { kind, number })
    }

    /// Parses the name of a test ([`TestKind::slug`]) and a number, as a proof file has them. Returns `None`
    /// for another text, also for a number that is not in its normal form, and for a test of k·b^n ± 1 that
    /// has no proofs.
    #[must_use]
    pub fn parse(test: &str, number: &str) -> Option<Self> {
        let parsed: Number = number.parse().ok().filter(|n: &Number| n.to_string() == number)?;
        let value = |text: &str| text.parse::<u32>().ok();
        let kind = match test.split('-').collect::<Vec<_>>()[..] {
            ["prp", base] => TestKind::Fermat { base: value(base.strip_prefix('b')?)? },
            ["proth", base] => TestKind::Proth { base: value(base)? },
            ["pocklington", base, open] => {
                TestKind::Pocklington { base: value(base)?, open: value(open)? }
            }
            _ => return None,
        };
        // Another spelling of the same test would have other hashes.
        Self::new(kind, parsed).filter(|_| kind.slug() == test)
    }

    /// Returns the kind of the test.
    #[must_use]
    pub fn kind(self) -> TestKind {
        self.kind
    }

    /// Returns the number that is tested.
    #[must_use]
    pub fn number(self) -> Number {
        self.number
    }

    /// Returns the number of iterations that a proof is about. The residue after them is the last residue
    /// of a proof.
    #[must_use]
    pub fn iterations(self) -> u32 {
        // A test has at most 2^31 iterations.
        (self.whole() as u32).saturating_sub(self.tail())
    }

    /// Returns the number of iterations of the whole test.
    pub(super) fn whole(self) -> u64 {
        self.kind.iterations(self.number)
    }

    /// Returns the number of iterations from the last residue of a proof to the end of the test.
    pub(super) fn tail(self) -> u32 {
        if self.is_of_mersenne() { 0 } else { TAIL }
    }

    /// Returns whether the test is the PRP test of M_p, whose proofs have the format of GIMPS.
    #[must_use]
    pub fn is_of_mersenne(self) -> bool {
        self.kind == TestKind::Prp
    }

    /// Returns whether the residue at this point of a proof is stored in a file during the test. The last
    /// residue of the test of M_p is its result, and is not stored.
    #[must_use]
    pub fn stores(self, point: u64) -> bool {
        !self.is_of_mersenne() || point < self.whole()
    }

    /// Returns x_0.
    pub(super) fn start(self) -> u64 {
        if self.is_of_mersenne() { 3 } else { 1 }
    }

    /// Returns the steps of the test. Cost: that of [`Number::value`], for the powers of k·b^n ± 1.
    pub(super) fn steps(self) -> Steps {
        Steps::of(self.kind, self.number)
    }

    /// Returns the bytes with which the hashes of a proof begin: the last two lines of the header of its
    /// file. There are none for M_p.
    pub(super) fn statement(self) -> Vec<u8> {
        if self.is_of_mersenne() {
            return vec![];
        }
        format!("TEST={}\nNUMBER={}\n", self.kind.slug(), self.number).into_bytes()
    }

    /// Returns the name of the folder of residues, which is different for every test of a number.
    pub(super) fn folder(self) -> String {
        if self.is_of_mersenne() { "proof".into() } else { format!("proof-{}", self.kind.slug()) }
    }
}

impl From<Exponent> for Subject {
    /// Returns the PRP test of M_p.
    fn from(exponent: Exponent) -> Self {
        exponent.get().into()
    }
}

impl From<u32> for Subject {
    /// Returns the PRP test of M_p for p.
    fn from(p: u32) -> Self {
        Self { kind: TestKind::Prp, number: p.into() }
    }
}

/// Formats the number, for example `M127`, or the number and the test, for example `7*2^2256+1
/// (Proth-3)`.
impl fmt::Display for Subject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_of_mersenne() {
            return self.number.fmt(f);
        }
        write!(f, "{} ({})", self.number, self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_tests_are_read_in_one_spelling() {
        let parsed = |test, number| Subject::parse(test, number).map(|s| s.to_string());
        for (test, number, text) in [
            ("proth-3", "7*2^2256+1", "7*2^2256+1 (Proth-3)"),
            ("prp-b5", "7*2^2256-1", "7*2^2256-1 (PRP-5)"),
            ("prp-b5", "M2257", "M2257 (PRP-5)"),
            ("pocklington-3-10", "7*10^300+1", "7*10^300+1 (Pocklington-3)"),
            ("pocklington-3-5", "7*10^300+1", "7*10^300+1 (Pocklington-3)"),
        ] {
            assert_eq!(parsed(test, number).as_deref(), Some(text));
        }
        for (test, number) in [
            ("proth-03", "7*2^2256+1"),
            ("proth-+3", "7*2^2256+1"),
            ("Proth-3", "7*2^2256+1"),
            ("proth-3-1", "7*2^2256+1"),
            ("prp", "M127"),
            ("ll", "M127"),
            ("llr", "3*2^3276-1"),
            // The Jacobi symbol of 7 is not −1; 14 is even.
            ("proth-7", "7*2^2256+1"),
            ("proth-3", "14*2^2255+1"),
            ("proth-3", "7*2^2256 + 1"),
            ("prp-b3", "7*3^2256+2"),
            ("prp-b1", "7*2^2256+1"),
            // 2^300 is below 7·5^300, and 5^300 is above 7·2^300; 3 does not divide 10.
            ("pocklington-3-2", "7*10^300+1"),
            ("pocklington-3-3", "7*10^300+1"),
            ("pocklington-3-0", "7*10^300+1"),
            // 7 divides the number, so that powers of 7 are not units.
            ("prp-b7", "10^303+1"),
            ("prp-b99999999999", "7*2^2256+1"),
            ("", ""),
        ] {
            assert_eq!(parsed(test, number), None, "{test} {number}");
        }
    }
}
