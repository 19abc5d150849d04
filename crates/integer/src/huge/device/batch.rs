//! Batches of products of equal shapes.
//!
//! 1. *Forward.* Rows are split into digits, and transformed: [`Spectra`].
//! 2. *Products.* Spectra are multiplied point by point, and two products may be added.
//! 3. *Inverse.* The product of the spectra is transformed back, and carries are added within each row.
//!
//! The products of one row and of a million rows use the same kernels. Cost of a product of N points,
//! in passes that read and write N words: T for each of its transforms, where T is 1 up to N = 2^12, 2
//! up to about 2^22, and 3 above; 1.5 for the product of the spectra; and less than 1 for each number
//! that is split into digits and for the carries, which read or write words instead of digits.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::Range;

use bytemuck::Pod;
use warpint_device::{
    Arg, Buffer, Cells, Device, DeviceError, Kernel, Launch, Source, View, common,
};
use warpint_transform::Order;
use warpint_transform::gpu::goldilocks::{self, Ntt64};
use warpint_transform::gpu::ntt::NttRequest;

use super::carries::{CARRY_HEADERS, Carries, First};
use super::rows::{Map, RowCells, Rows};
use super::shape::{Form, Shape};
use super::{HEADERS, HugeError, THREADS};

/// The largest number of blocks of kernels whose threads run through several elements.
const MOST_BLOCKS: usize = 4096;
/// The largest number of points of the spectra of a launch. Kernels count them in 32 bits.
const MOST_POINTS: usize = 1 << 31;
/// The largest number of plans that are kept.
const MOST_PLANS: usize = 64;

/// The transforms of rows of digits, to be multiplied by other spectra of the same form.
#[derive(Debug)]
pub struct Spectra {
    points: Buffer<u64>,
    form: Form,
    rows: usize,
    words: usize,
}

impl Spectra {
    /// Returns the form of the spectra.
    #[must_use]
    pub fn form(&self) -> Form {
        self.form
    }

    /// Returns the number of rows.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.rows
    }
}

/// Where the numbers of a factor are.
#[derive(Debug, Clone, Copy)]
pub enum Operand<'a> {
    /// Numbers, which are transformed as part of the product.
    Rows(Rows<'a>),
    /// Numbers that were transformed before.
    Spectra(&'a Spectra),
}

/// A factor of the products of a batch.
#[derive(Debug, Clone, Copy)]
pub struct Factor<'a> {
    /// The numbers.
    pub operand: Operand<'a>,
    /// Which of them belongs to a row of the result.
    pub map: Map,
}

impl<'a> Factor<'a> {
    /// Returns the factor for numbers that the product transforms. Numbers that occur in several factors
    /// of a product are transformed once.
    #[must_use]
    pub fn rows(rows: Rows<'a>, map: Map) -> Self {
        Self { operand: Operand::Rows(rows), map }
    }

    /// Returns the factor for transformed numbers.
    #[must_use]
    pub fn spectra(spectra: &'a Spectra, map: Map) -> Self {
        Self { operand: Operand::Spectra(spectra), map }
    }

    /// Returns the numbers of words and of rows of the operand.
    fn size(&self) -> (usize, usize) {
        match self.operand {
            Operand::Rows(rows) => (rows.words, rows.count),
            Operand::Spectra(spectra) => (spectra.words, spectra.rows),
        }
    }
}

/// Computes batches of products. It keeps plans, kernels, and working memory.
#[derive(Debug)]
pub(super) struct Batches {
    device: Device,
    products: Kernel,
    carries: Carries,
    by_bits: HashMap<u32, ByBits>,
    /// Plans by points and rows.
    plans: HashMap<(usize, usize), Ntt64>,
    /// The forms whose kernels are compiled.
    compiled: HashSet<Form>,
    /// The spectra of factors, and then the coefficients of products.
    work: Option<Buffer<u64>>,
    /// The largest number of bytes of working memory.
    pub(super) limit: u64,
}

/// Kernels for digits of a certain number of bits.
#[derive(Debug, Clone)]
struct ByBits {
    digits: Kernel,
    sum: Kernel,
}

/// Rows that are transformed as part of a product.
struct Transformed<'a> {
    rows: Rows<'a>,
    /// The maps of the factors that use these rows. They have equal steps, so that parts of equal
    /// numbers of rows of the result need equal numbers of these rows.
    maps: Vec<Map>,
    /// The place of the spectra in the working memory.
    at: usize,
    /// The rows whose spectra are there.
    ready: Range<usize>,
}

impl Transformed<'_> {
    /// Returns whether the spectra are those of rows that a factor uses by this map.
    fn serves(&self, rows: &Rows<'_>, map: Map) -> bool {
        self.rows.is_same(rows) && self.maps.iter().all(|known| known.has_step_of(map))
    }

    /// Returns the rows that belong to rows of the result.
    fn rows_of(&self, of: &Range<usize>) -> Range<usize> {
        let all = self.maps.iter().map(|map| map.rows(of));
        all.reduce(|a, b| a.start.min(b.start)..a.end.max(b.end)).unwrap_or(0..0)
    }
}

impl Batches {
    pub(super) fn new(device: &Device) -> Result<Self, DeviceError> {
        Ok(Self {
            device: device.clone(),
            products: device.program(&products_source())?.kernel("huge_products", 0)?,
            carries: Carries::new(device)?,
            by_bits: HashMap::new(),
            plans: HashMap::new(),
            compiled: HashSet::new(),
            work: None,
            limit: u64::MAX,
        })
    }

    pub(super) fn device(&self) -> &Device {
        &self.device
    }

    /// Frees the working memory if it is larger than `bytes`.
    pub(super) fn keep_at_most(&mut self, bytes: u64) {
        let work = self.work.as_ref().map_or(0, |work| 8 * work.len() as u64);
        let blocks = self.carries.blocks.as_ref().map_or(0, |blocks| 4 * blocks.len() as u64);
        if work + blocks > bytes {
            self.work = None;
            self.carries.blocks = None;
        }
    }

    /// Compiles the kernels for products of these forms, in parallel. Without it they are compiled one
    /// after the other, when products need them first.
    pub(super) fn compile(&mut self, forms: &[Form]) -> Result<(), DeviceError> {
        // The texts of the sources of one form take longer than the products of short numbers.
        let new: HashSet<Form> =
            forms.iter().filter(|form| !self.compiled.contains(form)).copied().collect();
        if new.is_empty() {
            return Ok(());
        }
        let shared_memory = self.device.info().shared_memory_per_block;
        let lengths: BTreeSet<usize> = new.iter().map(|form| form.points).collect();
        let mut sources = goldilocks::sources_of(lengths, Order::BitReversed, shared_memory);
        let bits: BTreeSet<u32> = new.iter().map(|form| form.bits).collect();
        sources.extend(bits.into_iter().flat_map(|bits| [digits_source(bits), carry_source(bits)]));
        self.device.programs(&sources)?;
        self.compiled.extend(new);
        Ok(())
    }

    /// Returns room for spectra of `points` points in all.
    pub(super) fn room(&self, form: Form, points: usize) -> Result<Spectra, DeviceError> {
        Ok(Spectra { points: self.device.alloc(points)?, form, rows: 0, words: 0 })
    }

    /// Allocates the working memory of products of `points` points and `words` words.
    pub(super) fn reserve(&mut self, points: usize, words: usize) -> Result<(), DeviceError> {
        self.work = Some(reserve(&mut self.work, &self.device, points)?);
        let blocks = words.div_ceil(THREADS as usize);
        self.carries.blocks = Some(reserve(&mut self.carries.blocks, &self.device, blocks)?);
        Ok(())
    }

    /// Computes the spectra of rows, in the place of others that are at least as long.
    pub(super) fn forward(
        &mut self,
        spectra: &mut Spectra,
        form: Form,
        rows: Rows<'_>,
    ) -> Result<(), HugeError> {
        let count = rows.count;
        (spectra.form, spectra.rows, spectra.words) = (form, count, rows.words);
        let most = (MOST_POINTS / form.points).max(1);
        for begin in (0..count).step_by(most) {
            let range = begin..count.min(begin + most);
            let to = spectra.points.cells(range.start * form.points..range.end * form.points);
            self.transform(form, rows, range, to)?;
        }
        Ok(())
    }

    /// Splits the rows of `range` into digits, and transforms them.
    fn transform(
        &mut self,
        form: Form,
        rows: Rows<'_>,
        range: Range<usize>,
        to: Cells<'_, u64>,
    ) -> Result<(), HugeError> {
        assert!(rows.words <= form.words(), "a factor is longer than the ring");
        let count = range.len();
        let kernel = self.kernels(form.bits)?.digits.clone();
        let args = [
            to.into(),
            rows.view.part(range.start * rows.stride..).into(),
            Arg::U32(rows.words as u32),
            Arg::U64(rows.stride as u64),
            Arg::U32(form.points as u32),
            Arg::U32((count * form.points) as u32),
        ];
        // SAFETY: the rows are in their view, and `to` has the points of all.
        unsafe { kernel.launch(flat(count * form.points, THREADS), &args)? };
        Ok(self.plan(form, count)?.forward_cells(to)?)
    }

    /// Computes the sums of products `terms` for all rows of `out`.
    pub(super) fn multiply(
        &mut self,
        shape: &Shape,
        out: RowCells<'_>,
        terms: &[[Factor<'_>; 2]],
    ) -> Result<(), HugeError> {
        assert_eq!(terms.len(), shape.terms, "the number of products of a sum");
        assert!(matches!(terms.len(), 1 | 2), "one product, or a sum of two");
        assert_eq!(out.words, shape.words(), "words of the results");
        assert!(!shape.around || out.count == 1, "cyclic products are single");
        let form = shape.form;
        let mut temporary: Vec<Transformed<'_>> = vec![];
        let mut cut = 1;
        for term in terms {
            for (factor, longest) in term.iter().zip(shape.factors) {
                let (words, rows) = factor.size();
                assert!(words <= longest, "a factor is longer than its shape says");
                assert!(factor.map.rows(&(0..out.count)).end <= rows, "a factor has too few rows");
                cut = cut.max(factor.map.cut());
                match factor.operand {
                    Operand::Spectra(spectra) => assert_eq!(spectra.form, form, "forms differ"),
                    Operand::Rows(rows) => {
                        match temporary.iter_mut().find(|t| t.serves(&rows, factor.map)) {
                            Some(known) => known.maps.push(factor.map),
                            None => temporary.push(Transformed {
                                rows,
                                maps: vec![factor.map],
                                at: 0,
                                ready: 0..0,
                            }),
                        }
                    }
                }
            }
        }
        // The products are in the place of the spectra of a factor, if these are not needed again.
        let in_place = temporary.iter().position(|t| t.maps.iter().all(|&map| map == Map::EACH));
        let points = |count: usize| {
            let rows = temporary.iter().map(|t| t.rows_of(&(0..count)).len());
            rows.chain(in_place.is_none().then_some(count))
                .map(|rows| rows.saturating_mul(form.points))
                .collect::<Vec<_>>()
        };
        let blocks = |count: usize| (count * out.words).div_ceil(THREADS as usize);
        let bytes = |count: usize| {
            let words = points(count).iter().fold(0, |all: usize, &next| all.saturating_add(next));
            (8 * words as u64).saturating_add(4 * blocks(count) as u64)
        };
        let is_too_large = |count: usize| {
            let is_long = points(count).iter().any(|&points| points > MOST_POINTS)
                || count.saturating_mul(form.points) > MOST_POINTS;
            is_long || bytes(count) > self.limit
        };
        let mut count = out.count;
        while count > cut && is_too_large(count) {
            count = count.div_ceil(2).next_multiple_of(cut);
        }
        if is_too_large(count) {
            return Err(HugeError::Memory { bytes: bytes(count), limit: self.limit });
        }
        let mut at = 0;
        let sizes = points(count);
        for (transformed, size) in temporary.iter_mut().zip(&sizes) {
            transformed.at = at;
            at += size;
        }
        let result_at = in_place.map_or(at, |t| temporary[t].at);
        let mut of_blocks = reserve(&mut self.carries.blocks, &self.device, blocks(count))?;
        let mut of_points = reserve(&mut self.work, &self.device, sizes.iter().sum())?;
        let mut all = || {
            let work = of_points.cells(..);
            for begin in (0..out.count).step_by(count) {
                let range = begin..out.count.min(begin + count);
                for t in &mut temporary {
                    let rows = t.rows_of(&range);
                    if t.ready != rows {
                        let to = work.part(t.at..t.at + rows.len() * form.points);
                        self.transform(form, t.rows, rows.clone(), to)?;
                    }
                    t.ready = rows;
                }
                if let Some(t) = in_place {
                    temporary[t].ready = 0..0;
                }
                let result = work.part(result_at..result_at + range.len() * form.points);
                self.multiply_spectra(form, result, &range, terms, &temporary, work)?;
                self.plan(form, range.len())?.inverse_cells(result)?;
                self.add_carries(shape, out, range, result.view(), &mut of_blocks)?;
            }
            Ok(())
        };
        let done = all();
        self.work = Some(of_points);
        self.carries.blocks = Some(of_blocks);
        done
    }

    /// Multiplies spectra for rows `range` of the result.
    fn multiply_spectra(
        &self,
        form: Form,
        result: Cells<'_, u64>,
        range: &Range<usize>,
        terms: &[[Factor<'_>; 2]],
        temporary: &[Transformed<'_>],
        work: Cells<'_, u64>,
    ) -> Result<(), DeviceError> {
        let total = range.len() * form.points;
        let mut args = vec![
            result.into(),
            Arg::U32(form.points as u32),
            Arg::U32(total as u32),
            Arg::U32(range.start as u32),
        ];
        for Factor { operand, map } in terms.iter().flatten() {
            let (points, from): (Arg, usize) = match operand {
                Operand::Spectra(spectra) => ((&spectra.points).into(), 0),
                Operand::Rows(rows) => {
                    let known = temporary.iter().find(|t| t.serves(rows, *map));
                    let (at, from) = known.map_or((0, 0), |t| (t.at, t.rows_of(range).start));
                    (work.part(at..).into(), from)
                }
            };
            args.extend([points, Arg::U32(map.code()), Arg::U32(from as u32)]);
        }
        while args.len() < 16 {
            args.extend([Arg::NULL, Arg::U32(0), Arg::U32(0)]);
        }
        // SAFETY: each factor has the spectra of all rows that belong to the range, from row `from` on.
        unsafe { self.products.launch(flat(total, THREADS), &args) }
    }

    /// Writes the words of rows `range` of the result, from their coefficients.
    fn add_carries(
        &mut self,
        shape: &Shape,
        out: RowCells<'_>,
        range: Range<usize>,
        coefficients: View<'_, u64>,
        blocks: &mut Buffer<u32>,
    ) -> Result<(), DeviceError> {
        let form = shape.form;
        let sum = self.kernels(form.bits)?.sum.clone();
        let total = range.len() * out.words;
        let count = total.div_ceil(THREADS as usize) as u32;
        let words = out.cells.part(range.start * out.stride..);
        let rows = RowCells { cells: words, count: range.len(), ..out };
        let args = [
            words.into(),
            (&mut *blocks).into(),
            coefficients.into(),
            Arg::U32(form.points as u32),
            Arg::U32(shape.window.start as u32),
            Arg::U32(out.words as u32),
            Arg::U64(out.stride as u64),
            Arg::U32(total as u32),
            Arg::U32(shape.around.into()),
        ];
        // SAFETY: the rows of the coefficients have `points` words, those of `out` the words of the
        // window, and there is a word of `blocks` for each block.
        unsafe { sum.launch(Launch::linear(count, THREADS), &args)? };
        let first = if shape.around { First::Around } else { First::None };
        self.carries.add(blocks, rows, total, first)
    }

    /// Returns the plan of transforms of `rows` rows.
    fn plan(&mut self, form: Form, rows: usize) -> Result<&Ntt64, HugeError> {
        use std::collections::hash_map::Entry;
        let key = (form.points, rows);
        if self.plans.len() >= MOST_PLANS && !self.plans.contains_key(&key) {
            self.plans.clear();
        }
        match self.plans.entry(key) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                // The order of the points of spectra does not matter, and transforms in this order are in
                // place.
                let request = NttRequest::new(form.points).batch(rows).order(Order::BitReversed);
                Ok(entry.insert(Ntt64::with(&self.device, request)?))
            }
        }
    }

    /// Returns the kernels for digits of `bits` bits.
    fn kernels(&mut self, bits: u32) -> Result<&ByBits, DeviceError> {
        use std::collections::hash_map::Entry;
        match self.by_bits.entry(bits) {
            Entry::Occupied(entry) => Ok(entry.into_mut()),
            Entry::Vacant(entry) => {
                let split = self.device.program(&digits_source(bits))?;
                let carry = self.device.program(&carry_source(bits))?;
                Ok(entry.insert(ByBits {
                    digits: split.kernel("huge_digits", 0)?,
                    sum: carry.kernel("huge_sum", 0)?,
                }))
            }
        }
    }
}

/// Takes a buffer of at least `len` elements. One that is too small is freed before a larger one is
/// allocated.
pub(super) fn reserve<T: Pod>(
    buffer: &mut Option<Buffer<T>>,
    device: &Device,
    len: usize,
) -> Result<Buffer<T>, DeviceError> {
    match buffer.take().filter(|buffer| buffer.len() >= len) {
        Some(buffer) => Ok(buffer),
        None => device.alloc(len),
    }
}

/// Returns a launch of blocks of `threads` threads for `count` elements. A thread runs through several
/// if there are many.
pub(super) fn flat(count: usize, threads: u32) -> Launch {
    let blocks = count.div_ceil(threads as usize).clamp(1, MOST_BLOCKS);
    Launch::linear(blocks as u32, threads)
}

/// Returns the sources of the shipped kernels of this module.
pub(super) fn sources() -> Vec<Source> {
    let of_bits = |bits| [digits_source(bits), carry_source(bits)];
    let all = [16, 19, 22, 26].into_iter().flat_map(of_bits);
    all.chain([products_source()]).collect()
}

fn digits_source(bits: u32) -> Source {
    Source::new("digits.cu", include_str!("../../../kernels/huge/digits.cu"), &["huge_digits"])
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("BITS", bits)
        .define("THREADS", THREADS)
}

fn carry_source(bits: u32) -> Source {
    Source::new("carry.cu", include_str!("../../../kernels/huge/carry.cu"), &["huge_sum"])
        .headers(common::HEADERS)
        .headers(HEADERS)
        .headers(CARRY_HEADERS)
        .define("BITS", bits)
        .define("THREADS", THREADS)
}

fn products_source() -> Source {
    let text = include_str!("../../../kernels/huge/products.cu");
    Source::new("products.cu", text, &["huge_products"])
        .headers(common::HEADERS)
        .headers(HEADERS)
        .define("THREADS", THREADS)
}
