//! Kinds of findings, and what a finding says.

use std::fmt;

use serde::Serialize;

/// The kind of a finding. The order is that of reports.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Kind {
    /// The modulus shares a prime with another modulus. Both are factored.
    SharedPrime,
    /// The modulus is even.
    Even,
    /// The modulus has an odd prime factor below
    /// [`SMALL_BELOW`](crate::checks::SMALL_BELOW).
    SmallFactor,
    /// The modulus is a power of a smaller number.
    PerfectPower,
    /// Two factors of the modulus are so close that Fermat's method finds them.
    ClosePrimes,
    /// The modulus has the form of vulnerable keys of RSALib.
    Roca,
    /// The exponent is 0 or 1.
    ExponentOne,
    /// The exponent is even.
    ExponentEven,
    /// The exponent is below 2^16 + 1.
    ExponentSmall,
    /// The exponent is 2^256 or larger.
    ExponentLarge,
    /// The same modulus occurs several times. This is no weakness of the modulus.
    Duplicate,
    /// A notice: the modulus has fewer than 1,024 bits.
    #[serde(rename = "below-1024-bits")]
    Below1024Bits,
    /// A notice: the modulus has 1,024 bits or more, and fewer than 2,048.
    #[serde(rename = "below-2048-bits")]
    Below2048Bits,
}

impl Kind {
    /// All kinds, in order.
    pub const ALL: [Self; 13] = [
        Self::SharedPrime,
        Self::Even,
        Self::SmallFactor,
        Self::PerfectPower,
        Self::ClosePrimes,
        Self::Roca,
        Self::ExponentOne,
        Self::ExponentEven,
        Self::ExponentSmall,
        Self::ExponentLarge,
        Self::Duplicate,
        Self::Below1024Bits,
        Self::Below2048Bits,
    ];

    /// Returns the name of the kind, as in JSON.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::SharedPrime => "shared-prime",
            Self::Even => "even",
            Self::SmallFactor => "small-factor",
            Self::PerfectPower => "perfect-power",
            Self::ClosePrimes => "close-primes",
            Self::Roca => "roca",
            Self::ExponentOne => "exponent-one",
            Self::ExponentEven => "exponent-even",
            Self::ExponentSmall => "exponent-small",
            Self::ExponentLarge => "exponent-large",
            Self::Duplicate => "duplicate",
            Self::Below1024Bits => "below-1024-bits",
            Self::Below2048Bits => "below-2048-bits",
        }
    }

    /// Returns whether findings of this kind are notices, which only describe the key.
    #[must_use]
    pub fn is_notice(self) -> bool {
        matches!(self, Self::Below1024Bits | Self::Below2048Bits)
    }

    /// Returns a description in a few words.
    #[must_use]
    pub fn says(self) -> &'static str {
        match self {
            Self::SharedPrime => "shares a prime with another modulus",
            Self::Even => "the modulus is even",
            Self::SmallFactor => "the modulus has a prime factor below 10000",
            Self::PerfectPower => "the modulus is a perfect power",
            Self::ClosePrimes => "two factors are close to each other",
            Self::Roca => "the form of vulnerable keys of RSALib (ROCA)",
            Self::ExponentOne => "the exponent is 0 or 1",
            Self::ExponentEven => "the exponent is even",
            Self::ExponentSmall => "the exponent is below 65537",
            Self::ExponentLarge => "the exponent is 2^256 or larger",
            Self::Duplicate => "the same modulus occurs several times",
            Self::Below1024Bits => "fewer than 1024 bits",
            Self::Below2048Bits => "fewer than 2048 bits",
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A finding about one modulus.
#[derive(Clone)]
pub struct Finding {
    /// What was found.
    pub kind: Kind,
    /// The index of the modulus among the distinct moduli of the audit: those of the list in
    /// ascending order, then those of the store that findings name.
    pub modulus: usize,
    /// The keys that it concerns, as indices of the list: all keys of the modulus or, for an exponent,
    /// those with this exponent.
    pub keys: Vec<usize>,
    /// The first keys of at most 100 moduli with which this modulus shares a prime, as indices of the
    /// list.
    pub shared_with: Vec<usize>,
    /// A proper factor of the modulus, if the check has found one. It is secret.
    pub factor: Option<Vec<u64>>,
}

impl Finding {
    pub(super) fn new(kind: Kind, modulus: usize, keys: Vec<usize>) -> Self {
        Self { kind, modulus, keys, shared_with: vec![], factor: None }
    }
}

impl fmt::Debug for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, modulus, keys, shared_with, factor } = self;
        f.debug_struct("Finding")
            .field("kind", kind)
            .field("modulus", modulus)
            .field("keys", keys)
            .field("shared_with", shared_with)
            .field("has_factor", &factor.is_some())
            .finish()
    }
}
