//! The fields that several benchmarks have in common.

use serde::Serialize;
use warpint_device::{CPU, DeviceInfo, cpu_name};
use warpint_mersenne::Plan;

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
            exponent: plan.exponent().get(),
            engine: plan.engine(),
            device: plan.place(),
            fft_length: plan.length(),
        }
    }
}
