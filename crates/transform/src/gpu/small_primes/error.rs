use warpint_arith::gfn::Form;
use warpint_device::{DeviceError, ErrorKind};

use crate::f50::TooFewPrimes;
use crate::gpu::spectra::Spectra50Error;

/// The reason why a plan of this module cannot be created, or why one of its operations failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmallPrimesError {
    /// r^k + 1 is not a prime, or its field has no root of unity of order 2^(m + 1). A transform of
    /// 2^m points by chirps requires this root.
    #[error("a transform of 2^{log2} points by chirps requires a root of unity of order 2^{}, which Z/({form})Z does not have: use fewer points", log2 + 1)]
    NoRoot {
        /// The form r^k + 1.
        form: Form,
        /// The exponent m of the transform length 2^m.
        log2: u32,
    },
    /// A plan that was created for convolutions only was used for a transform.
    #[error("this plan is for convolutions only: make one with SmallPrimes::new")]
    ConvolutionsOnly,
    /// There are fewer suitable small primes than the plan needs.
    #[error(transparent)]
    Primes(#[from] TooFewPrimes),
    /// The transforms modulo small primes could not be planned, or failed.
    #[error(transparent)]
    Ntt(#[from] Spectra50Error),
    /// A buffer does not have the required length, which is the number of digits of an element
    /// times the number of elements.
    #[error("{what}: {found} words, but {wanted} are required: digits times elements")]
    Length {
        /// The name of the buffer.
        what: &'static str,
        /// The length of the buffer, in words.
        found: usize,
        /// The required length, in words.
        wanted: usize,
    },
    /// An operation of the device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl SmallPrimesError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::NoRoot { .. }
            | Self::ConvolutionsOnly
            | Self::Primes(_)
            | Self::Length { .. } => ErrorKind::BadInput,
            Self::Ntt(e) => e.kind(),
            Self::Device(e) => e.kind(),
        }
    }
}

/// Returns an error if `found` and `wanted` differ. The buffer with the name `what` has `found`
/// words, and must have `wanted` words.
pub(super) fn has(what: &'static str, found: usize, wanted: usize) -> Result<(), SmallPrimesError> {
    if found == wanted { Ok(()) } else { Err(SmallPrimesError::Length { what, found, wanted }) }
}
