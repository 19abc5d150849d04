//! Measures the rates of memory and of launches.

use std::time::Duration;

use super::{Effort, wrong};
use crate::{Arg, Buffer, Device, DeviceError, Launch, Source, common};

/// The measured rates of a kernel that reads elements, adds 1 to each, and writes the results. The
/// rates are for buffers of one size.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CopyRate {
    /// The size of each buffer, in bytes.
    pub bytes: u64,
    /// The number of bytes per second if the kernel writes its results over its input. Bytes read
    /// and bytes written are both counted.
    pub in_place: f64,
    /// The number of bytes per second if the kernel reads one buffer and writes a second one,
    /// alternately in both directions. Bytes read and bytes written are both counted.
    pub between: f64,
}

const THREADS: u32 = 256;
/// The number of loads of 16 bytes that a thread issues before it uses the first result.
const IN_FLIGHT: u32 = 4;
/// The shortest duration of a measurement. Compared with it, the overhead of the measurement is
/// negligible.
const LONG_ENOUGH: Duration = Duration::from_millis(10);

pub(super) fn source() -> Source {
    let kernels = ["increment", "count"];
    Source::new("memory.cu", include_str!("../../kernels/bench/memory.cu"), &kernels)
        .headers(common::HEADERS)
        .define("THREADS", THREADS)
        .define("IN_FLIGHT", IN_FLIGHT)
}

/// Measures only [`Rates::copies`](super::Rates::copies). Some of the measured sizes fit in the
/// second-level cache of large GPUs, and others do not.
///
/// # Errors
/// No compiler was found, a kernel cannot be compiled, the device fails, or a result is wrong.
pub fn copies(device: &Device, effort: Effort) -> Result<Vec<CopyRate>, DeviceError> {
    match effort {
        Effort::Whole => {
            [8, 16, 32, 64, 512].iter().map(|&mib| copy(device, mib << 20, effort)).collect()
        }
        Effort::Few => Ok(vec![copy(device, 20_000, effort)?]),
    }
}

/// Measures the rates for buffers of `bytes` bytes, a multiple of 16.
fn copy(device: &Device, bytes: u32, effort: Effort) -> Result<CopyRate, DeviceError> {
    let kernel = device.program(&source())?.kernel("increment", 0)?;
    let n = bytes / 16;
    let shape = Launch::linear(n.div_ceil(THREADS * IN_FLIGHT), THREADS);
    let mut a: Buffer<u64> = device.alloc(bytes as usize / 8)?;
    let mut b: Buffer<u64> = device.alloc(bytes as usize / 8)?;
    let mut rate = |between: bool| {
        a.clear()?;
        b.clear()?;
        // Forth and back: both directions end in `a`.
        let (here, there) = (a.cells(..), b.cells(..));
        let other = if between { there } else { here };
        let graph = device.capture(|capture| {
            // SAFETY: `increment` reads and writes n times 16 bytes, element by element, and both
            // buffers have that many; they outlive the graph.
            unsafe {
                capture.launch(&kernel, shape, &[here.into(), other.into(), Arg::U32(n)]);
                capture.launch(&kernel, shape, &[other.into(), here.into(), Arg::U32(n)]);
            }
            Ok(())
        })?;
        let time = |pairs: u64| device.time(|| (0..pairs).try_for_each(|_| graph.launch()));
        let (pairs, launches, taken) = long_enough(effort, time)?;
        if let Some(&found) = a.download()?.iter().find(|&&found| found != 2 * launches) {
            return Err(wrong("a word that was copied", found, 2 * launches));
        }
        Ok(4.0 * f64::from(bytes) * pairs as f64 / taken.as_secs_f64().max(1e-9))
    };
    Ok(CopyRate { bytes: bytes.into(), in_place: rate(false)?, between: rate(true)? })
}

/// Returns the mean time from the beginning of one kernel to the beginning of the next kernel, in a
/// graph of kernels that do almost nothing.
pub(super) fn kernel_period(device: &Device, effort: Effort) -> Result<Duration, DeviceError> {
    let kernel = device.program(&source())?.kernel("count", 0)?;
    let kernels: u32 = if effort == Effort::Whole { 1000 } else { 10 };
    let mut launches: Buffer<u64> = device.upload(&[0])?;
    let shape = Launch::linear(device.info().multiprocessors.max(1), THREADS);
    let args = [Arg::from(&mut launches)];
    let graph = device.capture(|capture| {
        // SAFETY: `count` writes one word, which outlives the graph.
        (0..kernels).for_each(|_| unsafe { capture.launch(&kernel, shape, &args) });
        Ok(())
    })?;
    let time = |graphs: u64| device.time(|| (0..graphs).try_for_each(|_| graph.launch()));
    let (graphs, in_all, taken) = long_enough(effort, time)?;
    let expected = in_all * u64::from(kernels);
    match launches.download()?.first() {
        Some(&found) if found != expected => Err(wrong("the number of launches", found, expected)),
        _ => {
            Ok(Duration::from_secs_f64(taken.as_secs_f64() / (graphs * u64::from(kernels)) as f64))
        }
    }
}

/// Calls `time` with increasing numbers of repetitions, until a call takes at least [`LONG_ENOUGH`]
/// or has 2^16 repetitions. With [`Effort::Few`], `time` is called only once. Returns the number of
/// repetitions of the last call, the sum of the repetitions of all calls, and the time of the last
/// call.
fn long_enough(
    effort: Effort,
    time: impl Fn(u64) -> Result<Duration, DeviceError>,
) -> Result<(u64, u64, Duration), DeviceError> {
    let (mut times, mut all) = (1, 1);
    let mut taken = time(times)?;
    while effort == Effort::Whole && taken < LONG_ENOUGH && times < 1 << 16 {
        times *= 4;
        all += times;
        taken = time(times)?;
    }
    Ok((times, all, taken))
}
