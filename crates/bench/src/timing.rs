//! The times of repeated work, by the clock of a device or of the host.

use std::time::{Duration, Instant};

use warpint_device::{Buffer, Device, DeviceError};

use crate::columns::Times;
use crate::{BenchError, is_simulator};

/// A run that takes less than this is repeated within the timed span, because the clock
/// of a device has a resolution of about half a microsecond.
const SPAN: Duration = Duration::from_micros(100);
/// The largest number of repetitions within a timed span.
const MOST_REPEATED: usize = 32;
/// The largest number of launches that are submitted while the device is kept busy. The queue of a
/// device has room for more.
const MOST_QUEUED: usize = 500;
/// The time of a run for which the host submits the next run before the device has ended this one.
const LONG_TO_SUBMIT: Duration = Duration::from_millis(2);

/// Work for a device that takes some milliseconds, during which the host submits timed work. Without
/// it the device would wait for the host between short kernels.
#[derive(Debug)]
struct Busy {
    from: Buffer<u64>,
    to: Buffer<u64>,
}

impl Busy {
    /// The number of words of a copy, 64 MiB, which takes at least 30 µs.
    const WORDS: usize = 8 << 20;
    const COPIES: usize = 64;

    fn new(device: &Device) -> Result<Self, DeviceError> {
        let mut from = device.alloc(Self::WORDS)?;
        from.clear()?;
        Ok(Self { from, to: device.alloc(Self::WORDS)? })
    }

    fn submit(&mut self) -> Result<(), DeviceError> {
        (0..Self::COPIES).try_for_each(|_| self.to.copy_from(&self.from))
    }
}

/// Returns the default number of timed runs of work that takes `once`: 3 if this is `long` or more,
/// otherwise 15.
pub(crate) fn usual_runs(once: Duration, long: Duration) -> usize {
    if once >= long { 3 } else { 15 }
}

/// Calls `work` `count` times. Returns the time that the device spends on the work submitted by each
/// call, by the device's clock ([`Device::times`]).
pub(crate) fn on_device<E: Into<BenchError>>(
    device: &Device,
    count: usize,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Vec<Duration>, BenchError> {
    // Errors of `work` are kept here.
    let mut failed = None;
    let times = device.times(count, |_| {
        work().map_err(|e| {
            failed = Some(e.into());
            DeviceError::Failed { what: "a transform".into(), message: String::new() }
        })
    });
    match failed {
        Some(e) => Err(e),
        None => Ok(times?),
    }
}

/// Times `runs` runs of `work` by the clock of the host, after a first run. `None` selects the
/// default number of runs.
pub(crate) fn on_cpu<E: Into<BenchError>>(
    runs: Option<usize>,
    mut work: impl FnMut() -> Result<(), E>,
) -> Result<Times, BenchError> {
    const LONG: Duration = Duration::from_millis(100);
    let mut time = || -> Result<Duration, BenchError> {
        let begin = Instant::now();
        work().map_err(Into::into)?;
        Ok(begin.elapsed())
    };
    let usual = usual_runs(time()?, LONG);
    let times = (0..runs.unwrap_or(usual)).map(|_| time());
    Ok(Times::new(times.collect::<Result<_, _>>()?))
}

/// Times work on a device, by the clock of the device.
#[derive(Debug)]
pub(crate) struct DeviceTimer {
    device: Device,
    runs: Option<usize>,
    /// `None` on the simulator, where times have no meaning.
    busy: Option<Busy>,
}

impl DeviceTimer {
    /// Creates a timer of `runs` runs; `None` selects the default number.
    pub(crate) fn new(device: &Device, runs: Option<usize>) -> Result<Self, DeviceError> {
        let busy = if is_simulator(device) { None } else { Some(Busy::new(device)?) };
        Ok(Self { device: device.clone(), runs, busy })
    }

    /// Times several runs of `work`, which submits `launches` kernels and must have been performed
    /// once before, so that kernels are compiled.
    pub(crate) fn times<E: Into<BenchError>>(
        &mut self,
        launches: usize,
        mut work: impl FnMut() -> Result<(), E>,
    ) -> Result<Times, BenchError> {
        const LONG: Duration = Duration::from_millis(20);
        let once: Duration = on_device(&self.device, 1, &mut work)?.into_iter().sum();
        let Some(busy) = &mut self.busy else {
            let runs = self.runs.unwrap_or(3);
            return Ok(Times::new(on_device(&self.device, runs, work)?));
        };
        let runs = self.runs.unwrap_or(usual_runs(once, LONG));
        let (repeated, group) = spans(once, launches);
        let mut times = vec![];
        while times.len() < runs {
            if once < LONG_TO_SUBMIT {
                busy.submit()?;
            } else {
                work().map_err(Into::into)?;
            }
            let count = group.min(runs - times.len());
            let mut span = || (0..repeated).try_for_each(|_| work());
            times.extend(on_device(&self.device, count, &mut span)?);
        }
        Ok(Times::new(times.into_iter().map(|time| time / repeated as u32).collect()))
    }
}

/// Returns the number of repetitions within a timed span of work that takes `once` and submits
/// `launches` kernels, and the number of spans that are submitted at a time.
fn spans(once: Duration, launches: usize) -> (usize, usize) {
    let repeated = SPAN.as_nanos().div_ceil(once.as_nanos().max(1)) as usize;
    let repeated = repeated.clamp(1, MOST_REPEATED);
    (repeated, (MOST_QUEUED / (repeated * launches.max(1))).max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_transforms_are_repeated_within_a_span() {
        let of = |micros, launches| spans(Duration::from_micros(micros), launches);
        assert_eq!(of(0, 1), (32, 15));
        assert_eq!(of(10, 2), (10, 25));
        assert_eq!(of(70, 3), (2, 83));
        assert_eq!(of(100, 3), (1, 166));
        assert_eq!(of(1_000_000, 3), (1, 166));
        assert_eq!(of(1, 100), (32, 1));
    }
}
