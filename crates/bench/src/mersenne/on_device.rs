//! Squarings on a device, compared with the least time that their memory traffic and their
//! arithmetic need.

use serde::Serialize;
use warpint_device::{Device, DeviceError, DeviceInfo, Effort, Rates, rates};
use warpint_mersenne::{EngineError, KernelTime, Plan, SquaringTimer};

use super::{chart_of_squarings, mark_squaring};
use crate::chart::Chart;
use crate::columns::Planned;
use crate::{is_simulator, micros};

/// The number of laps in which plans are timed, and the number of squarings of a lap.
#[derive(Debug, Clone, Copy)]
pub(super) struct Laps {
    /// The number of laps of each plan. The plans take turns, lap by lap.
    pub(super) laps: u64,
    /// The number of squarings of a lap. The same number of squarings warms up each plan before its
    /// first lap.
    pub(super) squarings: u64,
}

impl Laps {
    /// Warms up all timers, then runs their laps in turns: the first lap of each timer, then the
    /// second lap of each timer, and so on.
    pub(super) fn run(self, timers: &mut [SquaringTimer]) -> Result<(), EngineError> {
        timers.iter_mut().try_for_each(|timer| timer.warm_up(self.squarings))?;
        for _ in 0..self.laps {
            timers.iter_mut().try_for_each(|timer| timer.lap(self.squarings))?;
        }
        Ok(())
    }
}

/// All measurements of a benchmark of squarings on a device.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The identifier of the device, such as `cuda:0`.
    pub device: String,
    /// The name of the GPU model or of the simulator.
    pub name: String,
    /// The version of the driver; empty on the simulator.
    pub driver: String,
    /// The rates from which the floors are computed.
    pub rates: Reached,
    /// One row per plan.
    pub rows: Vec<Row>,
}

/// The rates from which the floors are computed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reached {
    /// The rates of copies in place, one per size of the buffer.
    pub copies: Vec<Copy>,
    /// The number of fused multiply-adds in FP64 per second.
    pub fp64_fma_per_second: f64,
    /// The number of products mod 2^64 − 2^32 + 1 per second, with operands in registers.
    pub products_per_second: f64,
    /// The rate of transforms modulo 2^64 − 2^32 + 1 of 16 or of 32 points, whichever is faster. It
    /// is in points times levels per second, where n points have log2(n) levels.
    pub points_levels_per_second: f64,
}

/// The rate of a kernel that reads each element of a buffer, adds 1 and writes the result back.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Copy {
    /// The size of the buffer, in bytes.
    pub bytes: u64,
    /// The rate, in 10^9 bytes read and written per second.
    pub in_place_gb_per_second: f64,
}

/// The measurement of one engine at one exponent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The exponent, engine, device and length of the plan.
    #[serde(flatten)]
    pub plan: Planned,
    /// The name of the engine's variant; empty if the engine has only one at this length.
    pub variant: String,
    /// The mean number of bits per word of the transform: the exponent divided by the transform
    /// length.
    pub bits_per_word: f64,
    /// The margin of the plan, in bits: log2 of the ratio of the allowed rounding error to the
    /// expected rounding error. For an exact engine, log2 of the ratio of the largest number that
    /// the engine can represent to the largest number that can occur.
    pub margin_bits: f64,
    /// The number of timed squarings.
    pub squarings: u64,
    /// The mean time of the timed squarings, in µs.
    pub us_per_squaring: f64,
    /// The mean time of a squaring in the fastest lap, in µs.
    pub us_fastest_lap: f64,
    /// The mean time of a squaring in the slowest lap, in µs.
    pub us_slowest_lap: f64,
    /// The number of bytes that the two kernels of a squaring read and write together. `None` if
    /// the engine does not state this number.
    pub traffic_bytes: Option<u64>,
    /// The size in bytes of the buffer of the copy whose rate is used for `traffic_floor_us`.
    /// `None` if the engine does not state its traffic or no copy was measured.
    pub traffic_at_copy_bytes: Option<u64>,
    /// The time of the memory traffic of a squaring at the rate of a copy of
    /// `traffic_at_copy_bytes` bytes, in µs. `None` if the traffic or the rate is not known.
    pub traffic_floor_us: Option<f64>,
    /// A lower bound on the number of FP64 instructions of a squaring. `None` if it is 0 or the
    /// engine does not state it.
    pub fp64_instructions: Option<f64>,
    /// A lower bound on the number of products mod 2^64 − 2^32 + 1 in a squaring. `None` if it is 0
    /// or the engine does not state it.
    pub products: Option<f64>,
    /// A lower bound on the work of all transforms of a squaring, in points times levels. A
    /// transform of n points has log2(n) levels, so it counts n·log2(n). `None` if the bound is 0
    /// or the engine does not state it.
    pub points_levels: Option<f64>,
    /// The least time of the arithmetic of a squaring at the measured rates, in µs. `None` if the
    /// work of the engine or a rate is not known.
    pub arithmetic_floor_us: Option<f64>,
    /// The time of a squaring divided by the larger of `traffic_floor_us` and
    /// `arithmetic_floor_us`. `None` if neither of these floors is known.
    pub ratio_to_floor: Option<f64>,
    /// The kernels of a squaring, in the order in which they run.
    pub kernels: Vec<Kernel>,
}

/// The time of one kernel of a squaring, measured with no other kernel running.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Kernel {
    /// The name of the kernel.
    pub kernel: &'static str,
    /// The mean time of a launch, in µs.
    pub us: f64,
    /// The kernel's share of the total time of all kernels, from 0 to 1.
    pub share: f64,
}

/// A benchmark of squarings on one device, whose rates have been measured.
#[derive(Debug)]
pub struct Bench {
    laps: Laps,
    /// The number of squarings that are run to time the kernels one by one. Only the launches of
    /// the second half are timed.
    by_kernel: u64,
    rates: Rates,
    measured: Measured,
}

impl Bench {
    /// Creates a benchmark, and measures the rates of its device.
    ///
    /// # Errors
    /// The device failed, or computed a wrong result.
    pub fn new(device: &Device) -> Result<Self, DeviceError> {
        // 20,000 squarings on a GPU; a few on the simulator, where times have no meaning.
        let (laps, by_kernel, effort) = if is_simulator(device) {
            (Laps { laps: 2, squarings: 8 }, 8, Effort::Few)
        } else {
            (Laps { laps: 10, squarings: 2_000 }, 1_000, Effort::Whole)
        };
        let rates = rates(device, effort)?;
        let measured = Measured::new(device.info(), &rates);
        Ok(Self { laps, by_kernel, rates, measured })
    }

    /// Returns the measurements so far.
    #[must_use]
    pub fn measured(&self) -> &Measured {
        &self.measured
    }

    /// Times plans of one exponent on the device, in turns, and returns the new rows.
    ///
    /// # Errors
    /// An engine could not be built, or failed.
    pub fn measure(&mut self, plans: &[Plan]) -> Result<&[Row], EngineError> {
        let before = self.measured.rows.len();
        let rows = measure(plans, (self.laps, self.by_kernel), &self.rates)?;
        self.measured.rows.extend(rows);
        Ok(&self.measured.rows[before..])
    }
}

/// Times plans of one exponent, and returns one row per plan.
fn measure(
    plans: &[Plan],
    (laps, by_kernel): (Laps, u64),
    rates: &Rates,
) -> Result<Vec<Row>, EngineError> {
    let mut timers: Vec<_> = plans.iter().map(Plan::timer).collect::<Result<_, _>>()?;
    laps.run(&mut timers)?;
    let row = |(plan, mut timer): (&Plan, SquaringTimer)| {
        let kernels = timer.kernel_times(by_kernel)?;
        Ok(Row::new(plan, &timer, &kernels, rates))
    };
    plans.iter().zip(timers).map(row).collect()
}

impl Measured {
    fn new(info: &DeviceInfo, rates: &Rates) -> Self {
        let copies = rates
            .copies
            .iter()
            .map(|copy| Copy { bytes: copy.bytes, in_place_gb_per_second: copy.in_place / 1e9 });
        let levels = rates.transforms.iter().map(|of| of.rate.per_second);
        Self {
            device: info.id.clone(),
            name: info.name.clone(),
            driver: info.driver.clone(),
            rates: Reached {
                copies: copies.collect(),
                fp64_fma_per_second: rates.fp64.fp64,
                products_per_second: rates.products.per_second,
                points_levels_per_second: levels.fold(0.0, f64::max),
            },
            rows: vec![],
        }
    }

    /// Draws a chart of the times and floors against the exponent.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let mut chart = chart_of_squarings(&self.name);
        for row in &self.rows {
            let (engine, p) = (row.plan.engine, f64::from(row.plan.exponent));
            mark_squaring(&mut chart, engine, p, row.us_per_squaring);
            for (name, floor) in [
                (format!("{engine}: traffic floor"), row.traffic_floor_us),
                (format!("{engine}: arithmetic floor"), row.arithmetic_floor_us),
            ] {
                if let Some(floor) = floor {
                    chart.dash(engine, &name, (p, floor));
                }
            }
        }
        chart
    }
}

impl Row {
    fn new(plan: &Plan, timer: &SquaringTimer, kernels: &[KernelTime], rates: &Rates) -> Self {
        let (least, most) = timer.extremes();
        let time = micros(timer.mean());
        let work = plan.work();
        let traffic = work.and_then(|work| work.traffic_floor(rates)).map(micros);
        let arithmetic = work.and_then(|work| work.arithmetic_floor(rates)).map(micros);
        let floor = traffic.into_iter().chain(arithmetic).reduce(f64::max);
        let counted = |count: fn(&warpint_mersenne::Work) -> f64| {
            work.as_ref().map(count).filter(|&count| count > 0.0)
        };
        let all: f64 = kernels.iter().map(|of| micros(of.time)).sum();
        let kernel = |of: &KernelTime| {
            let us = micros(of.time);
            Kernel { kernel: of.kernel, us, share: if all > 0.0 { us / all } else { 0.0 } }
        };
        Self {
            plan: plan.into(),
            variant: plan.variant(),
            bits_per_word: plan.bits_per_word(),
            margin_bits: plan.margin().bits,
            squarings: timer.squarings(),
            us_per_squaring: time,
            us_fastest_lap: micros(least),
            us_slowest_lap: micros(most),
            traffic_bytes: work.map(|work| work.traffic_bytes()),
            traffic_at_copy_bytes: work
                .and_then(|work| Some(rates.copy_near(work.spectrum_bytes)?.bytes)),
            traffic_floor_us: traffic,
            fp64_instructions: counted(|work| work.fp64_instructions),
            products: counted(|work| work.products),
            points_levels: counted(|work| work.points_levels),
            arithmetic_floor_us: arithmetic,
            ratio_to_floor: floor.map(|floor| time / floor),
            kernels: kernels.iter().map(kernel).collect(),
        }
    }
}
