//! The command `warpint bench device`: measures the rates of a GPU.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint::device::device_on;
use warpint_bench::device::{Field, Reached, Transform};

use super::Plot;
use crate::args::BenchDeviceArgs;
use crate::exit::Exit;
use crate::report;
use crate::units;

pub(crate) fn run(args: &BenchDeviceArgs) -> anyhow::Result<Exit> {
    let plot = Plot::new(args.plot.as_deref())?;
    let reached = Reached::measure(&device_on(args.device)?)?;
    report::print(&Table(&reached), args.json)?;
    plot.write(|| reached.chart())?;
    Ok(Exit::Done)
}

/// The rates of a device, formatted as a table by `Display`.
#[derive(Serialize)]
struct Table<'a>(&'a Reached);

impl Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reached = self.0;
        let multiprocessors = units::count(reached.multiprocessors, "multiprocessor");
        writeln!(
            f,
            "{}  {}, {multiprocessors}, {}\n",
            reached.device, reached.name, reached.driver
        )?;
        writeln!(f, "mod 2^64 − 2^32 + 1, in registers   /clock/multiprocessor    10^9/s    GHz")?;
        let mut line = |what: &str, rate: &Field| {
            let Field { per_clock_per_multiprocessor, per_second, clock_ghz } = rate;
            let giga = per_second / 1e9;
            writeln!(
                f,
                "{what:<35} {per_clock_per_multiprocessor:>21.2} {giga:>9.1} {clock_ghz:>6.3}"
            )
        };
        line("products", &reached.products)?;
        for Transform { points, rate } in &reached.transforms {
            line(&format!("points·levels, {points} points"), rate)?;
        }
        writeln!(f, "\nread and written, GB/s              in place   between buffers")?;
        for copy in &reached.copies {
            let size = units::memory(copy.bytes);
            let (in_place, between) = (copy.in_place_gb_per_second, copy.between_gb_per_second);
            writeln!(f, "{size:<35} {in_place:>8.0} {between:>17.0}")?;
        }
        writeln!(f, "\nkernel period in a graph            {:>8.2} µs", reached.kernel_period_us)?;
        let tera = |rate: f64| rate / 1e12;
        let (fp64, fp32) = (tera(reached.fp64_fma_per_second), tera(reached.fp32_fma_per_second));
        writeln!(f, "multiply-adds in FP64               {fp64:>8.2} 10^12/s")?;
        write!(f, "multiply-adds in FP32               {fp32:>8.2} 10^12/s")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use warpint::device::{CopyRate, DeviceInfo, Fp64Rate, InRegisters, MeasuredTransforms, Rates};

    #[test]
    fn every_figure_has_its_unit() {
        let info = DeviceInfo {
            id: "cuda:0".into(),
            name: "NVIDIA H200".into(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            memory: 1 << 37,
            shared_memory_per_block: 232_448,
            shared_memory_per_multiprocessor: 233_472,
            clock_khz: 1_980_000,
            driver: "580.159.04 (CUDA 13.0)".into(),
        };
        let rate = |per_clock: f64| InRegisters {
            per_clock,
            per_second: per_clock * 132.0 * 1.98e9,
            clock_hz: 1.98e9,
        };
        let rates = Rates {
            products: rate(4.25),
            transforms: vec![MeasuredTransforms { radix: 16, rate: rate(7.5) }],
            copies: vec![CopyRate { bytes: 32 << 20, in_place: 6.1e12, between: 4.2e12 }],
            kernel_period: Duration::from_nanos(1_310),
            fp64: Fp64Rate { fp64: 33.4e12, fp32: 66.7e12 },
        };
        let reached = Reached::new(&info, &rates);
        assert_eq!(
            Table(&reached).to_string(),
            "\
cuda:0  NVIDIA H200, 132 multiprocessors, 580.159.04 (CUDA 13.0)

mod 2^64 − 2^32 + 1, in registers   /clock/multiprocessor    10^9/s    GHz
products                                             4.25    1110.8  1.980
points·levels, 16 points                             7.50    1960.2  1.980

read and written, GB/s              in place   between buffers
32.0 MiB                                6100              4200

kernel period in a graph                1.31 µs
multiply-adds in FP64                  33.40 10^12/s
multiply-adds in FP32                  66.70 10^12/s"
        );
        let json = serde_json::to_value(&reached).unwrap();
        assert_eq!(json["products"]["per-clock-per-multiprocessor"], 4.25);
        assert_eq!(json["transforms"][0]["points"], 16);
        assert_eq!(json["copies"][0]["bytes"], 32 << 20);
    }
}
