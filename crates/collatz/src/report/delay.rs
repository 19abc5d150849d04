//! The report of a search for delays.

use std::time::Duration;

use serde::Serialize;

use crate::delay::{DelayRecord, Found, PathRecord};

/// The sum of the delays of a range, the largest delay, and records.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DelayReport {
    /// `done`, or `stopped` if the search ended before the end of the range.
    pub status: &'static str,
    /// The first number.
    pub from: String,
    /// The end of the processed range; the range does not include this number.
    pub to: String,
    /// The count of processed numbers.
    pub numbers: String,
    /// The sum of all delays.
    pub sum: String,
    /// The smallest number with the largest delay; `None` without numbers.
    pub longest: Option<Longest>,
    /// The delay records; `None` if they were not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub delay_records: Option<Vec<Longest>>,
    /// The path records; `None` if they were not searched for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_records: Option<Vec<Rise>>,
    /// Where the delays were computed.
    pub device: String,
    /// The time in seconds.
    pub seconds: f64,
    /// The count of numbers per second.
    pub numbers_per_second: f64,
}

/// A number and its delay.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Longest {
    /// The number.
    pub n: String,
    /// Its delay.
    pub delay: u32,
}

/// A number and the largest number on its path.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Rise {
    /// The number.
    pub n: String,
    /// The largest number on its path.
    pub maximum: String,
}

impl From<&DelayRecord> for Longest {
    fn from(record: &DelayRecord) -> Self {
        Self { n: record.n.to_string(), delay: record.delay }
    }
}

impl From<&PathRecord> for Rise {
    fn from(record: &PathRecord) -> Self {
        Self { n: record.n.to_string(), maximum: record.maximum.to_string() }
    }
}

impl DelayReport {
    /// Creates the report of a search on `device`, which took `time`. `records` states whether records
    /// were searched for.
    #[must_use]
    pub fn new(
        found: &Found,
        records: bool,
        stopped: bool,
        device: String,
        time: Duration,
    ) -> Self {
        let numbers = found.to - found.from;
        let seconds = time.as_secs_f64();
        Self {
            status: if stopped { "stopped" } else { "done" },
            from: found.from.to_string(),
            to: found.to.to_string(),
            numbers: numbers.to_string(),
            sum: found.sum.to_string(),
            longest: found.longest.as_ref().map(Longest::from),
            delay_records: records
                .then(|| found.records.delays.iter().map(Longest::from).collect()),
            path_records: records.then(|| found.records.paths.iter().map(Rise::from).collect()),
            device,
            seconds,
            numbers_per_second: numbers as f64 / seconds.max(1e-9),
        }
    }
}
