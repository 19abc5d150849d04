//! Plans of transforms modulo q = 2^64 − 2^32 + 1.

use std::sync::{Mutex, OnceLock, PoisonError};

use warpint_arith::goldilocks::{inverse, pow};
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, ErrorKind, Kernel, Launch, Source, View, common,
};

use super::passes::{Pass, odd_factor};
use super::tables::{powers, root};
use crate::gpu::WrongLength;
use crate::gpu::vectors::fits;
use crate::{Order, Plan};

/// The largest number of points of a transform.
const MOST_POINTS: usize = 1 << 30;
/// The largest number of points of a batch, of words from its first to its last, and of vectors.
const MOST_OF_BATCH: usize = 1 << 36;
const MOST_WORDS: usize = 1 << 40;
const MOST_VECTORS: usize = 1 << 28;

/// The number of threads of a block of the kernels that multiply.
const THREADS: u32 = 256;

/// The reason why an [`Ntt64`] cannot be created, or why one of its operations failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ntt64Error {
    /// No transform has the requested number of points, which is stored here.
    #[error(
        "no transform modulo 2^64 − 2^32 + 1 has {0} points: lengths are 2^k, 3·2^k and 5·2^k up to 2^30"
    )]
    Length(usize),
    /// The batch is empty or too large, or vectors overlap.
    #[error(
        "invalid batch of {batch} vectors of {length} points, {stride} words apart: there are 1 to 2^28 vectors with at most 2^36 points, they do not overlap, and take at most 2^40 words"
    )]
    Batch {
        /// The number of vectors.
        batch: usize,
        /// The number of points of a vector.
        length: usize,
        /// The distance of the first points of two consecutive vectors, in words.
        stride: usize,
    },
    /// A buffer or a slice does not have the length that the plan requires.
    #[error(transparent)]
    Words(#[from] WrongLength),
    /// An operation of the device failed, or the device does not have enough memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl Ntt64Error {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Length(_) | Self::Batch { .. } | Self::Words(_) => ErrorKind::BadInput,
            Self::Device(e) => e.kind(),
        }
    }
}

/// What an [`Ntt64`] is to transform.
///
/// ```
/// use warpint_transform::Order;
/// use warpint_transform::gpu::goldilocks::Ntt64Request;
///
/// // A thousand vectors of 3·2^10 points, each followed by 1,024 other words.
/// let request = Ntt64Request::new(3 << 10).batch(1000).stride(1 << 12).order(Order::BitReversed);
/// # assert_eq!(request.length, 3072);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Ntt64Request {
    /// The number N of points of a vector: 2^k, 3·2^k or 5·2^k, at most 2^30.
    pub length: usize,
    /// The number of vectors.
    pub batch: usize,
    /// The distance of the first points of two consecutive vectors, in words; at least N.
    pub stride: usize,
    /// The order of the X_k.
    pub order: Order,
}

impl Ntt64Request {
    /// Returns the request for one vector of `length` points, with the X_k in natural order.
    #[must_use]
    pub fn new(length: usize) -> Self {
        Self { length, batch: 1, stride: length, order: Order::Natural }
    }

    /// Sets the number of vectors.
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
}

/// A plan of transforms and convolutions of one length N modulo q = 2^64 − 2^32 + 1, on a device.
/// The [module](super) states the definition and the bounds.
///
/// Point j of vector v of a batch is word v·stride + j of a buffer, and a buffer has (batch −
/// 1)·stride + N words. Words between vectors are neither read nor written.
///
/// Operations are asynchronous, except the first of each kind, which compiles its kernels, and
/// those that allocate a temporary batch: [`Plan::convolve`] never does, and transforms only if they
/// are in natural order and take more than one pass; then the plan keeps that batch.
#[derive(Debug)]
pub struct Ntt64 {
    device: Device,
    request: Ntt64Request,
    /// The largest size of a tile, in bytes.
    shared_memory: u32,
    /// The powers ω^e and ω^(e·2^log_low) for e < 2^log_low, and those of 1/ω.
    powers: [[Buffer<u64>; 2]; 2],
    log_low: u32,
    multiply: Kernel,
    twist: Kernel,
    /// The powers of a root of order 2N for negacyclic convolutions, if they were needed.
    half_powers: OnceLock<[[Buffer<u64>; 2]; 2]>,
    /// The passes of transforms and of inverse transforms in natural order, and those in
    /// bit-reversed order.
    flows: [[OnceLock<Vec<Ready>>; 2]; 2],
    scratch: Mutex<Option<Buffer<u64>>>,
}

/// A pass with its kernel and its tables on the device.
#[derive(Debug)]
struct Ready {
    pass: Pass,
    kernel: Kernel,
    tables: Buffer<u64>,
}

impl Ntt64 {
    /// Plans transforms of one vector of `length` points, with the X_k in natural order.
    ///
    /// # Errors
    /// As for [`Self::with`].
    pub fn new(device: &Device, length: usize) -> Result<Self, Ntt64Error> {
        Self::with(device, Ntt64Request::new(length))
    }

    /// Plans the transforms of a request. Compiles the kernels of the first transform, or loads them
    /// from the cache. The host computes about 4·√N powers of ω.
    ///
    /// # Errors
    /// The length is not 2^k, 3·2^k or 5·2^k, or larger than 2^30. The batch is empty or too large,
    /// or its vectors overlap. The device cannot compile the kernels, fails, or does not have enough
    /// memory.
    pub fn with(device: &Device, request: Ntt64Request) -> Result<Self, Ntt64Error> {
        Self::with_shared_memory(device, request, device.info().shared_memory_per_block)
    }

    /// Plans the transforms of a request with tiles of at most `shared_memory` bytes.
    pub(super) fn with_shared_memory(
        device: &Device,
        request: Ntt64Request,
        shared_memory: u32,
    ) -> Result<Self, Ntt64Error> {
        let Ntt64Request { length, batch, stride, .. } = request;
        if length == 0 || length > MOST_POINTS || !matches!(odd_factor(length), 1 | 3 | 5) {
            return Err(Ntt64Error::Length(length));
        }
        let words = batch.checked_mul(stride).is_some_and(|words| words <= MOST_WORDS);
        let points = batch.checked_mul(length).is_some_and(|points| points <= MOST_OF_BATCH);
        if !words || !points || batch == 0 || batch > MOST_VECTORS || stride < length {
            return Err(Ntt64Error::Batch { batch, length, stride });
        }
        let log_low = length.next_power_of_two().ilog2().div_ceil(2);
        let program = device.program(&multiply_source())?;
        let plan = Self {
            device: device.clone(),
            request,
            shared_memory,
            powers: two_tables(device, length, log_low)?,
            log_low,
            multiply: program.kernel("goldilocks_multiply", 0)?,
            twist: program.kernel("goldilocks_twist", 0)?,
            half_powers: OnceLock::new(),
            flows: Default::default(),
            scratch: Mutex::new(None),
        };
        plan.flow(request.order, false)?;
        Ok(plan)
    }

    /// Returns what the plan transforms.
    #[must_use]
    pub fn request(&self) -> Ntt64Request {
        self.request
    }

    /// Returns the number of passes over memory of a transform.
    #[must_use]
    pub fn passes(&self) -> usize {
        let Ntt64Request { length, order, .. } = self.request;
        Pass::sequence(length, order, false, self.shared_memory).len()
    }

    /// Transforms the vectors of a batch in host memory: uploads it, computes [`Plan::forward`], and
    /// downloads the result.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn forward_on_host(&self, x: &mut [u64]) -> Result<(), Ntt64Error> {
        self.on_host(x, |x| self.forward(x))
    }

    /// Transforms back the vectors of a batch in host memory: uploads it, computes
    /// [`Plan::inverse`], and downloads the result.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn inverse_on_host(&self, x: &mut [u64]) -> Result<(), Ntt64Error> {
        self.on_host(x, |x| self.inverse(x))
    }

    /// Computes [`Plan::forward`] in place for a batch that is a range of a buffer.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn forward_cells(&self, x: Cells<'_, u64>) -> Result<(), Ntt64Error> {
        self.in_cells(x, false)
    }

    /// Computes [`Plan::inverse`] in place for a batch that is a range of a buffer.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn inverse_cells(&self, x: Cells<'_, u64>) -> Result<(), Ntt64Error> {
        self.in_cells(x, true)
    }

    fn in_cells(&self, x: Cells<'_, u64>, inverse: bool) -> Result<(), Ntt64Error> {
        if x.len() != self.size() {
            return Err(WrongLength { words: x.len(), expected: self.size() }.into());
        }
        self.transform(x.view(), x, self.request.order, inverse)
    }

    fn on_host(
        &self,
        x: &mut [u64],
        work: impl FnOnce(&mut Buffer<u64>) -> Result<(), Ntt64Error>,
    ) -> Result<(), Ntt64Error> {
        if x.len() != self.size() {
            return Err(WrongLength { words: x.len(), expected: self.size() }.into());
        }
        let mut buffer = self.device.upload(x)?;
        work(&mut buffer)?;
        x.copy_from_slice(&buffer.download()?);
        Ok(())
    }

    /// Replaces each vector of a by its negacyclic convolution with the corresponding vector of b:
    /// a_l ← Σ_(i + j = l) a_i·b_j − Σ_(i + j = l + N) a_i·b_j, a product modulo z^N + 1. The
    /// contents of b are unspecified afterwards.
    ///
    /// Cost: a cyclic convolution and three passes more.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn convolve_negacyclic(
        &self,
        a: &mut Buffer<u64>,
        b: &mut Buffer<u64>,
    ) -> Result<(), Ntt64Error> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        // With ψ² = ω, the cyclic convolution of a_j·ψ^j and b_j·ψ^j is c_j·ψ^j.
        self.twist(a, false)?;
        self.twist(b, false)?;
        self.convolve(a, b)?;
        self.twist(a, true)
    }

    /// Replaces each vector of a by its cyclic convolution with itself: a_l ← Σ_(i + j ≡ l mod N)
    /// a_i·a_j.
    ///
    /// Cost: two transforms, and one pass of products.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn square(&self, a: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(a, self.size())?;
        let order = Order::BitReversed;
        let a = a.cells(..);
        self.transform(a.view(), a, order, false)?;
        self.multiply(a, a.view())?;
        self.transform(a.view(), a, order, true)
    }

    /// Computes a ← a·b, point by point. Both may be the same memory.
    fn multiply(&self, a: Cells<'_, u64>, b: View<'_, u64>) -> Result<(), DeviceError> {
        let args = [
            a.into(),
            b.into(),
            Arg::U64(self.request.length as u64),
            Arg::U64(self.request.stride as u64),
            Arg::U32(self.request.batch as u32),
        ];
        // SAFETY: both have the words of a batch.
        unsafe { self.multiply.launch(self.of_points(), &args) }
    }

    /// Multiplies x_j by ψ^j, or by ψ^(−j), where ψ is the root of unity of order 2N.
    fn twist(&self, x: &mut Buffer<u64>, back: bool) -> Result<(), Ntt64Error> {
        let length = self.request.length;
        let log_low = self.log_low + 1;
        if self.half_powers.get().is_none() {
            let tables = two_tables(&self.device, 2 * length, log_low)?;
            // Another thread may have been faster.
            let _ = self.half_powers.set(tables);
        }
        let Some(tables) = self.half_powers.get() else { return Ok(()) };
        let [low, high] = &tables[usize::from(back)];
        let args = [
            x.into(),
            low.into(),
            high.into(),
            Arg::U64(length as u64),
            Arg::U64(self.request.stride as u64),
            Arg::U32(self.request.batch as u32),
            Arg::U32(log_low),
        ];
        // SAFETY: x has the words of a batch, and the tables the powers ψ^j for j < 2N.
        unsafe { self.twist.launch(self.of_points(), &args)? };
        Ok(())
    }

    /// Returns a launch with a thread for each point of a vector. Blocks whose y differ belong to
    /// different vectors; with more than 2^15 vectors, threads run through several.
    fn of_points(&self) -> Launch {
        let blocks = self.request.length.div_ceil(THREADS as usize) as u32;
        let vectors = self.request.batch.min(1 << 15) as u32;
        Launch { grid: [blocks, vectors, 1], block: [THREADS, 1, 1], shared_bytes: 0 }
    }

    /// Returns the passes of transforms, or of inverse transforms.
    fn flow(&self, order: Order, inverse: bool) -> Result<&[Ready], Ntt64Error> {
        let flow = &self.flows[usize::from(order == Order::BitReversed)][usize::from(inverse)];
        if let Some(ready) = flow.get() {
            return Ok(ready);
        }
        let passes = Pass::sequence(self.request.length, order, inverse, self.shared_memory);
        let sources: Vec<Source> = passes.iter().map(Pass::source).collect();
        let programs = self.device.programs(&sources)?;
        let ready = passes.into_iter().zip(programs).map(|(pass, program)| {
            let kernel = program.kernel("goldilocks_pass", pass.shared_bytes())?;
            Ok(Ready { pass, kernel, tables: self.device.upload(&pass.tables())? })
        });
        let ready = ready.collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(flow.get_or_init(|| ready))
    }

    /// Computes the transforms or the inverse transforms of the batch `from`, and writes them to
    /// `to`. Both may be the same memory.
    fn transform(
        &self,
        from: View<'_, u64>,
        to: Cells<'_, u64>,
        order: Order,
        inverse: bool,
    ) -> Result<(), Ntt64Error> {
        let flow = self.flow(order, inverse)?;
        if order == Order::BitReversed || flow.len() == 1 {
            let mut from = from;
            for ready in flow {
                self.pass(ready, (from, self.request.stride), (to, self.request.stride))?;
                from = to.view();
            }
            return Ok(());
        }
        // The last pass writes to other places than it reads. A thread that launches the passes of a
        // transform locks the temporary batch until all are launched.
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = match &mut *scratch {
            Some(scratch) => scratch,
            None => scratch.insert(self.device.alloc(self.request.batch * self.request.length)?),
        };
        let scratch = (scratch.cells(..), self.request.length);
        let mut from = (from, self.request.stride);
        for (i, ready) in flow.iter().enumerate() {
            let is_last = i + 1 == flow.len();
            self.pass(ready, from, if is_last { (to, self.request.stride) } else { scratch })?;
            from = (scratch.0.view(), scratch.1);
        }
        Ok(())
    }

    /// Launches a pass that reads `from` and writes `to`, both given with the distance of vectors.
    fn pass(
        &self,
        Ready { pass, kernel, tables }: &Ready,
        (from, from_stride): (View<'_, u64>, usize),
        (to, to_stride): (Cells<'_, u64>, usize),
    ) -> Result<(), DeviceError> {
        let Ntt64Request { length, batch, .. } = self.request;
        let of_vector = length / pass.length();
        let lines = of_vector * batch;
        let last = |stride: usize| (batch - 1) * stride + length;
        assert_eq!([from.len(), to.len()], [last(from_stride), last(to_stride)], "words");
        let scale = inverse(length as u64).unwrap_or(1);
        let [low, high] = &self.powers[usize::from(pass.inverse)];
        let args = [
            to.into(),
            from.into(),
            tables.into(),
            low.into(),
            high.into(),
            Arg::U64(scale),
            Arg::U64(to_stride as u64),
            Arg::U64(from_stride as u64),
            Arg::U32(lines as u32),
            Arg::U32(of_vector as u32),
            Arg::U32(pass.inner.ilog2()),
            Arg::U32(pass.middle.ilog2()),
            Arg::U32(self.log_low),
            Arg::U32(pass.outer as u32),
        ];
        let blocks = lines.div_ceil(pass.lines);
        let launch = Launch::linear(blocks as u32, pass.threads).shared(pass.shared_bytes());
        // SAFETY: both are batches of the plan with these distances of vectors, and the tables were
        // made for the pass and for the length.
        unsafe { kernel.launch(launch, &args) }
    }
}

impl Plan for Ntt64 {
    type Vectors = Buffer<u64>;
    type Error = Ntt64Error;

    fn points(&self) -> usize {
        self.request.length
    }

    fn batch(&self) -> usize {
        self.request.batch
    }

    /// Returns the number of words of a batch: (batch − 1)·stride + N.
    fn size(&self) -> usize {
        (self.request.batch - 1) * self.request.stride + self.request.length
    }

    fn forward(&self, x: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(x, self.size())?;
        let x = x.cells(..);
        self.transform(x.view(), x, self.request.order, false)
    }

    fn forward_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        self.transform(x.into(), out.cells(..), self.request.order, false)
    }

    fn inverse(&self, x: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(x, self.size())?;
        let x = x.cells(..);
        self.transform(x.view(), x, self.request.order, true)
    }

    fn inverse_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        self.transform(x.into(), out.cells(..), self.request.order, true)
    }

    fn convolve(&self, a: &mut Buffer<u64>, b: &mut Buffer<u64>) -> Result<(), Ntt64Error> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        // The order of the products does not matter, and transforms in this order are in place.
        let order = Order::BitReversed;
        let (a, b) = (a.cells(..), b.cells(..));
        self.transform(a.view(), a, order, false)?;
        self.transform(b.view(), b, order, false)?;
        self.multiply(a, b.view())?;
        self.transform(a.view(), a, order, true)
    }

    /// Returns (vector, k) for the X_k that is at index `place` of a batch of transforms. In
    /// bit-reversed order of N = f·2^m points with f odd, X_(u + f·v) is at u·2^m + r, where the m
    /// bits of r are those of v in reverse order.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        let Ntt64Request { length, batch, stride, order } = self.request;
        let (vector, place) = (place / stride, place % stride);
        let odd = odd_factor(length);
        let bits = length.trailing_zeros();
        let (u, r) = (place >> bits, place % (1 << bits));
        let v = if bits == 0 { 0 } else { r.reverse_bits() >> (usize::BITS - bits) };
        let k = if order == Order::Natural { place } else { u + odd * v };
        (place < length && vector < batch).then_some((vector, k))
    }
}

/// Returns the powers ω^e and ω^(e·2^log_low) for e < 2^log_low on the device, where ω is the root
/// of unity of order n, and those of its inverse.
fn two_tables(
    device: &Device,
    n: usize,
    log_low: u32,
) -> Result<[[Buffer<u64>; 2]; 2], DeviceError> {
    let of = |is_inverse| {
        let low = powers(root(n, is_inverse), 1 << log_low);
        let high = powers(pow(root(n, is_inverse), 1 << log_low), n.div_ceil(1 << log_low));
        Ok([device.upload(&low)?, device.upload(&high)?])
    };
    Ok([of(false)?, of(true)?])
}

/// Returns the source of the kernels that multiply.
pub(super) fn multiply_source() -> Source {
    const KERNELS: [&str; 2] = ["goldilocks_multiply", "goldilocks_twist"];
    let text = include_str!("../../../kernels/goldilocks_products.cu");
    Source::new("goldilocks_products.cu", text, &KERNELS)
        .headers(common::HEADERS)
        .define("THREADS", THREADS)
}
