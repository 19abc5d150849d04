//! The layout of words on a device, and what the kernels of columns measure.

use warpint_device::{Arg, Buffer, Device};

use super::limits::{Limited, Limits};
use super::tables::{Tables, Words};
use super::{LARGEST_MULTIPLIER, Shape};
use crate::engine::fp64::engine::Statistics;
use crate::engine::fp64_gpu::form::LastWord;
use crate::engine::fp64_gpu::tables::Point;
use crate::engine::gpu::{self, Arithmetic, Layout as _, LineTables};
use crate::engine::{EngineError, Health, Step};
use crate::layout::WordLayout;

/// The number of launches of columns for which the kernels store their measurements separately.
/// This number is the constant MEASURED in `columns.cu`.
const MEASURED: usize = 16_384;

/// The units of a norm that the kernels do not count: the constant 1 << 63 in `columns.cu`.
const TOO_MANY: u64 = 1 << 63;

/// The number of squarings in a CUDA graph.
const GRAPH_SQUARINGS: u64 = 32;

/// The weights and lengths of words on a device, and the measurements of the products computed
/// with them.
pub(in crate::engine) struct HybridWords {
    length: usize,
    limits: Limits,
    row_weights: Buffer<Point>,
    column_weights: Buffer<Point>,
    fractions: Buffer<u32>,
    /// The constants of words.
    constants: Vec<Arg>,
    /// For every launch of columns since the last evaluation, the norm of the digits; then, for
    /// every such launch, the largest distance from an integer as the upper half of a double; then
    /// the norms of launches of `digits_to_spectrum`. An entry is 0 if its launch has not measured.
    measured: Buffer<u64>,
    /// The unit of norms.
    unit: f64,
    /// The number of launches of `digits_to_spectrum` since the last evaluation.
    transformed: u32,
    statistics: Statistics,
    /// The largest multiplier of [`Step::SquareTimes`].
    largest_multiplier: u32,
    /// The last word of a residue modulo k·b^n ± 1; `None` if carries out of the last word enter word 0.
    last: Option<LastWord>,
}

/// What a layout of words gives to the kernels of columns.
pub(in crate::engine) struct Prepared {
    pub(super) limits: Limits,
    pub(super) row_weights: Vec<Point>,
    pub(super) column_weights: Vec<Point>,
    pub(super) fractions: Vec<u32>,
    pub(super) constants: Vec<Arg>,
    pub(super) unit: f64,
    pub(super) largest_multiplier: u32,
    pub(super) last: Option<LastWord>,
    pub(super) lines: LineTables<u64>,
}

/// An arithmetic with words of both kinds of points.
pub(in crate::engine) trait Weighted:
    Arithmetic<Point = u64, Shape = Shape>
{
    /// Computes the tables and constants of a layout.
    fn prepare(layout: &Self::Layout, shape: &Shape) -> Result<Prepared, EngineError>;
}

impl<A: Limited> Weighted for A {
    fn prepare(layout: &WordLayout, shape: &Shape) -> Result<Prepared, EngineError> {
        let tables = Tables::new(layout, shape);
        let Words { ratio, inverse_ratio, bits, long_below, exponent } = Words::new(layout);
        Ok(Prepared {
            limits: A::limits(layout, shape),
            row_weights: tables.row_weights,
            column_weights: tables.column_weights,
            fractions: tables.fractions,
            constants: vec![
                Arg::F64(ratio),
                Arg::F64(inverse_ratio),
                Arg::U32(bits),
                Arg::U32(long_below),
                Arg::U32(exponent),
            ],
            unit: 4f64.powi(bits as i32) / f64::from(1 << 16),
            largest_multiplier: LARGEST_MULTIPLIER,
            last: None,
            lines: tables.lines,
        })
    }
}

impl HybridWords {
    fn word_args(&mut self) -> Vec<Arg> {
        let mut args = vec![
            Arg::from(&self.row_weights),
            Arg::from(&self.column_weights),
            Arg::from(&self.fractions),
        ];
        args.extend_from_slice(&self.constants);
        args.push(Arg::from(&mut self.measured));
        args
    }
}

impl<A: Weighted> gpu::Words<A> for HybridWords {
    const GRAPH_SQUARINGS: u64 = GRAPH_SQUARINGS;
    // Whole graphs, and the launch that leaves the spectrum.
    const MOST_UNSYNCED: u64 = MEASURED as u64 - GRAPH_SQUARINGS + 1;
    const WATCHED: u64 = 100;
    const ADDEND: usize = 5;

    fn new(
        device: &Device,
        layout: &A::Layout,
        shape: &Shape,
        _check: bool,
    ) -> Result<(Self, LineTables<u64>), EngineError> {
        let prepared = A::prepare(layout, shape)?;
        let words = Self {
            length: layout.len(),
            limits: prepared.limits,
            row_weights: device.upload(&prepared.row_weights)?,
            column_weights: device.upload(&prepared.column_weights)?,
            fractions: device.upload(&prepared.fractions)?,
            constants: prepared.constants,
            measured: device.upload(&[0; 4 * MEASURED])?,
            unit: prepared.unit,
            transformed: 0,
            statistics: Statistics::default(),
            largest_multiplier: prepared.largest_multiplier,
            last: prepared.last,
        };
        Ok((words, prepared.lines))
    }

    fn takes_multiplier(&self, m: u32) -> bool {
        (1..=self.largest_multiplier).contains(&m)
    }

    fn digit_args(&mut self) -> Vec<Arg> {
        // Between two evaluations, a product begins with at most two such launches.
        let slot = self.transformed % (2 * MEASURED as u32);
        self.transformed += 1;
        let mut args = self.word_args();
        args.push(Arg::U32(slot));
        args
    }

    fn carry_args(&mut self, scratch: [Arg; 3], step: Step) -> Vec<Arg> {
        let multiplier = if let Step::SquareTimes(m) = step { m } else { 1 };
        let mut args = self.word_args();
        args.extend(scratch);
        args.push(Arg::U32(multiplier));
        args.extend(self.last.into_iter().flat_map(|last| last.args(step)));
        args
    }

    fn sync(&mut self, _: &Device) -> Result<(), EngineError> {
        let measured = self.measured.download()?;
        self.measured.clear()?;
        self.transformed = 0;
        let (norms, rest) = measured.split_at(MEASURED);
        let (distances, more) = rest.split_at(MEASURED);
        let norm = match norms.iter().chain(more).copied().max().unwrap_or(0) {
            // Too large to be counted.
            TOO_MANY.. => f64::INFINITY,
            units => units as f64 * self.unit,
        };
        let limit = self.limits.largest_distance(norm);
        let mut worst = 0f64;
        for &distance in distances.iter().filter(|distance| **distance != 0) {
            let distance = f64::from_bits(distance << 32).min(0.5);
            self.statistics.note(distance);
            worst = worst.max(distance);
        }
        // With digits whose products are proven, a distance above the bound is a fault of the device:
        // the transforms contradict each other.
        if norm <= self.limits.norm && worst <= limit && worst < 0.5 {
            return Ok(());
        }
        let measured = if norm > self.limits.norm { 0.5 } else { worst };
        Err(EngineError::RoundOff { measured, limit, length: self.length })
    }

    fn health(&self) -> Health {
        self.statistics.health()
    }
}
