//! The kinds of tests and their names.

use std::borrow::Cow;
use std::fmt;

use sha2::{Digest, Sha256};

use crate::{Number, Residue};

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

/// The beginning of the slugs of Pocklington's test.
const POCKLINGTON: &str = "pocklington-";

/// The beginning of the slugs of Morrison's test.
const MORRISON: &str = "morrison-";

/// The beginning of the slugs of Fermat's test of numbers other than Mersenne numbers.
const FERMAT: &str = "prp-b";

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
    /// Fermat's probable-prime test of a number N = k·b^n ± 1, guarded by Gerbicz–Li checks. The result
    /// is base^(N − 1) mod N, which is 1 if N is prime.
    Fermat {
        /// The base of the power, from 2 to 2^16.
        base: u32,
    },
    /// Proth's test of N = k·2^n + 1 with k < 2^n, guarded by Gerbicz–Li checks; for k = 1 it is Pépin's
    /// test. The result is base^((N − 1)/2) mod N, which is −1 exactly if N is prime.
    Proth {
        /// The base of the power, from 2 to 2^16. Its Jacobi symbol modulo N is −1.
        base: u32,
    },
    /// Pocklington's test of N = k·b^n + 1 with k < b^n and b ≠ 2, guarded by Gerbicz–Li checks. The
    /// result is base^(N − 1) mod N, as for [`TestKind::Fermat`]; if N is proven prime, it is 1. If this
    /// power does not settle some prime factors of b, [`super::run`] goes on with further bases.
    Pocklington {
        /// The base of the power, from 2 to 2^16.
        base: u32,
        /// The product of the prime factors of b that are to be settled. In the first run they must be enough
        /// for a proof; in later runs they are those that earlier runs did not settle.
        open: u32,
    },
    /// Morrison's test of N = k·b^n − 1 with k < b^n and b ≠ 2. [`super::run`] makes Fermat's test
    /// ([`TestKind::fermat`]) first, whose residue is the result if it is not 1. Otherwise it computes
    /// terms V_m of a Lucas sequence, and the result is V_(N + 1) mod N, which is 2 if N is prime. If the
    /// sequence does not settle some prime factors of b, it goes on with further sequences.
    ///
    /// V_m = α^m + α^(−m) with α = (t + √d)/(t − √d).
    Morrison {
        /// The radicand d, from 2 to 2^16. Its Jacobi symbol modulo N is −1.
        d: u32,
        /// The number t, from 1 to 2^16.
        t: u32,
        /// The product of the prime factors of b that are to be settled. In the first run they must be enough
        /// for a proof.
        open: u32,
    },
    /// The test of Lucas, Lehmer and Riesel of N = k·2^n − 1 with 1 < k < 2^n: a sequence of squarings
    /// like that of a Lucas–Lehmer test, from a first term that depends on N.
    Riesel,
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
    /// Returns the name of the work type: `PRP-3`, `LL` or `Cert`, as in GIMPS; for numbers k·b^n ± 1
    /// `PRP-a`, `Proth-a` and `Pocklington-a` with the base a, `Morrison-t` with the number t, and `LLR`.
    #[must_use]
    pub fn work_type(self) -> Cow<'static, str> {
        match self {
            Self::Prp => "PRP-3".into(),
            Self::Ll(_) => "LL".into(),
            Self::Cert(_) => "Cert".into(),
            Self::Fermat { base } => format!("PRP-{base}").into(),
            Self::Proth { base } => format!("Proth-{base}").into(),
            Self::Pocklington { base, .. } => format!("Pocklington-{base}").into(),
            Self::Morrison { t, .. } => format!("Morrison-{t}").into(),
            Self::Riesel => "LLR".into(),
        }
    }

    /// Returns a short name for use in file names, different for every kind: `prp`, `ll`, `ll-10`,
    /// `ll-2_3`, `cert-0123456789abcdef`, `prp-b3`, `proth-5`,
    /// `pocklington-3-46` (base, then the product of the open prime factors), `morrison-5-1-10` (d, t, then
    /// that product), `llr`.
    #[must_use]
    pub fn slug(self) -> String {
        match self {
            Self::Prp => "prp".into(),
            Self::Ll(LlStart::Four) => "ll".into(),
            Self::Ll(LlStart::Ten) => "ll-10".into(),
            Self::Ll(LlStart::TwoThirds) => "ll-2_3".into(),
            Self::Cert(of) => format!("cert-{:016x}", u64::from_be_bytes(of.digest)),
            // The test of a Mersenne number is called prp.
            Self::Fermat { base } => format!("{FERMAT}{base}"),
            Self::Proth { base } => format!("proth-{base}"),
            Self::Pocklington { base, open } => format!("{POCKLINGTON}{base}-{open}"),
            Self::Morrison { d, t, open } => format!("{MORRISON}{d}-{t}-{open}"),
            Self::Riesel => "llr".into(),
        }
    }

    /// Returns whether files with this slug belong to the test of a number: those of the kind itself and those
    /// of other runs of the test. These are runs of Pocklington's test to other bases, runs of Morrison's test
    /// with other sequences, and the Fermat test before Morrison's.
    pub(crate) fn owns(self, number: Number, slug: &str) -> bool {
        slug == self.slug()
            || match self {
                Self::Pocklington { .. } => slug.starts_with(POCKLINGTON),
                Self::Morrison { .. } => {
                    slug.starts_with(MORRISON) || slug == Self::fermat(number).slug()
                }
                _ => false,
            }
    }

    /// Returns whether Gerbicz–Li checks guard the test. In Morrison's test they guard the Fermat test
    /// only.
    #[must_use]
    pub fn is_checked(self) -> bool {
        match self {
            Self::Prp | Self::Cert(_) | Self::Fermat { .. } => true,
            Self::Proth { .. } | Self::Pocklington { .. } => true,
            Self::Ll(_) | Self::Riesel | Self::Morrison { .. } => false,
        }
    }

    /// Returns whether a state of the test has two terms V_m and V_(m+1) of a Lucas sequence.
    #[must_use]
    pub fn has_two_terms(self) -> bool {
        matches!(self, Self::Morrison { .. })
    }

    /// Returns whether the test computes terms of a sequence s_(k+1) = s_k² − 2, which Jacobi symbols
    /// guard.
    #[must_use]
    pub fn is_lucas(self) -> bool {
        matches!(self, Self::Ll(_) | Self::Riesel)
    }

    /// Returns the number of squarings of a whole test: p for PRP, because 3^(2^p)/9 = 3^(M_p − 1);
    /// n − 2 for LL and Riesel; the requested number for a certification; and for powers at
    /// least the number of bits of the exponent ([`Number::bits`], one less for Proth and for each run of
    /// Pocklington). For each Lucas sequence of Morrison's test it is the number of bits of its index, or
    /// more; with each squaring there is one product. The Fermat test before it is not counted.
    #[must_use]
    pub fn iterations(self, number: impl Into<Number>) -> u64 {
        let number = number.into();
        match self {
            Self::Prp => u64::from(number.exponent()),
            Self::Ll(_) | Self::Riesel => u64::from(number.exponent().saturating_sub(2)),
            Self::Cert(of) => of.squarings,
            Self::Fermat { .. } => u64::from(number.bits()),
            Self::Proth { .. } | Self::Pocklington { .. } | Self::Morrison { .. } => {
                u64::from(number.bits()) - 1
            }
        }
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.work_type())
    }
}
