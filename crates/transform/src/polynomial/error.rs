//! Errors of operations on polynomials.

use warpint_device::ErrorKind;

use crate::cpu::NoTransform;

/// The reason why an operation on polynomials failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PolynomialError {
    /// The inverse of a power series was requested, and its constant coefficient is 0.
    #[error("the power series has no inverse: its constant coefficient is 0")]
    NotInvertible,
    /// The divisor is the zero polynomial.
    #[error("division by the zero polynomial")]
    DivisionByZero,
    /// A point of an interpolation occurs more than once. The index of such a point is stored here.
    #[error("the point with index {0} occurs more than once: interpolation needs distinct points")]
    RepeatedPoint(usize),
    /// An interpolation has different numbers of points and of values.
    #[error("there are {points} points and {values} values: give one value for each point")]
    Lengths {
        /// The number of points.
        points: usize,
        /// The number of values.
        values: usize,
    },
    /// The memory for a result is not available. The number of its coefficients is stored here.
    #[error("out of memory for a polynomial of {0} coefficients")]
    Memory(usize),
    /// A transform cannot be planned, because there is too little memory for its tables.
    #[error(transparent)]
    Transform(#[from] NoTransform),
}

impl PolynomialError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NotInvertible
            | Self::DivisionByZero
            | Self::RepeatedPoint(_)
            | Self::Lengths { .. } => ErrorKind::BadInput,
            Self::Memory(_) | Self::Transform(_) => ErrorKind::Resources,
        }
    }
}
