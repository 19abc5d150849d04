//! The fields that several benchmarks have in common.

use std::time::Duration;

use serde::Serialize;
use warpint_device::{CPU, DeviceInfo, cpu_name};
use warpint_mersenne::Plan;

use crate::micros;

/// The device or CPU on which a benchmark ran.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Machine {
    /// The identifier of the device, such as `cuda:0`, or `cpu`.
    pub device: String,
    /// The name of the GPU model or processor.
    pub name: String,
    /// The version of the driver; empty on the simulator, `None` on the CPU.
    pub driver: Option<String>,
    /// The number of threads on the CPU; `None` on a device.
    pub threads: Option<usize>,
}

impl Machine {
    /// Describes the device with the given information. If `info` is `None`, describes the CPU; the
    /// number of threads is then the size of rayon's pool.
    pub(crate) fn of(info: Option<&DeviceInfo>) -> Self {
        match info {
            Some(info) => Self {
                device: info.id.clone(),
                name: info.name.clone(),
                driver: Some(info.driver.clone()),
                threads: None,
            },
            None => Self {
                device: CPU.into(),
                name: cpu_name(),
                driver: None,
                threads: Some(rayon::current_num_threads()),
            },
        }
    }
}

/// Formats a number of bytes as `19.5 KiB` or `32 MiB`, with a digit after the point unless it is 0.
pub(crate) fn size(bytes: u64) -> String {
    let (unit, name) = if bytes < 1 << 20 { (1 << 10, "KiB") } else { (1 << 20, "MiB") };
    let size = bytes as f64 / f64::from(unit);
    if size.fract() == 0.0 { format!("{size:.0} {name}") } else { format!("{size:.1} {name}") }
}

/// The times of several runs, in µs.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Times {
    /// The median time, in µs. For an even number of runs, the median is the longer of the middle
    /// two.
    pub us: f64,
    /// The time of the fastest run, in µs.
    pub us_fastest_run: f64,
    /// The time of the slowest run, in µs.
    pub us_slowest_run: f64,
    /// The number of timed runs.
    pub runs: usize,
}

impl Times {
    pub(crate) fn new(mut times: Vec<Duration>) -> Self {
        times.sort_unstable();
        // A lower bound on times, in case of a coarse clock.
        let at = |i: usize| micros(times.get(i).copied().unwrap_or_default()).max(0.001);
        let runs = times.len();
        Self {
            us: at(runs / 2),
            us_fastest_run: at(0),
            us_slowest_run: at(runs.saturating_sub(1)),
            runs,
        }
    }
}

/// The plan whose squarings a row measures.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Planned {
    /// The exponent p of 2^p − 1.
    pub exponent: u32,
    /// The name of the engine family.
    pub engine: &'static str,
    /// The place where the engine computes: `cpu`, or a device such as `cuda:0`.
    pub device: &'static str,
    /// The transform length, in words.
    pub fft_length: usize,
}

impl From<&Plan> for Planned {
    fn from(plan: &Plan) -> Self {
        Self {
            exponent: plan.exponent(),
            engine: plan.engine(),
            device: plan.place(),
            fft_length: plan.length(),
        }
    }
}
