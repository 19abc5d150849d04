//! Plans of transforms of N elements over Z/pZ: the passes, and the tables of factors.

use std::sync::{Mutex, PoisonError};

use warpint_arith::field::Field;
use warpint_arith::montgomery::{PrimeField, Residue};
use warpint_device::{Arg, Buffer, Cells, Device, DeviceError, ErrorKind, Kernel, Launch, View};

use super::shape::Shape;
use crate::Plan;
use crate::gpu::WrongLength;
use crate::gpu::vectors::{copied, fits, levels_of_passes};

/// The reason why a [`PrimeFft`] cannot be created, or why one of its operations failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum PrimeFftError {
    /// The field has no root of unity whose order is the requested transform length.
    #[error(
        "the field has no root of unity of order 2^{log2}: transforms have at most 2^{most} elements"
    )]
    Length {
        /// The base-2 logarithm of the requested transform length.
        log2: u32,
        /// The base-2 logarithm of the largest possible transform length.
        most: u32,
    },
    /// The batch is empty, or has more than 2^31 elements.
    #[error(
        "invalid batch of {batch} transforms of 2^{log2} elements: the least is one transform, the most 2^31 elements in all"
    )]
    Batch {
        /// The number of transforms.
        batch: usize,
        /// The base-2 logarithm of the length of each transform.
        log2: u32,
    },
    /// A buffer does not have the length that the plan requires.
    #[error(transparent)]
    Words(#[from] WrongLength),
    /// An operation of the device failed, or the device does not have enough memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl PrimeFftError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Length { .. } | Self::Batch { .. } | Self::Words { .. } => ErrorKind::BadInput,
            Self::Device(e) => e.kind(),
        }
    }
}

/// A plan of transforms of one length N over a field Z/pZ, on one device. The prime p has at most
/// 64·L bits. `batch` transforms are computed at a time.
///
/// A buffer contains the `batch·N` elements of a batch in limb-major order. Each element has L
/// words; word d of element j is at `d·batch·N + j`. An element is an integer from 0 to p − 1. This
/// is not checked; for larger numbers the results are meaningless.
///
/// [`Plan::convolve`] preserves its second factor. Every call allocates memory for one additional
/// batch.
#[derive(Debug)]
pub struct PrimeFft<const L: usize> {
    device: Device,
    field: PrimeField<L>,
    log2: u32,
    batch: usize,
    shape: Shape,
    pass: Kernel,
    multiply: Kernel,
    /// The number of levels of each pass, in the order of the passes. A pass of a levels computes
    /// transforms of 2^a points.
    levels: Vec<u32>,
    /// The powers ω^i for i < N/2, where ω is the root of unity of order N.
    powers: Buffer<u64>,
    /// The powers ω^(i·N/P) for i < P/2, where ω is the root of unity of order N, and P is the
    /// number of points of the longest pass.
    points: Buffer<u64>,
    /// The factors 1/N and R/N, in this order. The last pass of an inverse transform multiplies by
    /// one of these factors (see [`Scale`]).
    scales: Buffer<u64>,
    /// The buffer to which every second pass writes. A thread that launches the passes of a
    /// transform locks this buffer until all passes are launched.
    scratch: Mutex<Buffer<u64>>,
}

/// The factor by which the last pass of an inverse transform multiplies. R = 2^(64·inner) is the
/// constant of the Montgomery form, where `inner` is a field of [`Shape`].
#[derive(Debug, Clone, Copy)]
pub(super) enum Scale {
    /// The factor 1/N, for an inverse transform that is not part of a convolution.
    OfInverse,
    /// The factor R/N, for the inverse transform of a convolution. The inputs of this transform are
    /// Montgomery products a·b/R.
    OfProducts,
}

impl<const L: usize> PrimeFft<L> {
    /// Plans transforms of N = 2^`log2` elements, `batch` at a time. Compiles the kernels, or loads
    /// them from the cache. Computes the tables with about 2·√N products on the host and N/2
    /// products on the device.
    ///
    /// # Errors
    /// The field has no root of unity of order 2^`log2`. The batch is empty, or has more than 2^31
    /// elements. The device cannot compile the kernels, fails, or does not have enough memory.
    pub fn new(
        device: &Device,
        field: &PrimeField<L>,
        log2: u32,
        batch: usize,
    ) -> Result<Self, PrimeFftError> {
        let length = PrimeFftError::Length { log2, most: field.two_adicity() };
        let root = field.root_of_unity(log2).ok_or(length.clone())?;
        let wrong = PrimeFftError::Batch { batch, log2 };
        let count = if log2 <= 31 { batch.checked_mul(1 << log2) } else { None };
        let count = count.filter(|count| (1..=1 << 31).contains(count)).ok_or(wrong.clone())?;
        let words = count.checked_mul(L).ok_or(wrong)?;

        let shape = Shape::new(field, device.info().shared_memory_per_block);
        let program = device.program(&shape.source())?;
        let kernel = |name| program.kernel(name, shape.shared_bytes());
        let levels = levels_of_passes(log2, shape.most_levels());
        let longest = levels[0];

        let factors = Factors::new(field, shape.inner);
        let of_points = (longest..log2).fold(root, |root, _| field.square(&root));
        let points = factors.powers(&of_points, 1 << longest >> 1);
        // 1/N exists, because 2^log2 divides p − 1.
        let part = field.inverse(&field.from_u64(1 << log2)).ok_or(length)?;
        let scales = [factors.words(&part), factors.words(&field.mul(&part, &factors.r))];

        // N/2 = 2^(log_low + log_high), but at least one.
        let log_half = log2.max(1) - 1;
        let (log_low, log_high) = (log_half / 2, log_half.div_ceil(2));
        let step = (0..log_low).fold(root, |root, _| field.square(&root));
        let low = device.upload(&factors.powers(&root, 1 << log_low))?;
        let high = device.upload(&factors.powers(&step, 1 << log_high))?;
        let size = 1u64 << (log_low + log_high);
        let mut powers = device.alloc(shape.inner << (log_low + log_high))?;
        let args =
            [(&mut powers).into(), (&low).into(), (&high).into(), size.into(), Arg::U32(log_low)];
        let blocks = size.div_ceil(shape.threads().into()) as u32;
        // SAFETY: `powers` has an element for each product of one of `low` and one of `high`.
        unsafe { kernel("prime_powers")?.launch(Launch::linear(blocks, shape.threads()), &args)? };

        let (pass, multiply) = (kernel("prime_pass")?, kernel("prime_multiply")?);
        Ok(Self {
            device: device.clone(),
            field: *field,
            log2,
            batch,
            pass,
            multiply,
            levels,
            powers,
            points: device.upload(&points)?,
            scales: device.upload(&scales.concat())?,
            scratch: Mutex::new(device.alloc(words)?),
            shape,
        })
    }

    /// Returns the field over which transforms are computed.
    #[must_use]
    pub fn field(&self) -> &PrimeField<L> {
        &self.field
    }

    /// Returns the number of passes over memory.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.levels.len()
    }

    fn count(&self) -> usize {
        self.batch << self.log2
    }

    /// Computes the forward transforms of the batch x, or the inverse transforms if `scale` is
    /// given, and writes them to `out`.
    fn transform(
        &self,
        x: &Buffer<u64>,
        out: &mut Buffer<u64>,
        scale: Option<Scale>,
    ) -> Result<(), PrimeFftError> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        let last = self.levels.len() - 1;
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, scratch) = (out.cells(..), scratch.cells(..));
        let (mut from, mut log_s) = (View::from(x), 0);
        for (i, &levels) in self.levels.iter().enumerate() {
            // The last pass writes to `out`.
            let to = if (last - i).is_multiple_of(2) { out } else { scratch };
            self.launch_pass((from, to), (log_s, levels), scale)?;
            (from, log_s) = (to.view(), log_s + levels);
        }
        Ok(())
    }

    /// Launches a pass of `levels` levels that reads the buffer `from` and writes the buffer `to`.
    /// `log_s` is the number of levels of all earlier passes together. If `scale` is given, the
    /// pass belongs to an inverse transform.
    ///
    /// # Panics
    /// If a buffer does not have the length that the plan requires.
    pub(super) fn launch_pass(
        &self,
        (from, to): (View<'_, u64>, Cells<'_, u64>),
        (log_s, levels): (u32, u32),
        scale: Option<Scale>,
    ) -> Result<(), DeviceError> {
        assert_eq!([from.len(), to.len()], [self.size(); 2], "words of vectors");
        let inner = self.shape.inner;
        let factor = match scale {
            Some(Scale::OfInverse) => self.scales.view(..inner).into(),
            Some(Scale::OfProducts) => self.scales.view(inner..).into(),
            None => Arg::NULL,
        };
        let args = [
            to.into(),
            from.into(),
            (&self.powers).into(),
            (&self.points).into(),
            factor,
            (self.count() as u64).into(),
            self.log2.into(),
            log_s.into(),
            levels.into(),
            self.levels[0].into(),
            u32::from(scale.is_some()).into(),
        ];
        let columns = self.count() >> levels;
        let tiles = columns.div_ceil(1 << (self.shape.log_tile() - levels));
        let launch = Launch::linear(tiles as u32, self.shape.threads());
        // SAFETY: both are vectors of the plan, for which the tables were made.
        unsafe { self.pass.launch(launch.shared(self.shape.shared_bytes()), &args) }
    }
}

impl<const L: usize> Plan for PrimeFft<L> {
    type Vectors = Buffer<u64>;
    type Error = PrimeFftError;

    fn points(&self) -> usize {
        1 << self.log2
    }

    fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the number of words of a batch: batch·N·L.
    fn size(&self) -> usize {
        self.count() * L
    }

    fn forward(&self, x: &mut Buffer<u64>) -> Result<(), PrimeFftError> {
        self.transform(&copied(&self.device, x)?, x, None)
    }

    fn forward_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), PrimeFftError> {
        self.transform(x, out, None)
    }

    fn inverse(&self, x: &mut Buffer<u64>) -> Result<(), PrimeFftError> {
        self.transform(&copied(&self.device, x)?, x, Some(Scale::OfInverse))
    }

    fn inverse_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), PrimeFftError> {
        self.transform(x, out, Some(Scale::OfInverse))
    }

    fn convolve(&self, a: &mut Buffer<u64>, b: &mut Buffer<u64>) -> Result<(), PrimeFftError> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        let mut spectrum = self.device.alloc(self.size())?;
        self.forward_into(a, &mut spectrum)?;
        self.forward_into(b, a)?;
        let count = self.count() as u64;
        let blocks = count.div_ceil(self.shape.threads().into()) as u32;
        let args = [(&mut spectrum).into(), (&*a).into(), count.into()];
        // SAFETY: both are vectors of `count` elements.
        unsafe { self.multiply.launch(Launch::linear(blocks, self.shape.threads()), &args)? };
        self.transform(&spectrum, a, Some(Scale::OfProducts))
    }
}

/// Converts elements x to the Montgomery form that tables use: the number x·R mod p in `inner`
/// words, where R = 2^(64·inner).
struct Factors<'a, const L: usize> {
    field: &'a PrimeField<L>,
    inner: usize,
    /// R mod p, as an element of the field. The product of an element and this number is in the
    /// form that tables use.
    r: Residue<L>,
}

impl<'a, const L: usize> Factors<'a, L> {
    fn new(field: &'a PrimeField<L>, inner: usize) -> Self {
        let r = field.pow(&field.from_u64(2), &[64 * inner as u64]);
        Self { field, inner, r }
    }

    fn words(&self, x: &Residue<L>) -> Vec<u64> {
        let mut words = self.field.integer(&self.field.mul(x, &self.r)).to_vec();
        words.resize(self.inner, 0);
        words
    }

    /// Returns root^i for i < max(1, count), in the form that tables use.
    fn powers(&self, root: &Residue<L>, count: usize) -> Vec<u64> {
        let next = |power: &Residue<L>| Some(self.field.mul(power, root));
        let powers = std::iter::successors(Some(self.field.one()), next);
        powers.take(count.max(1)).flat_map(|power| self.words(&power)).collect()
    }
}
