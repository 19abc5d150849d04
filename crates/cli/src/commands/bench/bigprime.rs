//! The command `warpint bench bigprime`: times transforms over big prime fields.

use warpint_bench::BenchError;
use warpint_bench::bigprime::{Bench, Case, Passes, Request, RequestError, Row};
use warpint_bench::columns::Times;

use super::{Plot, opened, optional, place_line, say, say_all};
use crate::args::{BenchBigprimeArgs, Lengths};
use crate::exit::{BadRequest, Exit};
use crate::meter::Meter;
use crate::signals::Signals;
use crate::threads;

pub(super) fn run(args: &BenchBigprimeArgs) -> anyhow::Result<Exit> {
    let _signals = Signals::install()?;
    threads::set(args.measure.threads)?;
    let plot = Plot::new(args.plot.as_deref())?;
    let lengths = Lengths::exponents(&args.lengths);
    let request =
        Request::new(&args.primes, lengths, args.way, args.measure.runs).map_err(by_option)?;
    let mut bench = Bench::new(&request, opened(args.measure.device)?).map_err(|e| match e {
        BenchError::Bigprime(e) => by_option(e).into(),
        e => anyhow::Error::new(e),
    })?;
    let measured = bench.measured();
    let place = place_line(&measured.machine);
    say(args.json, &place)?;
    let cases = bench.cases();
    let total = cases.len() as u64;
    let mut before = None;
    for (done, case) in cases.into_iter().enumerate() {
        let Case { form, log2 } = case;
        let what = || format!("{form}, 2^{log2} elements ({done} of {total} rows done)");
        // One bar per row: result lines are printed between them.
        let mut meter = Meter::new(String::new(), args.quiet);
        meter.show(done as u64, total, what);
        let row = bench.measure(case);
        meter.end();
        let row = row?;
        if before != Some(form) {
            say(args.json, &format!("\n{}\n{HEADER}", title(row)))?;
        }
        before = Some(form);
        say(args.json, &line(row))?;
    }
    let measured = bench.finish();
    if !measured.crossovers.is_empty() {
        say(args.json, "\nthe faster way, and where")?;
    }
    let mut crossovers = measured.crossovers.iter();
    crossovers.try_for_each(|of_prime| say(args.json, &of_prime.to_string()))?;
    say_all(args.json, &measured)?;
    plot.write(|| measured.chart())?;
    Ok(Exit::Done)
}

/// Converts the error of an invalid request into the error that the program prints, which names the
/// option to change.
fn by_option(e: RequestError) -> BadRequest {
    BadRequest(match e {
        RequestError::TooLong { .. } => format!("--lengths: {e}"),
        RequestError::NotPrime { .. } | RequestError::Radix { .. } => format!("--prime: {e}"),
        RequestError::NoUsualLength { .. } => format!("--prime: {e}: give --lengths"),
        RequestError::SmallOnCpu => format!("--way: {e}: give --device cuda, or --way big"),
    })
}

/// Returns the title above the table rows of a prime.
fn title(row: &Row) -> String {
    format!("p = {}: k = {}, {} bits", row.prime, row.digits, row.bits)
}

const HEADER: &str = "log2 N      big µs      conv. twidd. floor µs |   small µs      conv.       ring  primes | small/big | checked";

fn line(row: &Row) -> String {
    let (big, small) = (row.big.as_ref(), row.small.as_ref());
    let passes = big.and_then(|big| big.passes.as_ref());
    let us = |times: Option<&Times>| optional(times.map(|times| times.us), 1);
    let line = format!(
        "{:>6}  {:>10} {:>10} {:>6} {:>8} | {:>10} {:>10} {:>10}  {:>6} | {:>9} | {}",
        row.log2,
        us(big.map(|big| &big.transform)),
        us(big.map(|big| &big.convolution)),
        passes.map_or_else(|| "–".into(), |p| format!("{:.0} %", 100.0 * p.twiddles_share)),
        optional(passes.map(Passes::floor_us), 1),
        us(small.map(|small| &small.transform)),
        us(small.map(|small| &small.convolution)),
        us(small.map(|small| &small.ring.transform)),
        small.map_or_else(|| "–".into(), |small| small.primes.to_string()),
        optional(row.small_over_big, 2),
        row.checked,
    );
    row.missing.iter().fold(line, |line, why| format!("{line}\n{:>6}  {why}", ""))
}
