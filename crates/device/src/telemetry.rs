//! Readings of a GPU's sensors: temperature, clocks, power, and the reasons for throttling.
//!
//! Sensors are read through NVML, the management library that comes with the driver. NVML is loaded
//! when the sensors of a device are first requested. Without NVML or a GPU there are no sensors;
//! this is not an error. A reading takes some hundred microseconds of the host's time and none of
//! the GPU's.

use std::fmt;

use serde::{Deserialize, Serialize};

/// One reading of a GPU's sensors. A value that the GPU does not report is `None`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Telemetry {
    /// The temperature of the chip, in °C.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<u32>,
    /// The clock rate of the multiprocessors, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<u32>,
    /// The clock rate of the memory, in MHz.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory_clock_mhz: Option<u32>,
    /// The power drawn by the whole board, in W.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub power_watts: Option<f64>,
    /// The reasons for throttling, in words such as `power cap` and `heat (hardware)`; empty if the
    /// clocks are not throttled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub throttled_by: Option<Vec<String>>,
}

/// Formats the reading: `61 °C, 1980 MHz, 650 W, memory 3201 MHz, throttled by power cap`.
impl fmt::Display for Telemetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let throttled = self.throttled_by.as_ref().map(|reasons| match reasons.as_slice() {
            [] => "not throttled".to_owned(),
            reasons => format!("throttled by {}", reasons.join(" and ")),
        });
        let parts = [
            self.temperature_celsius.map(|t| format!("{t} °C")),
            self.clock_mhz.map(|mhz| format!("{mhz} MHz")),
            self.power_watts.map(|watts| format!("{watts:.0} W")),
            self.memory_clock_mhz.map(|mhz| format!("memory {mhz} MHz")),
            throttled,
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

/// The sensors of one device.
pub trait Sensors: Send + fmt::Debug {
    /// Reads the sensors. Returns `None` if no sensor answers, for example because the device is
    /// gone.
    fn read(&self) -> Option<Telemetry>;
}

/// Returns the sensors of the device with this name, such as `cuda:0`. Returns `None` for the CPU
/// and the simulator, and if NVML or the GPU is missing.
///
/// NVML is given the PCI address of the GPU instead of its index, because the indices differ: the
/// driver counts only the GPUs in `CUDA_VISIBLE_DEVICES`, whereas NVML counts all GPUs.
#[must_use]
pub fn sensors(device: &str) -> Option<Box<dyn Sensors>> {
    let index = device.strip_prefix("cuda:")?.parse().ok()?;
    nvml::sensors(&crate::cuda::pci_bus_id(index).ok()?)
}

#[cfg(all(feature = "cuda", any(windows, target_os = "linux")))]
mod nvml {
    use std::sync::OnceLock;

    use nvml_wrapper::bitmasks::device::ThrottleReasons;
    use nvml_wrapper::enum_wrappers::device::{Clock, TemperatureSensor};
    use nvml_wrapper::{Device, Nvml};

    use super::{Sensors, Telemetry};

    /// The library NVML, which is loaded once per process and never unloaded; `None` if it is
    /// missing.
    static NVML: OnceLock<Option<Nvml>> = OnceLock::new();

    #[derive(Debug)]
    struct OfNvml(Device<'static>);

    pub(super) fn sensors(pci_bus_id: &str) -> Option<Box<dyn Sensors>> {
        let nvml = NVML.get_or_init(|| Nvml::init().ok()).as_ref()?;
        Some(Box::new(OfNvml(nvml.device_by_pci_bus_id(pci_bus_id).ok()?)))
    }

    impl Sensors for OfNvml {
        fn read(&self) -> Option<Telemetry> {
            let reading = Telemetry {
                temperature_celsius: self.0.temperature(TemperatureSensor::Gpu).ok(),
                clock_mhz: self.0.clock_info(Clock::SM).ok(),
                memory_clock_mhz: self.0.clock_info(Clock::Memory).ok(),
                power_watts: self
                    .0
                    .power_usage()
                    .ok()
                    .map(|milliwatts| f64::from(milliwatts) / 1e3),
                throttled_by: self.0.current_throttle_reasons().ok().map(names),
            };
            (reading != Telemetry::default()).then_some(reading)
        }
    }

    /// Returns the reasons for throttling in words. Low clocks of an idle GPU are not reported as
    /// throttling.
    fn names(reasons: ThrottleReasons) -> Vec<String> {
        use ThrottleReasons as R;
        let all = [
            (R::SW_POWER_CAP, "power cap"),
            (R::SW_THERMAL_SLOWDOWN, "heat (software)"),
            (R::HW_THERMAL_SLOWDOWN, "heat (hardware)"),
            (R::HW_POWER_BRAKE_SLOWDOWN, "power brake"),
            (R::SYNC_BOOST, "sync boost"),
            (R::APPLICATIONS_CLOCKS_SETTING, "application clocks"),
            (R::DISPLAY_CLOCK_SETTING, "display clocks"),
        ];
        let mut names: Vec<String> = all
            .into_iter()
            .filter(|(reason, _)| reasons.contains(*reason))
            .map(|(_, name)| name.to_owned())
            .collect();
        // Omits effects of causes that are already listed.
        let causes = R::HW_THERMAL_SLOWDOWN | R::HW_POWER_BRAKE_SLOWDOWN;
        if reasons.contains(R::HW_SLOWDOWN) && !reasons.intersects(causes) {
            names.push("hardware slowdown".to_owned());
        }
        names
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn reasons_are_named_once() {
            use ThrottleReasons as R;
            let none: Vec<String> = vec![];
            assert_eq!(names(R::NONE), none);
            assert_eq!(names(R::GPU_IDLE), none);
            assert_eq!(names(R::SW_POWER_CAP | R::SYNC_BOOST), ["power cap", "sync boost"]);
            assert_eq!(names(R::HW_SLOWDOWN), ["hardware slowdown"]);
            assert_eq!(names(R::HW_SLOWDOWN | R::HW_THERMAL_SLOWDOWN), ["heat (hardware)"]);
            // Every bit that is defined, and some that are not defined yet.
            assert_eq!(names(R::from_bits_truncate(u64::MAX)).len(), 7);
        }
    }
}

#[cfg(not(all(feature = "cuda", any(windows, target_os = "linux"))))]
mod nvml {
    use super::Sensors;

    /// Returns `None`: there are no sensors on systems without NVML, or in builds without it.
    pub(super) fn sensors(_: &str) -> Option<Box<dyn Sensors>> {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reading_is_one_line_of_what_is_known() {
        let all = Telemetry {
            temperature_celsius: Some(61),
            clock_mhz: Some(1980),
            memory_clock_mhz: Some(3201),
            power_watts: Some(649.7),
            throttled_by: Some(vec!["power cap".into(), "sync boost".into()]),
        };
        assert_eq!(
            all.to_string(),
            "61 °C, 1980 MHz, 650 W, memory 3201 MHz, throttled by power cap and sync boost"
        );
        let some =
            Telemetry { clock_mhz: Some(1980), throttled_by: Some(vec![]), ..Telemetry::default() };
        assert_eq!(some.to_string(), "1980 MHz, not throttled");
        let json = r#"{"clock-mhz":1980,"throttled-by":[]}"#;
        assert_eq!(serde_json::to_string(&some).unwrap(), json);
        assert_eq!(serde_json::from_str::<Telemetry>(json).unwrap(), some);
    }

    #[test]
    fn what_has_no_sensors_is_no_error() {
        for device in ["cpu", "sim", "cuda", "cuda:x", "cuda:4000000000"] {
            assert!(sensors(device).is_none(), "{device}");
        }
    }
}
