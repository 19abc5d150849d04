//! Errors of the verification of numbers, and of the computation of delays.

use warpint_device::DeviceError;
use warpint_files::ErrorKind;

/// The reason why a verification, or a computation of delays, was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollatzError {
    /// The interval is empty.
    #[error("the range from {from} to {to} is empty: its end must be larger than its start")]
    Empty {
        /// The first number of the interval.
        from: u128,
        /// The end of the interval, which does not belong to it.
        to: u128,
    },
    /// The residue class does not exist, or has more bits than supported.
    #[error(
        "{residue} modulo 2^{low_bits}, below 2^{bits}, is not a residue class: the residue must be below 2^{low_bits}, and {low_bits} at most {bits}, which is at most 127"
    )]
    Class {
        /// The number of bits of the numbers, all of which are below 2^bits.
        bits: u32,
        /// log2 of the modulus, which is 2^`low_bits`.
        low_bits: u32,
        /// The requested residue.
        residue: u128,
    },
    /// The numbers are too large for the sieve.
    #[error(
        "the sieve does not support {level} low bits and {top_bits} bits above them: use smaller units or classes, or another method"
    )]
    TooLarge {
        /// The last level of the sieve's tree. Each level determines one more low bit of a number,
        /// so the tree determines `level` low bits.
        level: u32,
        /// The number of bits of the high parts ⌊n/2^`level`⌋ of the numbers n. All high parts are
        /// below 2^`top_bits`.
        top_bits: u32,
    },
    /// The residue class fixes more low bits than the sieve of the table method uses to select
    /// residues.
    #[error(
        "the table method cannot verify a class of {low_bits} low bits with a sieve of {sieve_bits} bits: use fewer low bits, a larger sieve (at most 37 bits) or another method"
    )]
    LowBits {
        /// The number of low bits that the class fixes.
        low_bits: u32,
        /// The number of low bits by which the sieve selects residues.
        sieve_bits: u32,
    },
    /// A parameter of a method is out of its bounds.
    #[error("{what} must be from {least} to {most}: {value} is not")]
    Parameter {
        /// The name of the parameter, as users see it.
        what: &'static str,
        /// The requested value.
        value: u32,
        /// The smallest valid value.
        least: u32,
        /// The largest valid value.
        most: u32,
    },
    /// The range begins with 0, which has no delay.
    #[error("0 has no delay, as it never reaches 1: begin with 1 or more")]
    DelayOfZero,
    /// The range of numbers whose delays were requested ends beyond 2^96.
    #[error("delays are computed for numbers below 2^96, but the range ends at {to}")]
    DelayTooLarge {
        /// The end of the range, which does not belong to it.
        to: u128,
    },
    /// A path did not reach 1 within some millions of steps.
    #[error(
        "the path of {n} does not reach 1 within some millions of steps: it may be a counter-example; follow it with collatz path"
    )]
    NoEnd {
        /// The start of the path.
        n: u128,
    },
    /// The seed for challenges could not be drawn.
    #[error("cannot get random numbers from the operating system: {reason}")]
    Randomness {
        /// The error of the operating system.
        reason: String,
    },
    /// A result contradicts the host's computation: the device, memory or a core of the CPU is
    /// faulty.
    #[error(transparent)]
    Refuted(Box<Refutation>),
    /// A device does not exist or failed, lacks memory, or cannot compile a kernel.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl CollatzError {
    /// Returns the kind of the error, such as bad input, a lack of resources, or an unsound result.
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

/// A result that differs from the host's own computation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "{place} gave a wrong result for {region}: {what} is {found}, but must be {expected}; the result is discarded"
)]
pub struct Refutation {
    /// The name of the CPU or device that computed the result: `cpu`, `cuda:0`.
    pub place: String,
    /// A description of the numbers to which the result belongs.
    pub region: String,
    /// The name of the quantity that is wrong.
    pub what: String,
    /// The wrong value that was reported, as text.
    pub found: String,
    /// The value that the host computed, as text.
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
