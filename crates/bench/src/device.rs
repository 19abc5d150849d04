//! What a device reaches: products and transforms in registers, memory, kernels in a graph, FP64.

use serde::Serialize;
use warpint_device::{
    CopyRate, Device, DeviceError, DeviceInfo, Effort, InRegisters, MeasuredTransforms, Rates,
    rates,
};

use crate::is_simulator;

/// What a device reaches, in the units that are printed.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Reached {
    /// The device: `cuda:0`.
    pub device: String,
    /// The product's name.
    pub name: String,
    /// The driver; empty on the simulator.
    pub driver: String,
    /// How many the device has.
    pub multiprocessors: u32,
    /// a·b mod 2^64 − 2^32 + 1, in registers.
    pub products: Field,
    /// Points·levels of transforms in registers.
    pub transforms: Vec<Transform>,
    /// Copies of several sizes.
    pub copies: Vec<Copy>,
    /// µs from one kernel of a graph to the next, of kernels that do nothing.
    pub kernel_period_us: f64,
    /// Multiply-adds in FP64 a second.
    pub fp64_fma_per_second: f64,
    /// Multiply-adds in FP32 a second.
    pub fp32_fma_per_second: f64,
}

/// The rate of an operation mod 2^64 − 2^32 + 1.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Field {
    /// Operations a clock on each multiprocessor.
    pub per_clock_per_multiprocessor: f64,
    /// Operations a second of the whole device.
    pub per_second: f64,
    /// The clock meanwhile, GHz.
    pub clock_ghz: f64,
}

/// Transforms of one size.
#[derive(Debug, Clone, Serialize)]
pub struct Transform {
    /// The points of a transform.
    pub points: u32,
    /// Points·levels.
    #[serde(flatten)]
    pub rate: Field,
}

/// Bytes read and written.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Copy {
    /// What is copied.
    pub bytes: u64,
    /// In place, 10^9 bytes a second.
    pub in_place_gb_per_second: f64,
    /// From one buffer to another, 10^9 bytes a second.
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
    /// Measures a device.
    ///
    /// # Errors
    /// The device failed, or computed something wrong.
    pub fn measure(device: &Device) -> Result<Self, DeviceError> {
        let effort = if is_simulator(device) { Effort::Few } else { Effort::Whole };
        Ok(Self::new(device.info(), &rates(device, effort)?))
    }

    /// Measured rates in these units.
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
