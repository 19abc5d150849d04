//! Engines for numbers k·b^n + c, c = ±1, on a device, by transforms that are longer than products. They are for
//! the numbers for which no weighted transform has a margin: long multipliers k, and bases b for which words of
//! different numbers of digits have too different weights. `layout/padded.rs` has the method and its bounds, and
//! `kernels/fp64/padded.cu` the reduction of products.
//!
//! A squaring takes a transform of at least twice as many words, and the carries end in digits, which a kernel
//! reduces before they are transformed again. All words have the same number of digits and the weight 1.
//!
//! # Margin
//!
//! Errors of the words of a product grow with the sum of the squares of the digits. For m of W words it is m/W of
//! that for W words, and the mean square of the weights of a Mersenne number, 3/ln 4, is missing. So at W ≥ 2m words
//! the margin is that of a Mersenne number whose words have log2 β bits, plus log2(W/m) + 1.1 bits, W/m ≤ 4.
//!
//! Beyond [`margin::ANY_DIGITS_UP_TO`] words, digits are taken to be random. The only digits with a pattern in a test
//! are those of small numbers, whose stored form is sparse. Products of other patterns, as of ⌊k/2⌋·b^n for odd b,
//! are refused by the measurement of round-off.

use std::sync::Arc;

use warpint_device::{Arg, Buffer, Device, DeviceError, Launch, Source, common};

use super::form::{Form, Formed, unusable};
use super::shape::Shape;
use super::tables::{self, Frequencies};
use super::words::Prepared;
use super::{LARGEST_MULTIPLIER, constants};
use crate::engine::fp64::margin;
use crate::engine::gpu::{self, Layout, Machine, Products, Reduction, Shape as _};
use crate::engine::{BuildOptions, Engine, EngineError, Margin};
use crate::layout::{PaddedLayout, StoredPadded};
use crate::{Number, Residue, Shift};

const PADDED: &str = include_str!("../../../../kernels/fp64/padded.cu");

/// The number of threads of a block: THREADS in the kernels.
const THREADS: u32 = 256;

/// The number of the lowest words, which the first block has: HALF in the kernels.
const HALF: usize = 32;

/// The words of a residue modulo k·b^n + c, with the table of the kernels that reduce.
pub(super) struct PaddedWords {
    stored: Arc<StoredPadded>,
    table: Arc<Buffer<f64>>,
}

impl PaddedWords {
    fn new(device: &Device, layout: PaddedLayout) -> Result<Self, DeviceError> {
        let table = Arc::new(device.upload(&table(&layout))?);
        Ok(Self { stored: Arc::new(StoredPadded::new(layout)), table })
    }

    /// Returns the same words again, which share the table.
    fn shared(&self) -> Self {
        Self { stored: Arc::clone(&self.stored), table: Arc::clone(&self.table) }
    }

    fn layout(&self) -> &PaddedLayout {
        &self.stored.layout
    }

    /// Returns the arguments CONSTANTS_PARAMETERS of the kernels.
    fn constants(&self) -> Vec<Arg> {
        let layout = self.layout();
        let reductions = layout.reductions();
        let (upper, lift) = layout.upper();
        let digits = |rows: &[Vec<i32>]| rows.first().map_or(0, Vec::len);
        let counts = [
            layout.words(),
            layout.start(),
            layout.end(),
            lift,
            layout.overflow(),
            digits(&reductions.quotients),
            digits(&reductions.rests),
        ];
        let base = f64::from(layout.base());
        let minus_c = f64::from(layout.minus_c());
        let numbers = [base, 1.0 / base, minus_c, minus_c * f64::from(upper)];
        let counts = counts.into_iter().map(|count| Arg::U32(count as u32));
        [Arg::from(&*self.table)].into_iter().chain(counts).chain(numbers.map(Arg::F64)).collect()
    }

    /// Returns the launch of the kernels: a block for both ends of a residue, and one for each of the
    /// other runs of [`THREADS`] words.
    fn launch(&self) -> Launch {
        let blocks = (self.layout().start() - HALF).div_ceil(THREADS as usize) as u32;
        Launch::linear(1 + blocks, THREADS)
    }
}

/// Returns the table that the kernels read: the digits of k, of the quotients q_a, and of r_a·b^n from word ν on.
fn table(layout: &PaddedLayout) -> Vec<f64> {
    let reductions = layout.reductions();
    let rows = reductions.quotients.into_iter().chain(reductions.rests);
    [reductions.multiplier].into_iter().chain(rows).flatten().map(f64::from).collect()
}

/// Returns the source of the kernel that adds and subtracts registers.
fn combine_source() -> Source {
    source(PaddedWords::COMBINE).define("SUM", 1)
}

/// Returns the sources of the kernels of a shape, with those that reduce products for k of 1, 2, 4 and 8 digits.
pub(super) fn sources(shape: &Shape) -> Vec<Source> {
    // The kernels do not depend on the number but for the digits of k.
    let all = [1, 2, 4, 8].map(|factors| {
        let mut sources =
            gpu::sources_of::<Form<PaddedWords>>(shape, Number::mersenne(1), Some(factors));
        sources.push(reduction_source(factors));
        sources
    });
    let mut different: Vec<Source> = vec![];
    for source in all.into_iter().flatten() {
        if !different.contains(&source) {
            different.push(source);
        }
    }
    different
}

/// Returns the source of the kernel that reduces products, for multipliers k of `factors` digits.
fn reduction_source(factors: u32) -> Source {
    source(REDUCE).define("FACTORS", factors)
}

/// Returns the source of a kernel of `padded.cu`.
fn source(kernel: &'static str) -> Source {
    let source = Source::new("padded.cu", PADDED, &[kernel]).headers(common::HEADERS);
    source.header("words.cuh", constants::WORDS).header("reduce.cuh", constants::REDUCE)
}

/// The name of the kernel that reduces products.
const REDUCE: &str = "reduce_product";

impl Layout for PaddedWords {
    const COMBINE: &'static str = "combine_padded";
    const REDUCES: bool = true;

    fn combine_source() -> Source {
        combine_source()
    }

    fn reduction(&self, device: &Device) -> Result<Option<Reduction>, DeviceError> {
        let layout = self.layout();
        let factors = layout.reductions().multiplier.len() as u32;
        let kernel = device.program(&reduction_source(factors))?.kernel(REDUCE, 0)?;
        // −2/k ≡ 2·c·b^n.
        let minus_two = -2.0 * f64::from(layout.minus_c()) * f64::from(layout.unit());
        let (launch, args) = (self.launch(), self.constants());
        let len = self.len();
        // SAFETY: the kernels take the table and the constants, then two doubles. The products that have the
        // reduction also have the layout with the table.
        let reduction =
            unsafe { Reduction::new(device, kernel, launch, factors, args, minus_two, len) };
        reduction.map(Some)
    }

    fn number(&self) -> Number {
        self.layout().number()
    }

    fn len(&self) -> usize {
        self.layout().len()
    }

    fn digits_of(&self, x: &Residue, _: Shift) -> Vec<i32> {
        assert_eq!(x.number(), self.layout().number(), "a residue of another number");
        self.stored.store(x.limbs())
    }

    fn residue_of(&self, digits: &[i32], _: Shift) -> Residue {
        Residue::from_canonical(self.layout().number(), self.stored.load(digits))
    }

    fn combine_args(&self) -> Vec<Arg> {
        let factors = self.layout().reductions().multiplier.len() as u32;
        [Arg::U32(factors)].into_iter().chain(self.constants()).collect()
    }

    fn is_intact(&self) -> bool {
        let is_same = |found: Vec<f64>| found == table(self.layout());
        self.table.download().is_ok_and(is_same) && self.stored.is_intact()
    }
}

impl Formed for PaddedWords {
    const DIGITS: bool = true;

    fn prepare(&self, shape: &Shape) -> Prepared {
        let layout = self.layout();
        let base = f64::from(layout.base());
        Prepared {
            weights: None,
            largest_carry: largest_carry(layout),
            largest_multiplier: LARGEST_MULTIPLIER,
            constants: [1.0 / shape.points() as f64, base, 1.0 / base]
                .map(Arg::F64)
                .into_iter()
                .chain([Arg::U32(layout.words() as u32)])
                .collect(),
            last: None,
            lines: tables::of_lines(shape, Frequencies::Whole),
        }
    }
}

/// The bound on words of a product before they are rounded, as for other bases.
const LARGEST_WORD: f64 = (1u64 << 50) as f64;

/// Returns a bound on the words of a product. A word is a sum of at most m products of digits; beyond
/// [`margin::ANY_DIGITS_UP_TO`] words, digits are random.
fn largest_word(layout: &PaddedLayout) -> f64 {
    let (base, words) = (f64::from(layout.base()), layout.words() as f64);
    if layout.len() <= margin::ANY_DIGITS_UP_TO {
        words * (base * 0.625).powi(2)
    } else {
        16.0 * words.sqrt() * base * base / 12.0
    }
}

/// Returns a bound on carries of products. A larger carry indicates an error.
fn largest_carry(layout: &PaddedLayout) -> f64 {
    largest_word(layout) / f64::from(layout.base()) + 1.0
}

/// The largest W/m that adds to the margin. In longer transforms, the rounding of the words of a product themselves
/// is the larger error: it was 4.2 times that of the formula without this limit for 3·1000003^600 − 1, W/m = 108.
const LARGEST_PADDING: f64 = 4.0;

/// The least number of bits of a number. For shorter numbers, exact products are as fast.
const SHORTEST_NUMBER: u32 = 10_000;

/// Returns the margin of a number at a transform length of the device.
pub(super) fn margin(number: Number, length: usize) -> Result<Margin, EngineError> {
    let refuse = |reason| Err(unusable(number, length, reason));
    if number.bits() < SHORTEST_NUMBER {
        return refuse("numbers have 10000 bits or more");
    }
    let Some(layout) = PaddedLayout::new(number, length) else {
        return refuse("words of less than 9 or more than 22 bits");
    };
    let (base, words) = (f64::from(layout.base()), layout.words() as f64);
    let largest = largest_word(&layout);
    if largest > LARGEST_WORD {
        return refuse("words of products of more than 50 bits");
    }
    if layout.excess(largest) > base / 8.0 {
        return refuse("words so short that carries of products do not end within two words");
    }
    let bits = margin::bits_of_words(base.log2(), length, margin::ON_GPU);
    let of_weights = (3.0 / 4f64.ln()).log2();
    Ok(Margin {
        bits: bits + of_weights + (length as f64 / words).min(LARGEST_PADDING).log2(),
        proven: false,
    })
}

/// Builds an engine for a number in a shape.
pub(super) fn build(
    device: &Device,
    number: Number,
    shape: Shape,
    options: BuildOptions,
) -> Result<Box<dyn Engine>, EngineError> {
    let length = 2 * shape.points();
    let layout = PaddedLayout::new(number, length);
    let layout = layout.ok_or_else(|| unusable(number, length, "there are no such words"))?;
    let words = PaddedWords::new(device, layout)?;
    let products =
        Products::<Form<PaddedWords>>::new(device, words.shared(), shape, options.into())?;
    Ok(Box::new(Machine::new(device, words, options.registers, products)?))
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests;
