//! Squarings on the CPU, compared with the bare real FFT of `realfft`, and with that of FFTW if it is
//! installed.

use std::time::Duration;

use serde::Serialize;
use warpint_device::cpu_name;
use warpint_mersenne::engine::fp64::floor::real_fft_pair;
use warpint_mersenne::{EngineError, Plan};

use super::fftw::Fftw;
use super::{chart_of_squarings, mark_squaring};
use crate::chart::Chart;
use crate::columns::Planned;
use crate::micros;

/// All measurements of a benchmark of squarings on the CPU.
#[derive(Debug, Serialize)]
pub struct Measured {
    /// The name of the processor.
    pub cpu: String,
    /// The number of threads per engine.
    pub threads: usize,
    /// One row per plan.
    pub rows: Vec<Row>,
    #[serde(skip)]
    fftw: Option<Fftw>,
}

/// The measurement of one engine at one exponent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The exponent, engine, place (`cpu`) and length of the plan.
    #[serde(flatten)]
    pub plan: Planned,
    /// The mean number of bits per word of the transform: the exponent divided by the transform
    /// length.
    pub bits_per_word: f64,
    /// The margin of the plan, in bits: log2 of the ratio of the allowed rounding error to the
    /// expected rounding error. For an exact engine, log2 of the ratio of the largest number that
    /// the engine can represent to the largest number that can occur.
    pub margin_bits: f64,
    /// The time of a squaring, in µs: the least of four measurements.
    pub us_per_squaring: f64,
    /// The time of a bare real FFT and its inverse on one thread, at the transform length of fp64,
    /// in µs; `None` if fp64 was not among the measured engines.
    pub fft_floor_us: Option<f64>,
    /// The time of a real FFT and its inverse by FFTW on one thread, at the same length, in µs;
    /// `None` if FFTW is not installed, or if fp64 was not among the measured engines.
    pub fftw_us: Option<f64>,
    /// The ratio `us_per_squaring` / `fft_floor_us`; `None` if `fft_floor_us` is `None`.
    pub ratio_to_floor: Option<f64>,
}

impl Measured {
    /// Creates a benchmark without rows, and loads FFTW if it is installed. `threads` is the number
    /// of threads of the plans.
    #[must_use]
    pub fn new(threads: usize) -> Self {
        Self { cpu: cpu_name(), threads, rows: vec![], fftw: Fftw::load() }
    }

    /// Returns whether FFTW is measured.
    #[must_use]
    pub fn has_fftw(&self) -> bool {
        self.fftw.is_some()
    }

    /// Times plans of one exponent, and the bare real FFTs at the length of fp64. Returns the new
    /// rows. The measurements take turns, so that a slow moment of the machine affects all
    /// measurements.
    ///
    /// # Errors
    /// An engine could not be built, or failed.
    pub fn measure(&mut self, plans: &[Plan]) -> Result<&[Row], EngineError> {
        let before = self.rows.len();
        self.rows.extend(measure(plans, self.fftw.as_ref())?);
        Ok(&self.rows[before..])
    }

    /// Draws a chart of the times, and of the floor of fp64, against the exponent.
    #[must_use]
    pub fn chart(&self) -> Chart {
        let threads = if self.threads == 1 { "thread" } else { "threads" };
        let threads = format!("{} {threads}", self.threads);
        let mut chart = chart_of_squarings(&format!("{}, {threads}", self.cpu));
        for row in &self.rows {
            let p = f64::from(row.plan.exponent);
            mark_squaring(&mut chart, row.plan.engine, p, row.us_per_squaring);
            if let Some(floor) = row.fft_floor_us.filter(|_| row.plan.engine == "fp64") {
                chart.dash("fp64", "bare real FFT pair", (p, floor));
            }
        }
        chart
    }
}

fn measure(plans: &[Plan], fftw: Option<&Fftw>) -> Result<Vec<Row>, EngineError> {
    const ROUNDS: usize = 4;
    const EACH: Duration = Duration::from_millis(300);
    let on_cpu = |plan: &&Plan| plan.engine() == "fp64" && plan.is_on_cpu();
    let fft_length = plans.iter().find(on_cpu).map(Plan::length);
    let mut times = vec![Duration::MAX; plans.len()];
    let mut floor: Option<Duration> = None;
    let mut fftw_pair = fft_length.zip(fftw).and_then(|(length, fftw)| fftw.pair(length));
    let mut by_fftw: Option<Duration> = None;
    for _ in 0..ROUNDS {
        for (plan, time) in plans.iter().zip(&mut times) {
            *time = plan.time_per_squaring(EACH)?.min(*time);
        }
        let pair = fft_length.and_then(|length| real_fft_pair(length, EACH));
        floor = floor.into_iter().chain(pair).min();
        let pair = fftw_pair.as_mut().map(|pair| pair.time(EACH));
        by_fftw = by_fftw.into_iter().chain(pair).min();
    }
    let row = |(plan, time)| Row::new(plan, time, floor, by_fftw);
    Ok(plans.iter().zip(times).map(row).collect())
}

impl Row {
    fn new(plan: &Plan, time: Duration, floor: Option<Duration>, fftw: Option<Duration>) -> Self {
        Self {
            plan: plan.into(),
            bits_per_word: plan.bits_per_word(),
            margin_bits: plan.margin().bits,
            us_per_squaring: micros(time),
            fft_floor_us: floor.map(micros),
            fftw_us: fftw.map(micros),
            ratio_to_floor: floor.map(|floor| micros(time) / micros(floor)),
        }
    }
}
