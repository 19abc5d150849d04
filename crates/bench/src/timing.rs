//! The times of repeated work, by the clock of a device or of the host.

use std::time::{Duration, Instant};

use warpint_device::{Device, DeviceError};

use crate::BenchError;
use crate::columns::Times;

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
