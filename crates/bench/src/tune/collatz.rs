//! Tuning of the tables of the Collatz methods: the search for their fastest sizes.

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint_collatz::delay::Delays;
use warpint_collatz::gpu::DelaysOnDevice;
use warpint_collatz::names::{number, unresolved};
use warpint_collatz::open::{Opened, open_at};
use warpint_collatz::sizes::{Size, Tunable, TunedSizes, candidates};
use warpint_collatz::{Method, Region, Verifier};
use warpint_device::{CPU, Device, TuningError, cpu_name};
use warpint_progress::Watch;

use super::Storing;
use crate::BenchError;

/// The intended duration of a timing. The count of numbers is chosen so that a timing takes about
/// this long.
const GOAL: Duration = Duration::from_secs(1);

/// The largest number of timings of a size. The shortest time counts. The timings of a size end
/// early if its time exceeds [`NEAR`] times the time of the fastest size so far.
const TIMES: usize = 3;

/// A size is timed again only if its time is at most this factor times the time of the fastest of
/// the preceding sizes.
const NEAR: f64 = 1.1;

/// log2 of the largest count of numbers to time.
const MOST_BITS: u32 = 56;

/// The first number of the regions whose verification is timed.
const FROM: u128 = 1 << 70;

/// The first number whose delay is computed in a timing.
const DELAYS_FROM: u128 = 1 << 40;

/// Returns the tables whose sizes can be tuned on a device, or on the CPU if `device` is `None`.
#[must_use]
pub fn tunable(device: Option<&Device>) -> Vec<Tunable> {
    let mut all = Vec::from(Tunable::ALL);
    all.retain(|what| !candidates(*what, device).is_empty());
    all
}

/// Tuning in progress: times sizes of tables on a device, or on the CPU, and stores the fastest.
#[derive(Debug)]
pub struct Tuner<'a> {
    device: Option<&'a Device>,
    tuned: &'a TunedSizes,
    storing: Storing,
    bits: Option<u32>,
}

impl<'a> Tuner<'a> {
    /// Creates a tuner that times 2^`bits` numbers per size. If `bits` is `None`, the tuner selects
    /// a count that takes about a second. Tests whether sizes can be stored.
    ///
    /// # Errors
    /// The stored sizes cannot be read.
    pub fn new(
        device: Option<&'a Device>,
        tuned: &'a TunedSizes,
        bits: Option<u32>,
    ) -> Result<Self, TuningError> {
        tuned.readable()?;
        Ok(Self { device, tuned, storing: Storing::new(tuned.check()), bits })
    }

    /// Returns whether sizes can be stored, and if not, why.
    #[must_use]
    pub fn storing(&self) -> &Storing {
        &self.storing
    }

    /// Times each size of the requested tables. Each size is reported to `watch` as a step. When
    /// all sizes of a table have been timed, the fastest is stored, unless a result was wrong.
    pub fn measure(&mut self, asked: &[Tunable], watch: &dyn Watch) -> Report {
        let device = self.device;
        let all: u64 = asked.iter().map(|what| candidates(*what, device).len() as u64).sum();
        let mut timed = 0;
        let mut report = Report {
            device: device.map_or(CPU.to_owned(), |device| device.info().id.clone()),
            name: device.map_or_else(cpu_name, |device| device.info().name.clone()),
            stopped: false,
            is_wrong: false,
            rows: vec![],
        };
        for &what in asked {
            let mut tuning = Tuning::new(what, device, watch, self.bits);
            for size in candidates(what, device) {
                watch.step(timed, all, &format_args!("{} {size}", what.name()));
                if !tuning.measure(size) {
                    report.stopped = true;
                    break;
                }
                timed += 1;
            }
            if !report.stopped {
                self.storing.put(|| tuning.store(self.tuned));
            }
            report.is_wrong |= tuning.is_wrong;
            report.rows.extend(tuning.rows.into_iter().map(|(_, row)| row));
            if report.stopped {
                break;
            }
        }
        report
    }
}

/// The tuning of one table: its sizes and their times.
struct Tuning<'a> {
    what: Tunable,
    device: Option<&'a Device>,
    watch: &'a dyn Watch,
    /// log2 of the count of numbers timed, which is the same for all sizes of the table; `None`
    /// until it is chosen.
    bits: Option<u32>,
    /// The sum of the delays of the numbers timed; `None` until a size has computed it.
    sum: Option<u128>,
    /// Whether two sizes gave different sums of delays, or a number was unresolved.
    is_wrong: bool,
    rows: Vec<(Size, Row)>,
}

impl<'a> Tuning<'a> {
    fn new(
        what: Tunable,
        device: Option<&'a Device>,
        watch: &'a dyn Watch,
        bits: Option<u32>,
    ) -> Self {
        Self { what, device, watch, bits, sum: None, is_wrong: false, rows: vec![] }
    }

    /// Times a size and adds its row. Returns false if the timing was stopped.
    fn measure(&mut self, size: Size) -> bool {
        let mut row = Row {
            what: self.what.name(),
            size: size.to_string(),
            numbers: None,
            per_second: None,
            error: None,
            stored: false,
        };
        match self.time(size) {
            Ok(Some((bits, time))) => {
                row.numbers = Some(number(1 << bits));
                row.per_second = Some((1u128 << bits) as f64 / time.as_secs_f64().max(1e-9));
            }
            Ok(None) => return false,
            Err(error) => row.error = Some(error.to_string().replace('\n', " ")),
        }
        self.rows.push((size, row));
        true
    }

    /// Times a size several times. Returns log2 of the count of numbers timed, and the least time.
    /// Returns `None` if a stop was requested.
    fn time(&mut self, size: Size) -> Result<Option<(u32, Duration)>, BenchError> {
        let (mut work, unit_bits) = self.open(size)?;
        let bits = match self.bits {
            Some(bits) => bits,
            None => match self.bits_of_a_second(&mut work, unit_bits)? {
                Some(bits) => *self.bits.insert(bits),
                None => return Ok(None),
            },
        };
        // Compiles kernels and computes vectors.
        if self.once(&mut work, bits)?.is_none() {
            return Ok(None);
        }
        let mut least = None::<Duration>;
        let known = self.rows.iter().filter_map(|(_, row)| row.per_second);
        let best = known.fold(0.0, f64::max);
        for _ in 0..TIMES {
            let Some(time) = self.once(&mut work, bits)? else { return Ok(None) };
            let time = least.map_or(time, |least| least.min(time));
            least = Some(time);
            if NEAR * (1u128 << bits) as f64 / time.as_secs_f64().max(1e-9) < best {
                break;
            }
        }
        Ok(least.map(|time| (bits, time)))
    }

    /// Prepares the computation with tables of a size. Also returns log2 of a count of numbers. The
    /// search for a count that takes about [`GOAL`] begins there.
    fn open(&self, size: Size) -> Result<(Work, u32), BenchError> {
        const FEWER: u32 = 10;
        let method = match (size, self.device) {
            (Size::Step(_), _) => Method::Sieve,
            (Size::TableBits(_), _) => Method::Table,
            (Size::Delays(shape), Some(device)) => {
                let engine = DelaysOnDevice::with_shape(device, shape)?;
                // Fewer numbers than usual only on request.
                let engine = match self.bits {
                    Some(bits) if bits < 30 => engine.with_sizes(1 << bits, 0, 2),
                    _ => engine,
                };
                return Ok((Work::Delays(engine.into()), 30));
            }
            (Size::Delays(_), None) => return Err(none_here(self.what)),
        };
        let opened = open_at(method, self.device, size.into())?;
        let Opened { mut verifiers, unit_bits } = opened.ok_or_else(|| none_here(self.what))?;
        let verifier = verifiers.pop().ok_or_else(|| none_here(self.what))?;
        Ok((Work::Verifier(verifier), unit_bits.saturating_sub(FEWER)))
    }

    /// Returns log2 of a count of numbers that takes about [`GOAL`]. The search begins at 2^`bits`
    /// numbers. Returns `None` if a stop was requested.
    fn bits_of_a_second(
        &mut self,
        work: &mut Work,
        mut bits: u32,
    ) -> Result<Option<u32>, BenchError> {
        // The sum may come from a size that failed.
        self.sum = None;
        loop {
            for is_timed in [false, true] {
                let Some(time) = self.once(work, bits)? else { return Ok(None) };
                if is_timed && 2 * time >= GOAL || bits >= MOST_BITS {
                    return Ok(Some(bits));
                }
                if is_timed {
                    let more = GOAL.as_secs_f64() / time.as_secs_f64().max(1e-3);
                    bits = (bits + (more.log2() as u32).clamp(1, 4)).min(MOST_BITS);
                    self.sum = None;
                }
            }
        }
    }

    /// Processes 2^`bits` numbers once, and returns the time. Returns `None` if a stop was
    /// requested.
    fn once(&mut self, work: &mut Work, bits: u32) -> Result<Option<Duration>, BenchError> {
        let begin = Instant::now();
        match work {
            Work::Verifier(verifier) => {
                let region = Region::interval(FROM, FROM + (1 << bits))?;
                let verified = verifier.verify(&region, self.watch)?;
                let Some(verified) = verified else { return Ok(None) };
                if !verified.unresolved.is_empty() {
                    self.is_wrong = true;
                    return Err(BenchError::Wrong(unresolved(&verified.unresolved)));
                }
            }
            Work::Delays(engine) => {
                let (numbers, mut done, mut sum) = (1u128 << bits, 0, 0);
                while done < numbers {
                    if self.watch.is_stopped() {
                        return Ok(None);
                    }
                    let part = (numbers - done).min(engine.chunk().into()) as u64;
                    let survey = engine.survey(DELAYS_FROM + done, part, None)?;
                    let Some(survey) = survey else {
                        return Err(BenchError::LeftToCpu);
                    };
                    sum += survey.sum;
                    done += u128::from(part);
                }
                let expected = *self.sum.get_or_insert(sum);
                if sum != expected {
                    self.is_wrong = true;
                    return Err(BenchError::Wrong(format!(
                        "the delays sum up to {sum}, but by another size to {expected}: one of them is wrong"
                    )));
                }
            }
        }
        Ok(Some(begin.elapsed()))
    }

    /// Stores the fastest size. Stores nothing if every timing failed or a result was wrong.
    fn store(&mut self, tuned: &TunedSizes) -> Result<(), TuningError> {
        if self.is_wrong {
            return Ok(());
        }
        let speed = |row: &Row| row.per_second.unwrap_or(0.0);
        let fastest = self.rows.iter_mut().max_by(|a, b| speed(&a.1).total_cmp(&speed(&b.1)));
        if let Some((size, row)) = fastest
            && let Some(per_second) = row.per_second
        {
            tuned.put(self.what, self.device, *size, 1e12 / per_second)?;
            row.stored = true;
        }
        Ok(())
    }
}

/// The computation that is timed.
enum Work {
    Verifier(Box<dyn Verifier>),
    Delays(Box<DelaysOnDevice>),
}

fn none_here(what: Tunable) -> BenchError {
    BenchError::NoTable { table: what.name() }
}

/// The results of tuning Collatz tables.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// The identifier of the device, such as `cuda:0`, or `cpu`.
    pub device: String,
    /// The name of the GPU model or processor.
    pub name: String,
    /// Whether a stop was requested before every size was timed.
    pub stopped: bool,
    /// Whether two sizes gave different results, or a number was unresolved: its path did not fall
    /// below its start within the limit of steps. The machine is then unreliable.
    #[serde(skip)]
    pub is_wrong: bool,
    /// One row per timed size, table by table.
    pub rows: Vec<Row>,
}

/// The timing of one size.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The name of the table: `sieve`, `table` or `delays`.
    pub what: &'static str,
    /// The size as text, such as `step=12`.
    pub size: String,
    /// The count of numbers timed, such as `2^30`; absent if the timing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub numbers: Option<String>,
    /// The count of numbers per second; absent if the timing failed.
    pub per_second: Option<f64>,
    /// The error, if the timing failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the size was stored as the fastest of its table.
    pub stored: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_device::TuningStore;
    use warpint_progress::StopToken;

    #[test]
    fn a_size_with_other_delays_is_told_and_nothing_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let store = TuningStore::at(dir.path());
        let (device, stop) = (Device::simulator().unwrap(), StopToken::new());
        let mut tuning = Tuning::new(Tunable::Delays, Some(&device), &stop, Some(12));
        let sizes = candidates(Tunable::Delays, Some(&device));
        assert!(tuning.measure(sizes[2]) && !tuning.is_wrong);
        let sum = tuning.sum.unwrap();
        tuning.sum = Some(sum + 1);
        assert!(tuning.measure(sizes[2]) && tuning.is_wrong);
        let said = tuning.rows[1].1.error.clone().unwrap();
        assert_eq!(
            said,
            format!(
                "the delays sum up to {sum}, but by another size to {}: one of them is wrong",
                sum + 1
            )
        );
        assert!(tuning.rows[1].1.per_second.is_none());
        let tuned = TunedSizes::of(Some(store.clone()));
        tuning.store(&tuned).unwrap();
        assert!(!tuning.rows[0].1.stored && !store.path().exists());
        tuning.is_wrong = false;
        tuning.store(&tuned).unwrap();
        assert!(tuning.rows[0].1.stored && !tuning.rows[1].1.stored && store.path().exists());
    }

    #[test]
    fn what_is_stopped_has_no_row() {
        let stop = StopToken::new();
        stop.stop();
        let mut tuning = Tuning::new(Tunable::Table, None, &stop, Some(20));
        assert!(!tuning.measure(Size::TableBits(9)) && tuning.rows.is_empty());
        let mut tuning = Tuning::new(Tunable::Sieve, None, &stop, None);
        assert!(!tuning.measure(candidates(Tunable::Sieve, None)[0]) && tuning.rows.is_empty());
    }

    #[test]
    fn numbers_are_as_many_as_take_their_time() {
        let stop = StopToken::new();
        let mut tuning = Tuning::new(Tunable::Table, None, &stop, None);
        let (mut work, _) = tuning.open(Size::TableBits(12)).unwrap();
        let bits = tuning.bits_of_a_second(&mut work, 20).unwrap().unwrap();
        assert!((24..=MOST_BITS).contains(&bits), "{bits}");
        // Other load on the machine may slow some timings.
        let time = tuning.once(&mut work, bits).unwrap().unwrap();
        assert!(20 * time >= GOAL, "{time:?}");
    }
}
