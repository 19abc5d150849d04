//! What cannot be done with a batch.

use warpint_device::{DeviceError, ErrorKind};

use crate::Width;

/// Why an operation on a batch was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntegerError {
    /// A width that no batch has.
    #[error("{bits} bits: a width must be a multiple of 32 from 32 to 1048576")]
    Width {
        /// As asked for.
        bits: u64,
    },
    /// A batch whose limbs are not whole limbs of 64 bits.
    #[error("{width} are no whole number of limbs of 64 bits")]
    OddLimbs {
        /// The width.
        width: Width,
    },
    /// A slice that does not hold whole numbers.
    #[error("{len} {unit} are no whole number of integers of {width}")]
    Length {
        /// Its length.
        len: usize,
        /// Limbs or bytes.
        unit: &'static str,
        /// The width.
        width: Width,
    },
    /// A factor, or a result, wider than a product may be.
    #[error("{operation}: {bits} bits are more than {most}")]
    TooWide {
        /// What was asked for.
        operation: &'static str,
        /// How wide.
        bits: u64,
        /// The most there may be.
        most: u32,
    },
    /// Two batches of different counts, neither of them one.
    #[error("batches of {a} and of {b} integers: the counts must be equal, or one of them 1")]
    Counts {
        /// Of the first.
        a: usize,
        /// Of the second.
        b: usize,
    },
    /// Two batches in different places.
    #[error("the batches are on different devices: bring one to the other first")]
    Places,
    /// A batch that cannot take a result.
    #[error(
        "the result is {count} integers of {width}, and cannot go into {into_count} of {into_width}"
    )]
    Output {
        /// Integers of the result.
        count: usize,
        /// Their width.
        width: Width,
        /// Integers of the batch that was to take them.
        into_count: usize,
        /// Their width.
        into_width: Width,
    },
    /// A text that is no number of the batch's width.
    #[error("integer {index}: {problem}")]
    Text {
        /// Which one, from 0.
        index: usize,
        /// What is wrong with it.
        problem: TextProblem,
    },
    /// A number wider than the batch.
    #[error("integer {index} has {bits} bits, more than {width}")]
    Overflow {
        /// Which one, from 0.
        index: usize,
        /// Its bits.
        bits: u64,
        /// The width of the batch.
        width: Width,
    },
    /// More memory than there is.
    #[error("no memory for {count} integers of {width}")]
    Memory {
        /// Integers.
        count: usize,
        /// Their width.
        width: Width,
    },
    /// More numbers than a device takes at once.
    #[error("{count} integers are more than the {most} of a batch on a device")]
    TooMany {
        /// Integers.
        count: usize,
        /// The most there may be.
        most: u32,
    },
    /// Factors for which a device has no method.
    #[error(
        "the device {device} has no method for a product of integers of {a} and of {b}: \
         the CPU has"
    )]
    NoMethod {
        /// Its name.
        device: String,
        /// The width of the one factor.
        a: Width,
        /// The width of the other.
        b: Width,
    },
    /// A modulus that nothing can be computed with.
    #[error("modulus {index} is 0")]
    ZeroModulus {
        /// Which one, from 0.
        index: usize,
    },
    /// Several numbers where only one can be.
    #[error("{what}: {count} integers, and there must be one")]
    NotOne {
        /// What they were to be.
        what: &'static str,
        /// Integers.
        count: usize,
    },
    /// An operation that devices do not have.
    #[error("{operation} is for batches on the CPU: bring them there with UintBatch::to")]
    OnlyOnCpu {
        /// What was asked for.
        operation: &'static str,
    },
    /// The threads could not be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// As many as were asked for.
        threads: usize,
        /// Why.
        reason: String,
    },
    /// The device failed, or cannot do it.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl IntegerError {
    /// What kind of error it is.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Width { .. }
            | Self::OddLimbs { .. }
            | Self::Length { .. }
            | Self::TooWide { .. }
            | Self::Counts { .. }
            | Self::Places
            | Self::Output { .. }
            | Self::Text { .. }
            | Self::Overflow { .. }
            | Self::TooMany { .. }
            | Self::NoMethod { .. }
            | Self::ZeroModulus { .. }
            | Self::NotOne { .. }
            | Self::OnlyOnCpu { .. } => ErrorKind::BadInput,
            Self::Memory { .. } | Self::Threads { .. } => ErrorKind::Resources,
            Self::Device(e) => e.kind(),
        }
    }
}

/// What is wrong with a text that was to be a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    /// No digits.
    #[error("no digits")]
    Empty,
    /// A character that is no digit.
    #[error("{character:?} at position {position} is no {digits} digit")]
    NoDigit {
        /// The character.
        character: char,
        /// Where, in characters from 0.
        position: usize,
        /// `decimal` or `hexadecimal`.
        digits: &'static str,
    },
    /// More bits than the width.
    #[error("more than {width}")]
    TooWide {
        /// The width of the batch.
        width: Width,
    },
}
