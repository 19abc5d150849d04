//! The command `warpint stress`: repeats checked squarings until a time limit or a request to stop.

use std::fmt::{self, Display};
use std::time::Duration;

use serde::Serialize;
use warpint::device::Telemetry;
use warpint::mersenne::{Plan, PlanError, TunedTimes};
use warpint_bench::stress::{self, News, Report};
use warpint_selftest::stress::Tally;

use crate::args::StressArgs;
use crate::exit::Exit;
use crate::lengths;
use crate::meter::Meter;
use crate::report;
use crate::run::{resolve, resolve_for_any};
use crate::signals::Signals;
use crate::units;

pub(crate) fn run(args: &StressArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    let plans = plans(args)?;
    let stop = signals.save_first();
    let mut meter = Meter::new(String::new(), args.json || args.quiet);
    let whole = args.time.map(|time| time.as_millis() as u64);
    let done = |time| stop.is_stopped() || args.time.is_some_and(|whole| time >= whole);
    let (report, ended) = stress::run(&plans, &done, &mut |news| match news {
        News::Block { plan, time, tally, reading } => {
            let line = || progress_line(plan, time, tally, reading);
            meter.show(time.as_millis() as u64, whole, line);
        }
        News::Mismatch(line) => meter.say(line),
    });
    meter.end();
    report::print(&Line(&report), args.json)?;
    ended?;
    Ok(match (report.mismatches, stop.is_stopped()) {
        (0, false) => Exit::Done,
        (0, true) => Exit::Stopped,
        _ => Exit::Negative,
    })
}

fn plans(args: &StressArgs) -> anyhow::Result<Vec<Plan>> {
    let request = args.arithmetic.plan_request(args.length);
    let (request, exponents) = match args.exponent {
        Some(p) => (resolve(&request, p)?, vec![p]),
        None => {
            let request = resolve_for_any(&request)?;
            (request, stress::usual_exponents(&request))
        }
    };
    let tuned = TunedTimes::open();
    let plan = |p| Plan::fastest(p, &request, &tuned);
    let plans: Result<Vec<Plan>, PlanError> = exponents.into_iter().map(plan).collect();
    plans.map_err(|e| lengths::explain(e, &request))
}

/// The report of a stress test, printed as one line.
#[derive(Serialize)]
struct Line<'a>(&'a Report);

/// Formats the report as `cuda:0 (NVIDIA H200): 1000000 squarings in 60.0 s, 100 checks and 90
/// residues compared, no mismatch`.
impl Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let report = self.0;
        let time = Duration::try_from_secs_f64(report.seconds).unwrap_or_default();
        write!(
            f,
            "{} ({}): {} in {}, {} and {} compared, ",
            report.device,
            report.device_name,
            units::count(report.squarings, "squaring"),
            units::elapsed(time),
            units::count(report.checks, "check"),
            units::count(report.residues_compared, "residue"),
        )?;
        match report.mismatches {
            0 => f.write_str("no mismatch"),
            1 => f.write_str("1 MISMATCH"),
            n => write!(f, "{n} MISMATCHES"),
        }?;
        report.sensors.as_ref().map_or(Ok(()), |sensors| write!(f, ", {sensors}"))
    }
}

/// Formats the progress as `no mismatch, 35.2 s, 700000 squarings, 70 checks, 61 °C, 1980 MHz,
/// M216091 by fp64 on …`. The most important parts come first, because narrow terminals show only
/// the beginning.
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
        let line = Line(&report).to_string();
        assert!(line.ends_with(" compared, no mismatch"), "{line}");
        assert!(serde_json::to_value(&report).unwrap().get("sensors").is_none());
    }
}
