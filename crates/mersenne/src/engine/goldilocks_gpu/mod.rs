//! The engine family `goldilocks` on a device: transforms modulo 2^64 − 2^32 + 1 (Hérault 2025,
//! §3–5), as an `Arithmetic` for the module `engine/gpu`.
//!
//! | file | subject |
//! |---|---|
//! | `shape` | the division of a transform into lines, tiles and threads |
//! | `tables` | twiddles and weights |
//! | `operations` | counts of the field operations of a squaring |
//! | `words` | the layout of words, and the arguments of the kernels of columns |
//! | `digits` | numbers b^n + 1, in digits to the base b |
//!
//! The kernels are `kernels/goldilocks/*.cu` of this crate; `columns.cu` and `rows.cu` begin with a
//! description of the method.

mod digits;
mod operations;
mod shape;
mod tables;
mod words;

use std::ops::RangeInclusive;

use warpint_device::Source;
use warpint_transform::gpu::HEADERS;

use super::goldilocks::Goldilocks;
use super::gpu::{self, Arithmetic, Family, OnDevice, Others, Part, Shape as _};
use super::{EngineError, EngineFamily, Margin, Work};
use crate::Number;
use crate::layout::WordLayout;
use shape::Shape;
use words::ExactWords;

/// The engine family `goldilocks` on a device, for exponents 640 ≤ p < 2^31. Transform lengths are
/// N = 2^k words with 6 ≤ k ≤ 26, and N = 5·2^k words with 6 ≤ k ≤ 24. Tiles of the transform must
/// fit into the device's shared memory: 64 KiB per block suffice up to 5M words, 99 KiB up to 16M
/// words, and 227 KiB for all lengths. Depending on the length, words must have at least 5 to 12
/// bits.
///
/// The margin is 0.1 bits below the margin of [`Goldilocks`] on the CPU.
///
/// An engine needs the following memory on the device: 8·N bytes for the spectrum, at most 2·N for
/// carries, 4·N for each register, 4·N for sums, and tables of about 40·√N to 200·√N numbers of 64
/// bits. The first product of two registers adds 8·N bytes.
pub type GoldilocksOn = OnDevice<Goldilocks>;

/// Returns the smallest number of bits of the shortest word for which carries end within a tile of
/// four words. The residue has N = `length` words, and the words of a product are multiplied by
/// m = `multiplier`.
///
/// If the shortest word has b bits, the mean β of bits per word is below b + 1. By the bound on a
/// word of a product (see the margin of the family on the CPU), a carry is below m·2^(b + log2 N +
/// 1.21). Three words later it is below m·2^(log2 N + 1.21 − 2b) + 1.1, which must be at most
/// 2^(b−6) + 1.1. This gives 3b ≥ log2 N + log2 m + 7.21. The code replaces log2 N by ⌊log2 N⌋ + 1,
/// which is larger, and rounds log2 m and the result up.
fn least_bits(length: usize, multiplier: u32) -> u32 {
    let log2_multiplier = multiplier.max(1).next_power_of_two().trailing_zeros();
    (length.ilog2() + log2_multiplier + 9).div_ceil(3)
}

/// Returns whether carries end within a tile of four words if the N = `length` words of a product
/// are multiplied by m = `multiplier`. Two conditions must hold. First, the shortest word must have
/// at least as many bits as [`least_bits`] returns. Second, the carry from the first to the second
/// word of a tile, which is at most 2.31·m·N, must fit into 31 bits together with a digit and half
/// a base.
fn carries_rest(p: u32, length: usize, multiplier: u32) -> bool {
    p / length as u32 >= least_bits(length, multiplier)
        && length as u64 * u64::from(multiplier) <= 1 << 28
}

/// The number of bits by which the margin on a device is below the margin on the CPU. This
/// difference allows for the carry that may remain in the last digit of a tile.
const SLACK_BITS: f64 = 0.1;

/// Iterates over the transform lengths, in words, in ascending order. A given device may support
/// only some of these lengths.
pub fn all_lengths() -> impl Iterator<Item = usize> {
    let powers = (6..=26).map(|k| 1 << k);
    let mut lengths: Vec<usize> = powers.chain((6..=24).map(|k| 5 << k)).collect();
    lengths.sort_unstable();
    lengths.into_iter()
}

/// Returns the source of every kernel that an engine with transform length `length` compiles by
/// default, for Mersenne numbers and for numbers b^n + 1, so that kernels can be compiled without a
/// device. `shared_memory_per_block` is the largest shared memory of a block, in bytes.
#[must_use]
pub fn sources(length: usize, shared_memory_per_block: u32) -> Vec<Source> {
    let mut sources = gpu::sources::<Goldilocks>(length, shared_memory_per_block);
    sources.extend(digits::sources(length, shared_memory_per_block));
    sources
}

impl Arithmetic for Goldilocks {
    fn arithmetic() -> &'static str {
        Goldilocks.name()
    }

    type Point = u64;
    type Shape = Shape;
    type Layout = WordLayout;
    type Words = ExactWords;

    const COLUMNS: &'static str = include_str!("../../../kernels/goldilocks/columns.cu");
    const ROWS: &'static str = include_str!("../../../kernels/goldilocks/rows.cu");
    const SPECIALISED: bool = false;

    fn specialise(
        source: Source,
        shape: &Shape,
        _number: Number,
        part: Part,
        _sums: bool,
    ) -> Source {
        let mut source = source.headers(HEADERS);
        if !part.is_of_columns() {
            source = source.define("LINES", shape.lines);
        }
        let line = if part.is_of_columns() { shape.column } else { shape.row };
        if line.q == 5
            && let Some(constants) = tables::fifth_root_constants()
        {
            let names = ["FIFTH_0", "FIFTH_1", "FIFTH_2", "FIFTH_3"];
            for (name, c) in names.into_iter().zip(constants) {
                source = source.define(name, format_args!("{c}ull"));
            }
        }
        source
    }
}

impl Family for Goldilocks {
    const LENGTHS_ARE: &'static str = "lengths are 2^6 to 2^26 and 5·2^6 to 5·2^24 on a device, \
                                       as far as its shared memory holds their tiles";

    fn all_lengths() -> Vec<usize> {
        all_lengths().collect()
    }

    fn is_outrun(_length: usize) -> bool {
        false
    }

    fn exponents(_lengths: &[usize]) -> RangeInclusive<u32> {
        640..=(1 << 31) - 1
    }

    fn exponents_are(_exponents: &RangeInclusive<u32>) -> String {
        "exponents are from 640 to 2^31 − 1 on a device".into()
    }

    /// Returns the margin on a device. It is 0.1 bits below the margin of the family on the CPU,
    /// because digits may exceed their range by up to 2^−5 of the range. Returns the errors of the
    /// margin on the CPU. Also returns an error if words are too short for carries to end within a
    /// tile.
    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError> {
        let margin = Self.margin(p, length)?;
        let least_bits = least_bits(length, 1);
        if (p as usize) < least_bits as usize * length {
            let reason = format!("words have at least {least_bits} bits on a device");
            return Err(Self::unusable(p, length, reason));
        }
        Ok(Margin { bits: margin.bits - SLACK_BITS, ..margin })
    }

    fn others() -> Option<&'static dyn Others> {
        Some(&digits::PowersPlusOne)
    }

    fn work_of(shape: &Shape) -> Work {
        let points = shape.points() as f64;
        Work {
            spectrum_bytes: size_of::<u64>() as u64 * shape.points() as u64,
            products: (operations::products_per_point(shape.column, shape.row) * points).round(),
            points_levels: (operations::levels(shape.column, shape.row) * points).round(),
            ..Work::default()
        }
    }

    fn bytes_beside_registers(length: usize, shape: Option<&Shape>) -> Option<u64> {
        Some(24 * length as u64 + shape.map_or(0, tables::bytes))
    }

    fn no_shape(_variant: usize, shapes: usize) -> String {
        format!("there are {shapes} shapes of this length")
    }
}
