//! `warpint bench mersenne [P…]`, and the benches of more than one file.

pub(crate) mod batch;
pub(crate) mod bigprime;
mod chart;
pub(crate) mod checks;
mod cpu;
pub(crate) mod jacobi;
mod on_device;
mod same_plan;
mod scratch;

use serde::Serialize;
use warpint::mersenne::{Exponent, Plan, PlanRequest, TunedTimes};

use self::chart::Labels;
use crate::args::BenchArgs;
use crate::exit::Exit;
use crate::lengths;
use crate::report;
use crate::run::{exponents_for, settle, settle_for_any};
use crate::whole_file::WholeFile;

/// From a small exponent to one that no cache of a CPU holds. All are of Mersenne primes, as a
/// bench of this kind is by custom.
const ON_CPU: [u64; 4] = [216_091, 1_257_787, 6_972_593, 20_996_011];

/// On a GPU: of Mersenne primes too, but for the last, which is the first of more than 100,000,000
/// digits.
const ON_GPU: [u64; 6] = [6_972_593, 43_112_609, 57_885_161, 82_589_933, 136_279_841, 332_192_831];

/// Charts of squarings.
const SQUARINGS: Labels = Labels {
    title: "Time of a squaring modulo 2^p − 1",
    axes: ["exponent p (bits)", "µs per squaring"],
    marker: |engine, p, micros| format!("M{p:.0} by {engine}: {micros:.2} µs"),
};

pub(crate) fn mersenne(args: &BenchArgs) -> anyhow::Result<Exit> {
    // What cannot be written is no reason to measure for minutes.
    let chart = args.plot.as_deref().map(WholeFile::new).transpose()?;
    if let Some(points) = &args.same_plan {
        return same_plan::run(args, points);
    }
    let (request, exponents) = request(args)?;
    for &p in &exponents {
        Plan::new(p, &request).map_err(|e| lengths::explain(e, &request))?;
    }
    let drawn = if request.is_on_cpu() {
        cpu::run(args, &request, &exponents)?
    } else {
        on_device::run(args, &request, &exponents)?
    };
    if let Some(file) = chart {
        file.write(&drawn.to_string())?;
    }
    Ok(Exit::Done)
}

/// Where to compute, and what: all exponents at one place, that which the largest takes.
fn request(args: &BenchArgs) -> anyhow::Result<(PlanRequest, Vec<Exponent>)> {
    let threads = args.arithmetic.how.threads.unwrap_or_else(cores);
    let request = PlanRequest { threads: Some(threads), ..args.arithmetic.plan_request(None) };
    match args.exponents.iter().max() {
        Some(&largest) => Ok((settle(&request, largest)?, args.exponents.clone())),
        None => {
            let request = settle_for_any(&request)?;
            let exponents = exponents_for(&request, &ON_CPU, &ON_GPU)?;
            Ok((request, exponents))
        }
    }
}

/// The fastest plan of the engine asked for, or of every engine of the place that takes p.
fn plans(p: Exponent, request: &PlanRequest) -> anyhow::Result<Vec<Plan>> {
    let times = TunedTimes::open();
    let plan = |engine| Plan::fastest(p, &PlanRequest { engine: Some(engine), ..*request }, &times);
    let plans: Result<Vec<Plan>, _> = match request.engine {
        Some(engine) => plan(engine).map(|plan| vec![plan]),
        None => request
            .families()?
            .0
            .into_iter()
            .filter(|family| family.exponent_range().contains(&p.get()))
            .map(|family| plan(family.name()))
            .collect(),
    };
    for warning in times.take_warnings() {
        report::notice(&format!("warning: {warning}"));
    }
    Ok(plans?)
}

/// Prints a line, or several, as soon as they are known; not where one JSON object is asked for.
fn say(args: &BenchArgs, text: &str) -> anyhow::Result<()> {
    if !args.json {
        report::write_out(format!("{text}\n").as_bytes())?;
    }
    Ok(())
}

/// Prints all that was measured, where one JSON object is asked for.
fn say_all(args: &BenchArgs, measured: &impl Serialize) -> anyhow::Result<()> {
    if args.json {
        report::write_out((serde_json::to_string(measured)? + "\n").as_bytes())?;
    }
    Ok(())
}

fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, usize::from)
}

/// Microseconds.
fn micros(time: std::time::Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// A number of so many digits after the point, or a dash.
fn optional(x: Option<f64>, digits: usize) -> String {
    x.map_or_else(|| "–".into(), |x| format!("{x:.digits$}"))
}
