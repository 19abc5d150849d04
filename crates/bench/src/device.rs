//! The rates that a device reaches: products and transforms in registers, copies in memory,
//! launches of kernels in a graph, floating-point operations.

use serde::Serialize;
use warpint_device::{
    CopyRate, Device, DeviceError, DeviceInfo, Effort, InRegisters, MeasuredTransforms, Rates,
    rates,
};

use crate::is_simulator;

/// The measured rates of a device, in the units that are printed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reached {
    /// The identifier of the device, such as `cuda:0`.
    pub device: String,
    /// The name of the GPU model or of the simulator.
    pub name: String,
    /// The version of the driver; empty on the simulator.
    pub driver: String,
    /// The number of multiprocessors.
    pub multiprocessors: u32,
    /// The rate of products a·b mod 2^64 − 2^32 + 1 of operands in registers.
    pub products: Field,
    /// The rates of transforms in registers modulo 2^64 − 2^32 + 1, one per number of points. An
    /// operation is one point on one of the log2(n) levels of a transform of n points.
    pub transforms: Vec<Transform>,
    /// The rates of copies, one per size of the buffers.
    pub copies: Vec<Copy>,
    /// The mean time from the start of one kernel to the start of the next kernel in a graph, in
    /// µs. The kernels do almost nothing.
    pub kernel_period_us: f64,
    /// The number of fused multiply-adds in FP64 per second.
    pub fp64_fma_per_second: f64,
    /// The number of fused multiply-adds in FP32 per second.
    pub fp32_fma_per_second: f64,
}

/// The rate of an operation mod 2^64 − 2^32 + 1.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Field {
    /// The number of operations per clock cycle on each multiprocessor.
    pub per_clock_per_multiprocessor: f64,
    /// The number of operations per second of the whole device.
    pub per_second: f64,
    /// The clock rate during the measurement, in GHz.
    pub clock_ghz: f64,
}

/// The rate of transforms modulo 2^64 − 2^32 + 1 of one size.
#[derive(Debug, Clone, Serialize)]
pub struct Transform {
    /// The number of points of a transform.
    pub points: u32,
    /// The rate. An operation is one point on one of the log2(n) levels of a transform of n points.
    #[serde(flatten)]
    pub rate: Field,
}

/// The rates of a kernel that reads each element, adds 1 and writes the result, for buffers of one
/// size. Bytes read and bytes written both count.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Copy {
    /// The size of a buffer, in bytes.
    pub bytes: u64,
    /// The rate if each result replaces the element that was read, in 10^9 bytes read and written
    /// per second.
    pub in_place_gb_per_second: f64,
    /// The rate of copies from one buffer to another and back, in 10^9 bytes read and written per
    /// second.
    pub between_gb_per_second: f64,
}

impl Field {
    fn new(rate: &InRegisters) -> Self {
        Self {
            per_clock_per_multiprocessor: rate.per_clock,
            per_second: rate.per_second,
            clock_ghz: rate.clock_hz / 1e9,
        }
    }
}

impl Reached {
    /// Measures the rates of a device.
    ///
    /// # Errors
    /// The device failed, or computed a wrong result.
    pub fn measure(device: &Device) -> Result<Self, DeviceError> {
        let effort = if is_simulator(device) { Effort::Few } else { Effort::Whole };
        Ok(Self::new(device.info(), &rates(device, effort)?))
    }

    /// Converts the measured rates of a device to the units of this struct.
    #[must_use]
    pub fn new(info: &DeviceInfo, rates: &Rates) -> Self {
        let transform =
            |of: &MeasuredTransforms| Transform { points: of.radix, rate: Field::new(&of.rate) };
        let copy = |of: &CopyRate| Copy {
            bytes: of.bytes,
            in_place_gb_per_second: of.in_place / 1e9,
            between_gb_per_second: of.between / 1e9,
        };
        Self {
            device: info.id.clone(),
            name: info.name.clone(),
            driver: info.driver.clone(),
            multiprocessors: info.multiprocessors,
            products: Field::new(&rates.products),
            transforms: rates.transforms.iter().map(transform).collect(),
            copies: rates.copies.iter().map(copy).collect(),
            kernel_period_us: rates.kernel_period.as_secs_f64() * 1e6,
            fp64_fma_per_second: rates.fp64.fp64,
            fp32_fma_per_second: rates.fp64.fp32,
        }
    }
}
