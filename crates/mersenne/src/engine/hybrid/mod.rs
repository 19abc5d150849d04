//! The engine families `hybrid` and `hybrid-fast` on the CPU: exact products at more than the word
//! length of floating point.
//!
//! Every product is computed twice: by a complex FP64 transform, whose error is proven to be below
//! 2^30, and modulo q = 2^31 − 1 by a transform over GF(q²), which gives the residue exactly. Both
//! together are the integer: a word z of the product is n·q + r, where r comes from the integers
//! and n is the integer nearest to (z̃ − r)/q for the FP64 value z̃ of the word.
//!
//! | file | subject |
//! |---|---|
//! | `margin` | the longest words for which products are exact: the bound and its proof |
//! | `statistical` | margins of `hybrid-fast` for random digits |
//! | `arithmetic`, `memory` | complex numbers and GF(q²) on vectors, behind one interface |
//! | `levels` | transforms of lines in either arithmetic |
//! | `shape` | rows and columns, and partners of frequencies |
//! | `words` | weights; the exact words of the product, digits and carries |
//! | `columns`, `rows` | the passes over the points |
//! | `transform` | one product |
//!
//! The register machine is that of the module `exact`.

mod arithmetic;
pub(in crate::engine) mod bound;
mod columns;
mod levels;
mod margin;
mod memory;
mod rows;
mod shape;
pub(in crate::engine) mod statistical;
mod transform;
mod words;

use std::ops::RangeInclusive;

use warpint_arith::simd::Cpu;

use super::exact::Machine;
use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};
use crate::layout::WordLayout;
use transform::Transform;

/// The engine family `hybrid` on the CPU, for exponents 1,000 ≤ p < 2^31. Transform lengths are N
/// = 2^a·m words with m = 1, 3, 7, 9, 11, 21, 33 or 77 and a ≥ 6, from 64 to 3·2^25 words. Words have
/// 8 to 30 bits.
///
/// With a margin of at least 0, a squaring is exact for all digits. It costs two transforms of N/2
/// complex points in FP64 and two over GF(q²). An engine occupies 32·N bytes (16·N for a spectrum, 16·N
/// for tables of roots), and 4·N bytes for each register. The first product of two different registers
/// adds 16·N bytes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Hybrid;

/// The odd parts m of the transform lengths. The group of GF(q²) has elements of the orders 2^32·m
/// only for divisors m of 3²·7·11·31·151·331.
const ODD_PARTS: [usize; 8] = [1, 3, 7, 9, 11, 21, 33, 77];

/// The shortest transform length, in words.
const SHORTEST: usize = 64;

/// The longest transform length, in words. It is enough for p = 2^31 − 1.
const LONGEST: usize = 3 << 25;

/// The smallest a of a transform length 2^a·m with odd m: a power of 2 is divided into rows and
/// columns for vectors.
const LEAST_POWER: u32 = 6;

/// The smallest exponent.
const LEAST_EXPONENT: u32 = 1_000;

impl EngineFamily for Hybrid {
    fn name(&self) -> &'static str {
        "hybrid"
    }

    fn is_exact(&self) -> bool {
        true
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        LEAST_EXPONENT..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        let of_part = |m: usize| (LEAST_POWER..=LONGEST.ilog2()).map(move |a| m << a);
        let allowed = from.max(SHORTEST)..=to.min(LONGEST);
        let mut lengths: Vec<usize> =
            ODD_PARTS.into_iter().flat_map(of_part).filter(|n| allowed.contains(n)).collect();
        lengths.sort_unstable();
        lengths
    }

    /// Returns the margin. Its `bits` are log2 of the ratio of two numbers: the error of FP64 below
    /// which every word is exact, and the proven bound on the error for any digits (source of the
    /// module `margin`).
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        layout(self.name(), p, length, margin::MOST_BITS)?;
        Ok(Margin { bits: margin::spare_bits(p, length), proven: true })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let layout = layout(self.name(), p, length, margin::MOST_BITS)?;
        Ok(Box::new(Machine::new(self.name(), transform(self.name(), layout)?, options)))
    }
}

/// The engine family `hybrid-fast` on the CPU: the engine [`Hybrid`] with words of up to 31 bits. Its
/// margins are statistical (source of the module `statistical`).
///
/// The error of every product is measured. It is the largest distance of (z̃ − r)/q from an integer,
/// where z̃ is the FP64 value of a word and r its residue modulo q = 2^31 − 1. A product with an error
/// above ¼ is reported as [`EngineError::RoundOff`].
#[derive(Debug, Clone, Copy, Default)]
pub struct HybridFast;

impl EngineFamily for HybridFast {
    fn name(&self) -> &'static str {
        "hybrid-fast"
    }

    fn is_on_request(&self) -> bool {
        true
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        Hybrid.exponent_range()
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        Hybrid.lengths(from, to)
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        layout(self.name(), p, length, statistical::MOST_BITS)?;
        Ok(Margin { bits: statistical::spare_bits(p, length), proven: false })
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        let layout = layout(self.name(), p, length, statistical::MOST_BITS)?;
        let transform = transform(self.name(), layout)?.measured();
        let machine = Machine::new(self.name(), transform, options);
        Ok(Box::new(machine.guarded(statistical::LIMIT)))
    }
}

/// Returns the layout of the words of a residue. Returns an error if a family with words of up to
/// `most_bits` bits does not support the exponent at this length.
fn layout(
    engine: &'static str,
    p: u32,
    length: usize,
    most_bits: usize,
) -> Result<WordLayout, EngineError> {
    let unusable =
        |reason: String| EngineError::Unusable { engine, number: p.into(), length, reason };
    if !Hybrid.exponent_range().contains(&p) {
        return Err(unusable(format!("exponents are from {LEAST_EXPONENT} to 2^31 − 1")));
    }
    if Hybrid.lengths(length, length).is_empty() {
        return Err(unusable(format!(
            "lengths are 2^a·m from {SHORTEST} to {LONGEST}, with m = 1, 3, 7, 9, 11, 21, 33 or 77 and \
             a of at least {LEAST_POWER}"
        )));
    }
    let bits = p as usize / length;
    if !(margin::LEAST_BITS..most_bits).contains(&bits) {
        let least = margin::LEAST_BITS;
        return Err(unusable(format!("words have {least} to {most_bits} bits")));
    }
    Ok(WordLayout::new(p, length))
}

/// Returns the tables of products in the words of a layout.
fn transform(engine: &'static str, layout: WordLayout) -> Result<Transform, EngineError> {
    Transform::new(layout, Cpu::get().level).ok_or_else(|| EngineError::Unusable {
        engine,
        number: layout.exponent().into(),
        length: layout.len(),
        reason: "the length cannot be divided into rows and columns".into(),
    })
}

#[cfg(test)]
mod tests;
