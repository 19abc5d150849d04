//! The command `warpint bench ntt`: times transforms modulo 2^64 − 2^32 + 1 or a prime below 2^50.

use warpint_bench::BenchError;
use warpint_bench::columns::Times;
use warpint_bench::ntt::{Bench, Floors, Request, RequestError, Row};

use super::{Plot, opened, optional, place_line, say, say_all};
use crate::args::{BenchNttArgs, Lengths};
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::signals::Signals;
use crate::threads;

pub(super) fn run(args: &BenchNttArgs) -> anyhow::Result<Exit> {
    let _signals = Signals::install()?;
    threads::set(args.measure.threads)?;
    let plot = Plot::new(args.plot.as_deref())?;
    let lengths = Lengths::exponents(&args.lengths);
    let request =
        Request::new(lengths, args.order, args.batch, args.measure.runs).map_err(by_option)?;
    let request = request.modulus(args.field).odd(args.odd).map_err(by_option)?;
    let mut bench = Bench::new(&request, opened(args.measure.device)?).map_err(|e| match e {
        BenchError::NttRequest(e) => by_option(e).into(),
        e => anyhow::Error::new(e),
    })?;
    say(args.json, &format!("{}\n\n{HEADER}", place_line(&bench.measured().machine)))?;
    let cases = bench.cases();
    let total = cases.len() as u64;
    for (done, case) in cases.into_iter().enumerate() {
        let what = || format!("{case} ({done} of {total} rows done)");
        // One bar per row: result lines are printed between them.
        let mut meter = Meter::new(String::new(), args.quiet);
        meter.show(done as u64, total, what);
        let row = bench.measure(case);
        meter.end();
        say(args.json, &line(row?))?;
    }
    say_all(args.json, bench.measured())?;
    plot.write(|| bench.measured().chart())?;
    Ok(Exit::Done)
}

/// Converts the error of an invalid request into the error that the program prints, which names the
/// option to change.
fn by_option(e: RequestError) -> BadRequest {
    BadRequest(match e {
        RequestError::TooLong { .. } => format!("--lengths: {e}"),
        RequestError::Batch { .. } => format!("--batch: {e}"),
        RequestError::OddOnCpu => {
            format!("--odd: {e}: give --device cuda, --field f50, or --odd 1")
        }
        RequestError::ReversedOnCpu => {
            format!("--order: {e}: give --device cuda, --field f50, or --order natural")
        }
    })
}

const HEADER: &str = "points  order            batch  passes    forward µs    inverse µs  Gpoints/s | floor µs: memory   arithmetic  time/floor | checked";

fn line(row: &Row) -> String {
    let measured = row.transforms.as_ref();
    let floors = measured.and_then(|measured| measured.floors.as_ref());
    let us = |times: Option<&Times>| optional(times.map(|times| times.us), 1);
    let of_floors = |value: fn(&Floors) -> f64, digits| optional(floors.map(value), digits);
    let line = format!(
        "{:>6}  {:<12} {:>9}  {:>6}  {:>12}  {:>12}  {:>9} | {:>16}  {:>11}  {:>10} |",
        row.points(),
        row.order,
        row.batch,
        floors.map_or_else(|| "–".into(), |floors| floors.passes.to_string()),
        us(measured.map(|measured| &measured.forward)),
        us(measured.map(|measured| &measured.inverse)),
        optional(measured.map(|measured| measured.gpoints_per_second), 3),
        of_floors(|floors| floors.memory_floor_us, 1),
        of_floors(|floors| floors.arithmetic_floor_us, 1),
        of_floors(|floors| floors.forward_over_floor, 2),
    );
    let compared = measured.map(|measured| measured.outputs_compared);
    let checked = compared.map_or_else(String::new, |outputs| match outputs {
        0 => " inverse".into(),
        outputs => format!(" inverse, {outputs}"),
    });
    let missing = row.missing.iter().map(|why| format!("\n{:>6}  {why}", ""));
    line + &checked + &missing.collect::<String>()
}
