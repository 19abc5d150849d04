//! `warpint bench mersenne [P…]`

use std::time::Duration;

use serde::Serialize;
use warpint::mersenne::engine::fp64::floor::real_fft_pair;
use warpint::mersenne::engine::places::cpu_name;
use warpint::mersenne::{EngineError, Exponent, Plan, PlanRequest};

use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::report;
use crate::run::settle;
use crate::units;

/// From a small exponent to one that no cache holds. All are of Mersenne
/// primes, as a bench of this kind is by custom.
const EXPONENTS: [u64; 4] = [216_091, 1_257_787, 6_972_593, 20_996_011];

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

pub(crate) fn mersenne(args: &BenchArgs) -> anyhow::Result<Exit> {
    let threads = args.arithmetic.threads.unwrap_or_else(cores);
    let mut measured = Measured { cpu: cpu_name(), threads, rows: vec![] };
    let exponents = if args.exponents.is_empty() {
        EXPONENTS.into_iter().map(Exponent::new).collect::<Result<_, _>>()?
    } else {
        args.exponents.clone()
    };
    for p in exponents {
        let plans = plans(p, args, threads)?;
        // Not before it is known that there is something to measure.
        if !args.json && measured.rows.is_empty() {
            let line = format!("{}, {}", measured.cpu, units::count(threads as u64, "thread"));
            report::write_out(format!("{line}\n\n{HEADER}\n").as_bytes())?;
        }
        for row in measure(&plans)? {
            if !args.json {
                report::write_out(format!("{}\n", row.line()).as_bytes())?;
            }
            measured.rows.push(row);
        }
    }
    if args.json {
        let text = serde_json::to_string(&measured)? + "\n";
        report::write_out(text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The fastest plan of the engine asked for, or of every engine of the device that takes p.
fn plans(p: Exponent, args: &BenchArgs, threads: usize) -> anyhow::Result<Vec<Plan>> {
    let threads = Some(threads);
    let request = PlanRequest { threads, ..args.arithmetic.plan_request(None) };
    let request = settle(&request, p)?;
    let plan = |engine| Plan::measured(p, &PlanRequest { engine: Some(engine), ..request });
    let plans: Result<_, _> = match request.engine {
        Some(engine) => plan(engine).map(|plan| vec![plan]),
        None => request
            .families()?
            .0
            .into_iter()
            .filter(|family| family.exponent_range().contains(&p.get()))
            .map(|family| plan(family.name()))
            .collect(),
    };
    Ok(plans?)
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
        let micros = |t: Duration| t.as_secs_f64() * 1e6;
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
        let optional = |x: Option<f64>, digits: usize| {
            x.map_or_else(|| "–".into(), |x| format!("{x:.digits$}"))
        };
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

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}
