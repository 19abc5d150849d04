//! The command `warpint bench mersenne [P…]`: times squarings modulo 2^P − 1.

use std::path::Path;

use anyhow::{Context, anyhow};
use warpint::device::device_on;
use warpint::mersenne::{Exponent, Plan, PlanRequest, TunedTimes};
use warpint_bench::chart::{Chart, Other};
use warpint_bench::mersenne::{mark_others, on_cpu, on_device, plans, usual_exponents};

use super::{Plot, cores, device_of, optional, same_plan, say, say_all};
use crate::args::BenchArgs;
use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::report;
use crate::run::{resolve, resolve_for_any};
use crate::units;

pub(crate) fn run(args: &BenchArgs) -> anyhow::Result<Exit> {
    let plot = Plot::new(args.plot.as_deref())?;
    if let Some(points) = &args.same_plan {
        return same_plan::run(args, points, &plot);
    }
    let others = args.beside.as_deref().map_or(Ok(vec![]), others)?;
    let (request, exponents) = request(args)?;
    for &p in &exponents {
        Plan::new(p, &request).map_err(|e| lengths::explain(e, &request))?;
    }
    let mut drawn = if request.is_on_cpu() {
        on_cpu(args, &request, &exponents)?
    } else {
        on_device(args, &request, &exponents)?
    };
    mark_others(&mut drawn, &others);
    plot.write(|| drawn)?;
    Ok(Exit::Done)
}

/// Reads the times of other programs.
fn others(path: &Path) -> anyhow::Result<Vec<Other>> {
    let text = std::fs::read_to_string(path)
        .map_err(|e| BadRequest(format!("cannot read {}: {e}", path.display())))?;
    Other::all(&text).map_err(|e| anyhow!(BadRequest(format!("{}, {e}", path.display()))))
}

/// Returns the request with its device chosen, and the exponents to measure on this device. If the
/// user gives exponents, the device is chosen for the largest. Otherwise the device is chosen
/// first, and determines the exponents.
fn request(args: &BenchArgs) -> anyhow::Result<(PlanRequest, Vec<Exponent>)> {
    let threads = args.arithmetic.how.threads.unwrap_or_else(cores);
    let request = PlanRequest { threads: Some(threads), ..args.arithmetic.plan_request(None) };
    match args.exponents.iter().max() {
        Some(&largest) => Ok((resolve(&request, largest)?, args.exponents.clone())),
        None => {
            let request = resolve_for_any(&request)?;
            let exponents = usual_exponents(&request);
            Ok((request, exponents))
        }
    }
}

fn plans_of(p: Exponent, request: &PlanRequest) -> anyhow::Result<Vec<Plan>> {
    let times = TunedTimes::open();
    let plans = plans(p, request, &times);
    report::warn(times.take_warnings());
    Ok(plans?)
}

fn on_cpu(args: &BenchArgs, request: &PlanRequest, all: &[Exponent]) -> anyhow::Result<Chart> {
    let mut measured = on_cpu::Measured::new(request.threads.unwrap_or(1));
    for &p in all {
        let plans = plans_of(p, request)?;
        // Printed only once it is known that rows exist.
        if measured.rows.is_empty() {
            let threads = units::count(measured.threads as u64, "thread");
            let fftw = if measured.has_fftw() { FFTW_HEADER } else { "" };
            say(args.json, &format!("{}, {threads}\n\n{CPU_HEADER}{fftw}", measured.cpu))?;
        }
        for row in measured.measure(&plans)? {
            say(args.json, &(cpu_line(row) + &fftw_column(row)))?;
        }
    }
    say_all(args.json, &measured)?;
    Ok(measured.chart())
}

fn on_device(args: &BenchArgs, request: &PlanRequest, all: &[Exponent]) -> anyhow::Result<Chart> {
    let id = device_of(request).context("there is no device to measure")?;
    let mut bench = on_device::Bench::new(&device_on(id)?)?;
    say(args.json, &head(bench.measured()))?;
    for &p in all {
        for row in bench.measure(&plans_of(p, request)?)? {
            say(args.json, &device_line(row))?;
        }
    }
    say_all(args.json, bench.measured())?;
    Ok(bench.measured().chart())
}

const CPU_HEADER: &str =
    "         p  engine       device     words  bits/word  margin  µs/squaring  FFT floor  ratio";

/// The column that follows [`CPU_HEADER`] if FFTW is measured.
const FFTW_HEADER: &str = "       FFTW";

/// Formats the time of FFTW, or nothing if it was not measured.
fn fftw_column(row: &on_cpu::Row) -> String {
    row.fftw_us.map_or_else(String::new, |us| format!("  {us:>9.2}"))
}

fn cpu_line(row: &on_cpu::Row) -> String {
    format!(
        "{:>10}  {:<11}  {:<6}  {:>8}  {:>9.2}  {:>6.1}  {:>11.2}  {:>9}  {:>5}",
        row.plan.exponent,
        row.plan.engine,
        row.plan.device,
        units::words(row.plan.fft_length),
        row.bits_per_word,
        row.margin_bits,
        row.us_per_squaring,
        optional(row.fft_floor_us, 2),
        optional(row.ratio_to_floor, 2),
    )
}

const DEVICE_HEADER: &str = "         p  engine          words  bits/word  margin  µs/squaring  traffic  \
                      arithmetic  ratio         rows  columns";

/// Returns the lines above the table of a device: its name, its measured rates, and an explanation
/// of the columns.
fn head(measured: &on_device::Measured) -> String {
    let on_device::Measured { device, name, driver, rates, .. } = measured;
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
         the kernels.\n\n{DEVICE_HEADER}",
        [name.as_str(), driver].join(", ").trim_end_matches(", "),
        copies.join(", "),
        rates.fp64_fma_per_second / 1e12,
        rates.products_per_second / 1e9,
        rates.points_levels_per_second / 1e9,
    )
}

fn device_line(row: &on_device::Row) -> String {
    let share = |of: fn(&str) -> bool| {
        let shares =
            row.kernels.iter().filter(|kernel| of(kernel.kernel)).map(|kernel| kernel.share);
        shares
            .reduce(|a, b| a + b)
            .map_or_else(|| "–".into(), |sum| format!("{:.0} %", 100.0 * sum))
    };
    format!(
        "{:>10}  {:<11}  {:>8}  {:>9.2}  {:>6.1}  {:>11.2}  {:>7}  {:>10}  {:>5}  {:>11}  {:>7}",
        row.plan.exponent,
        row.plan.engine,
        units::words(row.plan.fft_length),
        row.bits_per_word,
        row.margin_bits,
        row.us_per_squaring,
        optional(row.traffic_floor_us, 2),
        optional(row.arithmetic_floor_us, 2),
        optional(row.ratio_to_floor, 2),
        share(|name| name.ends_with("rows")),
        share(|name| name == "columns"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_bench::columns::Planned;
    use warpint_bench::mersenne::on_device::{Copy, Kernel, Measured, Reached, Row};

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
            plan: Planned {
                exponent: 1_999_999_973,
                engine: "goldilocks",
                device: "cuda:0",
                fft_length: 10_240 << 10,
            },
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
            kernels: vec![
                kernel("square_rows", 0.204),
                kernel("square_exact_rows", 0.2),
                kernel("columns", 0.596),
            ],
        };
        let text = head(&measured) + "\n" + &device_line(&row);
        assert!(text.lines().all(|line| line.chars().count() <= 120), "{text}");
        // Under its header every column ends where the header ends.
        let [header, line] =
            [DEVICE_HEADER.to_owned(), device_line(&row)].map(|l| l.chars().collect::<Vec<_>>());
        assert_eq!(header.len(), line.len(), "{text}");
        assert!(
            device_line(&row).ends_with("1234.56           –  99.99         40 %     60 %"),
            "{text}"
        );
    }
}
