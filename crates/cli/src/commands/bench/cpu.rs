//! Squarings on the CPU, beside the bare real FFT.

use std::time::Duration;

use serde::Serialize;
use warpint::mersenne::engine::fp64::floor::real_fft_pair;
use warpint::mersenne::engine::places::cpu_name;
use warpint::mersenne::{EngineError, Exponent, Plan, PlanRequest};

use super::chart::Chart;
use super::{SQUARINGS, micros, optional, plans, say, say_all};
use crate::args::BenchArgs;
use crate::units;

/// All that was measured.
#[derive(Serialize)]
struct Measured {
    cpu: String,
    threads: usize,
    rows: Vec<Row>,
}

/// One engine at one exponent.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    exponent: u32,
    engine: &'static str,
    device: &'static str,
    fft_length: usize,
    bits_per_word: f64,
    margin_bits: f64,
    us_per_squaring: f64,
    /// A bare real FFT and its inverse on one thread, at the length that fp64 uses.
    fft_floor_us: Option<f64>,
    ratio_to_floor: Option<f64>,
}

/// Measures and prints; what came of it, to be drawn.
pub(super) fn run(
    args: &BenchArgs,
    request: &PlanRequest,
    exponents: &[Exponent],
) -> anyhow::Result<Chart> {
    let threads = request.threads.unwrap_or(1);
    let mut measured = Measured { cpu: cpu_name(), threads, rows: vec![] };
    for &p in exponents {
        let plans = plans(p, request)?;
        // Not before it is known that there is something to measure.
        if measured.rows.is_empty() {
            let line = format!("{}, {}", measured.cpu, units::count(threads as u64, "thread"));
            say(args, &format!("{line}\n\n{HEADER}"))?;
        }
        for row in measure(&plans)? {
            say(args, &row.line())?;
            measured.rows.push(row);
        }
    }
    say_all(args, &measured)?;
    Ok(measured.chart())
}

impl Measured {
    fn chart(&self) -> Chart {
        let threads = units::count(self.threads as u64, "thread");
        let mut chart = Chart::new(&SQUARINGS, &format!("{}, {threads}", self.cpu));
        for row in &self.rows {
            let p = f64::from(row.exponent);
            chart.mark(row.engine, p, row.us_per_squaring);
            if let Some(floor) = row.fft_floor_us.filter(|_| row.engine == "fp64") {
                chart.dash("fp64", "bare real FFT pair", p, floor);
            }
        }
        chart
    }
}

/// Times plans of one exponent, and the bare real FFT at the length of fp64's:
/// in turns, so that a slow moment of the machine strikes none alone.
fn measure(plans: &[Plan]) -> Result<Vec<Row>, EngineError> {
    const ROUNDS: usize = 4;
    const EACH: Duration = Duration::from_millis(300);
    let on_cpu = |plan: &&Plan| plan.engine() == "fp64" && plan.is_on_cpu();
    let fft_length = plans.iter().find(on_cpu).map(Plan::length);
    let mut times = vec![Duration::MAX; plans.len()];
    let mut floor: Option<Duration> = None;
    for _ in 0..ROUNDS {
        for (plan, time) in plans.iter().zip(&mut times) {
            *time = plan.time_per_squaring(EACH)?.min(*time);
        }
        let pair = fft_length.and_then(|length| real_fft_pair(length, EACH));
        floor = floor.into_iter().chain(pair).min();
    }
    Ok(plans.iter().zip(times).map(|(plan, time)| Row::new(plan, time, floor)).collect())
}

const HEADER: &str =
    "         p  engine      device     words  bits/word  margin  µs/squaring  FFT floor  ratio";

impl Row {
    fn new(plan: &Plan, time: Duration, floor: Option<Duration>) -> Self {
        Self {
            exponent: plan.exponent().get(),
            engine: plan.engine(),
            device: plan.place(),
            fft_length: plan.length(),
            bits_per_word: plan.bits_per_word(),
            margin_bits: plan.margin().bits,
            us_per_squaring: micros(time),
            fft_floor_us: floor.map(micros),
            ratio_to_floor: floor.map(|floor| micros(time) / micros(floor)),
        }
    }

    fn line(&self) -> String {
        format!(
            "{:>10}  {:<10}  {:<6}  {:>8}  {:>9.2}  {:>6.1}  {:>11.2}  {:>9}  {:>5}",
            self.exponent,
            self.engine,
            self.device,
            units::words(self.fft_length),
            self.bits_per_word,
            self.margin_bits,
            self.us_per_squaring,
            optional(self.fft_floor_us, 2),
            optional(self.ratio_to_floor, 2),
        )
    }
}
