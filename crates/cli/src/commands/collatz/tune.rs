//! `warpint tune collatz`: which table sizes are the fastest here.

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::collatz::delay::Delays;
use warpint::collatz::gpu::DelaysOnDevice;
use warpint::collatz::{Method, Region, Verifier};
use warpint::device::Device;
use warpint::mersenne::engine::places::{CPU, cpu_name, device_on};
use warpint::mersenne::{DeviceChoice, StopToken};

use super::bench::Stopped;
use super::numbers::{about, number};
use super::sizes::{Size, TunedSizes, candidates, explained};
use super::verifiers;
use crate::args::{TuneCollatzArgs, Tuned};
use crate::commands::batch::place::settled;
use crate::exit::{BadRequest, Exit, one_line};
use crate::meter::Meter;
use crate::report;
use crate::signals::Signals;

/// So long the numbers that are timed shall take.
const GOAL: Duration = Duration::from_secs(1);

/// How often the fastest are timed.
const TIMES: usize = 3;

/// They are within this factor of the fastest.
const NEAR: f64 = 1.1;

/// Most numbers to time, log2.
const MOST_BITS: u32 = 56;

/// Where regions begin.
const FROM: u128 = 1 << 70;

/// Where delays begin.
const DELAYS_FROM: u128 = 1 << 40;

pub(crate) fn run(args: &TuneCollatzArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let device = match settled(args.device)? {
        DeviceChoice::On(id) => Some(device_on(id)?),
        DeviceChoice::Auto | DeviceChoice::Cpu => None,
    };
    let device = device.as_ref();
    let tuned = TunedSizes::open();
    // What cannot be stored is no reason to measure for a minute.
    tuned.check()?;
    let mut asked: Vec<Tuned> =
        Tuned::ALL.into_iter().filter(|what| args.what.contains(what)).collect();
    if asked.is_empty() {
        asked = Tuned::ALL.into();
        asked.retain(|what| !candidates(*what, device).is_empty());
    }
    if let Some(what) = asked.iter().find(|what| candidates(**what, device).is_empty()) {
        let text = format!("{} has one size on the CPU: give --device", what.name());
        return Err(BadRequest(text).into());
    }
    let stop = signals.save_first();
    let mut meter = Meter::new(String::new(), args.json);
    let all: u64 = asked.iter().map(|what| candidates(*what, device).len() as u64).sum();
    let mut timed = 0;
    let mut report = Report {
        device: device.map_or(CPU.to_owned(), |device| device.info().id.clone()),
        name: device.map_or_else(cpu_name, |device| device.info().name.clone()),
        stopped: false,
        rows: vec![],
    };
    let mut wrong = false;
    for what in asked {
        let mut tuning = Tuning::new(what, device, stop, args.bits);
        for size in candidates(what, device) {
            let line = || format!("{timed} of {all}, {} {size}", what.name());
            meter.show(timed, all, line);
            if !tuning.measure(size) {
                report.stopped = true;
                break;
            }
            timed += 1;
        }
        // Of some sizes only, the fastest is not known.
        if !report.stopped {
            tuning.store(&tuned)?;
        }
        wrong |= tuning.is_wrong;
        report.rows.extend(tuning.rows.into_iter().map(|(_, row)| row));
        if report.stopped {
            break;
        }
    }
    meter.end();
    report::print(&report, args.json)?;
    let failed = report.rows.iter().any(|row| row.error.is_some());
    Ok(match (wrong, failed, report.stopped) {
        (true, ..) => Exit::Negative,
        (false, true, _) => Exit::Failed,
        (false, false, true) => Exit::Stopped,
        (false, false, false) => Exit::Done,
    })
}

/// The sizes of one table.
struct Tuning<'a> {
    what: Tuned,
    device: Option<&'a Device>,
    stop: &'a StopToken,
    /// 2^this numbers are timed, for all sizes the same.
    bits: Option<u32>,
    /// Of their delays.
    sum: Option<u128>,
    /// Whether a size gave another result than others.
    is_wrong: bool,
    rows: Vec<(Size, Row)>,
}

impl<'a> Tuning<'a> {
    fn new(
        what: Tuned,
        device: Option<&'a Device>,
        stop: &'a StopToken,
        bits: Option<u32>,
    ) -> Self {
        Self { what, device, stop, bits, sum: None, is_wrong: false, rows: vec![] }
    }

    /// Times a size; whether it came to an end.
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
            Err(error) => row.error = Some(one_line(&error)),
        }
        self.rows.push((size, row));
        true
    }

    /// The least time of 2^bits numbers, and these bits; nothing if it was stopped.
    fn time(&mut self, size: Size) -> anyhow::Result<Option<(u32, Duration)>> {
        let (mut work, unit_bits) = self.open(size)?;
        let bits = match self.bits {
            Some(bits) => bits,
            None => match self.bits_of_a_second(&mut work, unit_bits)? {
                Some(bits) => *self.bits.insert(bits),
                None => return Ok(None),
            },
        };
        // Compiles kernels and makes vectors.
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

    /// With a size, and how many numbers to begin with, log2.
    fn open(&self, size: Size) -> anyhow::Result<(Work, u32)> {
        const FEWER: u32 = 10;
        let method = match (size, self.device) {
            (Size::Step(_), _) => Method::Sieve,
            (Size::TableBits(_), _) => Method::Table,
            (Size::Delays(shape), Some(device)) => {
                let engine = DelaysOnDevice::with_shape(device, shape).map_err(explained)?;
                // Fewer than usual only where so many are asked for.
                let engine = match self.bits {
                    Some(bits) if bits < 30 => engine.with_sizes(1 << bits, 0, 2),
                    _ => engine,
                };
                return Ok((Work::Delays(engine.into()), 30));
            }
            (Size::Delays(_), None) => return Err(none_here(self.what)),
        };
        let opened = verifiers::open_at(method, self.device, size.into())?;
        let (verifier, unit_bits) = opened.ok_or_else(|| none_here(self.what))?;
        Ok((Work::Verifier(verifier), unit_bits.saturating_sub(FEWER)))
    }

    /// So many numbers that they take about as long as they shall, log2.
    fn bits_of_a_second(&mut self, work: &mut Work, mut bits: u32) -> anyhow::Result<Option<u32>> {
        // Of a size that failed.
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

    /// Does 2^bits numbers; nothing if it was stopped.
    fn once(&mut self, work: &mut Work, bits: u32) -> anyhow::Result<Option<Duration>> {
        let begin = Instant::now();
        match work {
            Work::Verifier(verifier) => {
                let region = Region::interval(FROM, FROM + (1 << bits)).map_err(explained)?;
                let watch = Stopped(self.stop);
                let verified = verifier.verify(&region, &watch).map_err(explained)?;
                let Some(verified) = verified else { return Ok(None) };
                if !verified.unresolved.is_empty() {
                    self.is_wrong = true;
                    anyhow::bail!(super::numbers::unresolved(&verified.unresolved));
                }
            }
            Work::Delays(engine) => {
                let (numbers, mut done, mut sum) = (1u128 << bits, 0, 0);
                while done < numbers {
                    if self.stop.is_stopped() {
                        return Ok(None);
                    }
                    let part = (numbers - done).min(engine.chunk().into()) as u64;
                    let survey =
                        engine.survey(DELAYS_FROM + done, part, None).map_err(explained)?;
                    let Some(survey) = survey else {
                        anyhow::bail!("too many numbers are left to the CPU");
                    };
                    sum += survey.sum;
                    done += u128::from(part);
                }
                let expected = *self.sum.get_or_insert(sum);
                if sum != expected {
                    self.is_wrong = true;
                    anyhow::bail!(
                        "the delays sum up to {sum}, by another size to {expected}: one of both is wrong"
                    );
                }
            }
        }
        Ok(Some(begin.elapsed()))
    }

    /// Stores the fastest, if there is one and nothing was wrong.
    fn store(&mut self, tuned: &TunedSizes) -> anyhow::Result<()> {
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

/// What is timed.
enum Work {
    Verifier(Box<dyn Verifier>),
    Delays(Box<DelaysOnDevice>),
}

fn none_here(what: Tuned) -> anyhow::Error {
    anyhow::anyhow!("there is no {} here", what.name())
}

/// All that was found.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    /// The place.
    device: String,
    /// The product's name.
    name: String,
    /// Whether there was a request to stop before all was measured.
    stopped: bool,
    rows: Vec<Row>,
}

/// One size.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    what: &'static str,
    size: String,
    /// That were timed; absent if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    numbers: Option<String>,
    /// Numbers; absent if it failed.
    per_second: Option<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether it is the fastest.
    stored: bool,
}

impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{}  {}\n", self.device, self.name)?;
        write!(f, "{:<8}  {:<32}  {:>9}", "what", "size", "a second")?;
        for row in &self.rows {
            let said = match (&row.per_second, &row.error) {
                (Some(speed), _) => format!("{:>9}", about(*speed)),
                (None, error) => error.clone().unwrap_or_default(),
            };
            let remark = if row.stored { "  fastest, stored" } else { "" };
            write!(f, "\n{:<8}  {:<32}  {said}{remark}", row.what, row.size)?;
        }
        if self.stopped {
            write!(f, "\nstopped: what is not complete is not stored")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint::device::TuningStore;

    #[test]
    fn a_size_with_other_delays_is_told_and_nothing_is_stored() {
        let dir = tempfile::tempdir().unwrap();
        let store = TuningStore::at(dir.path());
        let (device, stop) = (Device::simulator().unwrap(), StopToken::new());
        let mut tuning = Tuning::new(Tuned::Delays, Some(&device), &stop, Some(12));
        let sizes = candidates(Tuned::Delays, Some(&device));
        assert!(tuning.measure(sizes[2]) && !tuning.is_wrong);
        let sum = tuning.sum.unwrap();
        tuning.sum = Some(sum + 1);
        assert!(tuning.measure(sizes[2]) && tuning.is_wrong);
        let said = tuning.rows[1].1.error.clone().unwrap();
        assert_eq!(
            said,
            format!(
                "the delays sum up to {sum}, by another size to {}: one of both is wrong",
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
        let mut tuning = Tuning::new(Tuned::Table, None, &stop, Some(20));
        assert!(!tuning.measure(Size::TableBits(9)) && tuning.rows.is_empty());
        let mut tuning = Tuning::new(Tuned::Sieve, None, &stop, None);
        assert!(!tuning.measure(candidates(Tuned::Sieve, None)[0]) && tuning.rows.is_empty());
    }

    #[test]
    fn numbers_are_as_many_as_take_their_time() {
        let stop = StopToken::new();
        let mut tuning = Tuning::new(Tuned::Table, None, &stop, None);
        let (mut work, _) = tuning.open(Size::TableBits(12)).unwrap();
        let bits = tuning.bits_of_a_second(&mut work, 20).unwrap().unwrap();
        assert!((24..=MOST_BITS).contains(&bits), "{bits}");
        // Others use this machine too, now or then.
        let time = tuning.once(&mut work, bits).unwrap().unwrap();
        assert!(20 * time >= GOAL, "{time:?}");
    }
}
