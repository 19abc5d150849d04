//! What cannot be verified, and what fails on the way.

use warpint_device::DeviceError;
use warpint_files::ErrorKind;

/// Why a verification was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollatzError {
    /// An interval without numbers.
    #[error("from {from} to {to} there are no numbers: the second must be the larger")]
    Empty {
        /// Its first number.
        from: u128,
        /// The number after its last.
        to: u128,
    },
    /// A residue class that is none, or of more bits than there are.
    #[error(
        "{residue} modulo 2^{low_bits}, below 2^{bits}, is no class: its residue must be below 2^{low_bits}, and {low_bits} at most {bits}, which is at most 127"
    )]
    Class {
        /// Numbers are below 2^bits.
        bits: u32,
        /// The modulus is 2^`low_bits`.
        low_bits: u32,
        /// The residue.
        residue: u128,
    },
    /// Numbers that are too large for the sieve.
    #[error(
        "the sieve has no room for {level} low bits and {top_bits} bits above them: take smaller units or classes, or another method"
    )]
    TooLarge {
        /// Low bits that are grown one by one.
        level: u32,
        /// Bits above them.
        top_bits: u32,
    },
    /// A class of more low bits than the sieve.
    #[error(
        "the table method cannot verify a class of {low_bits} low bits with a sieve of {sieve_bits} bits: use fewer low bits, a larger sieve (at most 37 bits) or another method"
    )]
    LowBits {
        /// Those of the class.
        low_bits: u32,
        /// Those of the sieve.
        sieve_bits: u32,
    },
    /// A parameter of a method beyond its bounds.
    #[error("{what} must be from {least} to {most}: {value} is not")]
    Parameter {
        /// Its name for users.
        what: &'static str,
        /// What it was to be.
        value: u32,
        /// The least.
        least: u32,
        /// The most.
        most: u32,
    },
    /// A range of delays that begins with 0.
    #[error("0 has no delay, as it never reaches 1: begin with 1 or more")]
    DelayOfZero,
    /// A range of delays that goes too far.
    #[error("delays are computed of numbers below 2^96; a range up to {to} goes beyond")]
    DelayTooLarge {
        /// The number after its last.
        to: u128,
    },
    /// A path that does not come to 1.
    #[error(
        "the path of {n} does not reach 1 within some millions of steps: it may be a counter-example; follow it with collatz path"
    )]
    NoEnd {
        /// Its start.
        n: u128,
    },
    /// No seed for challenges.
    #[error("the operating system gives no random numbers: {reason}")]
    Randomness {
        /// What it says.
        reason: String,
    },
    /// A result that is not what the host computes: a fault of the device, of memory or of a core.
    #[error(transparent)]
    Refuted(Box<Refutation>),
    /// The device failed, or lacks memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl CollatzError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Empty { .. }
            | Self::Class { .. }
            | Self::TooLarge { .. }
            | Self::LowBits { .. }
            | Self::Parameter { .. }
            | Self::DelayOfZero
            | Self::DelayTooLarge { .. } => ErrorKind::BadInput,
            Self::NoEnd { .. } => ErrorKind::Finding,
            Self::Randomness { .. } => ErrorKind::Resources,
            Self::Refuted(_) => ErrorKind::Unsound,
            Self::Device(e) => e.kind(),
        }
    }
}

/// A result that the host has refuted.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place} gave a wrong result for {region}: {what} is {found}, it must be {expected}; nothing of it is kept"
)]
pub struct Refutation {
    /// Who computed it.
    pub place: String,
    /// Of which numbers.
    pub region: String,
    /// What is wrong.
    pub what: String,
    /// As it was reported.
    pub found: String,
    /// As the host has it.
    pub expected: String,
}

impl CollatzError {
    pub(crate) fn refuted(
        place: &str,
        region: &impl ToString,
        what: impl Into<String>,
        found: impl ToString,
        expected: impl ToString,
    ) -> Self {
        Self::Refuted(Box::new(Refutation {
            place: place.into(),
            region: region.to_string(),
            what: what.into(),
            found: found.to_string(),
            expected: expected.to_string(),
        }))
    }
}
