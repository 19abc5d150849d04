//! The sensors of the device in use, looked at now and then.

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::device::{Sensors, Telemetry, sensors};

/// Between two readings.
const EVERY: Duration = Duration::from_secs(1);

/// What the sensors of a device say, and have said. Without sensors: nothing.
#[derive(Debug)]
pub(crate) struct Watched {
    sensors: Option<Box<dyn Sensors>>,
    read: Option<Instant>,
    last: Option<Telemetry>,
    extremes: Extremes,
}

/// The least and the largest of all readings.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Extremes {
    readings: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature_celsius: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    clock_mhz: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory_clock_mhz: Option<Range>,
    #[serde(skip_serializing_if = "Option::is_none")]
    power_watts: Option<Range>,
    /// All that has held the clocks down.
    throttled_by: Vec<String>,
}

#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(crate) struct Range {
    least: f64,
    most: f64,
}

impl Watched {
    /// Those of the device of that name: `cuda:0`.
    pub(crate) fn of(device: &str) -> Self {
        Self::by(sensors(device))
    }

    /// Those that are given.
    pub(crate) fn by(sensors: Option<Box<dyn Sensors>>) -> Self {
        Self { sensors, read: None, last: None, extremes: Extremes::default() }
    }

    /// The last reading, which is made now if that before is a second old.
    pub(crate) fn look(&mut self, now: Instant) -> Option<&Telemetry> {
        let is_due = self.read.is_none_or(|read| now.saturating_duration_since(read) >= EVERY);
        if let (Some(sensors), true) = (&self.sensors, is_due) {
            self.last = sensors.read();
            self.read = Some(now);
            self.last.iter().for_each(|reading| self.extremes.take(reading));
        }
        self.last.as_ref()
    }

    /// Of all readings; `None` if there are none.
    pub(crate) fn extremes(&self) -> Option<Extremes> {
        Some(self.extremes.clone()).filter(|extremes| extremes.readings > 0)
    }
}

impl Extremes {
    fn take(&mut self, reading: &Telemetry) {
        fn widen(range: &mut Option<Range>, value: Option<f64>) {
            let Some(value) = value else { return };
            let Range { least, most } = range.unwrap_or(Range { least: value, most: value });
            *range = Some(Range { least: least.min(value), most: most.max(value) });
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

/// `54–71 °C, 1755–1980 MHz, 95–698 W, throttled by power cap`
impl std::fmt::Display for Extremes {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let range = |range: Option<Range>, unit: &str| {
            range.map(|Range { least, most }| format!("{least:.0}–{most:.0} {unit}"))
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

    /// Says one reading after another.
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
        let mut watched = Watched::by(Some(Box::new(Fake(readings.into()))));
        assert_eq!(watched.extremes(), None);
        let begin = Instant::now();
        let at = |ms| begin + Duration::from_millis(ms);
        for (ms, celsius) in [(0, 54), (900, 54), (1000, 71), (1999, 71)] {
            let seen = watched.look(at(ms)).and_then(|reading| reading.temperature_celsius);
            assert_eq!(seen, Some(celsius), "{ms}");
        }
        // The device is gone; what it has said stays.
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
        let mut watched = Watched::of("cpu");
        assert_eq!(watched.look(Instant::now()), None);
        assert_eq!(watched.extremes(), None);
    }
}
