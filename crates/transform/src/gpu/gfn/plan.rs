//! Plans: passes, their kernels and twiddles.

use std::sync::{Arc, Mutex, PoisonError};

use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn};
use warpint_arith::with_field;
use warpint_device::{Arg, Buffer, Device, DeviceError, Kernel, Launch, Source};

use super::LEAST_W;
use super::residues;
use super::shape::{SPECTRA_THREADS, Tile, has_spectra, most_log_points, spectra, team};
use crate::gpu::layout::limb_major;

/// Why a plan cannot be made, or not be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
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
    #[error("a vector of {words} words, where the plan takes {expected}")]
    Words {
        /// Words of the vector.
        words: usize,
        /// Words of a vector of the plan.
        expected: usize,
    },
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

/// Twiddles, as digits or as transforms of them: that of place j of a vector is number j >> `log_run`.
#[derive(Debug)]
pub(super) struct Twiddles {
    pub(super) table: Buffer<u64>,
    log_entries: u32,
    log_run: u32,
}

#[derive(Debug)]
pub(super) struct Pass {
    pub(super) tile: Tile,
    pub(super) kernel: Kernel,
    pub(super) launch: Launch,
    pub(super) log_s: u32,
    pub(super) twiddles: Option<Twiddles>,
}

/// Transforms of one length over the field of one [`Form`], `batch` at a time, on one device.
///
/// Vectors have `batch·N` elements of k digits below r, or of the value r^k (the top digit r, zeros below),
/// limb-major: digit d of element j at `d·batch·N + j`. Nothing waits for the device.
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
    /// The field has no such root, its radix is below 2^55, or the device has too little memory.
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
        let stages = stages_of_passes(log2, most_log_points(form, shared_memory));
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

    /// log2(N).
    #[must_use]
    pub fn log2(&self) -> u32 {
        self.log2
    }

    /// Words of a vector: batch·N·k.
    #[must_use]
    pub fn words(&self) -> usize {
        (self.batch * self.form.digits()) << self.log2
    }

    /// The number of passes over memory.
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// X_i = Σ_j x_j·ω^(ij), ω = ω(log2 N).
    ///
    /// # Errors
    /// A vector has another length, or the device fails.
    pub fn forward(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(x, out, false)
    }

    /// x_j = Σ_i X_i·ω^(−ij) / N.
    ///
    /// # Errors
    /// Like [`Self::forward`].
    pub fn inverse(&self, x: &Buffer<u64>, out: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.transform(x, out, true)
    }

    /// `a_j`·`b_j` for all j, into `a`.
    ///
    /// # Errors
    /// Like [`Self::forward`].
    pub fn multiply(&self, a: &mut Buffer<u64>, b: &Buffer<u64>) -> Result<(), GfnFftError> {
        self.fits(a)?;
        self.fits(b)?;
        let (stride, (kernel, launch)) = (self.stride(), &self.product);
        // An element's digits are read before they are written.
        let args = product_args([&*a, b, &*a], [stride; 3], [0; 4], stride);
        Ok(kernel.launch(*launch, &args)?)
    }

    /// The cyclic convolution Σ_(i + j ≡ l mod N) a_i·b_j of each pair, into `a`; what `b` has is lost. The first
    /// one takes memory for a vector, which the plan keeps.
    ///
    /// # Errors
    /// Like [`Self::forward`].
    pub fn convolve(&self, a: &mut Buffer<u64>, b: &mut Buffer<u64>) -> Result<(), GfnFftError> {
        self.fits(a)?;
        self.fits(b)?;
        let mut kept = self.spectrum.lock().unwrap_or_else(PoisonError::into_inner);
        let mut spectrum = match kept.take() {
            Some(spectrum) => spectrum,
            None => self.device.alloc(self.words())?,
        };
        self.forward(b, &mut spectrum)?;
        self.forward(a, b)?;
        self.multiply(&mut spectrum, b)?;
        self.inverse(&spectrum, a)?;
        *kept = Some(spectrum);
        Ok(())
    }

    fn stride(&self) -> u64 {
        (self.batch as u64) << self.log2
    }

    fn fits(&self, vector: &Buffer<u64>) -> Result<(), GfnFftError> {
        let (words, expected) = (vector.len(), self.words());
        if words == expected { Ok(()) } else { Err(GfnFftError::Words { words, expected }) }
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
        self.fits(x)?;
        self.fits(out)?;
        let scratch = self.scratch.lock().unwrap_or_else(PoisonError::into_inner);
        let mut from = x;
        for (i, pass) in passes.iter().enumerate() {
            let after = passes.len() - 1 - i;
            // The last pass ends in `out`.
            let to = if after.is_multiple_of(2) { &*out } else { &*scratch };
            let other = last_back.filter(|_| after == 0);
            self.launch(other.unwrap_or(pass), from, to, other.is_some())?;
            from = to;
        }
        Ok(())
    }

    fn launch(
        &self,
        pass: &Pass,
        from: &Buffer<u64>,
        to: &Buffer<u64>,
        reflected: bool,
    ) -> Result<(), DeviceError> {
        // Without twiddles their table is not read.
        let (table, entries, log_run) = match &pass.twiddles {
            Some(Twiddles { table, log_entries, log_run }) => {
                (table, 1u64 << log_entries, *log_run)
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
        pass.kernel.launch(pass.launch, &args)
    }
}

/// How many stages each pass has: as few passes as can be, of nearly the same size.
fn stages_of_passes(log2: u32, most: u32) -> Vec<u32> {
    let passes = log2.div_ceil(most).max(1);
    (0..passes).map(|i| log2 / passes + u32::from(i < log2 % passes)).collect()
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

fn product_args(
    vectors: [&Buffer<u64>; 3],
    strides: [u64; 3],
    logs: [u32; 4],
    count: u64,
) -> Vec<Arg> {
    let vectors = vectors.into_iter().map(Arg::from);
    let strides = strides.into_iter().map(Arg::from);
    vectors.chain(strides).chain(logs.map(Arg::from)).chain([count.into()]).collect()
}

/// Powers of ω that are found on the host: ω^e = high[e >> `log_low`]·low[e mod 2^`log_low`], e < N; limb-major.
struct ShortTables {
    log_low: u32,
    log_high: u32,
    low: Vec<u64>,
    high: Vec<u64>,
    /// The same times 1/N.
    high_back: Vec<u64>,
}

impl ShortTables {
    fn new<const K: usize>(field: &Gfn<K>, log2: u32) -> Result<Self, GfnFftError> {
        let form = field.form();
        let none = || GfnFftError::Length { form, log2, most: form.two_adicity().min(40) };
        let root = field.root_of_unity(log2).ok_or_else(none)?;
        let (log_low, log_high) = (log2.div_ceil(2), log2 / 2);
        let powers = |first: [u64; K], factor: [u64; K], log: u32| {
            let next = |power: &[u64; K]| Some(field.mul(power, &factor));
            let all: Vec<[u64; K]> =
                std::iter::successors(Some(first), next).take(1 << log).collect();
            limb_major(all.as_flattened(), K)
        };
        let step = (0..log_low).fold(root, |power, _| field.square(&power));
        let part = field.inverse(&field.from_u64(1 << log2)).ok_or_else(none)?;
        Ok(Self {
            log_low,
            log_high,
            low: powers(field.one(), root, log_low),
            high: powers(field.one(), step, log_high),
            high_back: powers(part, step, log_high),
        })
    }
}

/// What passes are made with.
struct Maker<'a> {
    device: &'a Device,
    form: Form,
    log2: u32,
    batch: usize,
    log_low: u32,
    log_high: u32,
    low: Buffer<u64>,
    high: [Buffer<u64>; 2],
    tile: Tile,
    table: Kernel,
    roots: Arc<Buffer<[f64; 2]>>,
}

impl<'a> Maker<'a> {
    fn new(
        device: &'a Device,
        form: Form,
        log2: u32,
        batch: usize,
        tables: ShortTables,
    ) -> Result<Self, GfnFftError> {
        let ShortTables { log_low, log_high, low, high, high_back } = tables;
        let tile = Tile::of_products(form);
        let table = device.program(&tile.products(true))?.kernel("product", tile.shared_bytes())?;
        let high = [device.upload(&high)?, device.upload(&high_back)?];
        let low = device.upload(&low)?;
        let roots = if has_spectra(form) { residues::roots(form.digits())? } else { vec![] };
        let roots = Arc::new(device.upload(&roots)?);
        Ok(Self { device, form, log2, batch, log_low, log_high, low, high, tile, table, roots })
    }

    fn words(&self) -> usize {
        (self.batch * self.form.digits()) << self.log2
    }

    fn kernel(
        &self,
        tile: Tile,
        source: &Source,
        name: &'static str,
    ) -> Result<Kernel, DeviceError> {
        self.device.program(source)?.kernel(name, tile.shared_bytes())
    }

    /// The twiddles after a pass of 2^`stages` points, before which s was 2^`log_run`: ω^(i·p·s), or that
    /// by N, at place i + 2^stages·p.
    fn twiddles(&self, log_run: u32, stages: u32, back: bool) -> Result<Twiddles, GfnFftError> {
        let log_entries = self.log2 - log_run;
        let table = self.device.alloc(self.form.digits() << log_entries)?;
        let (high, entries) = (&self.high[usize::from(back)], 1u64 << log_entries);
        let strides = [1 << self.log_high, 1 << self.log_low, entries];
        let logs = [stages, log_run, self.log_low, self.log_high];
        let args = product_args([high, &self.low, &table], strides, logs, entries);
        self.table.launch(self.tile.launch(entries, 1), &args)?;
        let table = if has_spectra(self.form) { self.spectra(&table, entries)? } else { table };
        Ok(Twiddles { table, log_entries, log_run })
    }

    /// The transforms of digits of so many elements, three values a digit.
    fn spectra(&self, elements: &Buffer<u64>, count: u64) -> Result<Buffer<u64>, GfnFftError> {
        let kernel = self.device.program(&spectra(self.form)?)?.kernel("spectra", 0)?;
        let threads = count * team(self.form.digits()) as u64;
        let blocks = threads.div_ceil(SPECTRA_THREADS as u64) as u32;
        // The bits of numbers of type double.
        let out = self.device.alloc(3 * elements.len())?;
        let args = [elements.into(), (&out).into(), (&*self.roots).into(), count.into()];
        kernel.launch(Launch::linear(blocks, SPECTRA_THREADS as u32), &args)?;
        Ok(out)
    }

    fn pass(
        &self,
        tile: Tile,
        log_s: u32,
        twiddles: Option<Twiddles>,
    ) -> Result<Pass, GfnFftError> {
        let kernel = self.kernel(tile, &tile.pass(twiddles.is_some())?, "pass")?;
        let launch = tile.launch(1 << self.log2, self.batch as u32);
        Ok(Pass { tile, kernel, launch, log_s, twiddles })
    }
}
