//! The command `warpint devices`: lists the GPUs, and what is missing to use them.

use std::fmt::{self, Display};

use serde::Serialize;
use warpint::device::{
    Device, DeviceError, DeviceInfo, Fp64Rate, Nvrtc, Telemetry, fp64_rate, sensors,
};

use crate::exit::Exit;
use crate::report;
use crate::units;

pub(crate) fn run(json: bool) -> anyhow::Result<Exit> {
    let list = Device::list();
    let devices: Vec<_> = list.devices.iter().map(DeviceReport::measured).collect();
    let nvrtc = devices.is_empty().then(|| Compiler::of(Nvrtc::find(None)));
    report::print(&DevicesReport { devices, missing: list.missing, nvrtc }, json)?;
    Ok(Exit::Done)
}

/// The report on the devices of this machine, and on requirements that are missing.
#[derive(Debug, Serialize)]
struct DevicesReport {
    devices: Vec<DeviceReport>,
    /// The reasons why further devices cannot be listed, such as a missing driver.
    missing: Vec<String>,
    /// The run-time compiler (NVRTC) if no device is listed; otherwise absent, because the report
    /// on each device has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    nvrtc: Option<Compiler>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct DeviceReport {
    id: String,
    name: String,
    memory_bytes: u64,
    /// The number of bytes of the device's memory that are free; `null` if it is unknown.
    free_bytes: Option<u64>,
    compute_capability: String,
    multiprocessors: u32,
    driver: String,
    nvrtc: Compiler,
    /// The FP64 rate; `null` if it could not be measured.
    fp64: Option<Fp64>,
    /// A reading of the device's sensors; absent without NVML, or for a device without sensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    sensors: Option<Telemetry>,
    /// The reason why the device cannot be used or measured; `null` if it can.
    problem: Option<String>,
}

/// The version and path of the run-time compiler (NVRTC), or a text that says how to install it.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Compiler {
    Found { version: String, path: String },
    Missing { missing: String },
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Fp64 {
    full_rate: bool,
    fp64_fma_per_second: f64,
    fp32_fma_per_second: f64,
}

impl DeviceReport {
    /// Returns the report on a device: the data from its driver, and its measured FP64 rate.
    fn measured(info: &DeviceInfo) -> Self {
        let nvrtc = Compiler::of(Nvrtc::find(Some(info.compute_capability)));
        let mut report = Self::new(info, nvrtc);
        report.problem = report.measure().err().map(|e| e.to_string());
        report.sensors = sensors(&info.id).and_then(|sensors| sensors.read());
        report
    }

    fn new(info: &DeviceInfo, nvrtc: Compiler) -> Self {
        let (major, minor) = info.compute_capability;
        Self {
            id: info.id.clone(),
            name: info.name.clone(),
            memory_bytes: info.memory,
            free_bytes: None,
            compute_capability: format!("{major}.{minor}"),
            multiprocessors: info.multiprocessors,
            driver: info.driver.clone(),
            nvrtc,
            fp64: None,
            sensors: None,
            problem: None,
        }
    }

    fn measure(&mut self) -> Result<(), DeviceError> {
        let device = Device::open(&self.id)?;
        self.free_bytes = Some(device.memory()?.0);
        // Measuring requires a compiler; its absence is reported already.
        if matches!(self.nvrtc, Compiler::Found { .. }) {
            self.fp64 = Some(fp64_rate(&device)?.into());
        }
        Ok(())
    }
}

impl Compiler {
    fn of(found: Result<Nvrtc, DeviceError>) -> Self {
        match found {
            Ok(nvrtc) => {
                let (major, minor) = nvrtc.version();
                let path = nvrtc.path().display().to_string();
                Self::Found { version: format!("{major}.{minor}"), path }
            }
            Err(e) => Self::Missing { missing: e.to_string() },
        }
    }
}

impl From<Fp64Rate> for Fp64 {
    fn from(rate: Fp64Rate) -> Self {
        Self {
            full_rate: rate.is_full(),
            fp64_fma_per_second: rate.fp64,
            fp32_fma_per_second: rate.fp32,
        }
    }
}

impl Display for DevicesReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines: Vec<String> = self.devices.iter().map(ToString::to_string).collect();
        if self.devices.is_empty() {
            lines.push("No GPU can be used: all work is done on the CPU.".into());
        }
        lines.extend(self.missing.iter().map(|reason| line("missing", reason)));
        lines.extend(self.nvrtc.iter().map(|nvrtc| line("NVRTC", nvrtc)));
        f.write_str(&lines.join("\n"))
    }
}

impl Display for DeviceReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let memory = units::memory(self.memory_bytes);
        let memory = match self.free_bytes {
            Some(free) => format!("{memory}, {} free", units::memory(free)),
            None => memory,
        };
        let multiprocessors = units::count(self.multiprocessors, "multiprocessor");
        let mut lines = vec![
            format!("{}  {}", self.id, self.name),
            line("memory", memory),
            line("compute", format!("capability {}, {multiprocessors}", self.compute_capability)),
            line("driver", &self.driver),
            line("NVRTC", &self.nvrtc),
        ];
        lines.extend(self.fp64.map(|fp64| line("FP64", fp64)));
        lines.extend(self.sensors.iter().map(|sensors| line("sensors", sensors)));
        lines.extend(self.problem.iter().map(|problem| line("problem", problem)));
        f.write_str(&lines.join("\n"))
    }
}

impl Display for Compiler {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Found { version, path } => write!(f, "{version}, {path}"),
            Self::Missing { missing } => f.write_str(missing),
        }
    }
}

impl Display for Fp64 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rate = if self.full_rate { "full rate" } else { "not at full rate" };
        let part = (self.fp32_fma_per_second / self.fp64_fma_per_second).round();
        let tera = self.fp64_fma_per_second / 1e12;
        write!(f, "{rate}: {tera:.2}·10^12 multiply-adds/s, 1/{part} of FP32 (measured)")
    }
}

fn line(what: &str, said: impl Display) -> String {
    format!("  {what:<9} {said}")
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOW_TO: &str = "no run-time compiler (NVRTC) was found (pip install …)";

    fn info(index: u32) -> DeviceInfo {
        DeviceInfo {
            id: format!("cuda:{index}"),
            name: "NVIDIA H200".into(),
            compute_capability: (9, 0),
            multiprocessors: 132,
            memory: 150_121_545_728,
            shared_memory_per_block: 232_448,
            shared_memory_per_multiprocessor: 233_472,
            clock_khz: 1_980_000,
            driver: "580.159.04 (CUDA 13.0)".into(),
        }
    }

    fn found() -> Compiler {
        Compiler::Found { version: "13.0".into(), path: "/x/libnvrtc.so.13".into() }
    }

    fn missing() -> Compiler {
        Compiler::Missing { missing: HOW_TO.into() }
    }

    fn report(devices: Vec<DeviceReport>) -> DevicesReport {
        DevicesReport { devices, missing: vec![], nvrtc: None }
    }

    #[test]
    fn two_devices_are_told_apart() {
        let whole = DeviceReport {
            free_bytes: Some(1 << 30),
            fp64: Some(Fp64Rate { fp64: 33.4e12, fp32: 66.7e12 }.into()),
            sensors: Some(Telemetry { temperature_celsius: Some(41), ..Telemetry::default() }),
            ..DeviceReport::new(&info(0), found())
        };
        let busy = DeviceReport {
            problem: Some("cuDevicePrimaryCtxRetain failed: …".into()),
            ..DeviceReport::new(&info(1), found())
        };
        let report = report(vec![whole, busy]);
        assert_eq!(
            report.to_string(),
            "cuda:0  NVIDIA H200
  memory    139.8 GiB, 1.0 GiB free
  compute   capability 9.0, 132 multiprocessors
  driver    580.159.04 (CUDA 13.0)
  NVRTC     13.0, /x/libnvrtc.so.13
  FP64      full rate: 33.40·10^12 multiply-adds/s, 1/2 of FP32 (measured)
  sensors   41 °C
cuda:1  NVIDIA H200
  memory    139.8 GiB
  compute   capability 9.0, 132 multiprocessors
  driver    580.159.04 (CUDA 13.0)
  NVRTC     13.0, /x/libnvrtc.so.13
  problem   cuDevicePrimaryCtxRetain failed: …"
        );
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["devices"][0]["fp64"]["full-rate"], true);
        assert_eq!(json["devices"][0]["nvrtc"]["path"], "/x/libnvrtc.so.13");
        assert_eq!(json["devices"][0]["sensors"]["temperature-celsius"], 41);
        assert_eq!(json["devices"][1]["id"], "cuda:1");
        assert!(json["devices"][1].get("sensors").is_none());
        assert!(json["devices"][1]["fp64"].is_null());
    }

    #[test]
    fn a_driver_without_nvrtc_says_how_to_get_it() {
        let report = report(vec![DeviceReport::new(&info(0), missing())]);
        assert!(report.to_string().ends_with(&format!("  NVRTC     {HOW_TO}")), "{report}");
        let json = serde_json::to_value(&report).unwrap();
        assert_eq!(json["devices"][0]["nvrtc"]["missing"], HOW_TO);
    }

    #[test]
    fn no_driver_is_told_with_and_without_nvrtc() {
        for (nvrtc, last) in [(found(), "13.0, /x/libnvrtc.so.13"), (missing(), HOW_TO)] {
            let report = DevicesReport {
                missing: vec!["no CUDA driver: …".into()],
                nvrtc: Some(nvrtc),
                ..report(vec![])
            };
            assert_eq!(
                report.to_string(),
                format!(
                    "No GPU can be used: all work is done on the CPU.
  missing   no CUDA driver: …
  NVRTC     {last}"
                )
            );
        }
    }

    #[test]
    fn a_slow_fp64_is_told() {
        let fp64 = Fp64::from(Fp64Rate { fp64: 0.64e12, fp32: 41.0e12 });
        assert_eq!(
            fp64.to_string(),
            "not at full rate: 0.64·10^12 multiply-adds/s, 1/64 of FP32 (measured)"
        );
    }
}
