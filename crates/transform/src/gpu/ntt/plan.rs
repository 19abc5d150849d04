//! Plans of transforms over a field.

use std::sync::{Mutex, OnceLock, PoisonError};

use warpint_device::{Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View};

use super::field::{NttField, PassField};
use super::passes::Pass;
use super::request::{NttError, NttRequest};
use crate::gpu::WrongLength;
use crate::gpu::vectors::fits;
use crate::{Order, Plan};

/// The number of threads of a block of the kernels that multiply.
pub(in crate::gpu) const THREADS: u32 = 256;

/// A plan of transforms and convolutions of one length N, on a device, modulo one prime or several
/// primes. The [module](super) states the definition, the layout and the order.
///
/// Operations are asynchronous, except the first of each kind, which compiles its kernels, and
/// those that allocate a temporary batch: [`Plan::convolve`] never does, and transforms only if they
/// are in natural order and take more than one pass; then the plan keeps that batch.
#[derive(Debug)]
pub struct Ntt<F: NttField> {
    device: Device,
    fields: Vec<F>,
    request: NttRequest,
    /// The largest size of a tile, in bytes.
    shared_memory: u32,
    constants: F::Constants,
    /// The powers of the roots of order N.
    powers: Powers<F>,
    multiply: Kernel,
    twist: Kernel,
    /// The powers of the roots of order 2N for negacyclic convolutions, if they were needed.
    half_powers: OnceLock<Powers<F>>,
    /// The passes of transforms and of inverse transforms in natural order, and those in
    /// bit-reversed order.
    flows: [[OnceLock<Vec<Ready<F>>>; 2]; 2],
    scratch: Mutex<Option<Buffer<F::Word>>>,
}

/// A pass with its kernel and its tables on the device.
#[derive(Debug)]
struct Ready<F: PassField> {
    pass: Pass,
    kernel: Kernel,
    tables: Buffer<F::Word>,
}

/// The powers ω^e and ω^(e·2^log_low) for e < 2^log_low of each prime, and those of 1/ω.
#[derive(Debug)]
struct Powers<F: PassField> {
    log_low: u32,
    of: [[Buffer<F::Word>; 2]; 2],
}

impl<F: NttField> Powers<F> {
    /// Returns the powers of the roots of order n.
    fn new(device: &Device, fields: &[F], n: usize, log_low: u32) -> Result<Self, NttError> {
        let table = |is_inverse, step: u64, count| -> Result<Buffer<F::Word>, NttError> {
            let mut all = Vec::with_capacity(fields.len() * count);
            for field in fields {
                let root = field.root(n, is_inverse);
                let root = root.ok_or(NttError::NoRoot { prime: field.prime(), order: n })?;
                all.extend(field.powers(field.power(root, step), count));
            }
            Ok(device.upload(&all)?)
        };
        let of = |is_inverse| -> Result<_, NttError> {
            let low = table(is_inverse, 1, 1 << log_low)?;
            Ok([low, table(is_inverse, 1 << log_low, n.div_ceil(1 << log_low))?])
        };
        Ok(Self { log_low, of: [of(false)?, of(true)?] })
    }
}

impl<F: NttField> Ntt<F> {
    /// Plans the transforms of a request modulo the primes of `fields`. Compiles the kernels of the
    /// first transform, or loads them from the cache. The host computes about 4·√N powers of ω for
    /// each prime.
    ///
    /// # Errors
    /// The length is not 2^k, 3·2^k or 5·2^k, or larger than 2^30. The field of a prime has no root
    /// of unity of order N. There are no primes or more than 65,535. The batch is empty or too
    /// large, or its vectors overlap. The device cannot compile the kernels, fails, or does not have
    /// enough memory.
    pub fn over(device: &Device, fields: &[F], request: NttRequest) -> Result<Self, NttError> {
        Self::with_shared_memory(device, fields, request, device.info().shared_memory_per_block)
    }

    /// Plans the transforms of a request with tiles of at most `shared_memory` bytes.
    pub(in crate::gpu) fn with_shared_memory(
        device: &Device,
        fields: &[F],
        request: NttRequest,
        shared_memory: u32,
    ) -> Result<Self, NttError> {
        request.check(fields.len())?;
        let length = request.length;
        let log_low = length.next_power_of_two().ilog2().div_ceil(2);
        let program = device.program(&F::product_source())?;
        let plan = Self {
            device: device.clone(),
            fields: fields.to_vec(),
            request,
            shared_memory,
            constants: F::constants(device, fields, length)?,
            powers: Powers::new(device, fields, length, log_low)?,
            multiply: program.kernel(F::KERNELS[1], 0)?,
            twist: program.kernel(F::KERNELS[2], 0)?,
            half_powers: OnceLock::new(),
            flows: Default::default(),
            scratch: Mutex::new(None),
        };
        plan.flow(request.order, false)?;
        Ok(plan)
    }

    /// Returns the fields modulo the primes of the plan.
    #[must_use]
    pub fn fields(&self) -> &[F] {
        &self.fields
    }

    /// Returns what the plan transforms.
    #[must_use]
    pub fn request(&self) -> NttRequest {
        self.request
    }

    /// Returns the number of passes over memory of a transform.
    #[must_use]
    pub fn passes(&self) -> usize {
        let NttRequest { length, order, .. } = self.request;
        Pass::sequence(&F::COSTS, length, order, false, self.shared_memory).len()
    }

    /// Transforms the vectors of a batch in host memory: uploads it, computes [`Plan::forward`], and
    /// downloads the result.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn forward_on_host(&self, x: &mut [F::Word]) -> Result<(), NttError> {
        self.on_host(x, |x| self.forward(x))
    }

    /// Transforms back the vectors of a batch in host memory: uploads it, computes
    /// [`Plan::inverse`], and downloads the result.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn inverse_on_host(&self, x: &mut [F::Word]) -> Result<(), NttError> {
        self.on_host(x, |x| self.inverse(x))
    }

    /// Computes [`Plan::forward`] in place for a batch that is a range of a buffer.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn forward_cells(&self, x: Cells<'_, F::Word>) -> Result<(), NttError> {
        self.in_cells(x, false)
    }

    /// Computes [`Plan::inverse`] in place for a batch that is a range of a buffer.
    ///
    /// # Errors
    /// As for [`Plan::forward`].
    pub fn inverse_cells(&self, x: Cells<'_, F::Word>) -> Result<(), NttError> {
        self.in_cells(x, true)
    }

    fn in_cells(&self, x: Cells<'_, F::Word>, inverse: bool) -> Result<(), NttError> {
        if x.len() != self.size() {
            return Err(WrongLength { words: x.len(), expected: self.size() }.into());
        }
        self.transform(x.view(), x, self.request.order, inverse)
    }

    fn on_host(
        &self,
        x: &mut [F::Word],
        work: impl FnOnce(&mut Buffer<F::Word>) -> Result<(), NttError>,
    ) -> Result<(), NttError> {
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
    /// The field of a prime has no root of unity of order 2N; otherwise as for [`Plan::forward`].
    pub fn convolve_negacyclic(
        &self,
        a: &mut Buffer<F::Word>,
        b: &mut Buffer<F::Word>,
    ) -> Result<(), NttError> {
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
    pub fn square(&self, a: &mut Buffer<F::Word>) -> Result<(), NttError> {
        fits(a, self.size())?;
        let order = Order::BitReversed;
        let a = a.cells(..);
        self.transform(a.view(), a, order, false)?;
        self.multiply(a, a.view())?;
        self.transform(a.view(), a, order, true)
    }

    /// Computes a ← a·b, point by point. Both may be the same memory.
    fn multiply(&self, a: Cells<'_, F::Word>, b: View<'_, F::Word>) -> Result<(), DeviceError> {
        let mut args = vec![
            a.into(),
            b.into(),
            Arg::U64(self.request.length as u64),
            Arg::U64(self.request.stride as u64),
            Arg::U32(self.request.batch as u32),
        ];
        args.extend(F::product_constants(&self.constants));
        // SAFETY: both have the words of a batch.
        unsafe { self.multiply.launch(self.of_points(), &args) }
    }

    /// Returns the powers of the roots ψ of order 2N.
    fn half_powers(&self) -> Result<&Powers<F>, NttError> {
        if let Some(powers) = self.half_powers.get() {
            return Ok(powers);
        }
        let (n, log_low) = (2 * self.request.length, self.powers.log_low + 1);
        let powers = Powers::new(&self.device, &self.fields, n, log_low)?;
        Ok(self.half_powers.get_or_init(|| powers))
    }

    /// Multiplies x_j by ψ^j, or by ψ^(−j), where ψ is the root of unity of order 2N.
    fn twist(&self, x: &mut Buffer<F::Word>, back: bool) -> Result<(), NttError> {
        let Powers { log_low, of } = self.half_powers()?;
        let [low, high] = &of[usize::from(back)];
        let mut args = vec![
            x.into(),
            low.into(),
            high.into(),
            Arg::U64(self.request.length as u64),
            Arg::U64(self.request.stride as u64),
            Arg::U32(self.request.batch as u32),
            Arg::U32(*log_low),
        ];
        args.extend(F::product_constants(&self.constants));
        // SAFETY: x has the words of a batch, and the tables the powers ψ^j for j < 2N.
        unsafe { self.twist.launch(self.of_points(), &args)? };
        Ok(())
    }

    /// Returns a launch with a thread for each point of a vector. Blocks whose y differ belong to
    /// different vectors; with more than 2^15 vectors, threads run through several. Blocks whose z
    /// differ belong to different primes.
    fn of_points(&self) -> Launch {
        let blocks = self.request.length.div_ceil(THREADS as usize) as u32;
        let vectors = self.request.batch.min(1 << 15) as u32;
        let grid = [blocks, vectors, self.fields.len() as u32];
        Launch { grid, block: [THREADS, 1, 1], shared_bytes: 0 }
    }

    /// Returns the passes of transforms, or of inverse transforms.
    fn flow(&self, order: Order, inverse: bool) -> Result<&[Ready<F>], NttError> {
        let flow = &self.flows[usize::from(order == Order::BitReversed)][usize::from(inverse)];
        if let Some(ready) = flow.get() {
            return Ok(ready);
        }
        let passes =
            Pass::sequence(&F::COSTS, self.request.length, order, inverse, self.shared_memory);
        let sources: Vec<Source> = passes.iter().map(F::pass_source).collect();
        let programs = self.device.programs(&sources)?;
        let ready = passes.into_iter().zip(programs).map(|(pass, program)| {
            let kernel = program.kernel(F::KERNELS[0], pass.shared_bytes())?;
            let tables: Vec<_> = self.fields.iter().flat_map(|field| field.tables(&pass)).collect();
            Ok(Ready { pass, kernel, tables: self.device.upload(&tables)? })
        });
        let ready = ready.collect::<Result<Vec<_>, DeviceError>>()?;
        Ok(flow.get_or_init(|| ready))
    }

    /// Computes the transforms or the inverse transforms of the batch `from`, and writes them to
    /// `to`. Both may be the same memory.
    fn transform(
        &self,
        from: View<'_, F::Word>,
        to: Cells<'_, F::Word>,
        order: Order,
        inverse: bool,
    ) -> Result<(), NttError> {
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
            None => scratch.insert(self.device.alloc(self.batch() * self.request.length)?),
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
        Ready { pass, kernel, tables }: &Ready<F>,
        (from, from_stride): (View<'_, F::Word>, usize),
        (to, to_stride): (Cells<'_, F::Word>, usize),
    ) -> Result<(), DeviceError> {
        let NttRequest { length, batch, .. } = self.request;
        let of_vector = length / pass.length();
        let lines = of_vector * batch;
        let last = |stride: usize| (self.batch() - 1) * stride + length;
        assert_eq!([from.len(), to.len()], [last(from_stride), last(to_stride)], "words");
        let Powers { log_low, of } = &self.powers;
        let [low, high] = &of[usize::from(pass.inverse)];
        let args = [
            to.into(),
            from.into(),
            tables.into(),
            low.into(),
            high.into(),
            F::pass_constants(&self.constants),
            Arg::U64(to_stride as u64),
            Arg::U64(from_stride as u64),
            Arg::U32(lines as u32),
            Arg::U32(of_vector as u32),
            Arg::U32(pass.inner.ilog2()),
            Arg::U32(pass.middle.ilog2()),
            Arg::U32(*log_low),
            Arg::U32(pass.outer as u32),
        ];
        let blocks = lines.div_ceil(pass.lines);
        let launch = Launch {
            grid: [blocks as u32, self.fields.len() as u32, 1],
            block: [pass.threads, 1, 1],
            shared_bytes: pass.shared_bytes(),
        };
        // SAFETY: both are batches of the plan with these distances of vectors, and the tables were
        // made for the pass and for the length.
        unsafe { kernel.launch(launch, &args) }
    }
}

impl<F: NttField> Plan for Ntt<F> {
    type Vectors = Buffer<F::Word>;
    type Error = NttError;

    fn points(&self) -> usize {
        self.request.length
    }

    /// Returns the number of vectors modulo all primes.
    fn batch(&self) -> usize {
        self.fields.len() * self.request.batch
    }

    /// Returns the number of words of a batch: (S·batch − 1)·stride + N for S primes.
    fn size(&self) -> usize {
        (self.batch() - 1) * self.request.stride + self.request.length
    }

    fn forward(&self, x: &mut Buffer<F::Word>) -> Result<(), NttError> {
        fits(x, self.size())?;
        let x = x.cells(..);
        self.transform(x.view(), x, self.request.order, false)
    }

    fn forward_into(&self, x: &Buffer<F::Word>, out: &mut Buffer<F::Word>) -> Result<(), NttError> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        self.transform(x.into(), out.cells(..), self.request.order, false)
    }

    fn inverse(&self, x: &mut Buffer<F::Word>) -> Result<(), NttError> {
        fits(x, self.size())?;
        let x = x.cells(..);
        self.transform(x.view(), x, self.request.order, true)
    }

    fn inverse_into(&self, x: &Buffer<F::Word>, out: &mut Buffer<F::Word>) -> Result<(), NttError> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        self.transform(x.into(), out.cells(..), self.request.order, true)
    }

    fn convolve(&self, a: &mut Buffer<F::Word>, b: &mut Buffer<F::Word>) -> Result<(), NttError> {
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

    /// Returns (vector, k) for the X_k that is at index `place` of a batch of transforms.
    fn frequency(&self, place: usize) -> Option<(usize, usize)> {
        self.request.frequency(self.batch(), place)
    }
}
