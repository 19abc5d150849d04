//! `warpint collatz bench`: how many numbers are verified in a second.

use std::fmt;
use std::time::Instant;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::Serialize;
use warpint::collatz::sieve::Looking;
use warpint::collatz::{Region, Unwatched, Verified, Verifier, Watch};
use warpint::mersenne::StopToken;

use super::numbers::{about, number};
use super::verifiers::{self, Opened, refused};
use crate::args::{CollatzBenchArgs, Places};
use crate::exit::Exit;
use crate::signals::Signals;

pub(crate) fn run(args: &CollatzBenchArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let (units, look) = (bits_of_units(args)?, args.look.and_then(Looking::new));
    let class_bits = args.class_bits.unwrap_or(units.class).min(args.below_bits);
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
        let from = args.from >> bits << bits;
        let region = Region::interval(from, from + (1 << bits)).map_err(refused)?;
        sets.push((Set::Interval { from }, vec![region], bits));
    }
    let stop = signals.save_first();
    for (set, regions, bits) in sets {
        let look = look.or(Some(Looking::for_numbers(bits)));
        let Opened { mut verifiers, .. } =
            verifiers::open_looking(args.method, Places::One(args.device), look)?;
        let Some(verifier) = verifiers.first_mut() else { continue };
        match row(set, &regions, &mut **verifier, stop)? {
            Some(row) => rows.push(row),
            None => return Ok(Exit::Stopped),
        }
    }
    crate::report::print(&BenchReport { rows }, args.json)?;
    Ok(Exit::Done)
}

/// Of classes and of intervals, so that each takes some seconds.
struct Bits {
    class: u32,
    interval: u32,
}

fn bits_of_units(args: &CollatzBenchArgs) -> anyhow::Result<Bits> {
    let Opened { verifiers, unit_bits } = verifiers::open(args.method, Places::One(args.device))?;
    drop(verifiers);
    let share = args.classes.max(1).ilog2();
    Ok(Bits { class: unit_bits.saturating_sub(share).max(16), interval: unit_bits })
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

struct Stopped<'a>(&'a StopToken);

impl Watch for Stopped<'_> {
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn done(&self, _numbers: u128) {}
}

/// Verifies regions, after one of few numbers for which kernels are compiled and vectors made.
fn row(
    set: Set,
    regions: &[Region],
    verifier: &mut dyn Verifier,
    stop: &StopToken,
) -> anyhow::Result<Option<Row>> {
    let begin = Instant::now();
    let first = match regions.first() {
        // The residue of all ones is not killed.
        Some(&Region::Class { bits, low_bits, .. }) => {
            let low_bits = low_bits.max(bits.saturating_sub(20));
            Region::class(bits, low_bits, (1 << low_bits) - 1).map_err(refused)?
        }
        Some(&Region::Interval { from, to }) if to - from <= 1 << 44 => {
            Region::Interval { from, to }
        }
        Some(&Region::Interval { from, .. }) => Region::Interval { from, to: from + (1 << 32) },
        None => return Ok(None),
    };
    verifier.verify(&first, &Unwatched)?;
    let prepared = begin.elapsed();
    let begin = Instant::now();
    let mut all = Verified::default();
    for region in regions {
        let Some(verified) = verifier.verify(region, &Stopped(stop))? else { return Ok(None) };
        all.add(verified);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let what = match set {
        Set::Classes { count, below_bits } => {
            let bits = regions[0].numbers().ilog2();
            format!("{count} classes of 2^{bits} below 2^{below_bits}")
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
        f.write_str(&rows.collect::<Vec<_>>().join("\n"))
    }
}
