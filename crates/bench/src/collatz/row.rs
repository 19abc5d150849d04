//! The rows of a benchmark of Collatz verification, and their chart.

use serde::Serialize;
use warpint_device::{CPU, device_model};

use crate::chart::{Bar, Bars, Panel, Scale};

/// A rate of another program, which is drawn beside the measured rates. It was measured on the
/// machine that the label names.
struct OtherRate {
    label: &'static str,
    /// Whether the rate was measured on a GPU.
    on_gpu: bool,
    /// The count of numbers per second.
    per_second: f64,
}

/// Rates of verification. The sources are in `docs/performance/collatz.md`.
const OTHERS: [OtherRate; 3] = [
    OtherRate { label: "Barina 2021, on an H200", on_gpu: true, per_second: 1.1e12 },
    OtherRate { label: "Honda 2017, on a Titan X", on_gpu: true, per_second: 1.3e12 },
    OtherRate { label: "Barina 2021, on 16 CPU cores", on_gpu: false, per_second: 6.8e10 },
];

/// Rates of delays. The source is in `docs/performance/collatz.md`.
const OTHER_DELAYS: [OtherRate; 1] =
    [OtherRate { label: "Honda 2017, on a Titan X", on_gpu: true, per_second: 1.0e9 }];

/// The measured rate of delays. Large numbers are strings, since they may not fit in a JSON number.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DelayRow {
    /// A description of the computation, such as `delays from 2^40`.
    pub what: String,
    /// The shape of the kernel; `None` on the CPU.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters: Option<String>,
    /// The identifier of the device, such as `cuda:0`, or `cpu`.
    pub place: String,
    /// The count of numbers whose delays were computed.
    pub numbers: String,
    /// The sum of all delays.
    pub sum: String,
    /// The elapsed time, in seconds.
    pub seconds: f64,
    /// The count of numbers per second.
    pub per_second: f64,
    /// The preparation time in seconds, including the compilation of kernels.
    pub prepared_seconds: f64,
}

/// The measured rate of verification. Large numbers are strings, since they may not fit in a JSON
/// number.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// A description of the numbers that were verified, such as `2^40 from 2^70`.
    pub what: String,
    /// The name of the method.
    pub method: &'static str,
    /// The parameters of the method on which the checksum depends, such as `d=32`. The checksum
    /// also depends on the method and its version.
    pub parameters: String,
    /// The identifier of the device, such as `cuda:0`, or `cpu`.
    pub place: String,
    /// The count of numbers verified: those walked and those excluded by the sieve.
    pub numbers: String,
    /// The elapsed time, in seconds.
    pub seconds: f64,
    /// The count of numbers per second.
    pub per_second: f64,
    /// The count of numbers walked, that is, those whose Collatz paths were computed.
    pub walked: u64,
    /// The share of the numbers that were walked, from 0 to 1.
    pub walked_share: f64,
    /// The count of numbers walked per second.
    pub walked_per_second: f64,
    /// The preparation time in seconds, including the compilation of kernels and the computation of
    /// look-ahead vectors.
    pub prepared_seconds: f64,
    /// The checksum over the walked numbers, in hexadecimal.
    pub checksum: String,
    /// The numbers whose paths did not fall below their starts within the limit of steps.
    pub unresolved: Vec<String>,
}

/// All measurements of a benchmark of Collatz verification and delays.
#[derive(Debug, Clone, Serialize)]
pub struct Measured {
    /// The name of the GPU model or processor; empty if nothing was measured.
    pub name: String,
    /// The measurements of verification.
    pub rows: Vec<Row>,
    /// The measurements of delays, if requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delays: Option<DelayRow>,
}

impl Measured {
    /// Creates the measurements of a benchmark, with the name of the machine on which the rows were
    /// measured.
    #[must_use]
    pub fn new(rows: Vec<Row>, delays: Option<DelayRow>) -> Self {
        let mut measured = Self { name: String::new(), rows, delays };
        let name = measured.place().and_then(device_model);
        measured.name = name.map_or_else(String::new, |(name, _)| name);
        measured
    }

    /// Returns the place where the first row was measured.
    fn place(&self) -> Option<&str> {
        let rows = self.rows.iter().map(|row| row.place.as_str());
        rows.chain(self.delays.iter().map(|row| row.place.as_str())).next()
    }

    /// Draws a chart of the numbers verified in a second and, if measured, of the delays computed in
    /// a second, beside the rates of other programs on a GPU or on the CPU.
    #[must_use]
    pub fn chart(&self) -> Bars {
        let on_gpu = self.place().is_some_and(|place| place != CPU);
        let others = |panel: &mut Panel, others: &[OtherRate]| {
            for other in others.iter().filter(|other| other.on_gpu == on_gpu) {
                panel.add(rate(other.label.into(), "others", other.per_second));
            }
        };
        let mut chart = Bars::new("Collatz", &self.name);
        let mut verified = Panel::new("numbers verified per second", Scale::Log);
        for row in &self.rows {
            let label = format!("{}, {}", row.what, row.method);
            verified.add(rate(label, row.method, row.per_second));
        }
        if !self.rows.is_empty() {
            others(&mut verified, &OTHERS);
        }
        chart.add(verified);
        if let Some(row) = &self.delays {
            let mut delays = Panel::new("delays per second", Scale::Log);
            delays.add(rate(row.what.clone(), "delays", row.per_second));
            others(&mut delays, &OTHER_DELAYS);
            chart.add(delays);
        }
        chart
    }
}

fn rate(label: String, series: &str, per_second: f64) -> Bar {
    let said = format!("{per_second:.2e}");
    Bar { label, series: series.into(), value: per_second, said, limit: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(what: &str, place: &str, per_second: f64) -> Row {
        Row {
            what: what.into(),
            method: "sieve",
            parameters: String::new(),
            place: place.into(),
            numbers: "4096".into(),
            seconds: 1.0,
            per_second,
            walked: 1,
            walked_share: 0.1,
            walked_per_second: 1.0,
            prepared_seconds: 0.0,
            checksum: String::new(),
            unresolved: vec![],
        }
    }

    #[test]
    fn rates_are_beside_those_of_the_same_kind_of_machine() {
        let delays = DelayRow {
            what: "delays from 2^40".into(),
            parameters: None,
            place: "cuda:0".into(),
            numbers: "1".into(),
            sum: "1".into(),
            seconds: 1.0,
            per_second: 2.4e11,
            prepared_seconds: 0.0,
        };
        let dots = |measured: &Measured| {
            let text = measured.chart().to_string();
            let svg = roxmltree::Document::parse(&text).unwrap();
            let titles = svg.descendants().filter(|node| node.tag_name().name() == "circle");
            titles
                .map(|dot| dot.first_element_child().unwrap().text().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        let rows = vec![row("2^53 from 2^70", "cuda:0", 2.7e14)];
        let on_gpu = Measured::new(rows, Some(delays.clone()));
        assert_eq!(
            dots(&on_gpu),
            [
                "2^53 from 2^70, sieve: 2.70e14",
                "Barina 2021, on an H200: 1.10e12",
                "Honda 2017, on a Titan X: 1.30e12",
                "delays from 2^40: 2.40e11",
                "Honda 2017, on a Titan X: 1.00e9",
            ]
        );
        let on_cpu = Measured::new(vec![row("2^40 from 2^70", "cpu", 3.5e11)], None);
        assert_eq!(on_cpu.name, warpint_device::cpu_name());
        assert_eq!(
            dots(&on_cpu),
            ["2^40 from 2^70, sieve: 3.50e11", "Barina 2021, on 16 CPU cores: 6.80e10"]
        );
        let only_delays = Measured::new(vec![], Some(delays));
        assert_eq!(dots(&only_delays).len(), 2);
    }
}
