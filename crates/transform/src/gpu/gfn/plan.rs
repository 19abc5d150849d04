//! Plans: passes, their kernels and twiddles.

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

/// Why a plan cannot be made, or not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum GfnFftError {
    /// The field has no root of this order.
    #[error(
        "Z/pZ, p = {form}, has no root of unity of order 2^{log2} that is kept: transforms end at 2^{most}"
    )]
    Length {
        /// The field.
        form: Form,
        /// The length asked for, as an exponent of two.
        log2: u32,
        /// The greatest there is.
        most: u32,
    },
    /// Digits are too small for the kernels.
    #[error(
        "a device takes radices 2^w ± 2^u with w from {LEAST_W} to 64, which that of {0} is not; the CPU takes all"
    )]
    Radix(Form),
    /// The batch has no transform, or too many elements.
    #[error(
        "a batch of {batch} transforms of 2^{log2} elements is none: it takes at least one, and less than 2^31 elements each"
    )]
    Batch {
        /// Transforms.
        batch: usize,
        /// The length of each, as an exponent of two.
        log2: u32,
    },
    /// A vector has another length than the plan's.
    #[error(transparent)]
    Words(#[from] WrongLength),
    /// There is no such field.
    #[error(transparent)]
    Field(#[from] warpint_arith::gfn::NoField),
    /// The primes by which products are found are none.
    #[error("the small primes have no fields")]
    SmallFields,
    /// The device failed, or has too little memory.
    #[error(transparent)]
    Device(#[from] DeviceError),
}

impl GfnFftError {
    /// What kind of error it is.
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

/// Transforms of one length over the field of one [`Form`], `batch` at a time, on one device.
///
/// Vectors have `batch·N` elements of k digits below r, or of the value r^k (the top digit r, zeros below),
/// limb-major: digit d of element j at `d·batch·N + j`. Digits must be those of elements, which is not checked: of
/// others results mean nothing. Cost: see the module.
///
/// What the second factor of [`Plan::convolve`] has is lost. The first convolution takes memory for a vector, which
/// the plan keeps.
#[derive(Debug)]
pub struct GfnFft {
    pub(super) device: Device,
    form: Form,
    log2: u32,
    batch: usize,
    pub(super) passes: Vec<Pass>,
    /// The last pass of the inverse, whose twiddles are 1/N times the others.
    last_back: Pass,
    product: (Kernel, Launch),
    /// By which elements are multiplied as residues.
    roots: Arc<Buffer<[f64; 2]>>,
    /// Every other pass ends there. Whoever launches passes has it, until all are launched.
    scratch: Mutex<Buffer<u64>>,
    /// Where convolutions have transforms, once there was one.
    spectrum: Mutex<Option<Buffer<u64>>>,
}

impl GfnFft {
    /// A plan for transforms of 2^`log2` elements, `batch` at a time. Compiles kernels, or takes them from
    /// the cache, and makes the twiddles.
    ///
    /// # Errors
    /// r^k + 1 is no prime, or its field has no root of order N; r = 2^w ± 2^u with w below 56; no transform, more than
    /// 65,535, or more than 2^30 elements each; the device cannot compile the kernels, or has too little memory: a vector
    /// and the twiddles, N + N/2k + … elements, three times that from k = 32 on, and as much again while they are made.
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
            // The twiddles of a pass belong to the sums of the one before.
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
        // There is at least one pass.
        let last_back = last_back.ok_or(GfnFftError::Batch { batch, log2 })?;
        let scratch = Mutex::new(device.alloc(maker.words())?);
        let tile = Tile::of_products(form);
        let launch = tile.launch((batch as u64) << log2, 1);
        let product = (maker.kernel(tile, &tile.products(false), "product")?, launch);
        let (device, roots) = (device.clone(), maker.roots);
        let spectrum = Mutex::default();
        Ok(Self { device, form, log2, batch, passes, last_back, product, roots, scratch, spectrum })
    }

    /// The field's form.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// The number of passes over memory.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// `a_j`·`b_j` for all j, into `a`.
    ///
    /// # Errors
    /// A vector has another length, or the device fails.
    pub fn multiply(&self, a: &mut Buffer<u64>, b: &Buffer<u64>) -> Result<(), GfnFftError> {
        fits(a, self.size())?;
        fits(b, self.size())?;
        let (stride, (kernel, launch)) = (self.stride(), &self.product);
        // An element's digits are read before they are written.
        let a = a.cells(..);
        let args = product_args([a.view(), b.view(..)], a, [stride; 3], [0; 4], stride);
        // SAFETY: both are vectors of the plan; the kernel declares none of them `__restrict__`.
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

    /// All passes, the last of which is `last_back` of an inverse.
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
            // The last pass ends in `out`.
            let to = if after.is_multiple_of(2) { out } else { scratch };
            let other = last_back.filter(|_| after == 0);
            self.launch(other.unwrap_or(pass), from, to, other.is_some())?;
            from = to.view();
        }
        Ok(())
    }

    /// A pass from one vector to another.
    ///
    /// # Panics
    /// If they are one, or have another length.
    pub(super) fn launch(
        &self,
        pass: &Pass,
        from: View<'_, u64>,
        to: Cells<'_, u64>,
        reflected: bool,
    ) -> Result<(), DeviceError> {
        assert_eq!([from.len(), to.len()], [self.size(); 2], "words of vectors");
        assert_ne!(from.address(), to.address(), "a pass is not done in place");
        // Without twiddles their table is not read.
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
        // SAFETY: both are vectors of the plan, and not the same, as the kernel declares; twiddles and roots were
        // made for it.
        unsafe { pass.kernel.launch(pass.launch, &args) }
    }
}

impl Plan for GfnFft {
    type Vectors = Buffer<u64>;
    type Error = GfnFftError;

    fn log2(&self) -> u32 {
        self.log2
    }

    fn batch(&self) -> usize {
        self.batch
    }

    /// batch·N·k.
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

/// All that a plan compiles.
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
        // The first pass of an inverse that has no other one.
        if stages.len() == 1 {
            sources.push(tile(log_points).pass(true)?);
        }
    }
    Ok(sources)
}
