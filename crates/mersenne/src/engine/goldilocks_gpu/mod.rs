//! Products modulo 2^64 − 2^32 + 1 on a device: the family `goldilocks` in two
//! kernels a squaring (Hérault 2025, §3–5, for the transform; the fusion of
//! carries with the columns' transforms as in Mihai Preda's *PRPLL*).
//!
//! | file | subject |
//! |---|---|
//! | `shape` | how a transform is cut for the kernels |
//! | `tables` | twiddles and weights |
//! | `kernels` | the texts, and their constants |
//! | `operations` | what a squaring takes of the field, by count |
//! | `transform` | products through them, for the register machine |
//!
//! The kernels are `kernels/goldilocks/*.cu` of this crate; `columns.cu` and
//! `rows.cu` begin with the method.

mod kernels;
mod operations;
mod shape;
mod tables;
mod transform;

use std::ops::RangeInclusive;

use warpint_device::{Device, Source};

use super::goldilocks::Goldilocks;
use super::machine::{self, Machine};
use super::{BuildOptions, Cut, Engine, EngineError, EngineFamily, Margin, Work};
use crate::layout::WordLayout;
use shape::{Line, Shape};

/// The family `goldilocks` on a device: 640 ≤ p < 2^31 in N = 2^k words,
/// 6 ≤ k ≤ 26, or N = 5·2^k, 6 ≤ k ≤ 24, as far as the tiles fit into the device's shared
/// memory (64 KiB a block hold 5M words, 99 KiB 16M, 227 KiB all), with words of 5 to 11 bits at least.
///
/// The margin is that of the CPU's [`Goldilocks`], less 0.1 bits. Memory on the
/// device is 8·N bytes and 4·N for every register and one more (16·N more from
/// the first product of two registers on), and tables of some 40·√N to 200·√N words.
#[derive(Debug)]
pub struct GoldilocksOn {
    device: Device,
    place: String,
}

/// The bits that the shortest word must have for carries to come to rest in a tile
/// of four words, when words are multiplied by m.
///
/// With b bits in the shortest word, β < b + 1 and the bound on a word of a product
/// (see the CPU's margin), a carry is below m·2^(b + log2 N + 1.21). Three words later
/// it is below m·2^(log2 N + 1.21 − 2b) + 1.1, which is to be at most 2^(b−6) + 1.1:
/// 3b ≥ log2 N + log2 m + 7.21, and log2 N < ⌊log2 N⌋ + 1.
fn least_bits(length: usize, multiplier: u32) -> u32 {
    let log2_multiplier = multiplier.max(1).next_power_of_two().trailing_zeros();
    (length.ilog2() + log2_multiplier + 9).div_ceil(3)
}

/// Whether carries come to rest in a tile of four words when words are multiplied by m:
/// words have the bits for it, and what the first word of a tile hands to the second,
/// at most 2.31·m·N, has 31 bits with room for a digit and half a base.
fn carries_rest(p: u32, length: usize, multiplier: u32) -> bool {
    p / length as u32 >= least_bits(length, multiplier)
        && length as u64 * u64::from(multiplier) <= 1 << 28
}

/// What the digits that keep a carry take from the margin, in bits.
const SLACK_BITS: f64 = 0.1;

/// Below, a CPU is as fast.
const SHORTEST_WORTHWHILE: usize = 1 << 12;

impl GoldilocksOn {
    /// On a device.
    #[must_use]
    pub fn new(device: Device) -> Self {
        let place = device.info().id.clone();
        Self { device, place }
    }

    fn shapes(&self, length: usize) -> Vec<Shape> {
        Shape::all(length, self.shared_memory())
    }

    fn shared_memory(&self) -> u32 {
        self.device.info().shared_memory_per_block
    }
}

/// Every length that some device may have, in no order.
pub fn all_lengths() -> impl Iterator<Item = usize> {
    let powers = (6..=26).map(|k| 1 << k);
    powers.chain((6..=24).map(|k| 5 << k))
}

/// Every source that an engine of so many words compiles by default, for those
/// who compile without a device.
#[must_use]
pub fn sources(length: usize, shared_memory_per_block: u32) -> Vec<Source> {
    let shape = Shape::all(length, shared_memory_per_block).into_iter().next();
    let mut sources = shape.map_or(vec![], |shape| kernels::sources(&shape).to_vec());
    sources.push(machine::words_source());
    sources
}

impl EngineFamily for GoldilocksOn {
    fn name(&self) -> &'static str {
        Goldilocks.name()
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn shortest_worthwhile(&self) -> usize {
        SHORTEST_WORTHWHILE
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        640..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        let mut lengths: Vec<usize> = all_lengths()
            .filter(|n| (from..=to).contains(n) && Shape::exists(*n, self.shared_memory()))
            .collect();
        lengths.sort_unstable();
        lengths
    }

    /// The bound of the CPU's family, for digits that may lie outside their
    /// range by 2^−5 of it, and words long enough for carries to come to rest.
    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| EngineError::Unusable {
            engine: self.name(),
            exponent: p,
            length,
            reason,
        };
        if !self.exponent_range().contains(&p) {
            return Err(unusable("exponents are from 640 to 2^31 − 1 on a device".into()));
        }
        if self.lengths(length, length).is_empty() {
            let reason = "lengths are 2^6 to 2^26 and 5·2^6 to 5·2^24 on a device, as far as its \
                          shared memory holds their tiles";
            return Err(unusable(reason.into()));
        }
        let margin = Goldilocks.margin(p, length)?;
        let least_bits = least_bits(length, 1);
        if (p as usize) < least_bits as usize * length {
            return Err(unusable(format!("words have at least {least_bits} bits on a device")));
        }
        Ok(Margin { bits: margin.bits - SLACK_BITS, ..margin })
    }

    fn variants(&self, _p: u32, length: usize) -> Vec<String> {
        self.shapes(length).iter().map(ToString::to_string).collect()
    }

    fn cuts(&self, length: usize) -> Vec<Cut> {
        let list = |line: Line| [line.outer, line.a, line.b];
        let shapes = self.shapes(length).into_iter();
        shapes.map(|shape| Cut::new(&list(shape.column), &list(shape.row))).collect()
    }

    fn work(&self, length: usize, variant: usize) -> Option<Work> {
        let shape = self.shapes(length).into_iter().nth(variant)?;
        let points = length as f64;
        Some(Work {
            spectrum_bytes: 8 * length as u64,
            products: (operations::products_per_point(shape.column, shape.row) * points).round(),
            points_levels: (operations::levels(shape.column, shape.row) * points).round(),
            ..Work::default()
        })
    }

    fn device_bytes(&self, _p: u32, length: usize, registers: usize) -> Option<u64> {
        let tables = self.shapes(length).first().map_or(0, tables::bytes);
        Some(length as u64 * (24 + 4 * (registers as u64 + 1)) + tables)
    }

    fn build(
        &self,
        p: u32,
        length: usize,
        options: BuildOptions,
    ) -> Result<Box<dyn Engine>, EngineError> {
        self.margin(p, length)?;
        let shapes = self.shapes(length);
        let shape = shapes.get(options.variant).ok_or_else(|| EngineError::Unusable {
            engine: self.name(),
            exponent: p,
            length,
            reason: format!("there are {} shapes of this length", shapes.len()),
        })?;
        let layout = WordLayout::new(p, length);
        let products = transform::Products::new(&self.device, layout, *shape)?;
        Ok(Box::new(Machine::new(&self.device, layout, options.registers, products)?))
    }
}
