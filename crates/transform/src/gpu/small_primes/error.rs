use warpint_arith::gfn::Form;
use warpint_device::{DeviceError, ErrorKind};

use crate::f50::TooFewPrimes;
use crate::gpu::f50::Ntt50Error;

/// Why there is no such plan, or why it failed.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SmallPrimesError {
    /// A field without roots of the order that chirps have.
    #[error("a transform of 2^{log2} points by chirps takes a root of unity of order 2^{}, and Z/({form})Z has none: take fewer points", log2 + 1)]
    NoRoot {
        /// The field.
        form: Form,
        /// m.
        log2: u32,
    },
    /// A transform by a plan for convolutions.
    #[error("this plan is for convolutions only: make one with SmallPrimes::new")]
    ConvolutionsOnly,
    /// There are not enough primes.
    #[error(transparent)]
    Primes(#[from] TooFewPrimes),
    /// The transforms modulo small primes.
    #[error(transparent)]
    Ntt(#[from] Ntt50Error),
    /// A buffer of another length.
    #[error("{what} of {found} words, where {wanted} are needed: digits times elements")]
    Length {
        /// Which buffer.
        what: &'static str,
        /// Its length.
        found: usize,
        /// What it should be.
        wanted: usize,
    },
    /// The device failed.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl SmallPrimesError {
    /// What kind of error it is.
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

/// An error unless a buffer has so many words.
pub(super) fn has(what: &'static str, found: usize, wanted: usize) -> Result<(), SmallPrimesError> {
    if found == wanted { Ok(()) } else { Err(SmallPrimesError::Length { what, found, wanted }) }
}
