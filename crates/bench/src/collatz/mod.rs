//! The rate at which the Collatz conjecture is verified, and the rate at which delays are computed.
//! The delay of a number is the number of steps from it to 1.

mod row;

use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use warpint_collatz::delay::rate;
use warpint_collatz::names::number;
use warpint_collatz::open::{Opened, Places, delays_on, open_with};
use warpint_collatz::sieve::Looking;
use warpint_collatz::sizes::{Sizes, Tunable, TunedSizes};
use warpint_collatz::table::MOST_SIEVE_BITS;
use warpint_collatz::{CollatzError, Method, Region, Unwatched, Verified, Verifier};
use warpint_device::Device;
use warpint_progress::Watch;

use crate::BenchError;

pub use self::row::{DelayRow, Measured, Row};

/// The largest end of an interval. The numbers that `warpint collatz verify` supports have the same
/// bound.
const END: u128 = 1 << 127;

/// The time for which delays are computed to measure their rate.
const DELAYS: Duration = Duration::from_secs(2);

/// The parameters of a benchmark of Collatz verification.
#[derive(Debug, Clone)]
pub struct Request {
    /// The method; `None` selects the fastest for the device or the CPU.
    pub method: Option<Method>,
    /// The device, or the CPU, on which to verify. Of several devices only the first is used.
    pub places: Places,
    /// The sizes of tables. For a size that is `None`, the tuned size is used.
    pub sizes: Sizes,
    /// The numbers in residue classes are below 2^`below_bits`. The value is from 20 to 84.
    pub below_bits: u32,
    /// The number of residue classes to verify; 0 for none. The classes are drawn at random. The
    /// sieve excludes most classes at once.
    pub classes: u32,
    /// log2 of the count of numbers in a class. `None` selects a count with which the verification
    /// of all classes together takes a few seconds.
    pub class_bits: Option<u32>,
    /// The seed from which the residue classes are drawn.
    pub seed: u64,
    /// log2 of the count of numbers in the interval. `None` selects a count whose verification
    /// takes a few seconds; 0 means that no interval is verified.
    pub interval_bits: Option<u32>,
    /// The start of the interval. It is rounded down to a multiple of the interval's length.
    pub from: u128,
}

/// The reason why a requested benchmark is impossible.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// A size was given that the measured method does not use.
    #[error("the size {} applies only to the method {}", what.name(), method.name())]
    OtherMethod {
        /// The table whose size was given.
        what: Tunable,
        /// The method that uses this table.
        method: Method,
    },
    /// The classes fix more low bits of their numbers than the table method supports.
    #[error(
        "the method table supports classes of at most {MOST_SIEVE_BITS} low bits, but these have {low_bits}"
    )]
    LowBits {
        /// The number of low bits that a class fixes: `below_bits` minus the log2 of the count of
        /// numbers in a class.
        low_bits: u32,
        /// The least [`Request::class_bits`] that the method supports with the requested
        /// `below_bits`.
        least_class_bits: u32,
    },
    /// The numbers of the interval exceed 2^127.
    #[error("2^{bits} numbers from {} go beyond 2^127", number(*from))]
    Beyond {
        /// log2 of the count of numbers.
        bits: u32,
        /// The first number of the interval.
        from: u128,
    },
}

/// The regions of one row. They are verified one after the other, and the total time is measured.
struct Work {
    set: Set,
    regions: Vec<Region>,
    /// log2 of the count of numbers in all regions together, rounded down.
    bits: u32,
}

/// A benchmark whose regions have been chosen.
pub struct Bench<'a> {
    request: Request,
    tuned: &'a TunedSizes,
    works: Vec<Work>,
}

impl<'a> Bench<'a> {
    /// Creates a benchmark: prepares the method of verification, and draws the residue classes at
    /// random. If the tuned sizes cannot be read or a GPU cannot be used, the error becomes a
    /// warning in `tuned`.
    ///
    /// # Errors
    /// The request is impossible ([`RequestError`]), the method cannot be prepared, or a region is
    /// not valid.
    pub fn new(request: Request, tuned: &'a TunedSizes) -> Result<Self, BenchError> {
        let units = units(&request, tuned)?;
        let class_bits = request.class_bits.unwrap_or(units.class).min(request.below_bits);
        let low_bits = request.below_bits - class_bits;
        let by_table = units.method == Some(Method::Table);
        if request.classes > 0 && by_table && low_bits > MOST_SIEVE_BITS {
            let least_class_bits = request.below_bits - MOST_SIEVE_BITS;
            return Err(RequestError::LowBits { low_bits, least_class_bits }.into());
        }
        let mut works = vec![];
        if request.classes > 0 {
            works.push(Work {
                set: Set::Classes { count: request.classes, below_bits: request.below_bits },
                regions: classes(&request, class_bits)?,
                bits: class_bits + request.classes.ilog2(),
            });
        }
        let bits = request.interval_bits.unwrap_or(units.interval);
        if bits > 0 {
            let from = request.from >> bits << bits;
            let to = from.checked_add(1 << bits).filter(|&to| to <= END);
            let to = to.ok_or(RequestError::Beyond { bits, from })?;
            let regions = vec![Region::interval(from, to)?];
            works.push(Work { set: Set::Interval { from }, regions, bits });
        }
        Ok(Self { request, tuned, works })
    }

    /// Verifies all regions, and returns the rows. Returns `None` if `watch` requested a stop.
    ///
    /// # Errors
    /// The method cannot be prepared, or the device fails.
    pub fn measure(&self, watch: &dyn Watch) -> Result<Option<Vec<Row>>, BenchError> {
        let mut rows = vec![];
        for Work { set, regions, bits } in &self.works {
            let asked = self.request.sizes;
            let sizes = Sizes { look: asked.look.or(Some(Looking::for_numbers(*bits))), ..asked };
            let Opened { mut verifiers, .. } =
                open_with(self.request.method, &self.request.places, sizes, self.tuned)?;
            let Some(verifier) = verifiers.first_mut() else { continue };
            match row(set, regions, &mut **verifier, watch)? {
                Some(row) => rows.push(row),
                None => return Ok(None),
            }
        }
        Ok(Some(rows))
    }
}

/// The method, and log2 of the default counts of numbers in a class (`class`) and in an interval
/// (`interval`). With these counts, all classes together take a few seconds to verify, and so does
/// an interval.
struct Units {
    method: Option<Method>,
    class: u32,
    interval: u32,
}

fn units(request: &Request, tuned: &TunedSizes) -> Result<Units, BenchError> {
    let asked = request.sizes;
    let Opened { verifiers, unit_bits } = open_with(request.method, &request.places, asked, tuned)?;
    let is = |method| verifiers.iter().all(|verifier| verifier.method() == method);
    for (said, what, method) in [
        (asked.step.is_some(), Tunable::Sieve, Method::Sieve),
        (asked.table_bits.is_some(), Tunable::Table, Method::Table),
    ] {
        if said && !is(method) {
            return Err(RequestError::OtherMethod { what, method }.into());
        }
    }
    let method = verifiers.first().map(|verifier| verifier.method());
    let share = request.classes.max(1).ilog2();
    Ok(Units { method, class: unit_bits.saturating_sub(share).max(16), interval: unit_bits })
}

fn classes(args: &Request, class_bits: u32) -> Result<Vec<Region>, CollatzError> {
    let low_bits = args.below_bits - class_bits;
    let mut rng = ChaCha8Rng::seed_from_u64(args.seed);
    let drawn = (0..args.classes).map(|_| {
        let residue = rng.random::<u128>() & ((1 << low_bits) - 1);
        Region::class(args.below_bits, low_bits, residue)
    });
    drawn.collect()
}

/// The set of numbers that is verified for a row.
enum Set {
    Classes { count: u32, below_bits: u32 },
    Interval { from: u128 },
}

/// Returns a region for a first, untimed verification. This verification makes `verifier` compile
/// all kernels and compute all look-ahead vectors that it needs for `region`. An interval of at
/// most 2^44 numbers is returned unchanged. Every other region is replaced by a region of at most
/// 2^32 numbers.
fn first(region: Region, verifier: &dyn Verifier) -> Result<Region, CollatzError> {
    match region {
        // Every number of the residue class of all ones is walked. Few numbers are walked on the
        // CPU.
        Region::Class { bits, low_bits, .. } if verifier.method() == Method::Table => {
            let low_bits = low_bits.max(bits.saturating_sub(20).min(MOST_SIEVE_BITS));
            let most = if verifier.place() == "cpu" { 20 } else { 30 };
            Region::class(bits.min(low_bits + most), low_bits, (1 << low_bits) - 1)
        }
        // The sieve does not exclude the residue of all ones.
        Region::Class { bits, low_bits, .. } => {
            let low_bits = low_bits.max(bits.saturating_sub(20));
            Region::class(bits, low_bits, (1 << low_bits) - 1)
        }
        Region::Interval { from, to } if to - from <= 1 << 44 => Region::interval(from, to),
        Region::Interval { from, .. } => Region::interval(from, from + (1 << 32)),
    }
}

/// Times the verification of regions. Returns `None` if `watch` requested a stop, or if there are
/// no regions. Before the timing, the region that [`first`] returns is verified, so that kernels
/// are compiled and look-ahead vectors are computed.
fn row(
    set: &Set,
    regions: &[Region],
    verifier: &mut dyn Verifier,
    watch: &dyn Watch,
) -> Result<Option<Row>, CollatzError> {
    let begin = Instant::now();
    let Some(&region) = regions.first() else { return Ok(None) };
    let first = first(region, verifier)?;
    verifier.verify(&first, &Unwatched)?;
    let prepared = begin.elapsed();
    let begin = Instant::now();
    let mut all = Verified::default();
    for region in regions {
        let verified = verifier.verify(region, watch)?;
        let Some(verified) = verified else { return Ok(None) };
        all.add(verified);
    }
    let seconds = begin.elapsed().as_secs_f64();
    let what = match set {
        Set::Classes { count, below_bits } => {
            let bits = regions[0].numbers().ilog2();
            let classes = if *count == 1 { "class" } else { "classes" };
            format!("{count} {classes} of 2^{bits} below 2^{below_bits}")
        }
        Set::Interval { from } => {
            format!("2^{} from {}", regions[0].numbers().ilog2(), number(*from))
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

/// Computes the delays of consecutive numbers, beginning with `from`, for two seconds, and returns
/// the rate. A device uses the tuned shape of its kernel. Without a device the CPU computes.
///
/// # Errors
/// The numbers are too large, or the device fails.
pub fn delays(
    device: Option<&Device>,
    from: u128,
    tuned: &TunedSizes,
) -> Result<DelayRow, CollatzError> {
    let begin = Instant::now();
    let (mut engine, shape) = delays_on(device, tuned)?;
    let measured = rate(&mut *engine, from, DELAYS)?;
    Ok(DelayRow {
        what: format!("delays from {}", number(from)),
        parameters: shape.map(|shape| shape.to_string()),
        place: engine.place(),
        numbers: measured.numbers.to_string(),
        sum: measured.sum.to_string(),
        seconds: measured.elapsed.as_secs_f64(),
        per_second: measured.per_second(),
        prepared_seconds: begin.elapsed().saturating_sub(measured.elapsed).as_secs_f64(),
    })
}
