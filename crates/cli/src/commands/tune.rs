//! `warpint tune [P…]`

use std::time::Duration;

use serde::Serialize;
use warpint::mersenne::engine::places::product;
use warpint::mersenne::{Exponent, Plan, TunedTimes};

use crate::args::TuneArgs;
use crate::exit::Exit;
use crate::lengths;
use crate::report;
use crate::run::settle;
use crate::units;

/// A length of every size class up to that of the largest tests of today.
const EXPONENTS: [u64; 6] = [216_091, 1_257_787, 6_972_593, 20_996_011, 43_112_609, 82_589_933];

/// Without a GPU: as far as a measurement takes seconds.
const EXPONENTS_ON_CPU: [u64; 3] = [216_091, 1_257_787, 6_972_593];

/// How long each plan is timed, in each of two rounds.
const EACH: Duration = Duration::from_millis(200);

/// All that was measured.
#[derive(Serialize)]
struct Tuned {
    rows: Vec<Row>,
}

/// One plan.
#[derive(Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Row {
    exponent: u32,
    engine: &'static str,
    device: &'static str,
    /// The product's name.
    device_name: String,
    fft_length: usize,
    variant: String,
    /// Absent if the plan failed.
    us_per_squaring: Option<f64>,
    /// Why it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    /// Whether it is the fastest of its engine and length, and so was stored.
    stored: bool,
    /// Whether it is the fastest of all for this exponent.
    fastest: bool,
}

pub(crate) fn run(args: &TuneArgs) -> anyhow::Result<Exit> {
    let times = TunedTimes::open();
    let mut tuned = Tuned { rows: vec![] };
    for (i, p) in exponents(args)?.into_iter().enumerate() {
        let request = settle(&args.arithmetic.plan_request(None), p)?;
        let plans = Plan::candidates(p, &request).map_err(|e| lengths::explain(e, &request))?;
        let rows = measure(&plans, &times)?;
        if !args.json {
            let name = rows.first().map_or("", |row| row.device_name.as_str());
            let head = if i == 0 { format!("{name}\n\n{HEADER}\n") } else { String::new() };
            let lines: String = rows.iter().map(|row| format!("{}\n", row.line())).collect();
            report::write_out((head + &lines).as_bytes())?;
        }
        tuned.rows.extend(rows);
    }
    for warning in times.take_warnings() {
        report::notice(&format!("warning: {warning}"));
    }
    if args.json {
        report::write_out((serde_json::to_string(&tuned)? + "\n").as_bytes())?;
    }
    let failed = tuned.rows.iter().all(|row| row.us_per_squaring.is_none());
    Ok(if failed { Exit::Failed } else { Exit::Done })
}

fn exponents(args: &TuneArgs) -> anyhow::Result<Vec<Exponent>> {
    if !args.exponents.is_empty() {
        return Ok(args.exponents.clone());
    }
    let all = |list: &[u64]| list.iter().map(|&p| Exponent::new(p)).collect::<Result<Vec<_>, _>>();
    let small = all(&EXPONENTS_ON_CPU)?;
    let on_cpu = match small.last() {
        Some(&p) => args.arithmetic.plan_request(None).settled(p)?.request.is_on_cpu(),
        None => true,
    };
    Ok(if on_cpu { small } else { all(&EXPONENTS)? })
}

/// Times plans of one exponent, in two rounds so that a slow moment of the
/// machine strikes none alone, and stores the fastest of each length.
fn measure(plans: &[Plan], times: &TunedTimes) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = plans.iter().map(Row::new).collect();
    let mut least = vec![None::<Duration>; plans.len()];
    for _ in 0..2 {
        for ((plan, row), least) in plans.iter().zip(&mut rows).zip(&mut least) {
            match plan.time_per_squaring(EACH) {
                Ok(time) => *least = Some(least.map_or(time, |known| known.min(time))),
                Err(e) => row.error = Some(e.to_string()),
            }
        }
    }
    let fastest = least.iter().flatten().min().copied();
    for (i, (plan, row)) in plans.iter().zip(&mut rows).enumerate() {
        let Some(time) = least.get(i).copied().flatten() else { continue };
        let key = plan.timing_key();
        let of_length = plans.iter().zip(&least).filter(|(other, _)| other.timing_key() == key);
        row.us_per_squaring = Some(time.as_secs_f64() * 1e6);
        row.fastest = fastest == Some(time);
        row.stored = of_length.filter_map(|(_, time)| *time).min() == Some(time);
        if row.stored {
            times.put(plan, time)?;
        }
    }
    Ok(rows)
}

const HEADER: &str = "         p  engine      device     words  variant               µs/squaring";

impl Row {
    fn new(plan: &Plan) -> Self {
        Self {
            exponent: plan.exponent().get(),
            engine: plan.engine(),
            device: plan.place(),
            device_name: product(plan.place()).map_or_else(String::new, |(name, _)| name),
            fft_length: plan.length(),
            variant: plan.variant(),
            us_per_squaring: None,
            error: None,
            stored: false,
            fastest: false,
        }
    }

    fn line(&self) -> String {
        let said = match (&self.us_per_squaring, &self.error) {
            (Some(time), _) => format!("{time:>11.2}"),
            (None, error) => error.clone().unwrap_or_default().replace('\n', " "),
        };
        let remark = match (self.fastest, self.stored) {
            (true, _) => "  fastest, stored",
            (false, true) => "  stored",
            (false, false) => "",
        };
        format!(
            "{:>10}  {:<10}  {:<6}  {:>8}  {:<20}  {said}{remark}",
            self.exponent,
            self.engine,
            self.device,
            units::words(self.fft_length),
            if self.variant.is_empty() { "–" } else { &self.variant },
        )
    }
}
