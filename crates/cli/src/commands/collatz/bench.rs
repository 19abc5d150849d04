//! The command `warpint collatz bench`: the rate of verification.

use std::fmt;

use serde::Serialize;
use warpint::collatz::delay::check_range;
use warpint::collatz::sieve::{Looking, Step};
use warpint::collatz::sizes::{Sizes, Tunable, TunedSizes};
use warpint::device::device_on;
use warpint::mersenne::DeviceChoice;
use warpint_bench::BenchError;
use warpint_bench::collatz::{Bench, DelayRow, Measured, Request, RequestError, delays};

use super::numbers::about;
use super::places::{by_option, places, refused};
use crate::args::{CollatzBenchArgs, Places};
use crate::commands::batch::place::resolved;
use crate::commands::bench::Plot;
use crate::exit::Exit;
use crate::report;
use crate::signals::Signals;

pub(crate) fn run(args: &CollatzBenchArgs) -> anyhow::Result<Exit> {
    let plot = Plot::new(args.plot.as_deref())?;
    let signals = Signals::install()?;
    let delays_from = args.from.unwrap_or(1 << 40);
    if args.delays {
        check_range(delays_from, delays_from.saturating_add(1))?;
    }
    if args.classes == 0 && args.interval_bits == Some(0) && !args.delays {
        let text =
            "there is nothing to measure: give --classes or --interval-bits above 0, or --delays";
        return Err(refused(text).into());
    }
    let tuned = TunedSizes::open();
    let bench = Bench::new(request(args)?, &tuned);
    report::warn(tuned.take_warnings());
    let bench = bench.map_err(explained)?;
    let stop = signals.save_first();
    let rows = bench.measure(stop);
    report::warn(tuned.take_warnings());
    let Some(rows) = rows.map_err(explained)? else { return Ok(Exit::Stopped) };
    let mut delays = None;
    if args.delays {
        if stop.is_stopped() {
            return Ok(Exit::Stopped);
        }
        delays = Some(delay_row(args, delays_from, &tuned)?);
    }
    let measured = Measured::new(rows, delays);
    report::print(&Table(&measured), args.json)?;
    plot.write(|| measured.chart())?;
    Ok(Exit::Done)
}

fn request(args: &CollatzBenchArgs) -> anyhow::Result<Request> {
    Ok(Request {
        method: args.method.0,
        places: places(Places::One(args.device))?,
        sizes: Sizes {
            look: args.look.and_then(Looking::new),
            step: args.step.and_then(Step::new),
            table_bits: args.table_bits,
            delays: None,
        },
        below_bits: args.below_bits,
        classes: args.classes,
        class_bits: args.class_bits,
        seed: args.seed,
        interval_bits: args.interval_bits,
        from: args.from.unwrap_or(1 << 70),
    })
}

fn delay_row(args: &CollatzBenchArgs, from: u128, tuned: &TunedSizes) -> anyhow::Result<DelayRow> {
    let device = match resolved(args.device)? {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    let row = delays(device.as_ref(), from, tuned);
    report::warn(tuned.take_warnings());
    Ok(row?)
}

/// Converts an error of the benchmark into the error that the program prints. For an invalid
/// request, the new error names the option to change.
fn explained(e: BenchError) -> anyhow::Error {
    let e = match e {
        BenchError::CollatzRequest(e) => e,
        BenchError::Open(e) => return by_option(e.into()),
        e => return e.into(),
    };
    let text = match e {
        RequestError::OtherMethod { what, method } => {
            let option = if what == Tunable::Sieve { "--step" } else { "--table-bits" };
            let name = method.name();
            format!("{option} applies only to the method {name}: give --method {name}")
        }
        RequestError::LowBits { least_class_bits, .. } => {
            format!("{e}: give --class-bits {least_class_bits} or more, or --classes 0")
        }
        RequestError::Beyond { .. } => {
            format!("{e}: give a smaller --from or --interval-bits")
        }
    };
    refused(text).into()
}

/// The measurements, formatted as a table by `Display`.
#[derive(Serialize)]
struct Table<'a>(&'a Measured);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<34} {:<6} {:<7} {:>9} {:>9} {:>9} {:>9} {:>8}",
            "numbers", "method", "on", "seconds", "a second", "share", "walked/s", "prepared"
        )?;
        let rows = self.0.rows.iter().map(|row| {
            let mut line = format!(
                "{:<34} {:<6} {:<7} {:>9.3} {:>9} {:>9.2e} {:>9} {:>7.2}s  {}",
                row.what,
                row.method,
                row.place,
                row.seconds,
                about(row.per_second),
                row.walked_share,
                about(row.walked_per_second),
                row.prepared_seconds,
                row.parameters,
            );
            if !row.unresolved.is_empty() {
                line += &format!("\nUNRESOLVED: {}", row.unresolved.join(", "));
            }
            line
        });
        let mut lines: Vec<String> = rows.collect();
        if let Some(row) = &self.0.delays {
            lines.push(format!(
                "{:<34} {:<6} {:<7} {:>9.3} {:>9} {:>9} {:>9} {:>7.2}s  {}",
                row.what,
                "delay",
                row.place,
                row.seconds,
                about(row.per_second),
                "",
                "",
                row.prepared_seconds,
                row.parameters.as_deref().unwrap_or_default(),
            ));
        }
        f.write_str(lines.join("\n").trim_end())
    }
}
