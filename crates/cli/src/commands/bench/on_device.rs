//! Squarings on a device, beside what its memory and its arithmetic need at least.

use serde::Serialize;
use warpint::device::{DeviceInfo, Effort, Rates, rates};
use warpint::mersenne::engine::places::device_on;
use warpint::mersenne::{
    DeviceChoice, DeviceId, EngineError, Exponent, KernelTime, Plan, PlanRequest, SquaringTimer,
};

use super::chart::Chart;
use super::{SQUARINGS, micros, optional, plans, say, say_all};
use crate::args::BenchArgs;
use crate::units;

/// How many squarings are timed.
#[derive(Clone, Copy)]
pub(super) struct Laps {
    /// Laps of each plan, in turns with those of others.
    pub(super) laps: u64,
    /// Squarings of a lap, and those before the first.
    pub(super) squarings: u64,
}

impl Laps {
    /// Runs them, lap by lap in turns.
    pub(super) fn run(self, timers: &mut [SquaringTimer]) -> Result<(), EngineError> {
        timers.iter_mut().try_for_each(|timer| timer.warm_up(self.squarings))?;
        for _ in 0..self.laps {
            timers.iter_mut().try_for_each(|timer| timer.lap(self.squarings))?;
        }
        Ok(())
    }
}

/// 20,000 squarings on a GPU, and those of which one half has its kernels timed; a few on the
/// simulator, whose times mean nothing.
fn effort(id: DeviceId) -> (Laps, u64, Effort) {
    match id {
        DeviceId::Cuda(_) => (Laps { laps: 10, squarings: 2_000 }, 1_000, Effort::Whole),
        DeviceId::Sim => (Laps { laps: 2, squarings: 8 }, 8, Effort::Few),
    }
}

/// The device of a request that is not for the CPU.
pub(super) fn device_of(request: &PlanRequest) -> Option<DeviceId> {
    match request.device {
        DeviceChoice::On(id) => Some(id),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    }
}

/// All that was measured.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Measured {
    device: String,
    name: String,
    driver: String,
    rates: Reached,
    rows: Vec<Row>,
}

/// The rates of which the floors are made.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Reached {
    copies: Vec<Copy>,
    fp64_fma_per_second: f64,
    products_per_second: f64,
    /// In transforms of 16 or 32 points, whichever is faster.
    points_levels_per_second: f64,
}

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Copy {
    bytes: u64,
    in_place_gb_per_second: f64,
}

/// One engine at one exponent.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    exponent: u32,
    engine: &'static str,
    device: &'static str,
    fft_length: usize,
    variant: String,
    bits_per_word: f64,
    margin_bits: f64,
    /// The squarings timed.
    squarings: u64,
    /// Their mean time, and that of the fastest and the slowest lap.
    us_per_squaring: f64,
    us_fastest_lap: f64,
    us_slowest_lap: f64,
    /// What both kernels read and write, and the size of the copy at whose rate.
    traffic_bytes: Option<u64>,
    traffic_at_copy_bytes: Option<u64>,
    traffic_floor_us: Option<f64>,
    /// What they compute, at least.
    fp64_instructions: Option<f64>,
    products: Option<f64>,
    points_levels: Option<f64>,
    arithmetic_floor_us: Option<f64>,
    /// The time over the larger floor.
    ratio_to_floor: Option<f64>,
    /// In the order of a squaring.
    kernels: Vec<Kernel>,
}

/// A kernel, launched apart from the others.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Kernel {
    kernel: &'static str,
    us: f64,
    /// Of the time of all kernels.
    share: f64,
}

/// Measures and prints; what came of it, to be drawn.
pub(super) fn run(
    args: &BenchArgs,
    request: &PlanRequest,
    exponents: &[Exponent],
) -> anyhow::Result<Chart> {
    let Some(id) = device_of(request) else { anyhow::bail!("there is no device to measure") };
    let (laps, by_kernel, effort) = effort(id);
    let device = device_on(id)?;
    let rates = rates(&device, effort)?;
    let mut measured = Measured::new(device.info(), &rates);
    say(args, &measured.head())?;
    for &p in exponents {
        for row in measure(&plans(p, request)?, (laps, by_kernel), &rates)? {
            say(args, &row.line())?;
            measured.rows.push(row);
        }
    }
    say_all(args, &measured)?;
    Ok(measured.chart())
}

/// Times plans of one exponent.
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

const HEADER: &str = "         p  engine         words  bits/word  margin  µs/squaring  traffic  \
                      arithmetic  ratio  square_rows  columns";

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

    /// The device, the rates that it reached, what the columns say.
    fn head(&self) -> String {
        let Self { device, name, driver, rates, .. } = self;
        let copies: Vec<String> = rates
            .copies
            .iter()
            .map(|copy| {
                let size = units::memory(copy.bytes);
                format!("{:.0} at {size}", copy.in_place_gb_per_second)
            })
            .collect();
        format!(
            "{device}  {}\n\n\
             GB/s in place   {}\n\
             FP64            {:.2} 10^12 multiply-adds/s\n\
             2^64−2^32+1     {:.1} 10^9 products/s, {:.1} 10^9 points·levels/s\n\n\
             Times and floors (traffic, arithmetic) in µs; ratio: to the larger floor; shares of \
             the kernels.\n\n{HEADER}",
            [name.as_str(), driver].join(", ").trim_end_matches(", "),
            copies.join(", "),
            rates.fp64_fma_per_second / 1e12,
            rates.products_per_second / 1e9,
            rates.points_levels_per_second / 1e9,
        )
    }

    fn chart(&self) -> Chart {
        let mut chart = Chart::new(&SQUARINGS, &self.name);
        for row in &self.rows {
            let p = f64::from(row.exponent);
            chart.mark(row.engine, p, row.us_per_squaring);
            for (name, floor) in [
                (format!("{}: traffic floor", row.engine), row.traffic_floor_us),
                (format!("{}: arithmetic floor", row.engine), row.arithmetic_floor_us),
            ] {
                if let Some(floor) = floor {
                    chart.dash(row.engine, &name, p, floor);
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
        let counted = |count: fn(&warpint::mersenne::Work) -> f64| {
            work.as_ref().map(count).filter(|&count| count > 0.0)
        };
        let all: f64 = kernels.iter().map(|of| micros(of.time)).sum();
        let kernel = |of: &KernelTime| {
            let us = micros(of.time);
            Kernel { kernel: of.kernel, us, share: if all > 0.0 { us / all } else { 0.0 } }
        };
        Self {
            exponent: plan.exponent().get(),
            engine: plan.engine(),
            device: plan.place(),
            fft_length: plan.length(),
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

    fn line(&self) -> String {
        let share = |name: &str| {
            let of = self.kernels.iter().find(|of| of.kernel == name);
            of.map_or_else(|| "–".into(), |of| format!("{:.0} %", 100.0 * of.share))
        };
        format!(
            "{:>10}  {:<10}  {:>8}  {:>9.2}  {:>6.1}  {:>11.2}  {:>7}  {:>10}  {:>5}  {:>11}  {:>7}",
            self.exponent,
            self.engine,
            units::words(self.fft_length),
            self.bits_per_word,
            self.margin_bits,
            self.us_per_squaring,
            optional(self.traffic_floor_us, 2),
            optional(self.arithmetic_floor_us, 2),
            optional(self.ratio_to_floor, 2),
            share("square_rows"),
            share("columns"),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_line_is_wider_than_120() {
        let copy = |mib: u64| Copy { bytes: mib << 20, in_place_gb_per_second: 12_345.6 };
        let measured = Measured {
            device: "cuda:0".into(),
            name: "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition".into(),
            driver: "580.159.04 (CUDA 13.0)".into(),
            rates: Reached {
                copies: [8, 16, 32, 64, 512].map(copy).into(),
                fp64_fma_per_second: 33.4e12,
                products_per_second: 1110.8e9,
                points_levels_per_second: 1960.2e9,
            },
            rows: vec![],
        };
        let kernel = |kernel, share| Kernel { kernel, us: 1e5 * share, share };
        let row = Row {
            exponent: 1_999_999_973,
            engine: "goldilocks",
            device: "cuda:0",
            fft_length: 10_240 << 10,
            variant: String::new(),
            bits_per_word: 19.53,
            margin_bits: 11.2,
            squarings: 20_000,
            us_per_squaring: 123_456.78,
            us_fastest_lap: 123_000.0,
            us_slowest_lap: 124_000.0,
            traffic_bytes: Some(1),
            traffic_at_copy_bytes: Some(1),
            traffic_floor_us: Some(1234.56),
            fp64_instructions: None,
            products: Some(1.0),
            points_levels: Some(1.0),
            arithmetic_floor_us: None,
            ratio_to_floor: Some(99.994),
            kernels: vec![kernel("square_rows", 0.404), kernel("columns", 0.596)],
        };
        let text = measured.head() + "\n" + &row.line();
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        // Under its header every column ends where the header does.
        let [header, line] = [HEADER.to_owned(), row.line()].map(|l| l.chars().collect::<Vec<_>>());
        assert_eq!(header.len(), line.len(), "{text}");
        assert!(row.line().ends_with("1234.56           –  99.99         40 %     60 %"), "{text}");
    }
}
