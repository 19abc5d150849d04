//! Reads the sensors of a device at most once per second, and records the extremes of the readings.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::{Sensors, Telemetry, sensors};

/// The shortest time between two readings.
const EVERY: Duration = Duration::from_secs(1);

/// A watch on the sensors of a device: the last reading, and the extremes of all readings.
///
/// The sensors are read at most once per second. A device without sensors has no readings.
#[derive(Debug)]
pub struct WatchedSensors {
    sensors: Option<Box<dyn Sensors>>,
    read: Option<Instant>,
    last: Option<Telemetry>,
    extremes: SensorExtremes,
}

/// The smallest and the largest value that each sensor reported. The range of a sensor is `None` if
/// the device does not have this sensor.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct SensorExtremes {
    /// The number of readings made.
    pub readings: u64,
    /// The range of the temperature of the chip, in °C.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub temperature_celsius: Option<SensorRange>,
    /// The range of the clock rate of the multiprocessors, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub clock_mhz: Option<SensorRange>,
    /// The range of the clock rate of the memory, in MHz.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub memory_clock_mhz: Option<SensorRange>,
    /// The range of the power drawn by the whole board, in W.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub power_watts: Option<SensorRange>,
    /// All reasons for throttling that at least one reading reported, in words such as `power cap`.
    pub throttled_by: Vec<String>,
}

/// The smallest and the largest value that one sensor reported.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct SensorRange {
    /// The smallest value.
    pub least: f64,
    /// The largest value.
    pub most: f64,
}

impl WatchedSensors {
    /// Creates a watch on the sensors of the device with this name, such as `cuda:0`. A device
    /// without sensors gives no readings.
    #[must_use]
    pub fn of(device: &str) -> Self {
        Self::by(sensors(device))
    }

    /// Creates a watch on the given sensors. With `None` there are no readings.
    #[must_use]
    pub fn by(sensors: Option<Box<dyn Sensors>>) -> Self {
        Self { sensors, read: None, last: None, extremes: SensorExtremes::default() }
    }

    /// Reads the sensors if there is no reading yet, or if the last reading is at least one second
    /// older than `now`. Returns the last reading. Returns `None` if the device has no sensors or
    /// they no longer answer.
    pub fn look(&mut self, now: Instant) -> Option<&Telemetry> {
        let is_due = self.read.is_none_or(|read| now.saturating_duration_since(read) >= EVERY);
        if let (Some(sensors), true) = (&self.sensors, is_due) {
            self.last = sensors.read();
            self.read = Some(now);
            self.last.iter().for_each(|reading| self.extremes.take(reading));
        }
        self.last.as_ref()
    }

    /// Returns the extremes of all readings; `None` if there were no readings.
    #[must_use]
    pub fn extremes(&self) -> Option<SensorExtremes> {
        Some(self.extremes.clone()).filter(|extremes| extremes.readings > 0)
    }
}

impl SensorExtremes {
    fn take(&mut self, reading: &Telemetry) {
        fn widen(range: &mut Option<SensorRange>, value: Option<f64>) {
            let Some(value) = value else { return };
            let SensorRange { least, most } =
                range.unwrap_or(SensorRange { least: value, most: value });
            *range = Some(SensorRange { least: least.min(value), most: most.max(value) });
        }
        self.readings += 1;
        widen(&mut self.temperature_celsius, reading.temperature_celsius.map(f64::from));
        widen(&mut self.clock_mhz, reading.clock_mhz.map(f64::from));
        widen(&mut self.memory_clock_mhz, reading.memory_clock_mhz.map(f64::from));
        widen(&mut self.power_watts, reading.power_watts);
        for reason in reading.throttled_by.iter().flatten() {
            if !self.throttled_by.contains(reason) {
                self.throttled_by.push(reason.clone());
            }
        }
    }
}

/// Formats the extremes: `54–71 °C, 1755–1980 MHz, 95–698 W, throttled by power cap`.
impl fmt::Display for SensorExtremes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let range = |range: Option<SensorRange>, unit: &str| {
            range.map(|SensorRange { least, most }| format!("{least:.0}–{most:.0} {unit}"))
        };
        let throttled = match self.throttled_by.as_slice() {
            [] => None,
            reasons => Some(format!("throttled by {}", reasons.join(" and "))),
        };
        let parts = [
            range(self.temperature_celsius, "°C"),
            range(self.clock_mhz, "MHz"),
            range(self.power_watts, "W"),
            throttled,
        ];
        f.write_str(&parts.into_iter().flatten().collect::<Vec<_>>().join(", "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Mutex;

    /// Sensors that return the given readings in reverse order, the last one first.
    #[derive(Debug)]
    struct Fake(Mutex<Vec<Option<Telemetry>>>);

    impl Sensors for Fake {
        fn read(&self) -> Option<Telemetry> {
            self.0.lock().unwrap().pop().flatten()
        }
    }

    fn reading(celsius: u32, watts: f64, reasons: &[&str]) -> Option<Telemetry> {
        Some(Telemetry {
            temperature_celsius: Some(celsius),
            power_watts: Some(watts),
            throttled_by: Some(reasons.iter().map(|reason| (*reason).to_owned()).collect()),
            ..Telemetry::default()
        })
    }

    #[test]
    fn sensors_are_read_once_a_second_and_their_extremes_kept() {
        let readings = vec![None, reading(71, 698.2, &["power cap"]), reading(54, 95.0, &[])];
        let mut watched = WatchedSensors::by(Some(Box::new(Fake(readings.into()))));
        assert_eq!(watched.extremes(), None);
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        for (ms, celsius) in [(0, 54), (900, 54), (1000, 71), (1999, 71)] {
            let seen = watched.look(at(ms)).and_then(|reading| reading.temperature_celsius);
            assert_eq!(seen, Some(celsius), "{ms}");
        }
        // The device is gone; its earlier readings remain.
        assert_eq!(watched.look(at(2000)), None);
        let extremes = watched.extremes().unwrap();
        assert_eq!(extremes.to_string(), "54–71 °C, 95–698 W, throttled by power cap");
        let json = serde_json::to_value(&extremes).unwrap();
        assert_eq!(json["readings"], 2);
        assert_eq!(json["temperature-celsius"], serde_json::json!({"least": 54.0, "most": 71.0}));
        assert_eq!(json["throttled-by"][0], "power cap");
        assert!(json.get("clock-mhz").is_none(), "{json}");
    }

    #[test]
    fn the_cpu_has_no_sensors() {
        let mut watched = WatchedSensors::of("cpu");
        assert_eq!(watched.look(Instant::now()), None);
        assert_eq!(watched.extremes(), None);
    }
}
