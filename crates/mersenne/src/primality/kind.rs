//! The kinds of tests and their names.

use std::fmt;

use sha2::{Digest, Sha256};

use crate::Residue;

/// The first term s_0 of a Lucas–Lehmer sequence s_(k+1) = s_k² − 2 mod M_p. For each of these
/// values and for every odd prime p, s_(p−2) = 0 exactly if M_p is prime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LlStart {
    /// The sequence starts with 4, the usual value.
    #[default]
    Four,
    /// The sequence starts with 10.
    Ten,
    /// The sequence starts with 2/3 mod M_p.
    TwoThirds,
}

/// The kind of a test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKind {
    /// A probable-prime test: Fermat's test to base 3, guarded by Gerbicz–Li checks. The result is
    /// the residue of type 1 in GIMPS, 3^(M_p − 1) mod M_p.
    Prp,
    /// A Lucas–Lehmer test with the given first term.
    Ll(LlStart),
    /// The certification of a proof: squarings of a given residue, guarded by Gerbicz–Li checks.
    Cert(Certification),
}

/// The number of squarings of a certification, and a digest that distinguishes the certification
/// from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Certification {
    squarings: u64,
    /// The first eight bytes of a SHA-256. Its input is the start residue in ⌈p/8⌉ little-endian
    /// bytes, followed by the number of squarings in eight little-endian bytes.
    digest: [u8; 8],
}

impl Certification {
    /// Creates the value for a certification that squares the residue `start` `squarings` times.
    #[must_use]
    pub fn new(start: &Residue, squarings: u64) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(start.to_le_bytes());
        hasher.update(squarings.to_le_bytes());
        let mut digest = [0; 8];
        digest.copy_from_slice(&hasher.finalize()[..8]);
        Self { squarings, digest }
    }
}

impl TestKind {
    /// Returns the name of the work type in GIMPS: `PRP-3`, `LL` or `Cert`.
    #[must_use]
    pub fn work_type(self) -> &'static str {
        match self {
            Self::Prp => "PRP-3",
            Self::Ll(_) => "LL",
            Self::Cert(_) => "Cert",
        }
    }

    /// Returns a short name for use in file names, different for every kind: `prp`, `ll`, `ll-10`,
    /// `ll-2_3`, `cert-0123456789abcdef`.
    #[must_use]
    pub fn slug(self) -> String {
        match self {
            Self::Prp => "prp".into(),
            Self::Ll(LlStart::Four) => "ll".into(),
            Self::Ll(LlStart::Ten) => "ll-10".into(),
            Self::Ll(LlStart::TwoThirds) => "ll-2_3".into(),
            Self::Cert(of) => format!("cert-{:016x}", u64::from_be_bytes(of.digest)),
        }
    }

    /// Returns whether Gerbicz–Li checks guard the test.
    #[must_use]
    pub fn is_checked(self) -> bool {
        match self {
            Self::Prp | Self::Cert(_) => true,
            Self::Ll(_) => false,
        }
    }

    /// Returns the number of squarings of a whole test: p for PRP, because 3^(2^p)/9 = 3^(M_p − 1);
    /// p − 2 for LL; and the requested number for a certification.
    #[must_use]
    pub fn iterations(self, p: u32) -> u64 {
        match self {
            Self::Prp => u64::from(p),
            Self::Ll(_) => u64::from(p.saturating_sub(2)),
            Self::Cert(of) => of.squarings,
        }
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.work_type())
    }
}
