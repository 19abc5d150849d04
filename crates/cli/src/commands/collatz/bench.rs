//! `warpint collatz bench`: how many numbers are verified in a second.

use std::fmt;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use warpint::collatz::delay::{check_range, rate};
use warpint::collatz::sieve::{Looking, Step};
use warpint::collatz::table::MOST_SIEVE_BITS;
use warpint::collatz::{CollatzError, Method, Region, Unwatched, Verified, Verifier, Watch};
use warpint::mersenne::StopToken;

use super::delay::engine_at;
use super::numbers::{about, number};
use super::sizes::{Sizes, TunedSizes, described, explained};
use super::verifiers::{self, Opened, refused};
use crate::args::{CollatzBenchArgs, Places};
use crate::commands::batch::place::settled;
use crate::exit::Exit;
use crate::signals::Signals;

/// Verified numbers are below this, as those of runs are.
const END: u128 = 1 << 127;

/// How long delays are timed.
const DELAYS: Duration = Duration::from_secs(2);

pub(crate) fn run(args: &CollatzBenchArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let delays_from = args.from.unwrap_or(1 << 40);
    if args.delays {
        check_range(delays_from, delays_from.saturating_add(1)).map_err(refused)?;
    }
    let asked = Sizes {
        look: args.look.and_then(Looking::new),
        step: args.step.and_then(Step::new),
        table_bits: args.table_bits,
        delays: None,
    };
    let tuned = TunedSizes::open();
    if args.classes == 0 && args.interval_bits == Some(0) && !args.delays {
        let text =
            "there is nothing to measure: give --classes or --interval-bits above 0, or --delays";
        return Err(refused(text).into());
    }
    let units = units(args, asked, &tuned)?;
    let class_bits = args.class_bits.unwrap_or(units.class).min(args.below_bits);
    let low_bits = args.below_bits - class_bits;
    if args.classes > 0 && units.method == Some(Method::Table) && low_bits > MOST_SIEVE_BITS {
        return Err(refused(format!(
            "the method table takes classes of at most {MOST_SIEVE_BITS} low bits, and these have {low_bits}: give --class-bits {} or more, or --classes 0",
            args.below_bits - MOST_SIEVE_BITS
        ))
        .into());
    }
    let mut rows = vec![];
    let mut sets = vec![];
    if args.classes > 0 {
        let regions = classes(args, class_bits)?;
        let of_all = class_bits + args.classes.ilog2();
        sets.push((
            Set::Classes { count: args.classes, below_bits: args.below_bits },
            regions,
            of_all,
        ));
    }
    let bits = args.interval_bits.unwrap_or(units.interval);
    if bits > 0 {
        let from = args.from.unwrap_or(1 << 70) >> bits << bits;
        let to = from.checked_add(1 << bits).filter(|&to| to <= END).ok_or_else(|| {
            let from = number(from);
            refused(format!(
                "2^{bits} numbers from {from} go beyond 2^127: give a smaller --from or --interval-bits"
            ))
        })?;
        let region = Region::interval(from, to).map_err(refused)?;
        sets.push((Set::Interval { from }, vec![region], bits));
    }
    let stop = signals.save_first();
    for (set, regions, bits) in sets {
        let sizes = Sizes { look: asked.look.or(Some(Looking::for_numbers(bits))), ..asked };
        let Opened { mut verifiers, .. } =
            verifiers::open_with(args.method, Places::One(args.device), sizes, &tuned)?;
        let Some(verifier) = verifiers.first_mut() else { continue };
        match row(set, &regions, &mut **verifier, stop)? {
            Some(row) => rows.push(row),
            None => return Ok(Exit::Stopped),
        }
    }
    let mut delays = None;
    if args.delays {
        if stop.is_stopped() {
            return Ok(Exit::Stopped);
        }
        delays = Some(delay_row(args, delays_from, &tuned)?);
    }
    crate::report::print(&BenchReport { rows, delays }, args.json)?;
    Ok(Exit::Done)
}

/// The method, and bits of classes and of intervals, so that each takes some seconds.
struct Units {
    method: Option<Method>,
    class: u32,
    interval: u32,
}

fn units(args: &CollatzBenchArgs, asked: Sizes, tuned: &TunedSizes) -> anyhow::Result<Units> {
    let Opened { verifiers, unit_bits } =
        verifiers::open_with(args.method, Places::One(args.device), asked, tuned)?;
    let is = |method| verifiers.iter().all(|verifier| verifier.method() == method);
    for (said, option, method) in [
        (asked.step.is_some(), "--step", Method::Sieve),
        (asked.table_bits.is_some(), "--table-bits", Method::Table),
    ] {
        if said && !is(method) {
            let name = method.name();
            let text = format!("{option} is for the method {name}: give --method {name}");
            return Err(refused(text).into());
        }
    }
    let method = verifiers.first().map(|verifier| verifier.method());
    let share = args.classes.max(1).ilog2();
    Ok(Units { method, class: unit_bits.saturating_sub(share).max(16), interval: unit_bits })
}

fn classes(args: &CollatzBenchArgs, class_bits: u32) -> anyhow::Result<Vec<Region>> {
    let low_bits = args.below_bits - class_bits;
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let drawn = (0..args.classes).map(|_| {
        let residue = rng.random::<u128>() & ((1 << low_bits) - 1);
        Region::class(args.below_bits, low_bits, residue)
    });
    Ok(drawn.collect::<Result<_, _>>().map_err(refused)?)
}

/// What is verified for a row.
enum Set {
    Classes { count: u32, below_bits: u32 },
    Interval { from: u128 },
}

/// Ends early at a request, and tells nothing.
pub(super) struct Stopped<'a>(pub(super) &'a StopToken);

impl Watch for Stopped<'_> {
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn done(&self, _numbers: u128) {}
}

/// Few numbers for which a verifier makes all that it makes for these.
fn first(region: Region, verifier: &dyn Verifier) -> Result<Region, CollatzError> {
    match region {
        // Each number of the residue of all ones is walked; where these are few, on the CPU.
        Region::Class { bits, low_bits, .. } if verifier.method() == Method::Table => {
            let low_bits = low_bits.max(bits.saturating_sub(20).min(MOST_SIEVE_BITS));
            let most = if verifier.place() == "cpu" { 20 } else { 30 };
            Region::class(bits.min(low_bits + most), low_bits, (1 << low_bits) - 1)
        }
        // That residue is not killed.
        Region::Class { bits, low_bits, .. } => {
            let low_bits = low_bits.max(bits.saturating_sub(20));
            Region::class(bits, low_bits, (1 << low_bits) - 1)
        }
        Region::Interval { from, to } if to - from <= 1 << 44 => Region::interval(from, to),
        Region::Interval { from, .. } => Region::interval(from, from + (1 << 32)),
    }
}

/// Verifies regions, after one of few numbers for which kernels are compiled and vectors made.
fn row(
    set: Set,
    regions: &[Region],
    verifier: &mut dyn Verifier,
    stop: &StopToken,
) -> anyhow::Result<Option<Row>> {
    let begin = Instant::now();
    let Some(&region) = regions.first() else { return Ok(None) };
    let first = first(region, verifier).map_err(refused)?;
    verifier.verify(&first, &Unwatched).map_err(explained)?;
    let prepared = begin.elapsed();
    let begin = Instant::now();
    let mut all = Verified::default();
    for region in regions {
        let verified = verifier.verify(region, &Stopped(stop)).map_err(explained)?;
        let Some(verified) = verified else { return Ok(None) };
        all.add(verified);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let what = match set {
        Set::Classes { count, below_bits } => {
            let bits = regions[0].numbers().ilog2();
            let classes = if count == 1 { "class" } else { "classes" };
            format!("{count} {classes} of 2^{bits} below 2^{below_bits}")
        }
        Set::Interval { from } => {
            format!("2^{} from {}", regions[0].numbers().ilog2(), number(from))
        }
    };
    let numbers = all.numbers as f64;
    Ok(Some(Row {
        what,
        method: verifier.method().name(),
        parameters: verifier.parameters(),
        place: verifier.place(),
        numbers: all.numbers.to_string(),
        seconds,
        per_second: numbers / seconds,
        walked: all.walked,
        walked_share: all.walked as f64 / numbers,
        walked_per_second: all.walked as f64 / seconds,
        prepared_seconds: prepared.as_secs_f64(),
        checksum: format!("{:016x}", all.checksum),
        unresolved: all.unresolved.iter().map(ToString::to_string).collect(),
    }))
}

/// Delays from a number on, by what `collatz delay` takes there.
fn delay_row(args: &CollatzBenchArgs, from: u128, tuned: &TunedSizes) -> anyhow::Result<DelayRow> {
    let begin = Instant::now();
    let (mut engine, shape) = engine_at(settled(args.device)?, tuned)?;
    let measured = rate(&mut *engine, from, DELAYS).map_err(explained)?;
    Ok(DelayRow {
        what: format!("delays from {}", number(from)),
        parameters: shape.map(|shape| described(&shape)),
        place: engine.place(),
        numbers: measured.numbers.to_string(),
        sum: measured.sum.to_string(),
        seconds: measured.elapsed.as_secs_f64(),
        per_second: measured.per_second(),
        prepared_seconds: begin.elapsed().saturating_sub(measured.elapsed).as_secs_f64(),
    })
}

/// Numbers are strings: they need not fit into a JSON number.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct DelayRow {
    what: String,
    /// On devices.
    #[serde(skip_serializing_if = "Option::is_none")]
    parameters: Option<String>,
    place: String,
    numbers: String,
    /// Of all delays.
    sum: String,
    seconds: f64,
    per_second: f64,
    prepared_seconds: f64,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    what: String,
    method: &'static str,
    parameters: String,
    place: String,
    numbers: String,
    seconds: f64,
    per_second: f64,
    walked: u64,
    walked_share: f64,
    walked_per_second: f64,
    prepared_seconds: f64,
    checksum: String,
    unresolved: Vec<String>,
}

#[derive(Debug, Serialize)]
struct BenchReport {
    rows: Vec<Row>,
    #[serde(skip_serializing_if = "Option::is_none")]
    delays: Option<DelayRow>,
}

impl fmt::Display for BenchReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(
            f,
            "{:<34} {:<6} {:<7} {:>9} {:>9} {:>9} {:>9} {:>8}",
            "numbers", "method", "on", "seconds", "a second", "share", "walked/s", "prepared"
        )?;
        let rows = self.rows.iter().map(|row| {
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
        if let Some(row) = &self.delays {
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
