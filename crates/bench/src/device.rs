//! The rates that a device reaches: products and transforms in registers, copies in memory,
//! launches of kernels in a graph, floating-point operations.

use serde::Serialize;
use warpint_device::{
    CopyRate, Device, DeviceError, DeviceInfo, Effort, InRegisters, MeasuredTransforms, Rates,
    rates,
};

use crate::chart::{Bar, Bars, Panel, Scale};
use crate::columns::size;
use crate::is_simulator;

/// The rates that a manufacturer states for a GPU.
struct DataSheet {
    /// The name by which the driver calls the GPU.
    name: &'static str,
    /// The rate of the memory, in 10^9 bytes read and written per second.
    gb_per_second: f64,
    /// The rates of FP64 and FP32 without tensor cores, in 10^12 operations per second. A fused
    /// multiply-add counts as two operations.
    tera_operations_per_second: [f64; 2],
}

/// NVIDIA's data sheets of the H100 and of the H200 (SXM).
const DATA_SHEETS: [DataSheet; 2] = [
    DataSheet {
        name: "NVIDIA H100 80GB HBM3",
        gb_per_second: 3350.0,
        tera_operations_per_second: [34.0, 67.0],
    },
    DataSheet {
        name: "NVIDIA H200",
        gb_per_second: 4800.0,
        tera_operations_per_second: [34.0, 67.0],
    },
];

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

    /// Draws a chart with a panel for each kind of rate: copies, multiply-adds, and operations
    /// mod 2^64 − 2^32 + 1. For the H100 and the H200 (SXM), the rates of the data sheet are drawn as
    /// limits of copies and multiply-adds. Copies that fit in the caches can exceed the limit.
    #[must_use]
    pub fn chart(&self) -> Bars {
        let sheet = DATA_SHEETS.iter().find(|sheet| sheet.name == self.name);
        let mut chart = Bars::new("Rates of a device", &self.name);
        let mut copies =
            Panel::new("copies: GB/s read and written", Scale::Linear).limits("memory, data sheet");
        for copy in &self.copies {
            let size = size(copy.bytes);
            for (series, rate) in [
                ("in place", copy.in_place_gb_per_second),
                ("between buffers", copy.between_gb_per_second),
            ] {
                copies.add(Bar {
                    label: format!("{size}, {series}"),
                    series: series.into(),
                    value: rate,
                    said: format!("{rate:.0}"),
                    limit: sheet.map(|sheet| sheet.gb_per_second),
                });
            }
        }
        chart.add(copies);
        let mut adds =
            Panel::new("multiply-adds: 10^12 per second", Scale::Linear).limits("data sheet");
        for (i, (label, rate)) in
            [("FP64", self.fp64_fma_per_second), ("FP32", self.fp32_fma_per_second)]
                .into_iter()
                .enumerate()
        {
            adds.add(Bar {
                label: label.into(),
                series: "multiply-adds".into(),
                value: rate / 1e12,
                said: format!("{:.2}", rate / 1e12),
                limit: sheet.map(|sheet| sheet.tera_operations_per_second[i] / 2.0),
            });
        }
        chart.add(adds);
        let mut field =
            Panel::new("mod 2^64 − 2^32 + 1, in registers: 10^9 per second", Scale::Linear);
        let transforms = self.transforms.iter().map(|Transform { points, rate }| {
            (format!("points·levels, {points} points"), "transforms", rate)
        });
        let products = [("products".to_owned(), "products", &self.products)];
        for (label, series, rate) in products.into_iter().chain(transforms) {
            let giga = rate.per_second / 1e9;
            let said = format!("{giga:.1}, at {:.3} GHz", rate.clock_ghz);
            field.add(Bar { label, series: series.into(), value: giga, said, limit: None });
        }
        chart.add(field);
        let mut graph = Panel::new("period of kernels in a graph: µs", Scale::Linear);
        graph.add(Bar {
            label: "empty kernels".into(),
            series: "kernels".into(),
            value: self.kernel_period_us,
            said: format!("{:.2}", self.kernel_period_us),
            limit: None,
        });
        chart.add(graph);
        chart
    }
}
