//! The measurements of transforms of one length.

use serde::Serialize;

use super::{Case, name, points};
use crate::columns::Times;

/// The measurements for one length and one order of the outputs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The odd factor f of the number N = f·2^k of points of a vector.
    pub odd: u32,
    /// The exponent k, which is log2(N) for f = 1.
    pub log2: u32,
    /// The order of the outputs: `natural` or `bit-reversed`.
    pub order: &'static str,
    /// The number of vectors of the batch.
    pub batch: usize,
    /// The measurements; `None` if the transforms could not be measured.
    pub transforms: Option<Transforms>,
    /// A line that says why the transforms could not be measured; `None` if they were measured.
    pub missing: Option<String>,
}

/// The measurements of the transforms of a batch, whose outputs were checked.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Transforms {
    /// The times of the forward transforms of the batch.
    pub forward: Times,
    /// The times of the inverse transforms of the batch.
    pub inverse: Times,
    /// The number of points of the batch divided by the median time of the forward transforms, in
    /// 10^9 points per second.
    pub gpoints_per_second: f64,
    /// The floors of the time of the forward transforms; `None` on the CPU.
    pub floors: Option<Floors>,
    /// The number of outputs that were compared with the definition. The results of the inverse
    /// transforms were all compared with the input.
    pub outputs_compared: usize,
}

/// Lower bounds on the time of the forward transforms of a batch on a device.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Floors {
    /// The number of passes over memory.
    pub passes: usize,
    /// The number of bytes of the batch that all passes read and write.
    pub bytes: u64,
    /// The rate of a copy of about the size of the batch, in 10^9 bytes read and written per
    /// second.
    pub copy_gb_per_second: f64,
    /// The time in which a copy reads and writes `bytes` bytes, in µs.
    pub memory_floor_us: f64,
    /// The number of points of the batch times the number of levels, which is log2(N) rounded up.
    pub points_levels: u64,
    /// The rate of the arithmetic in points times levels per second. Modulo 2^64 − 2^32 + 1 it is that
    /// of transforms of 16 or of 32 points in registers, whichever is faster. Modulo a prime below
    /// 2^50 it is a quarter of the rate of fused multiply-adds in FP64.
    pub points_levels_per_second: f64,
    /// The time for `points_levels` at the rate `points_levels_per_second`, in µs.
    pub arithmetic_floor_us: f64,
    /// The median time of the forward transforms divided by the larger floor.
    pub forward_over_floor: f64,
}

impl Row {
    /// Formats the number of points of a vector, as 2^12 or 3·2^12.
    #[must_use]
    pub fn points(&self) -> String {
        points((self.odd as usize) << self.log2)
    }

    /// Creates the row of a case from its measurements, or from the reason why there are none.
    pub(super) fn new(case: Case, measured: Result<Transforms, String>) -> Self {
        let Case { odd, log2, order, batch, .. } = case;
        let (transforms, missing) = match measured {
            Ok(transforms) => (Some(transforms), None),
            Err(why) => (None, Some(why)),
        };
        Self { odd, log2, order: name(order), batch, transforms, missing }
    }
}

impl Transforms {
    pub(super) fn new(case: Case, forward: Times, inverse: Times, outputs_compared: usize) -> Self {
        let gpoints_per_second = case.points() as f64 / forward.us * 1e-3;
        Self { forward, inverse, gpoints_per_second, floors: None, outputs_compared }
    }
}

impl Floors {
    /// Computes the floors of forward transforms of a batch that take `forward_us`. `copy_rate` is
    /// in bytes per second, and `level_rate` in points times levels per second.
    pub(super) fn new(
        case: Case,
        passes: usize,
        forward_us: f64,
        copy_rate: f64,
        level_rate: f64,
    ) -> Self {
        let us = |amount: u64, rate: f64| if rate > 0.0 { amount as f64 / rate * 1e6 } else { 0.0 };
        let points = case.points() as u64;
        let levels = u64::from(case.length().next_power_of_two().ilog2());
        let (bytes, points_levels) = (16 * passes as u64 * points, points * levels);
        let mut floors = Self {
            passes,
            bytes,
            copy_gb_per_second: copy_rate / 1e9,
            memory_floor_us: us(bytes, copy_rate),
            points_levels,
            points_levels_per_second: level_rate,
            arithmetic_floor_us: us(points_levels, level_rate),
            forward_over_floor: 0.0,
        };
        floors.forward_over_floor = forward_us / floors.largest_us();
        floors
    }

    /// Returns the larger of `memory_floor_us` and `arithmetic_floor_us`, in µs.
    #[must_use]
    pub fn largest_us(&self) -> f64 {
        self.memory_floor_us.max(self.arithmetic_floor_us)
    }
}
