//! The constants with which the kernels for a field Z/pZ, p = r^k + 1, are compiled.

use warpint_arith::gfn::Form;
use warpint_device::{Launch, Source, common};

use super::plan::GfnFftError;
use super::residues;

/// The number of digits of a product that one thread computes if several threads share a product,
/// which is the case for k > 16.
const BLOCK: usize = 8;

/// The largest k for which one thread computes all k digits of a product.
const ALONE: usize = 16;

const PASS: &str = include_str!("../../../kernels/gfn_pass.cu");
const SPECTRA: &str = include_str!("../../../kernels/gfn_spectra.cu");
const PRODUCT: &str = include_str!("../../../kernels/gfn_product.cu");
const HEADERS: &[(&str, &str)] = &[
    ("gfn_digits.cuh", include_str!("../../../kernels/gfn_digits.cuh")),
    ("gfn_tile.cuh", include_str!("../../../kernels/gfn_tile.cuh")),
    ("gfn_residues.cuh", include_str!("../../../kernels/gfn_residues.cuh")),
];

/// The number of threads of a block of the kernel that transforms the digits of elements.
pub(super) const SPECTRA_THREADS: usize = 128;

/// Returns whether twiddles are stored as transforms of their digits, which is true for k > 16.
/// Otherwise twiddles are stored as digits.
pub(super) fn has_spectra(form: Form) -> bool {
    form.digits() > ALONE
}

/// Returns the number of lanes (threads of a warp) that together compute the transform of the k
/// digits of an element.
pub(super) fn team(k: usize) -> usize {
    if k == 128 { 8 } else { k / 8 }
}

/// Returns the source of the kernel that transforms the digits of elements.
pub(super) fn spectra(form: Form) -> Result<Source, GfnFftError> {
    let source = described(Source::new("gfn_spectra.cu", SPECTRA, &["spectra"]), form);
    residues::constants(source.define("THREADS", SPECTRA_THREADS), form.digits())
}

/// Adds all headers and the constants of the field to a kernel's source, and returns the source.
fn described(source: Source, form: Form) -> Source {
    source
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("DIGITS", form.digits())
        .define("W", form.w())
        .define("U", form.u())
        .define("SUM", u32::from(form.is_sum()))
        .define("RECIPROCAL", (1u128 << (form.w() + 28)) / u128::from(form.radix()))
}

/// The constants of a kernel whose blocks process tiles. A tile consists of 2^`log_columns` columns
/// with 2^`log_points` points each.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Tile {
    pub(super) form: Form,
    pub(super) log_points: u32,
    pub(super) log_columns: u32,
    threads: usize,
    /// The number of blocks that must fit on a multiprocessor at the same time. The compiler limits
    /// the registers of a thread accordingly.
    min_blocks: usize,
}

/// Returns the base-2 logarithm of the largest number of points of a pass. A pass has at most 2k
/// points, because its roots of unity must be powers of r. For k = 64 a pass has at most 64 points,
/// and for k = 128 at most 32. The tiles of the pass must fit in `shared_memory`, the number of
/// bytes of shared memory of a block.
pub(super) fn most_log_points(form: Form, shared_memory: u32) -> u32 {
    let most = match form.digits() {
        64 => 6,
        128 => 5,
        k => k.ilog2() + 1,
    };
    let fits = |&log_points: &u32| Tile::new(form, log_points, 0).shared_bytes() <= shared_memory;
    (1..=most).rev().find(fits).unwrap_or(1)
}

impl Tile {
    /// Returns the tile for passes of 2^`log_points` points over 2^`log_all` columns in all. The
    /// device has the given number of multiprocessors, and `shared_memory` is the number of bytes
    /// of shared memory of a block.
    pub(super) fn of_pass(
        form: Form,
        log_points: u32,
        log_all: u32,
        multiprocessors: u32,
        shared_memory: u32,
    ) -> Self {
        let k = form.digits();
        // The elements of a block that were measured as fastest.
        let log_elements = match k {
            2 => 9,
            4 => 8,
            8 | 16 | 32 | 64 => 7,
            _ => 5,
        };
        // Distributes short transforms over the whole device.
        let spread = (log_all + 1).saturating_sub(multiprocessors.max(1).ilog2());
        let most = (log_elements - log_points).min(spread).min(log_all);
        let tile = |log_columns| Self::new(form, log_points, log_columns);
        let fits = |tile: &Self| tile.shared_bytes() <= shared_memory;
        (0..=most).rev().map(tile).find(fits).unwrap_or_else(|| tile(0))
    }

    /// Returns the tile for kernels that only multiply elements.
    pub(super) fn of_products(form: Form) -> Self {
        let log_elements = if form.digits() <= ALONE { 7 } else { 11 - form.digits().ilog2() };
        Self::new(form, 0, log_elements)
    }

    fn new(form: Form, log_points: u32, log_columns: u32) -> Self {
        let (k, elements) = (form.digits(), 1usize << (log_points + log_columns));
        // In each case the fastest of the values tried on an H200.
        let (most, min_blocks) = match k {
            2 => (256, 2),
            4 | 8 => (128, 8),
            16 => (128, 4),
            64 => (512, 1),
            _ => (256, 2),
        };
        let useful = if k > ALONE { elements * (k / BLOCK) } else { elements };
        Self { form, log_points, log_columns, threads: useful.clamp(32, most), min_blocks }
    }

    /// Returns the number of bytes of shared memory of a block.
    pub(super) fn shared_bytes(&self) -> u32 {
        let (points, columns) = (1usize << self.log_points, 1usize << self.log_columns);
        let k = self.form.digits();
        let odd = 32 / (k / 2).min(32);
        let plane = (points * (columns | 1)).saturating_sub(odd).next_multiple_of(32) + odd;
        (k * plane * 12) as u32
    }

    pub(super) fn launch(&self, elements: u64, batch: u32) -> Launch {
        let tiles = elements.div_ceil(1 << (self.log_points + self.log_columns));
        let shape = Launch::linear(tiles as u32, self.threads as u32).shared(self.shared_bytes());
        Launch { grid: [tiles as u32, batch, 1], ..shape }
    }

    fn source(&self, name: &'static str, text: &'static str, kernel: &'static str) -> Source {
        let k = self.form.digits();
        described(Source::new(name, text, &[kernel]), self.form)
            .define("LOG_POINTS", self.log_points)
            .define("LOG_COLUMNS", self.log_columns)
            .define("THREADS", self.threads)
            .define("MIN_BLOCKS", self.min_blocks)
            .define("BLOCK", if k > ALONE { BLOCK } else { k })
    }

    pub(super) fn pass(&self, twiddled: bool) -> Result<Source, GfnFftError> {
        let by_residues = twiddled && has_spectra(self.form);
        let source = self
            .source("gfn_pass.cu", PASS, "pass")
            .define("TWIDDLED", u32::from(twiddled))
            .define("RESIDUES", u32::from(by_residues));
        if by_residues { residues::constants(source, self.form.digits()) } else { Ok(source) }
    }

    pub(super) fn products(&self, is_table: bool) -> Source {
        self.source("gfn_product.cu", PRODUCT, "product").define("TABLE", u32::from(is_table))
    }
}
