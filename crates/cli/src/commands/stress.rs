//! `warpint stress`

use std::fmt::{self, Display};
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::device::Telemetry;
use warpint::mersenne::engine::places::product;
use warpint::mersenne::{Plan, PlanError, TunedTimes};
use warpint_selftest::stress::{News, Tally, stress};

use crate::args::StressArgs;
use crate::exit::Exit;
use crate::lengths;
use crate::meter::Meter;
use crate::report;
use crate::run::{exponents_for, settle, settle_for_any};
use crate::sensors::{Extremes, Watched};
use crate::signals::Signals;
use crate::units;

/// From a transform that a GPU's caches hold to one that fills its memory bus.
const EXPONENTS: [u64; 4] = [6_972_593, 43_112_609, 82_589_933, 136_279_841];

/// Laps of some seconds.
const EXPONENTS_ON_CPU: [u64; 2] = [216_091, 1_257_787];

/// What came of it.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Report {
    device: &'static str,
    /// The product's name.
    device_name: String,
    /// Exponent, engine and length of each plan.
    plans: Vec<Work>,
    seconds: f64,
    squarings: u64,
    checks: u64,
    residues_compared: u64,
    mismatches: u64,
    /// What was wrong, a line each; the first [`MOST_LINES`].
    failures: Vec<String>,
    /// What the device's sensors said; absent where it has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    sensors: Option<Extremes>,
}

const MOST_LINES: usize = 100;

#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Work {
    exponent: u32,
    engine: &'static str,
    fft_length: usize,
}

pub(crate) fn run(args: &StressArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let plans = plans(args)?;
    let stop = signals.save_first();
    let begin = Instant::now();
    let mut meter = Meter::new(String::new(), args.json || args.quiet);
    let whole = args.time.map(|time| time.as_millis() as u64);
    let mut sensors = Watched::of(plans.first().map_or("", Plan::place));
    let mut failures = vec![];
    let mut tally = Tally::default();
    let done = || stop.is_stopped() || args.time.is_some_and(|time| begin.elapsed() >= time);
    let ended = stress(&plans, &done, &mut |news| match news {
        News::Block(plan, so_far) => {
            tally = so_far;
            let time = begin.elapsed();
            let reading = sensors.look(Instant::now());
            let line = || progress_line(plan, time, so_far, reading);
            meter.show(time.as_millis() as u64, whole, line);
        }
        News::Mismatch(line) => {
            meter.say(&line);
            if failures.len() < MOST_LINES {
                failures.push(line);
            }
        }
    });
    meter.end();
    if let Ok(all) = &ended {
        tally = *all;
    }
    let report = Report::new(&plans, begin.elapsed(), tally, failures, sensors.extremes());
    report::print(&report, args.json)?;
    ended?;
    Ok(match (tally.mismatches, stop.is_stopped()) {
        (0, false) => Exit::Done,
        (0, true) => Exit::Stopped,
        _ => Exit::Negative,
    })
}

fn plans(args: &StressArgs) -> anyhow::Result<Vec<Plan>> {
    let request = args.arithmetic.plan_request(args.length);
    let (request, exponents) = match args.exponent {
        Some(p) => (settle(&request, p)?, vec![p]),
        None => {
            let request = settle_for_any(&request)?;
            (request, exponents_for(&request, &EXPONENTS_ON_CPU, &EXPONENTS)?)
        }
    };
    let tuned = TunedTimes::open();
    let plan = |p| Plan::fastest(p, &request, &tuned);
    let plans: Result<Vec<Plan>, PlanError> = exponents.into_iter().map(plan).collect();
    plans.map_err(|e| lengths::explain(e, &request))
}

impl Report {
    fn new(
        plans: &[Plan],
        time: Duration,
        tally: Tally,
        failures: Vec<String>,
        sensors: Option<Extremes>,
    ) -> Self {
        let device = plans.first().map_or("", Plan::place);
        Self {
            device,
            device_name: product(device).map_or_else(String::new, |(name, _)| name),
            plans: plans
                .iter()
                .map(|plan| Work {
                    exponent: plan.exponent().get(),
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

/// `cuda:0 (NVIDIA H200): 1000000 squarings in 60.0 s, 100 checks and 90 residues, no mismatch`
impl Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let time = Duration::try_from_secs_f64(self.seconds).unwrap_or_default();
        write!(
            f,
            "{} ({}): {} in {}, {} and {} compared, ",
            self.device,
            self.device_name,
            units::count(self.squarings, "squaring"),
            units::elapsed(time),
            units::count(self.checks, "check"),
            units::count(self.residues_compared, "residue"),
        )?;
        match self.mismatches {
            0 => f.write_str("no mismatch"),
            1 => f.write_str("1 MISMATCH"),
            n => write!(f, "{n} MISMATCHES"),
        }?;
        self.sensors.as_ref().map_or(Ok(()), |sensors| write!(f, ", {sensors}"))
    }
}

/// `no mismatch, 35.2 s, 700000 squarings, 70 checks, 61 °C, 1980 MHz, M216091 by fp64 on …`: what
/// matters most comes first, for narrow terminals.
fn progress_line(plan: &Plan, time: Duration, tally: Tally, reading: Option<&Telemetry>) -> String {
    let verdict = match tally.mismatches {
        0 => "no mismatch".to_owned(),
        n => format!("{n} WRONG"),
    };
    let reading = reading.map_or_else(String::new, |reading| format!("{reading}, "));
    format!(
        "{verdict}, {}, {}, {}, {reading}{plan:?}",
        units::elapsed(time),
        units::count(tally.squarings, "squaring"),
        units::count(tally.checks, "check"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint::mersenne::{DeviceChoice, Exponent, PlanRequest};

    #[test]
    fn the_sensors_are_part_of_the_progress_and_of_the_report() {
        let request = PlanRequest {
            device: DeviceChoice::Cpu,
            engine: Some("goldilocks"),
            threads: Some(1),
            ..PlanRequest::default()
        };
        let plan = Plan::new(Exponent::new(9_941).unwrap(), &request).unwrap();
        let tally = Tally { squarings: 700_000, checks: 70, residues: 60, mismatches: 0 };
        let reading = Telemetry {
            temperature_celsius: Some(61),
            throttled_by: Some(vec!["power cap".into()]),
            ..Telemetry::default()
        };
        let time = Duration::from_secs(35);
        assert_eq!(
            progress_line(&plan, time, tally, Some(&reading)),
            format!(
                "no mismatch, 35.0 s, 700000 squarings, 70 checks, 61 °C, throttled by power cap, {plan:?}"
            )
        );
        let without = progress_line(&plan, time, tally, None);
        assert!(without.ends_with(&format!(", 70 checks, {plan:?}")), "{without}");
        let report = Report::new(&[plan], time, tally, vec![], None);
        assert!(report.to_string().ends_with(" compared, no mismatch"), "{report}");
        assert!(serde_json::to_value(&report).unwrap().get("sensors").is_none());
    }
}
