//! Floating-point squaring on a device: the family `fp64` in two kernels a squaring
//! (Thall 2011 for the weighted transform on a GPU; the fusion of carries with the columns'
//! transforms, and carries handed from block to block, as in Mihai Preda's *PRPLL*).
//!
//! | file | subject |
//! |---|---|
//! | `line`, `shape` | how a transform is cut for the kernels |
//! | `tables` | factors of the transforms, and weights |
//! | `kernels` | the texts, and their constants |
//! | `transform` | products through them, for the register machine |
//!
//! The kernels are `kernels/fp64/*.cu` of this crate; `columns.cu` and `rows.cu` begin with the
//! method.

mod kernels;
mod line;
mod shape;
mod tables;
mod transform;

use std::ops::RangeInclusive;

use warpint_device::{Device, Source};

use super::fp64::{Fp64, margin};
use super::machine::{self, Machine};
use super::{BuildOptions, Engine, EngineError, EngineFamily, Margin};
use crate::layout::WordLayout;
use shape::Shape;

/// The family `fp64` on a device: 2,304 ≤ p < 2^31 in N = 2^a·3^b·5^c·7^d words, from 2^8 to
/// 36·2^20, as far as the tiles fit into the device's shared memory.
///
/// The margin is statistical. Memory on the device is 8·N bytes and 4·N for every register and
/// one more (8·N more from the first product of two registers on), and tables.
#[derive(Debug)]
pub struct Fp64On {
    device: Device,
    place: String,
}

/// Odd parts of the lengths. Between them, scaled by powers of two, no gap is wider than 9.4 %.
const ODD_PARTS: [usize; 11] = [1, 3, 5, 7, 9, 15, 21, 35, 45, 75, 105];

/// The shortest length.
const SHORTEST: usize = 1 << 8;

/// The longest length.
const LONGEST: usize = 36 << 20;

/// Below, a CPU is as fast.
const SHORTEST_WORTHWHILE: usize = 1 << 12;

/// The largest m for which a square times m keeps its carries within two words.
const LARGEST_MULTIPLIER: u32 = 8;

/// The bits that the shortest word must have for a carry to come to rest in two words.
///
/// Words of a product of random digits have a root mean square of 0.18·√N·4^b, and a carry is
/// 2^b times smaller. After a word of b bits what is left of 8 times that is 1.44·√N/2^b of the
/// range of the next one; an eighth and less is allowed: 2^b ≥ 11.6·√N. Short transforms are to
/// take any digits, with N in place of √N and 1/4 of the range: 2^b ≥ 2·N.
fn least_bits(length: usize) -> u32 {
    let log2 = length.next_power_of_two().ilog2();
    if length <= margin::ANY_DIGITS_UP_TO { log2 + 1 } else { log2.div_ceil(2) + 4 }
}

/// A carry that random digits never have: the words of a product are below 16 of their largest
/// credible root mean squares.
fn largest_carry(layout: &WordLayout) -> f64 {
    let unit = 2f64.powi((layout.exponent() as usize / layout.len()) as i32);
    16.0 * margin::largest_rms(layout.len()) * f64::from(LARGEST_MULTIPLIER) / unit
}

impl Fp64On {
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

/// Every length that some device may have, ascending.
pub fn all_lengths() -> impl Iterator<Item = usize> {
    let mut lengths: Vec<usize> = ODD_PARTS
        .into_iter()
        .flat_map(|odd| (1..=LONGEST.ilog2()).map(move |a| odd << a))
        .filter(|n| (SHORTEST..=LONGEST).contains(n))
        .collect();
    lengths.sort_unstable();
    lengths.into_iter()
}

/// Every source that an engine of so many words compiles by default, for those
/// who compile without a device.
#[must_use]
pub fn sources(length: usize, shared_memory_per_block: u32) -> Vec<Source> {
    let shape = Shape::all(length, shared_memory_per_block).into_iter().next();
    let mut sources = vec![machine::words_source()];
    if let Some(shape) = shape {
        for step in [kernels::StepKind::Square, kernels::StepKind::MinusTwo] {
            sources.extend(kernels::squaring_sources(&shape, 1, step));
        }
        sources.extend(kernels::product_sources(&shape));
    }
    sources
}

impl EngineFamily for Fp64On {
    fn name(&self) -> &'static str {
        Fp64.name()
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn shortest_worthwhile(&self) -> usize {
        SHORTEST_WORTHWHILE
    }

    fn exponent_range(&self) -> RangeInclusive<u32> {
        2304..=(1 << 31) - 1
    }

    fn lengths(&self, from: usize, to: usize) -> Vec<usize> {
        let shared_memory = self.shared_memory();
        all_lengths()
            .filter(|n| (from..=to).contains(n) && Shape::exists(*n, shared_memory))
            .collect()
    }

    fn margin(&self, p: u32, length: usize) -> Result<Margin, EngineError> {
        let unusable = |reason: String| EngineError::Unusable {
            engine: self.name(),
            exponent: p,
            length,
            reason,
        };
        if !self.exponent_range().contains(&p) {
            return Err(unusable("exponents are from 2304 to 2^31 − 1 on a device".into()));
        }
        if self.lengths(length, length).is_empty() {
            return Err(unusable("not a length of this engine on this device".into()));
        }
        let least_bits = least_bits(length);
        if (p as usize) < least_bits as usize * length {
            return Err(unusable(format!("words have at least {least_bits} bits on a device")));
        }
        if p as usize > 25 * length {
            return Err(unusable("words of more than 25 bits".into()));
        }
        Ok(Margin { bits: margin::bits(p, length), proven: false })
    }

    fn variants(&self, _p: u32, length: usize) -> Vec<String> {
        self.shapes(length).iter().map(ToString::to_string).collect()
    }

    fn device_bytes(&self, _p: u32, length: usize, registers: usize) -> Option<u64> {
        let tables = self.shapes(length).first().map_or(0, tables::bytes);
        Some(length as u64 * (16 + 4 * (registers as u64 + 1)) + tables)
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
