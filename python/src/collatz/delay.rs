//! Delays and records of a range, and the path of one number.

use std::sync::mpsc::Sender;
use std::time::Instant;

use num_bigint::BigUint;
use numpy::{IntoPyArray, PyArray1};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use warpint::collatz::delay::{Delays, Standing, check_range, search};
use warpint::collatz::open::delays_on;
use warpint::collatz::path::path_by;
use warpint::collatz::report::DelayReport;
use warpint::collatz::sizes::TunedSizes;
use warpint::device::Device;
use warpint::natural::product::TransformMultiplier;
use warpint::progress::{StopToken, Watch};

use crate::choice::{opened, thread_count};
use crate::failure::Failure;
use crate::watched::{Counter, News, watched};

/// The least count of numbers for which `auto` selects a GPU.
const WORTH_A_GPU: u128 = 1 << 25;

/// The count of delays that are computed at a time.
const AT_A_TIME: usize = 1 << 20;

/// Products of a path are computed on several threads if the number has at least this number of bits.
const PARALLEL_FROM: u64 = 1 << 20;

/// The options of a search, which Python passes as a dictionary.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct DelayOptions {
    from: u128,
    to: u128,
    device: String,
    records: bool,
    /// The largest delay below the range.
    delay_record: Option<u32>,
    /// The largest value on a path that starts below the range, as little-endian bytes.
    path_record: Option<Vec<u8>>,
}

/// Searches a range for the largest delay and for records, and returns the report as JSON.
#[pyfunction]
pub(crate) fn collatz_delay(
    py: Python<'_>,
    options: DelayOptions,
    observer: &Bound<'_, PyAny>,
) -> PyResult<String> {
    watched(py, observer, |stop, news| delay(&options, stop, news))
}

fn delay(options: &DelayOptions, stop: &StopToken, news: Sender<News>) -> Result<String, Failure> {
    let (from, to) = (options.from, options.to);
    check_range(from, to)?;
    let mut engine = engine(&options.device, to - from, &news)?;
    let maximum = options.path_record.as_deref().map(BigUint::from_bytes_le);
    let standing = Standing { delay: options.delay_record, maximum };
    let standing = options.records.then_some(standing);
    let (begin, counter) = (Instant::now(), Counter::new(stop, news, to - from));
    let found = search(&mut *engine, from, to, standing, &counter)?;
    if found.to < to {
        return Err(Failure::stopped());
    }
    let (place, time) = (engine.place(), begin.elapsed());
    Ok(serde_json::to_string(&DelayReport::new(&found, options.records, false, place, time))?)
}

/// Opens the device, or the CPU, that computes `numbers` delays.
fn engine(device: &str, numbers: u128, news: &Sender<News>) -> Result<Box<dyn Delays>, Failure> {
    let device = if device == "auto" && numbers < WORTH_A_GPU { "cpu" } else { device };
    let (device, tuned): (Option<Device>, _) = (opened(device, news)?, TunedSizes::open());
    let engine = delays_on(device.as_ref(), &tuned);
    for warning in tuned.take_warnings() {
        let _ = news.send(News::Warning(warning));
    }
    Ok(engine?.0)
}

/// Returns the delays of the numbers from `from` to `to` − 1.
#[pyfunction]
pub(crate) fn collatz_delays<'py>(
    py: Python<'py>,
    from: u128,
    to: u128,
    device: &str,
    observer: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyArray1<u32>>> {
    let delays = watched(py, observer, |stop, news| delays(from, to, device, stop, news))?;
    Ok(delays.into_pyarray(py))
}

fn delays(
    from: u128,
    to: u128,
    device: &str,
    stop: &StopToken,
    news: Sender<News>,
) -> Result<Vec<u32>, Failure> {
    check_range(from, to)?;
    let mut delays = Vec::new();
    let room = usize::try_from(to - from).ok().filter(|&n| delays.try_reserve_exact(n).is_ok());
    let count =
        room.ok_or_else(|| Failure::memory(format!("no memory for {} delays", to - from)))?;
    delays.resize(count, 0);
    let mut engine = engine(device, to - from, &news)?;
    let counter = Counter::new(stop, news, to - from);
    let mut first = from;
    for piece in delays.chunks_mut(AT_A_TIME) {
        if stop.is_stopped() {
            return Err(Failure::stopped());
        }
        engine.fill(first, piece)?;
        first += piece.len() as u128;
        counter.done(piece.len() as u128);
    }
    Ok(delays)
}

/// The odd steps, the even steps, the maximum and the glide of a path.
type PathParts<'py> = (u64, u64, Bound<'py, PyBytes>, Option<u64>);

/// Returns the path of the number n ≥ 1, given as little-endian bytes.
#[pyfunction]
pub(crate) fn collatz_path<'py>(
    py: Python<'py>,
    n: &[u8],
    observer: &Bound<'py, PyAny>,
) -> PyResult<PathParts<'py>> {
    let n = BigUint::from_bytes_le(n);
    let path = watched(py, observer, |stop, news| {
        let threads = if n.bits() < PARALLEL_FROM { 1 } else { thread_count(None)? };
        let counter = Counter::new(stop, news, n.bits().into());
        let path = path_by(&n, &TransformMultiplier::new(threads), &counter);
        path.ok_or_else(Failure::stopped)
    })?;
    let maximum = PyBytes::new(py, &path.maximum.to_bytes_le());
    Ok((path.odd_steps, path.even_steps, maximum, path.glide))
}
