//! The command `warpint bench product`: times products of two long numbers.

use warpint_bench::columns::Times;
use warpint_bench::product::{Bench, Request, Row};

use super::{Plot, opened, optional, place_line, say, say_all};
use crate::args::{BenchProductArgs, Lengths};
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::signals::Signals;
use crate::threads;

pub(super) fn run(args: &BenchProductArgs) -> anyhow::Result<Exit> {
    let _signals = Signals::install()?;
    threads::set(args.measure.threads)?;
    let plot = Plot::new(args.plot.as_deref())?;
    let request = Request::new(Lengths::exponents(&args.bits), args.measure.runs)
        .map_err(|e| BadRequest(format!("--bits: {e}")))?;
    let mut bench = Bench::new(&request, opened(args.measure.device)?);
    say(args.json, &format!("{}\n\n{HEADER}", place_line(&bench.measured().machine)))?;
    let lengths = bench.lengths();
    let total = lengths.len() as u64;
    for (done, log2) in lengths.into_iter().enumerate() {
        let what = || format!("2^{log2} bits ({done} of {total} rows done)");
        // One bar per row: result lines are printed between them.
        let mut meter = Meter::new(String::new(), args.quiet);
        meter.show(done as u64, total, what);
        let row = bench.measure(log2);
        meter.end();
        say(args.json, &line(row?))?;
    }
    say_all(args.json, bench.measured())?;
    plot.write(|| bench.measured().chart())?;
    Ok(Exit::Done)
}

const HEADER: &str = "log2 bits    product ms     square ms  with copies ms    2n by n ms  to digits ms  from digits ms  working MiB";

fn line(row: &Row) -> String {
    let Some(products) = &row.products else {
        let why = row.missing.as_deref().unwrap_or_default();
        return format!("{:>9}  {why}", row.log2);
    };
    let ms = |times: &Times| format!("{:.3}", times.us / 1e3);
    let optional_ms = |times: &Option<Times>| times.as_ref().map_or_else(|| "–".into(), ms);
    format!(
        "{:>9}  {:>12}  {:>12}  {:>14}  {:>12}  {:>12}  {:>14}  {:>11}",
        row.log2,
        ms(&products.product),
        ms(&products.square),
        optional_ms(&products.from_host),
        optional_ms(&products.division),
        optional_ms(&products.to_decimal),
        optional_ms(&products.from_decimal),
        optional(products.working_bytes.map(|bytes| bytes as f64 / 1_048_576.0), 0),
    )
}
