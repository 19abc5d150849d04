//! Plans of transforms of N elements over Z/pZ, p = r^k + 1: the passes, their kernels and their
//! twiddles.

use std::sync::{Arc, Mutex, PoisonError};

use warpint_arith::gfn::Form;
use warpint_arith::with_field;
use warpint_device::{Buffer, Cells, Device, DeviceError, ErrorKind, Kernel, Launch, Source, View};

use super::LEAST_W;
use super::shape::{Tile, has_spectra, most_log_points, spectra};
use super::twiddles::{Maker, Pass, ShortTables, Twiddles, product_args};
use crate::Plan;
use crate::gpu::WrongLength;
use crate::gpu::vectors::{copied, fits, levels_of_passes};

/// The reason why a [`GfnFft`] cannot be created, or why one of its operations failed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GfnFftError {
    /// The field has no root of unity of order 2^`log2`.
    #[error(
        "Z/pZ, p = {form}, has no known root of unity of order 2^{log2}: transforms have at most 2^{most} elements"
    )]
    Length {
        /// The form r^k + 1 of the field's prime.
        form: Form,
        /// The base-2 logarithm of the requested transform length.
        log2: u32,
        /// The base-2 logarithm of the largest order 2^m ≤ 2^40 of a root of unity in the field.
        most: u32,
    },
    /// The kernels do not support the radix r of the form stored here.
    #[error(
        "the radix of {0} is not supported on devices, which require 2^w ± 2^u with w from {LEAST_W} to 64; the CPU supports it"
    )]
    Radix(Form),
    /// The batch is empty, has more than 65,535 transforms, or has transforms of more than 2^30
    /// elements.
    #[error(
        "invalid batch of {batch} transforms of 2^{log2} elements: the least is one transform, and each must have fewer than 2^31 elements"
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
    /// The number r^k + 1 of the form is not prime, so there is no field Z/(r^k + 1)Z.
    #[error(transparent)]
    Field(#[from] warpint_arith::gfn::NoField),
    /// The fields of the three small primes could not be created. Products of elements use these
    /// fields.
    #[error("internal error: the small primes do not have fields")]
    SmallFields,
    /// An operation of the device failed, or the device does not have enough memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl GfnFftError {
    /// Returns the kind of the error, which says what a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        match self {
            Self::Length { .. }
            | Self::Radix(_)
            | Self::Batch { .. }
            | Self::Words { .. }
            | Self::Field(_)
            | Self::SmallFields => ErrorKind::BadInput,
            Self::Device(e) => e.kind(),
        }
    }
}

/// A plan of transforms of one length N over the field of one [`Form`] of k digits in radix r, on
/// one device. `batch` transforms are computed at a time.
///
/// A buffer contains the `batch·N` elements of a batch in limb-major order: digit d of element j is
/// at `d·batch·N + j`. All digits of an element are below r, except in the element r^k, whose top
/// digit is r and whose other digits are 0. The digits are not checked; for other digits the
/// results are meaningless. The module describes the costs.
///
/// [`Plan::convolve`] overwrites its second factor. The first convolution allocates memory for a
/// batch, which the plan reuses for all further convolutions.
#[derive(Debug)]
pub struct GfnFft {
    pub(super) device: Device,
    form: Form,
    log2: u32,
    batch: usize,
    pub(super) passes: Vec<Pass>,
    /// The last pass of the inverse transform. Its twiddles include the factor 1/N.
    last_back: Pass,
    product: (Kernel, Launch),
    /// The roots of unity modulo three primes, for the transforms of digits in products of
    /// elements. Empty if k ≤ 16.
    roots: Arc<Buffer<[f64; 2]>>,
    /// The buffer to which every second pass writes. A thread that launches the passes of a
    /// transform locks this buffer until all passes are launched.
    scratch: Mutex<Buffer<u64>>,
    /// The memory for the transforms of a batch, which convolutions need. It is `None` until the
    /// first convolution allocates it.
    spectrum: Mutex<Option<Buffer<u64>>>,
}

impl GfnFft {
    /// Plans transforms of N = 2^`log2` elements, `batch` at a time. Compiles the kernels, or loads
    /// them from the cache, and computes the twiddles.
    ///
    /// The plan needs memory for a batch and for the twiddles. The twiddles take N + N/(2k) + …
    /// elements, and three times this memory for k ≥ 32. The computation of the twiddles
    /// temporarily needs further memory.
    ///
    /// # Errors
    /// r^k + 1 is not a prime, or its field has no root of unity of order N. The radix r = 2^w ±
    /// 2^u has w below 56. The batch has no transform or more than 65,535 transforms, or N is above
    /// 2^30. A kernel cannot be compiled. The device fails, or does not have enough memory.
    pub fn new(device: &Device, form: Form, log2: u32, batch: usize) -> Result<Self, GfnFftError> {
        if !(LEAST_W..=64).contains(&form.w()) {
            return Err(GfnFftError::Radix(form));
        }
        if batch == 0 || batch > 65_535 || log2 > 30 {
            return Err(GfnFftError::Batch { batch, log2 });
        }
        let tables = with_field!(form, |field| ShortTables::new(&field, log2))??;
        let (multiprocessors, shared_memory) =
            (device.info().multiprocessors, device.info().shared_memory_per_block);
        let stages = levels_of_passes(log2, most_log_points(form, shared_memory));
        let tile = |log_points| {
            Tile::of_pass(form, log_points, log2 - log_points, multiprocessors, shared_memory)
        };
        device.programs(&sources_of_plan(form, &stages, tile)?)?;
        let maker = Maker::new(device, form, log2, batch, tables)?;
        let (mut passes, mut last_back, mut log_s) = (vec![], None, 0);
        for (i, &log_points) in stages.iter().enumerate() {
            let tile = tile(log_points);
            // The twiddles of a pass depend on the stages of the preceding one.
            let before = if i == 0 { None } else { Some(stages[i - 1]) };
            let twiddles = before.map(|stages| maker.twiddles(log_s - stages, stages, false));
            passes.push(maker.pass(tile, log_s, twiddles.transpose()?)?);
            if i + 1 == stages.len() {
                let twiddles = match before {
                    Some(stages) => maker.twiddles(log_s - stages, stages, true)?,
                    None => maker.twiddles(log2, 0, true)?,
                };
                last_back = Some(maker.pass(tile, log_s, Some(twiddles))?);
            }
            log_s += log_points;
        }
        // A plan has at least one pass.
        let last_back = last_back.ok_or(GfnFftError::Batch { batch, log2 })?;
        let scratch = Mutex::new(device.alloc(maker.words())?);
        let tile = Tile::of_products(form);
        let launch = tile.launch((batch as u64) << log2, 1);
        let product = (maker.kernel(tile, &tile.products(false), "product")?, launch);
        let (device, roots) = (device.clone(), maker.roots);
        let spectrum = Mutex::default();
        Ok(Self { device, form, log2, batch, passes, last_back, product, roots, scratch, spectrum })
    }

    /// Returns the form r^k + 1 of the field's prime.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of passes over memory.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Computes a_j ← a_j·b_j for all elements j of two batches.
    ///
    /// # Errors
    /// A buffer does not have the plan's length, or the device fails.
    pub fn multiply(&self, a: &mut Buffer<u64>, b: &Buffer<u64>) -> Result<(), GfnFftError> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        let (stride, (kernel, launch)) = (self.stride(), &self.product);
        // An element's digits are read before they are written.
        let a = a.cells(..);
        let args = product_args([a.view(), b.view(..)], a, [stride; 3], [0; 4], stride);
        // SAFETY: both are vectors of the plan; the kernel declares neither of them `__restrict__`.
        Ok(unsafe { kernel.launch(*launch, &args) }?)
    }

    fn stride(&self) -> u64 {
        (self.batch as u64) << self.log2
    }

    fn transform(
        &self,
        x: &Buffer<u64>,
        out: &mut Buffer<u64>,
        back: bool,
    ) -> Result<(), GfnFftError> {
        let last = if back { Some(&self.last_back) } else { None };
        self.run(&self.passes, last, x, out)
    }

    /// Runs all passes. The first pass reads x, and the last pass writes `out`. If `last_back` is
    /// given, it replaces the last pass, and the result is the inverse transform.
    pub(super) fn run(
        &self,
        passes: &[Pass],
        last_back: Option<&Pass>,
        x: &Buffer<u64>,
        out: &mut Buffer<u64>,
    ) -> Result<(), GfnFftError> {
        fits(x, self.size())?;
        fits(out, self.size())?;
        let mut scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let (out, scratch) = (out.cells(..), scratch.cells(..));
        let mut from = View::from(x);
        for (i, pass) in passes.iter().enumerate() {
            let after = passes.len() - 1 - i;
            // The last pass writes to `out`.
            let to = if after.is_multiple_of(2) { out } else { scratch };
            let other = last_back.filter(|_| after == 0);
            self.launch(other.unwrap_or(pass), from, to, other.is_some())?;
            from = to.view();
        }
        Ok(())
    }

    /// Launches a pass that reads the buffer `from` and writes the buffer `to`. If `reflected` is
    /// true, output j of each transform is written to index −j mod N.
    ///
    /// # Panics
    /// If `from` and `to` are the same buffer, or one of them does not have the length that the
    /// plan requires.
    pub(super) fn launch(
        &self,
        pass: &Pass,
        from: View<'_, u64>,
        to: Cells<'_, u64>,
        reflected: bool,
    ) -> Result<(), DeviceError> {
        assert_eq!([from.len(), to.len()], [self.size(); 2], "words of vectors");
        assert_ne!(from.address(), to.address(), "a pass is not done in place");
        // Without twiddles the table is not read.
        let (table, entries, log_run) = match &pass.twiddles {
            Some(Twiddles { table, log_entries, log_run }) => {
                (table.view(..), 1u64 << log_entries, *log_run)
            }
            None => (from, 0, 0),
        };
        let args = [
            from.into(),
            to.into(),
            table.into(),
            (&*self.roots).into(),
            self.stride().into(),
            entries.into(),
            self.log2.into(),
            pass.log_s.into(),
            log_run.into(),
            u32::from(reflected).into(),
        ];
        // SAFETY: both are vectors of the plan, and distinct, as the kernel declares; twiddles and
        // roots were made for the plan.
        unsafe { pass.kernel.launch(pass.launch, &args) }
    }
}

impl Plan for GfnFft {
    type Vectors = Buffer<u64>;
    type Error = GfnFftError;

    fn points(&self) -> usize {
        1 << self.log2
    }

    fn batch(&self) -> usize {
        self.batch
    }

    /// Returns the number of words of a batch: batch·N·k.
    fn size(&self) -> usize {
        (self.batch * self.form.digits()) << self.log2
    }

    fn forward(&self, x: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(&copied(&self.device, x)?, x, false)
    }

    fn forward_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(x, out, false)
    }

    fn inverse(&self, x: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(&copied(&self.device, x)?, x, true)
    }

    fn inverse_into(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(x, out, true)
    }

    fn convolve(&self, a: &mut Buffer<u64>, b: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        let mut kept = self.spectrum.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spectrum = match kept.take() {
            Some(spectrum) => spectrum,
            None => self.device.alloc(self.size())?,
        };
        self.forward_into(b, &mut spectrum)?;
        self.forward_into(a, b)?;
        self.multiply(&mut spectrum, b)?;
        self.inverse_into(&spectrum, a)?;
        *kept = Some(spectrum);
        Ok(())
    }
}

/// Returns the sources of all kernels of a plan. Entry i of `stages` is the number of stages of
/// pass i.
fn sources_of_plan(
    form: Form,
    stages: &[u32],
    tile: impl Fn(u32) -> Tile,
) -> Result<Vec<Source>, GfnFftError> {
    let products = Tile::of_products(form);
    let mut sources = vec![products.products(false), products.products(true)];
    if has_spectra(form) {
        sources.push(spectra(form)?);
    }
    for (i, &log_points) in stages.iter().enumerate() {
        sources.push(tile(log_points).pass(i > 0)?);
        // The first pass of an inverse that consists of one pass.
        if stages.len() == 1 {
            sources.push(tile(log_points).pass(true)?);
        }
    }
    Ok(sources)
}
