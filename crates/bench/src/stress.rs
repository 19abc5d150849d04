//! Squarings whose results are all checked, to test whether hardware is reliable.

use std::time::{Duration, Instant};

use serde::Serialize;
use warpint_device::{SensorExtremes, Telemetry, WatchedSensors, device_model};
use warpint_mersenne::{EngineError, Exponent, Plan, PlanRequest};
use warpint_selftest::stress::{self, Tally};

use crate::exponents_for;

/// The default exponents on a GPU. The transform of the first exponent fits in the caches of a GPU.
/// The transform of the last exponent saturates the memory bus.
const EXPONENTS: [u64; 4] = [6_972_593, 43_112_609, 82_589_933, 136_279_841];

/// The default exponents on the CPU. They are so small that a lap of [`stress::LAP`] squarings
/// takes a few seconds. A residue is compared only at the end of a lap.
const EXPONENTS_ON_CPU: [u64; 2] = [216_091, 1_257_787];

/// The report of a stress test.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Report {
    /// The place where the engines computed: `cpu`, or a device such as `cuda:0`.
    pub device: &'static str,
    /// The name of the GPU model or processor; empty if it is unknown.
    pub device_name: String,
    /// The exponent, engine and length of each plan.
    pub plans: Vec<Work>,
    /// The elapsed time in seconds.
    pub seconds: f64,
    /// The number of squarings, not counting those that the checks need.
    pub squarings: u64,
    /// The number of Gerbicz checks.
    pub checks: u64,
    /// The number of residues that were compared with those of another program or of the first lap.
    pub residues_compared: u64,
    /// The number of failed checks plus the number of residues that differed in these comparisons.
    pub mismatches: u64,
    /// The descriptions of the first 100 mismatches, one line each.
    pub failures: Vec<String>,
    /// The lowest and highest readings of the device's sensors; `None` for a device without
    /// sensors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sensors: Option<SensorExtremes>,
}

/// The largest number of mismatches that a report describes.
const MOST_LINES: usize = 100;

/// The exponent, engine and length of one plan.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Work {
    /// The exponent p of 2^p − 1.
    pub exponent: u32,
    /// The name of the engine family.
    pub engine: &'static str,
    /// The transform length, in words.
    pub fft_length: usize,
}

/// An event of a stress test, reported while it runs.
#[derive(Debug)]
pub enum News<'a> {
    /// A block of squarings is done.
    Block {
        /// The plan by which the block was computed.
        plan: &'a Plan,
        /// The time since the start of the stress test.
        time: Duration,
        /// The totals so far.
        tally: Tally,
        /// The last reading of the device's sensors, at most a second old; `None` without sensors.
        reading: Option<&'a Telemetry>,
    },
    /// A check failed, or a residue differs. The string describes the mismatch in one line.
    Mismatch(&'a str),
}

/// Returns the default exponents for a request whose device is already chosen, in ascending order.
#[must_use]
pub fn usual_exponents(request: &PlanRequest) -> Vec<Exponent> {
    exponents_for(request, &EXPONENTS_ON_CPU, &EXPONENTS)
}

/// Runs a stress test: laps of squarings by each plan in turn, until `done` returns true or an
/// engine fails. `done` is called after every block of squarings, with the time since the start.
/// Returns the report and, if an engine failed, its error. All plans must be for the same device,
/// or all for the CPU.
pub fn run(
    plans: &[Plan],
    done: &dyn Fn(Duration) -> bool,
    news: &mut dyn FnMut(News<'_>),
) -> (Report, Result<(), EngineError>) {
    let begin = Instant::now();
    let mut sensors = WatchedSensors::of(plans.first().map_or("", Plan::place));
    let mut failures = vec![];
    let mut tally = Tally::default();
    let ended = stress::stress(plans, &|| done(begin.elapsed()), &mut |of_run| match of_run {
        stress::News::Block(plan, so_far) => {
            tally = so_far;
            let time = begin.elapsed();
            let reading = sensors.look(Instant::now());
            news(News::Block { plan, time, tally, reading });
        }
        stress::News::Mismatch(line) => {
            news(News::Mismatch(&line));
            if failures.len() < MOST_LINES {
                failures.push(line);
            }
        }
    });
    if let Ok(all) = &ended {
        tally = *all;
    }
    let report = Report::new(plans, begin.elapsed(), tally, failures, sensors.extremes());
    (report, ended.map(drop))
}

impl Report {
    /// Creates the report of a run.
    #[must_use]
    pub fn new(
        plans: &[Plan],
        time: Duration,
        tally: Tally,
        failures: Vec<String>,
        sensors: Option<SensorExtremes>,
    ) -> Self {
        let device = plans.first().map_or("", Plan::place);
        Self {
            device,
            device_name: device_model(device).map_or_else(String::new, |(name, _)| name),
            plans: plans
                .iter()
                .map(|plan| Work {
                    exponent: plan.exponent(),
                    engine: plan.engine(),
                    fft_length: plan.length(),
                })
                .collect(),
            seconds: time.as_secs_f64(),
            squarings: tally.squarings,
            checks: tally.checks,
            residues_compared: tally.residues,
            mismatches: tally.mismatches,
            failures,
            sensors,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint_mersenne::DeviceChoice;

    #[test]
    fn a_run_ends_when_it_is_asked_to_and_its_report_has_the_tally() {
        let request = PlanRequest {
            device: DeviceChoice::Cpu,
            engine: Some("goldilocks"),
            threads: Some(1),
            ..PlanRequest::default()
        };
        let plan = Plan::new(Exponent::new(1_279).unwrap(), &request).unwrap();
        let (blocks, seen) = (std::cell::Cell::new(0), std::cell::Cell::new(0));
        let (report, ended) = run(&[plan], &|_| blocks.get() >= 2, &mut |news| match news {
            News::Block { tally, .. } => {
                blocks.set(blocks.get() + 1);
                seen.set(tally.squarings);
            }
            News::Mismatch(line) => panic!("{line}"),
        });
        assert!(ended.is_ok());
        assert_eq!((report.device, report.plans.len()), ("cpu", 1));
        assert!(report.squarings >= seen.get() && seen.get() > 0 && report.checks > 0);
        assert_eq!(report.mismatches, 0);
        assert!(serde_json::to_value(&report).unwrap().get("sensors").is_none());
    }
}
