//! Squarings by transforms of complex numbers and of integers mod 2^64 − 2^32 + 1, with the same
//! factorisation of both transforms.

use serde::Serialize;
use warpint_device::device_model;
use warpint_mersenne::{
    Alike, DeviceId, EngineError, Plan, PlanError, PlanRequest, SquaringTimer, plans_cut_alike,
};

use super::on_device::Laps;
use crate::chart::Chart;
use crate::{BenchError, micros, once_each};

/// The largest number of factorisations that are measured per number of points. The kernels of a
/// factorisation take a second to compile on a GPU.
pub const MOST: usize = 4;

/// Returns the default numbers of points: the powers of two from 2^16 to 2^24 on a GPU, 2^8 and 2^9
/// on the simulator.
fn default_points(id: DeviceId) -> Vec<usize> {
    let logs = match id {
        DeviceId::Cuda(_) => 16..=24,
        DeviceId::Sim => 8..=9,
    };
    logs.map(|log| 1 << log).collect()
}

/// All measurements of a benchmark of squarings by transforms of complex numbers and of integers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The identifier of the device, such as `cuda:0`.
    pub device: String,
    /// The name of the GPU model or of the simulator.
    pub name: String,
    /// The version of the driver; empty on the simulator.
    pub driver: String,
    /// One row per factorisation.
    pub rows: Vec<Row>,
}

impl Measured {
    /// Creates a benchmark without rows. If the device has not been opened before, the fields
    /// `name` and `driver` are empty.
    #[must_use]
    pub fn new(id: DeviceId) -> Self {
        let device = id.to_string();
        let (name, driver) = device_model(&device).unwrap_or_default();
        Self { device, name, driver, rows: vec![] }
    }

    /// Draws a chart of the time per bit of the largest exponent against the number of points. Of the
    /// factorisations of a number of points, each engine's fastest is drawn.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let axes = ["points", "ns per bit of the largest exponent"];
        let mut chart = Chart::new("Squarings by the same plans", &self.name, axes);
        for points in once_each(self.rows.iter().map(|row| row.points)) {
            for (engine, side) in [
                ("fp64", (|row| &row.fp64) as fn(&Row) -> &Side),
                ("goldilocks", |row| &row.goldilocks),
            ] {
                let rows = self.rows.iter().filter(|row| row.points == points);
                let order = |a: &&Row, b: &&Row| side(a).ns_per_bit.total_cmp(&side(b).ns_per_bit);
                let Some(row) = rows.min_by(order) else { continue };
                let Side { ns_per_bit, us_per_squaring, exponent, .. } = side(row);
                let tooltip = format!(
                    "{engine}, {}: {us_per_squaring:.2} µs, {ns_per_bit:.5} ns per bit of M{exponent}",
                    row.plan.name
                );
                chart.mark(engine, (points as f64, *ns_per_bit), tooltip);
            }
        }
        chart
    }
}

/// The measurements of one factorisation of a transform, with complex numbers and with integers as
/// points.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The number of points of each transform.
    pub points: usize,
    /// The factorisation of the transforms.
    pub plan: CommonPlan,
    /// The measurements with complex numbers, by the engine fp64.
    pub fp64: Side,
    /// The measurements with integers, by the engine goldilocks.
    pub goldilocks: Side,
    /// The time of a squaring with integers divided by the time of a squaring with complex numbers.
    pub ratio: f64,
}

/// The factorisation of a transform.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct CommonPlan {
    /// The name of the factorisation, such as `256x512 16.16/4.8.16`: rows, columns, then the
    /// radices of columns and of rows.
    pub name: String,
    /// The number of rows of the matrix of points.
    pub rows: u32,
    /// The number of columns of the matrix of points.
    pub columns: u32,
    /// The radices of a column's transform, pass by pass.
    pub column_radices: Vec<u32>,
    /// The radices of a row's transform, pass by pass.
    pub row_radices: Vec<u32>,
}

/// The measurements with complex numbers or with integers.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Side {
    /// The transform length, in words.
    pub fft_length: usize,
    /// The name of the engine's variant.
    pub variant: String,
    /// The largest prime exponent that the transform length supports with the required margin.
    pub exponent: u32,
    /// The number of timed squarings.
    pub squarings: u64,
    /// The mean time of the timed squarings, in µs.
    pub us_per_squaring: f64,
    /// The mean time of a squaring in the fastest lap, in µs.
    pub us_fastest_lap: f64,
    /// The mean time of a squaring in the slowest lap, in µs.
    pub us_slowest_lap: f64,
    /// The time of a squaring in ns divided by the exponent.
    pub ns_per_bit: f64,
}

/// Returns pairs of plans of fp64 and goldilocks with a common factorisation: at most [`MOST`]
/// pairs for each number of points in `points`. If `points` is empty, the default numbers of points
/// are used, except those for which the device has no common factorisation.
///
/// # Errors
/// There is no common factorisation for one of `points` ([`BenchError::NoCommonPlan`]), or the
/// device cannot be used.
pub fn common(
    request: &PlanRequest,
    id: DeviceId,
    points: &[usize],
) -> Result<Vec<Alike>, BenchError> {
    let named = !points.is_empty();
    let points = if named { points.to_vec() } else { default_points(id) };
    let mut found = vec![];
    for points in points {
        let alike = common_plans(request, points)?;
        if alike.is_empty() && named {
            return Err(BenchError::NoCommonPlan { points, place: id.to_string() });
        }
        found.extend(alike);
    }
    Ok(found)
}

/// Returns at most [`MOST`] pairs of plans with a common factorisation. The first plan of a pair is
/// for n complex points, which are 2n words, and the second is for n integers.
fn common_plans(request: &PlanRequest, n: usize) -> Result<Vec<Alike>, PlanError> {
    let families = request.families()?.0;
    let of = |name| families.iter().copied().find(|family| family.name() == name);
    let (Some(complex), Some(integers)) = (of("fp64"), of("goldilocks")) else {
        return Ok(vec![]);
    };
    Ok(plans_cut_alike([(complex, n.saturating_mul(2)), (integers, n)], 1, MOST))
}

impl Row {
    /// Times the two plans in turns, and returns the row.
    ///
    /// # Errors
    /// An engine could not be built, or failed.
    pub fn measure(alike: &Alike) -> Result<Self, EngineError> {
        let Alike { cut, plans: [complex, integers] } = alike;
        let laps = match complex.place() == DeviceId::Sim.to_string() {
            true => Laps { laps: 2, squarings: 4 },
            false => Laps { laps: 4, squarings: 1_000 },
        };
        let mut timers = [complex.timer()?, integers.timer()?];
        laps.run(&mut timers)?;
        let [fp64, goldilocks] = [Side::new(complex, &timers[0]), Side::new(integers, &timers[1])];
        Ok(Self {
            points: cut.points(),
            plan: CommonPlan {
                name: cut.to_string(),
                rows: cut.rows,
                columns: cut.columns,
                column_radices: cut.column_radices.clone(),
                row_radices: cut.row_radices.clone(),
            },
            ratio: goldilocks.us_per_squaring / fp64.us_per_squaring,
            fp64,
            goldilocks,
        })
    }
}

impl Side {
    fn new(plan: &Plan, timer: &SquaringTimer) -> Self {
        let (least, most) = timer.extremes();
        let (time, exponent) = (micros(timer.mean()), plan.exponent());
        Self {
            fft_length: plan.length(),
            variant: plan.variant(),
            exponent,
            squarings: timer.squarings(),
            us_per_squaring: time,
            us_fastest_lap: micros(least),
            us_slowest_lap: micros(most),
            ns_per_bit: 1e3 * time / f64::from(exponent),
        }
    }
}
