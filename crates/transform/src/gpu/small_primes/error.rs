use warpint_arith::gfn::Form;
use warpint_device::{DeviceError, ErrorKind};

use crate::f50::TooFewPrimes;
use crate::gpu::f50::Ntt50Error;

/// The reason why a plan cannot be made, or failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmallPrimesError {
    /// The field has no root of unity of the order that chirps require.
    #[error("a transform of 2^{log2} points by chirps requires a root of unity of order 2^{}, which Z/({form})Z does not have: use fewer points", log2 + 1)]
    NoRoot {
        /// The form r^k + 1 of the field's prime.
        form: Form,
        /// The exponent m of the transform length 2^m.
        log2: u32,
    },
    /// A plan for convolutions was used for a transform.
    #[error("this plan is for convolutions only: make one with SmallPrimes::new")]
    ConvolutionsOnly,
    /// Too few primes exist.
    #[error(transparent)]
    Primes(#[from] TooFewPrimes),
    /// The transforms modulo small primes failed.
    #[error(transparent)]
    Ntt(#[from] Ntt50Error),
    /// A buffer has the wrong length.
    #[error("{what}: {found} words, but {wanted} are required: digits times elements")]
    Length {
        /// The name of the buffer.
        what: &'static str,
        /// The length of the buffer, in elements.
        found: usize,
        /// The required length, in elements.
        wanted: usize,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl SmallPrimesError {
    /// Returns the kind of the error.
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

/// Returns an error unless the buffer has the wanted number of words.
pub(super) fn has(what: &'static str, found: usize, wanted: usize) -> Result<(), SmallPrimesError> {
    if found == wanted { Ok(()) } else { Err(SmallPrimesError::Length { what, found, wanted }) }
}
