//! The passes of a plan for transforms of N elements, and their twiddles. Short tables are computed
//! on the host, long tables on the device.

use std::sync::Arc;

use warpint_arith::field::Field;
use warpint_arith::gfn::{Form, Gfn};
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, assert_room,
};

use super::plan::GfnFftError;
use super::residues;
use super::shape::{SPECTRA_THREADS, Tile, has_spectra, spectra, team};
use crate::gpu::layout::limb_major;

/// The table of twiddles of a pass, stored as digits or as transforms of digits. Element j of each
/// transform is multiplied by twiddle j >> `log_run`.
#[derive(Debug)]
pub(super) struct Twiddles {
    pub(super) table: Buffer<u64>,
    pub(super) log_entries: u32,
    pub(super) log_run: u32,
}

#[derive(Debug)]
pub(super) struct Pass {
    pub(super) tile: Tile,
    pub(super) kernel: Kernel,
    pub(super) launch: Launch,
    pub(super) log_s: u32,
    pub(super) twiddles: Option<Twiddles>,
}

/// Two short tables, `low` and `high`, from which the device computes all powers of ω, the root of
/// unity of order N: ω^e = high[e >> `log_low`]·low[e mod 2^`log_low`] for e < N. The host computes
/// both tables, in limb-major order.
pub(super) struct ShortTables {
    log_low: u32,
    log_high: u32,
    low: Vec<u64>,
    high: Vec<u64>,
    /// The entries of `high`, multiplied by 1/N.
    high_back: Vec<u64>,
}

impl ShortTables {
    pub(super) fn new<const K: usize>(field: &Gfn<K>, log2: u32) -> Result<Self, GfnFftError> {
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

/// Creates the passes of a plan and computes their twiddles from the short tables.
pub(super) struct Maker<'a> {
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
    pub(super) roots: Arc<Buffer<[f64; 2]>>,
}

impl<'a> Maker<'a> {
    pub(super) fn new(
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

    pub(super) fn words(&self) -> usize {
        (self.batch * self.form.digits()) << self.log2
    }

    pub(super) fn kernel(
        &self,
        tile: Tile,
        source: &Source,
        name: &'static str,
    ) -> Result<Kernel, DeviceError> {
        self.device.program(source)?.kernel(name, tile.shared_bytes())
    }

    /// Returns the twiddles between a pass of 2^`stages` points and the next pass.
    ///
    /// Let s = 2^`log_run` be the product of the numbers of points of all passes before this pass,
    /// and let ω be the root of unity of order N. Entry i + 2^`stages`·l is ω^(i·l·s) for
    /// i < 2^`stages` and l < N/(2^`stages`·s). If `back` is true, every entry is divided by N.
    pub(super) fn twiddles(
        &self,
        log_run: u32,
        stages: u32,
        back: bool,
    ) -> Result<Twiddles, GfnFftError> {
        let log_entries = self.log2 - log_run;
        let mut table = self.device.alloc(self.form.digits() << log_entries)?;
        let (high, entries) = (&self.high[usize::from(back)], 1u64 << log_entries);
        let strides = [1 << self.log_high, 1 << self.log_low, entries];
        let logs = [stages, log_run, self.log_low, self.log_high];
        let args = product_args(
            [high.view(..), self.low.view(..)],
            table.cells(..),
            strides,
            logs,
            entries,
        );
        // SAFETY: `high`, `low` and the table have k words for each element of their strides, and
        // the kernel reduces the exponents of a place modulo the sizes of the former two.
        unsafe { self.table.launch(self.tile.launch(entries, 1), &args)? };
        let table = if has_spectra(self.form) { self.spectra(&table, entries)? } else { table };
        Ok(Twiddles { table, log_entries, log_run })
    }

    /// Returns the transforms of the digits of `count` elements modulo three primes. The result has
    /// three values of type `f64`, stored as words, for each digit.
    fn spectra(&self, elements: &Buffer<u64>, count: u64) -> Result<Buffer<u64>, GfnFftError> {
        let kernel = self.device.program(&spectra(self.form)?)?.kernel("spectra", 0)?;
        let threads = count * team(self.form.digits()) as u64;
        let blocks = threads.div_ceil(SPECTRA_THREADS as u64) as u32;
        // The bit patterns of doubles.
        assert_room("elements", elements.len(), count as usize * self.form.digits());
        let mut out = self.device.alloc(3 * elements.len())?;
        let args = [elements.into(), (&mut out).into(), (&*self.roots).into(), count.into()];
        // SAFETY: the elements have k words each, the results three times as many, and the roots
        // are for this k; the results have memory of their own.
        unsafe { kernel.launch(Launch::linear(blocks, SPECTRA_THREADS as u32), &args)? };
        Ok(out)
    }

    pub(super) fn pass(
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

/// Returns the arguments of the kernel in `gfn_product.cu`, which multiplies elements. `strides`
/// are the strides of a, b and `out`. `logs` are the kernel's arguments `log_points`, `log_apart`,
/// `log_low` and `log_high`. `count` is the number of products.
pub(super) fn product_args(
    [a, b]: [View<'_, u64>; 2],
    out: Cells<'_, u64>,
    strides: [u64; 3],
    logs: [u32; 4],
    count: u64,
) -> Vec<Arg> {
    let vectors = [a.into(), b.into(), out.into()].into_iter();
    let strides = strides.into_iter().map(Arg::from);
    vectors.chain(strides).chain(logs.map(Arg::from)).chain([count.into()]).collect()
}
