//! What a plan is to transform, and why it may be refused.

use warpint_device::{DeviceError, ErrorKind};

use super::passes::odd_factor;
use crate::Order;
use crate::gpu::WrongLength;

/// The largest number of points of a transform.
const MOST_POINTS: usize = 1 << 30;
/// The largest number of points of a batch, of words from its first to its last, and of vectors.
const MOST_OF_BATCH: usize = 1 << 36;
const MOST_WORDS: usize = 1 << 40;
const MOST_VECTORS: usize = 1 << 28;
/// The largest number of primes.
const MOST_PRIMES: usize = 65_535;

/// The reason why an [`Ntt`](super::Ntt) cannot be created, or why one of its operations failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NttError {
    /// No transform has the requested number of points, which is stored here.
    #[error("no transform has {0} points: lengths are 2^k, 3·2^k and 5·2^k up to 2^30")]
    Length(usize),
    /// The field of a prime lacks the root of unity that the transform or the convolution requires.
    #[error(
        "there is no root of unity of order {order} modulo {prime}: choose a prime p such that {order} divides p − 1"
    )]
    NoRoot {
        /// The prime p.
        prime: u64,
        /// The order of the root: N, or 2N for a negacyclic convolution.
        order: usize,
    },
    /// The number of primes, which is stored here, is 0 or too large.
    #[error("cannot plan transforms modulo {0} primes: give 1 to 65535 primes")]
    Primes(usize),
    /// The batch is empty or too large, or vectors overlap.
    #[error(
        "invalid batch of {batch} vectors of {length} points, {stride} words apart, modulo {primes} primes: there are 1 to 2^28 vectors modulo all primes with at most 2^36 points, they do not overlap, and take at most 2^40 words"
    )]
    Batch {
        /// The number of vectors modulo each prime.
        batch: usize,
        /// The number of points of a vector.
        length: usize,
        /// The distance of the first points of two consecutive vectors, in words.
        stride: usize,
        /// The number of primes.
        primes: usize,
    },
    /// The host does not have enough memory for the tables of a plan, or for a copy of a vector.
    #[error("the host does not have enough memory for a transform of {0} points")]
    Memory(usize),
    /// A buffer or a slice does not have the length that the plan requires.
    #[error(transparent)]
    Words(#[from] WrongLength),
    /// An operation of the device failed, or the device does not have enough memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl NttError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Device(e) => e.kind(),
            Self::Memory(_) => ErrorKind::Resources,
            _ => ErrorKind::BadInput,
        }
    }
}

/// What an [`Ntt`](super::Ntt) is to transform.
///
/// ```
/// use warpint_transform::Order;
/// use warpint_transform::gpu::ntt::NttRequest;
///
/// // A thousand vectors of 3·2^10 points, each followed by 1,024 other words.
/// let request = NttRequest::new(3 << 10).batch(1000).stride(1 << 12).order(Order::BitReversed);
/// # assert_eq!(request.length, 3072);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct NttRequest {
    /// The number N of points of a vector: 2^k, 3·2^k or 5·2^k, at most 2^30.
    pub length: usize,
    /// The number of vectors modulo each prime.
    pub batch: usize,
    /// The distance of the first points of two consecutive vectors, in words; at least N.
    pub stride: usize,
    /// The order of the X_k.
    pub order: Order,
}

impl NttRequest {
    /// Returns the request for one vector of `length` points, with the X_k in natural order.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self { length, batch: 1, stride: length, order: Order::Natural }
    }

    /// Sets the number of vectors modulo each prime.
    #[must_use]
    pub fn batch(mut self, batch: usize) -> Self {
        self.batch = batch;
        self
    }

    /// Sets the distance of the first points of two consecutive vectors, in words. By default
    /// vectors are contiguous.
    #[must_use]
    pub fn stride(mut self, stride: usize) -> Self {
        self.stride = stride;
        self
    }

    /// Sets the order of the X_k.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// Returns an error if no plan has these lengths, or not modulo this number of primes.
    pub(crate) fn check(&self, primes: usize) -> Result<(), NttError> {
        let Self { length, batch, stride, .. } = *self;
        if length == 0 || length > MOST_POINTS || !matches!(odd_factor(length), 1 | 3 | 5) {
            return Err(NttError::Length(length));
        }
        if !(1..=MOST_PRIMES).contains(&primes) {
            return Err(NttError::Primes(primes));
        }
        let within = |x: usize, most| {
            let all = batch.checked_mul(primes).and_then(|vectors| vectors.checked_mul(x));
            all.is_some_and(|all| all <= most)
        };
        let fit = within(1, MOST_VECTORS) && within(stride, MOST_WORDS);
        if batch == 0 || !fit || !within(length, MOST_OF_BATCH) || stride < length {
            return Err(NttError::Batch { batch, length, stride, primes });
        }
        Ok(())
    }

    /// Returns (vector, k) for the X_k at index `place` of a batch, and `None` between vectors.
    pub(crate) fn frequency(&self, vectors: usize, place: usize) -> Option<(usize, usize)> {
        let Self { length, stride, order, .. } = *self;
        let (vector, place) = (place / stride, place % stride);
        let k = match order {
            Order::Natural => place,
            Order::BitReversed => frequency_of_place(length, place),
        };
        (place < length && vector < vectors).then_some((vector, k))
    }
}

/// Returns the k of the X_k at a place below N = f·2^m in bit-reversed order: X_(u + f·v) is at u·2^m
/// + r, where the m bits of r are those of v in reverse order.
pub(crate) fn frequency_of_place(length: usize, place: usize) -> usize {
    let bits = length.trailing_zeros();
    let (u, r) = (place >> bits, place % (1 << bits));
    let v = if bits == 0 { 0 } else { r.reverse_bits() >> (usize::BITS - bits) };
    u + odd_factor(length) * v
}
