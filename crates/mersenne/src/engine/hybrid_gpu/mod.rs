//! The engine families `hybrid` and `hybrid-fast` on a device: products by a complex FP64 transform and by an exact
//! transform modulo 2^31 − 1 side by side, as an `Arithmetic` for the module `engine/gpu`.
//!
//! | file | subject |
//! |---|---|
//! | `shape` | the division of a transform into lines, tiles and threads |
//! | `tables` | factors of both transforms, and weights |
//! | `limits` | the longest words of each family, and the limits of what kernels measure |
//! | `words` | the layout of words, and what the kernels of columns measure |
//! | `bases` | numbers k·b^n ± 1 |
//! | `roots` | the roots that the exact weights of such numbers need |
//!
//! The kernels are `kernels/hybrid/*` of this crate, with the steps of `kernels/fp64/*_steps.cuh`;
//! `columns.cu` and `rows.cu` begin with a description of the method.

mod bases;
mod limits;
mod roots;
mod shape;
mod tables;
mod words;

use std::ops::RangeInclusive;

use warpint_device::Source;

use super::fp64_gpu::constants;
use super::gpu::{self, Arithmetic, ExactRows, Family, Line, OnDevice, Others, Part, Shape as _};
use super::hybrid::bound::{self, Roundings};
use super::hybrid::{Hybrid, HybridFast};
use super::{EngineError, Margin, Work};
use crate::Number;
use crate::layout::WordLayout;
use limits::Limited;
use shape::Shape;
use words::HybridWords;

/// The engine family `hybrid` on a device, for numbers 2^p − 1 and k·b^n ± 1 with k < 2^20. Transform lengths are N =
/// 2^a·m words with m = 1, 3, 5, 7, 9, 11, 21, 33 or 77; most numbers k·b^n ± 1 have lengths with m up to 7 only. Tiles of
/// the transform must fit into the device's shared memory.
///
/// Every product is proven to be exact, or refused: the error of FP64 is below a constant times the
/// norm of the digits, and that norm is measured whenever digits are transformed. If the words are
/// short enough, no digits can be refused, and the margin is proven. Longer words have a margin for
/// random digits.
///
/// An engine needs the following memory on the device: 12·N bytes for the spectrum, up to 4·N for
/// carries, 4·N for each register, 4·N for sums, and tables. The first product of two registers
/// adds 16·N bytes.
pub type HybridOn = OnDevice<Hybrid>;

/// The engine family `hybrid-fast` on a device: the kernels of [`HybridOn`] with words of up to 31
/// bits, and statistical margins. The distances of (z̃ − r)/q from integers are measured in one of 32
/// squarings, and the norms of the digits in all of them.
pub type HybridFastOn = OnDevice<HybridFast>;

/// The longest transform length, in words.
const LONGEST: usize = 21 << 20;

/// The largest multiplier m that the kernels support for
/// [`Step::SquareTimes`](super::Step::SquareTimes).
const LARGEST_MULTIPLIER: u32 = 4;

/// A part of the largest error 2^30 that is left unused, q/128 for q = 2^31 − 1. It covers the
/// constants of the quotient by q, which are rounded.
const SLACK: f64 = (1u32 << 24) as f64;

/// Returns K for a shape: the FP64 error of a word of the square of x is at most K·u·‖x‖², with u =
/// 2^−53 (`docs/internals/hybrid-bound.md`).
fn error_factor(shape: &Shape) -> f64 {
    error_factor_of(shape, Roundings::GPU)
}

/// Returns K of [`error_factor`] for words whose weights take other roundings.
fn error_factor_of(shape: &Shape, roundings: Roundings) -> f64 {
    let radices = |Line { q, a, b }: Line| [q, a, b];
    let stages = bound::stages(radices(shape.column()), radices(shape.row()));
    bound::constant(&stages, roundings)
}

/// Returns an estimate of [`error_factor`] for the usual shapes of a transform length, from above.
/// Plans use the estimate; every product is judged with the factor of its shape.
fn usual_error_factor(length: usize) -> f64 {
    // Short lines have more roundings in proportion: below 46,000 words the factor is at most 270.
    (1.05 * (24.5 * (length as f64 / 2.0).log2() - 98.0)).max(270.0)
}

/// Returns the mean of ‖x‖² for random balanced digits of a residue mod 2^p − 1 in `length` words:
/// N·4^β/12 times the mean of squares of weights, 3/(2·ln 2).
fn usual_norm(p: u32, length: usize) -> f64 {
    let words = length as f64;
    words * (2.0 * f64::from(p) / words).exp2() / 12.0 * 1.5 / 2f64.ln()
}

/// Returns the smallest mean number of bits per word, β = p/N, at which a carry ends within two
/// words. The words of a square are at most ‖x‖², about 0.18·N·4^β. A word of b bits passes on a
/// carry of 0.18·N·4^β/2^b, and after another word it is 0.18·N. Multiplied by 4, this is less
/// than the range of digits, 2^β, if 2^β ≥ N.
fn least_bits(length: usize) -> f64 {
    (length as f64).log2().max(12.0)
}

/// Returns the smallest exponent that a transform length supports.
fn least_exponent(length: usize) -> u32 {
    (least_bits(length) * length as f64).ceil() as u32
}

/// Returns the margin for random digits, whose norm is at most one per cent above the mean.
fn spare_bits(p: u32, length: usize) -> f64 {
    bound::margin(usual_error_factor(length), 1.01 * usual_norm(p, length), SLACK)
}

/// Returns the largest exponent for which a transform length has a margin of at least 0.
fn longest_exponent<A: Limited>(length: usize) -> u32 {
    let (mut largest, mut too_large) = (0, (A::MOST_BITS * length).min(1 << 31) as u32);
    while too_large - largest > 1 {
        let middle = largest.midpoint(too_large);
        if A::margin_of_words(middle, length).bits >= 0.0 {
            largest = middle
        } else {
            too_large = middle
        }
    }
    largest
}

/// Returns the sources of all kernels that an engine of transform length `length` compiles by
/// default. With these sources, kernels can be compiled without a device. The constants that depend
/// on the exponent p are those for p = 1. `shared_memory_per_block` is the largest shared memory of
/// a block, in bytes.
#[must_use]
pub fn sources(length: usize, shared_memory_per_block: u32) -> Vec<Source> {
    let mut sources = gpu::sources::<Hybrid>(length, shared_memory_per_block);
    sources.extend(bases::sources(length, shared_memory_per_block));
    sources
}

const COLUMNS: &str = include_str!("../../../kernels/hybrid/columns.cu");

/// The headers that only this family needs, with their names.
const HEADERS: [(&str, &str); 7] = [
    ("parts.cuh", include_str!("../../../kernels/hybrid/parts.cuh")),
    ("bit_weights.cuh", include_str!("../../../kernels/hybrid/bit_weights.cuh")),
    ("digit_weights.cuh", include_str!("../../../kernels/hybrid/digit_weights.cuh")),
    ("exact_line.cuh", include_str!("../../../kernels/hybrid/exact_line.cuh")),
    ("exact_columns.cuh", include_str!("../../../kernels/hybrid/exact_columns.cuh")),
    ("exact_polynomials.cuh", include_str!("../../../kernels/hybrid/exact_polynomials.cuh")),
    ("exact_rows.cuh", include_str!("../../../kernels/hybrid/exact_rows.cuh")),
];

/// Returns the kernels of exact rows for a shape.
fn exact_rows_of(shape: &Shape) -> ExactRows {
    ExactRows {
        text: include_str!("../../../kernels/hybrid/exact_rows.cu"),
        blocks: shape.exact_row_blocks(),
        threads: shape.row_threads(),
        shared_bytes: shape.exact_row_shared_bytes(),
        resident_blocks: shape.resident_exact_row_blocks(),
    }
}

/// Adds the headers of the family and the constants of a shape, and those for the exponent p, to the source of a
/// kernel.
fn specialised(source: Source, shape: &Shape, p: u32, part: Part, sums: bool) -> Source {
    let source = constants::specialise(source, &shape.0, p, part, sums);
    let source = match part {
        Part::ExactRows(_) => source
            .define("EXACT_PAIRS", shape.exact_pairs())
            .define("BESIDE", u32::from(shape.is_small())),
        _ => source,
    };
    HEADERS.into_iter().fold(source, |source, (name, text)| source.header(name, text))
}

impl<A: Limited> Arithmetic for A {
    fn arithmetic() -> &'static str {
        A::default().name()
    }

    type Point = u64;
    type Shape = Shape;
    type Layout = WordLayout;
    type Words = HybridWords;

    const COLUMNS: &'static str = COLUMNS;
    const ROWS: &'static str = constants::ROWS;
    const SPECIALISED: bool = true;

    fn exact_rows(shape: &Shape) -> Option<ExactRows> {
        Some(exact_rows_of(shape))
    }

    fn begins_early(shape: &Shape) -> bool {
        shape.is_small()
    }

    fn specialise(source: Source, shape: &Shape, number: Number, part: Part, sums: bool) -> Source {
        let source = specialised(source, shape, number.exponent(), part, sums);
        if matches!(part, Part::ExactRows(_)) {
            return source.define("PARTS", shape.fewest_parts());
        }
        source
    }

    fn spectrum_points(shape: &Shape) -> usize {
        3 * shape.points()
    }

    fn factor_points(shape: &Shape) -> usize {
        // Both lines of every exact pair have memory of their own, and there is one more block.
        let lines = (shape.rows() + 4 * shape.0.pairs) as usize;
        3 * shape.points() + lines * shape.columns() as usize
    }
}

impl<A: Limited> Family for A {
    const LENGTHS_ARE: &'static str = "not a length of this engine on this device";

    fn all_lengths() -> Vec<usize> {
        let mut lengths = super::EngineFamily::lengths(&Hybrid, 1, LONGEST);
        lengths.extend((8..=LONGEST.ilog2()).map(|a| 5 << a).filter(|n| *n <= LONGEST));
        lengths.sort_unstable();
        lengths
    }

    fn is_outrun(_length: usize) -> bool {
        false
    }

    fn exponents(lengths: &[usize]) -> RangeInclusive<u32> {
        match (lengths.first(), lengths.last()) {
            (Some(&shortest), Some(&longest)) => {
                least_exponent(shortest)..=longest_exponent::<A>(longest)
            }
            _ => RangeInclusive::new(1, 0),
        }
    }

    fn exponents_are(exponents: &RangeInclusive<u32>) -> String {
        let (from, to) = (exponents.start(), exponents.end());
        format!("exponents are from {from} to {to} on this device")
    }

    fn margin_on_device(p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| Self::unusable(p, length, reason);
        if p < least_exponent(length) {
            let least = least_bits(length);
            return Err(unusable(format!("words have at least {least:.2} bits on a device")));
        }
        if p as usize > A::MOST_BITS * length {
            return Err(unusable(format!("words of more than {} bits", A::MOST_BITS)));
        }
        Ok(A::margin_of_words(p, length))
    }

    fn others() -> Option<&'static dyn Others> {
        Some(<A as Limited>::others())
    }

    fn work_of(shape: &Shape) -> Work {
        let each = super::fp64_gpu::instructions::per_point(shape.column(), shape.row());
        Work {
            spectrum_bytes: 24 * shape.points() as u64,
            fp64_instructions: (each * shape.points() as f64).round(),
            ..Work::default()
        }
    }

    fn bytes_beside_registers(length: usize, shape: Option<&Shape>) -> Option<u64> {
        let shape = shape?;
        let carries = 8 * u64::from(shape.tiles()) * u64::from(shape.rows());
        let factor = 8 * Self::factor_points(shape) as u64;
        Some(12 * length as u64 + factor + carries + tables::bytes(shape))
    }

    fn no_shape(variant: usize, _shapes: usize) -> String {
        format!("there is no shape {variant} of this length")
    }
}

#[cfg(test)]
#[cfg(feature = "sim")]
mod tests;
