//! Errors of operations on batches.

use warpint_device::{DeviceError, ErrorKind};

use crate::Width;

/// Why an operation on a batch was refused or failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IntegerError {
    /// The requested width is not supported.
    #[error("{bits} bits: a width must be a multiple of 32 from 32 to 1048576")]
    Width {
        /// The requested width, in bits.
        bits: u64,
    },
    /// The width is not a multiple of 64 bits, but the operation works on 64-bit limbs.
    #[error("{width} is not a multiple of 64 bits")]
    OddLimbs {
        /// The width of the batch.
        width: Width,
    },
    /// The length of a slice is not a multiple of the length of one number.
    #[error("{len} {unit} are not a whole number of integers of {width}")]
    Length {
        /// The length of the slice.
        len: usize,
        /// The unit of `len`: limbs or bytes.
        unit: &'static str,
        /// The width of the numbers.
        width: Width,
    },
    /// An operand or a result is wider than the operation supports.
    #[error("{operation}: {bits} bits, but at most {most} are supported")]
    TooWide {
        /// The name of the operation, such as `a product`.
        operation: &'static str,
        /// The width of the operand or the result, in bits.
        bits: u64,
        /// The largest width supported, in bits.
        most: u32,
    },
    /// The counts of two batches differ, and neither is 1. Also reported if the number of flags
    /// differs from the count of their batch.
    #[error("batches of {a} and of {b} integers: the counts must be equal, or one of them 1")]
    Counts {
        /// The count of the first batch.
        a: usize,
        /// The count of the second batch.
        b: usize,
    },
    /// The batches of an operation are neither all on the CPU nor all on the same device. A check
    /// of results reports this error if a batch is not on the CPU.
    #[error("the batches are on different devices: copy one to the device of the other first")]
    Places,
    /// The batch given for a result has another count or another width than the result.
    #[error(
        "the result has {count} integers of {width}; the batch given for it has {into_count} of {into_width}"
    )]
    Output {
        /// The count of the result.
        count: usize,
        /// The width of the numbers of the result.
        width: Width,
        /// The count of the batch given for the result.
        into_count: usize,
        /// The width of the batch given for the result.
        into_width: Width,
    },
    /// A text is not a number, or its number is wider than the batch.
    #[error("integer {index}: {problem}")]
    Text {
        /// The index of the text, from 0.
        index: usize,
        /// What is wrong with the text.
        problem: TextProblem,
    },
    /// A number is wider than the batch.
    #[error("integer {index} has {bits} bits, but the width is {width}")]
    Overflow {
        /// The index of the number, from 0.
        index: usize,
        /// The bit length of the number.
        bits: u64,
        /// The width of the batch.
        width: Width,
    },
    /// Memory could not be allocated.
    #[error("not enough memory for {count} integers of {width}")]
    Memory {
        /// The count of the numbers.
        count: usize,
        /// The width of the numbers.
        width: Width,
    },
    /// The batch has more numbers than a device supports in one batch.
    #[error("{count} integers, but a batch on a device holds at most {most}")]
    TooMany {
        /// The count of the numbers.
        count: usize,
        /// The largest count supported.
        most: u32,
    },
    /// The device cannot compute products of factors with the widths `a` and `b`.
    #[error(
        "the device {device} has no method for a product of integers of {a} and of {b}: \
         the CPU has"
    )]
    NoMethod {
        /// The name of the device.
        device: String,
        /// The width of the first factor.
        a: Width,
        /// The width of the second factor.
        b: Width,
    },
    /// A modulus is 0.
    #[error("modulus {index} is 0")]
    ZeroModulus {
        /// The index of the modulus, from 0.
        index: usize,
    },
    /// The divisor of a division of single numbers is 0.
    #[error("division by zero")]
    ZeroDivisor,
    /// The divisor of an exact division of single numbers does not divide the dividend.
    #[error("the divisor does not divide the dividend: use a division with remainder")]
    Inexact,
    /// The result of an operation on single numbers has more bits than are supported.
    #[error("{operation} of more than {most} bits is not supported")]
    TooLong {
        /// The name of the operation, such as `a power`.
        operation: &'static str,
        /// The largest number of bits supported.
        most: u64,
    },
    /// A base of a strong test for primality is 0 or 1.
    #[error("base {base} of a strong test: a base must be at least 2")]
    Base {
        /// The base.
        base: u32,
    },
    /// An operand that must be one number is a batch of several numbers or of none.
    #[error("{what}: {count} integers, but exactly one is needed")]
    NotOne {
        /// The role of the operand, such as `a fixed base`.
        what: &'static str,
        /// The count of the numbers.
        count: usize,
    },
    /// The batch is on a device, but the operation is supported only on the CPU.
    #[error("{operation} is only supported on the CPU: move the batch there with UintBatch::to")]
    OnlyOnCpu {
        /// The name of the requested operation.
        operation: &'static str,
    },
    /// Threads could not be started.
    #[error("cannot start {threads} threads: {reason}")]
    Threads {
        /// The requested number of threads.
        threads: usize,
        /// The error of the operating system.
        reason: String,
    },
    /// The device, its driver or a kernel failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl IntegerError {
    /// Returns the kind of the error: bad input, too few resources, or the kind of the device's
    /// error.
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
            | Self::ZeroDivisor
            | Self::Inexact
            | Self::TooLong { .. }
            | Self::Base { .. }
            | Self::NotOne { .. }
            | Self::OnlyOnCpu { .. } => ErrorKind::BadInput,
            Self::Memory { .. } | Self::Threads { .. } => ErrorKind::Resources,
            Self::Device(e) => e.kind(),
        }
    }
}

/// What is wrong with a text that should be a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TextProblem {
    /// The text has no digits.
    #[error("no digits")]
    Empty,
    /// The text has a character that is not a digit.
    #[error("{character:?} at position {position} is not a {digits} digit")]
    NoDigit {
        /// The first character that is not a digit of the expected kind.
        character: char,
        /// The position of the character in the text: the number of characters before it.
        position: usize,
        /// The kind of digits expected: `decimal` or `hexadecimal`.
        digits: &'static str,
    },
    /// The number has more bits than the width of the batch.
    #[error("more than {width}")]
    TooWide {
        /// The width of the batch.
        width: Width,
    },
}
