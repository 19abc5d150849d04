//! The commands `warpint tune [P…]` and `warpint tune --lengths FROM..TO`: time the transforms of
//! Mersenne numbers.

use warpint::mersenne::{Exponent, Plan, TunedTimes};
use warpint_bench::BenchError;
use warpint_bench::tune::mersenne::{
    Row, Timed, Tuned, Tuner, leading, plans_of_exponent, plans_of_lengths, usual_exponents,
};

use super::Unstored;
use crate::args::TuneArgs;
use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::report;
use crate::run::{resolve, resolve_for_any};
use crate::signals::Signals;
use crate::steps::Steps;
use crate::units;
use warpint_files::WholeFile;

pub(super) fn run(args: &TuneArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    // Checked first, so that no minutes are lost if the file cannot be written.
    let table = args.table.as_deref().map(WholeFile::new).transpose()?;
    let groups = groups(args)?;
    if table.is_some() && groups.iter().flatten().any(Plan::is_on_cpu) {
        let text = "--table needs a device: give --device".to_owned();
        return Err(BadRequest(text).into());
    }
    let mut tuner = Tuner::new(TunedTimes::open());
    let mut unstored = Unstored::new("times", tuner.storing());
    let stop = signals.save_first();
    let steps = Steps::new(stop, |timed, _| format!("{timed} timed"), args.quiet);
    let mut tuned = Tuned::default();
    for (i, plans) in groups.into_iter().enumerate() {
        let budget = args.lengths.is_none().then_some(args.budget);
        let Timed { rows, ended_early } = tuner.time(&plans, budget, &steps);
        unstored.look_at(tuner.storing());
        if !args.json {
            let name = rows.first().map_or("", |row| row.device_name.as_str());
            let head = if i == 0 { format!("{name}\n\n{HEADER}\n") } else { String::new() };
            let lines: String = leading(&rows).map(|row| line(row) + "\n").collect();
            steps.meter().suspend(|| report::write_out((head + &lines).as_bytes()))?;
        }
        let timed = rows.len();
        tuned.rows.extend(rows);
        if stop.is_stopped() {
            tuned.stopped = true;
            break;
        }
        if ended_early && timed < plans.len() && !args.quiet {
            let (p, seconds) = (plans.first().map(Plan::exponent), args.budget.as_secs_f64());
            let p = p.map_or_else(String::new, |p| format!("M{p}: "));
            let all = plans.len();
            steps.meter().say(&format!(
                "{p}{timed} of {all} plans timed in {seconds} s; a larger --budget times more"
            ));
        }
    }
    steps.meter().end();
    match table {
        Some(file) if tuned.stopped => {
            report::notice(&format!("stopped: {} is left as it was", file.path().display()));
        }
        Some(file) => file.write(&tuned.table())?,
        None => {}
    }
    report::warn(tuner.take_warnings());
    if args.json {
        report::write_out((serde_json::to_string(&tuned)? + "\n").as_bytes())?;
    }
    let failed = tuned.rows.iter().all(|row| row.us_per_squaring.is_none());
    Ok(match (tuned.stopped, failed) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Failed,
        (false, false) => unstored.exit,
    })
}

/// Returns the plans to time in groups: one group per exponent or, with `--lengths`, groups of a
/// few transform lengths each.
fn groups(args: &TuneArgs) -> anyhow::Result<Vec<Vec<Plan>>> {
    let request = args.arithmetic.plan_request(None);
    if let Some(range) = &args.lengths {
        let request = resolve_for_any(&request)?;
        return plans_of_lengths(range, &request, args.variants).map_err(in_words);
    }
    let exponents = if args.exponents.is_empty() {
        usual_exponents(&resolve_for_any(&request)?)
    } else {
        args.exponents.clone()
    };
    let plans = |p: Exponent| {
        let request = resolve(&request, p)?;
        let plans = plans_of_exponent(p, &request, args.variants);
        plans.map_err(|e| lengths::explain(e, &request))
    };
    exponents.into_iter().map(plans).collect()
}

/// Converts an error of tuning into the error that the program prints, with lengths formatted as on
/// the command line, such as `64K`.
fn in_words(e: BenchError) -> anyhow::Error {
    let BenchError::NoLengths { lengths, place } = e else { return e.into() };
    let (from, to) = (units::words(*lengths.start()), units::words(*lengths.end()));
    BadRequest(format!("no engine has a length from {from} to {to} words on {place}")).into()
}

const HEADER: &str =
    "         p  engine       device     words  variant                     µs/squaring";

fn line(row: &Row) -> String {
    let said = match (&row.us_per_squaring, &row.error) {
        (Some(time), _) => format!("{time:>11.2}"),
        (None, error) => error.clone().unwrap_or_default().replace('\n', " "),
    };
    let remark = match (row.fastest, row.stored) {
        (true, true) => "  fastest, stored",
        (true, false) => "  fastest",
        (false, true) => "  stored",
        (false, false) => "",
    };
    format!(
        "{:>10}  {:<11}  {:<6}  {:>8}  {:<26}  {said}{remark}",
        row.plan.exponent,
        row.plan.engine,
        row.plan.device,
        units::words(row.plan.fft_length),
        if row.variant.is_empty() { "–" } else { &row.variant },
    )
}
