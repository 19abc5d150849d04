//! `warpint tune [P…]`, `warpint tune --lengths FROM..TO`

use std::thread;
use std::time::Duration;

use serde::Serialize;
use warpint::mersenne::engine::known::{self, Known};
use warpint::mersenne::engine::places::product;
use warpint::mersenne::{Exponent, Plan, TunedTimes};

use crate::args::TuneArgs;
use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::meter::Meter;
use crate::report;
use crate::run::{exponents_for, settle, settle_for_any};
use crate::units;
use crate::whole_file::WholeFile;

/// A length of every size class up to that of the largest tests of today.
const EXPONENTS: [u64; 6] = [216_091, 1_257_787, 6_972_593, 20_996_011, 43_112_609, 82_589_933];

/// Without a GPU: as far as a measurement takes seconds.
const EXPONENTS_ON_CPU: [u64; 3] = [216_091, 1_257_787, 6_972_593];

/// How long each plan is timed at first.
const SHORTLY: Duration = Duration::from_millis(50);

/// How long the best are timed again.
const AGAIN: Duration = Duration::from_millis(300);

/// How many engines are built at a time: the largest take a gigabyte on the device.
const AHEAD: usize = 8;

/// They are within this factor of the fastest.
const NEAR: f64 = 1.1;

/// All that was measured.
#[derive(Serialize)]
struct Tuned {
    rows: Vec<Row>,
}

impl Tuned {
    /// The fastest of each length, as tables ship.
    fn table(&self) -> String {
        let name = self.rows.first().map_or("", |row| row.device_name.as_str());
        let mut ways: Vec<Known> = vec![];
        for row in self.rows.iter().filter(|row| row.stored) {
            let Some(us) = row.us_per_squaring else { continue };
            ways.push(Known {
                engine: row.engine.to_owned(),
                length: row.fft_length,
                time: Duration::from_secs_f64(us * 1e-6),
                variant: row.variant.clone(),
            });
        }
        // A length may have been timed for several exponents.
        ways.sort_by(|a, b| {
            let of = |way: &Known| (way.engine.clone(), way.length);
            of(a).cmp(&of(b)).then(a.time.cmp(&b.time))
        });
        ways.dedup_by(|b, a| (&a.engine, a.length) == (&b.engine, b.length));
        known::table(name, &ways)
    }
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
    // What cannot be written is no reason to measure for minutes.
    let table = args.table.as_deref().map(WholeFile::new).transpose()?;
    let groups = groups(args)?;
    if table.is_some() && groups.iter().flatten().any(Plan::is_on_cpu) {
        let text = "--table is for devices, and the CPU is none: give --device".to_owned();
        return Err(BadRequest(text).into());
    }
    let times = TunedTimes::open();
    let mut meter = Meter::new(String::new(), args.json);
    let mut tuned = Tuned { rows: vec![] };
    for (i, plans) in groups.into_iter().enumerate() {
        let rows = measure(&plans, &times, &mut meter, args.lengths.is_none())?;
        if !args.json {
            let name = rows.first().map_or("", |row| row.device_name.as_str());
            let head = if i == 0 { format!("{name}\n\n{HEADER}\n") } else { String::new() };
            let lines: String = worth_a_line(&rows).map(|row| row.line() + "\n").collect();
            meter.suspend(|| report::write_out((head + &lines).as_bytes()))?;
        }
        tuned.rows.extend(rows);
    }
    meter.end();
    if let Some(file) = table {
        file.write(&tuned.table())?;
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

/// Of each length the fastest variant and those close behind it, and what failed.
fn worth_a_line(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| {
        let same = |other: &&Row| {
            (other.engine, other.fft_length) == (row.engine, row.fft_length)
                && other.us_per_squaring.is_some_and(|time| {
                    row.us_per_squaring.is_some_and(|of_row| time * NEAR < of_row)
                })
        };
        row.us_per_squaring.is_none() || !rows.iter().any(|other| same(&other))
    })
}

/// The plans to time, by exponent or in groups of a few lengths: of every length the first
/// variants, which promise most.
fn groups(args: &TuneArgs) -> anyhow::Result<Vec<Vec<Plan>>> {
    let request = args.arithmetic.plan_request(None);
    if let Some(range) = &args.lengths {
        let request = settle_for_any(&request)?;
        let plans = Plan::of_lengths(&request, range, args.variants)?;
        if plans.is_empty() {
            let (from, to) = (units::words(*range.start()), units::words(*range.end()));
            let place = request.device;
            let text = format!("there are no lengths from {from} to {to} words on {place}");
            return Err(BadRequest(text).into());
        }
        return Ok(whole_lengths(&plans));
    }
    let exponents = if args.exponents.is_empty() {
        exponents_for(&settle_for_any(&request)?, &EXPONENTS_ON_CPU, &EXPONENTS)?
    } else {
        args.exponents.clone()
    };
    let plans = |p: Exponent| {
        let request = settle(&request, p)?;
        let all = Plan::candidates(p, &request).map_err(|e| lengths::explain(e, &request))?;
        Ok(first_variants(all, args.variants))
    };
    exponents.into_iter().map(plans).collect()
}

/// Groups of whole lengths, each of some [`AHEAD`] plans or more.
fn whole_lengths(plans: &[Plan]) -> Vec<Vec<Plan>> {
    let mut groups: Vec<Vec<Plan>> = vec![];
    for of_length in plans.chunk_by(|a, b| a.timing_key() == b.timing_key()) {
        match groups.last_mut() {
            Some(group) if group.len() < AHEAD => group.extend_from_slice(of_length),
            _ => groups.push(of_length.to_vec()),
        }
    }
    groups
}

/// The first variants of each length; those of one stand side by side.
fn first_variants(plans: Vec<Plan>, most: usize) -> Vec<Plan> {
    let of_length = plans.chunk_by(|a, b| a.timing_key() == b.timing_key());
    of_length.flat_map(|plans| plans.iter().take(most).copied()).collect()
}

/// Compiles what the kernels of some plans need, several at a time: engines that are built again
/// find it done. What fails here is seen there.
fn compile_ahead(plans: &[Plan]) {
    // From the hundredth on, squarings are not measured, by kernels of their own.
    const SQUARINGS: u64 = 120;
    thread::scope(|scope| {
        for plan in plans.iter().filter(|plan| !plan.is_on_cpu()) {
            scope.spawn(move || plan.timer().and_then(|mut timer| timer.warm_up(SQUARINGS)));
        }
    });
}

/// Times plans of one exponent and stores the fastest of each length: all of
/// them shortly, then those that came near to the fastest of their length again.
fn measure(
    plans: &[Plan],
    times: &TunedTimes,
    meter: &mut Meter,
    by_exponent: bool,
) -> anyhow::Result<Vec<Row>> {
    let mut rows: Vec<Row> = plans.iter().map(Row::new).collect();
    let mut least = vec![None::<Duration>; plans.len()];
    for (each, near) in [(SHORTLY, f64::INFINITY), (AGAIN, NEAR)] {
        let before = least.clone();
        let fastest_of_length = |plan: &Plan| {
            let same =
                |(other, _): &(&Plan, &Option<Duration>)| other.timing_key() == plan.timing_key();
            plans.iter().zip(&before).filter(same).filter_map(|(_, time)| *time).min()
        };
        let all = plans.len();
        for (i, ((plan, row), least)) in plans.iter().zip(&mut rows).zip(&mut least).enumerate() {
            if near.is_infinite() && i % AHEAD == 0 {
                meter.show(i as u64, all as u64, || format!("{i} of {all}, compiling"));
                compile_ahead(&plans[i..plans.len().min(i + AHEAD)]);
            }
            let line = || format!("{i} of {all}, {plan:?} {}", plan.variant());
            meter.show(i as u64, all as u64, line);
            let is_near = match (*least, fastest_of_length(plan)) {
                (Some(time), Some(best)) => time.as_secs_f64() <= near * best.as_secs_f64(),
                _ => row.error.is_none(),
            };
            if !is_near {
                continue;
            }
            match plan.time_per_squaring(each) {
                Ok(time) => *least = Some(least.map_or(time, |known| known.min(time))),
                Err(e) => row.error = Some(e.to_string()),
            }
        }
    }
    for (i, (plan, row)) in plans.iter().zip(&mut rows).enumerate() {
        let Some(time) = least.get(i).copied().flatten() else { continue };
        let key = plan.timing_key();
        let of_length = plans.iter().zip(&least).filter(|(other, _)| other.timing_key() == key);
        row.us_per_squaring = Some(time.as_secs_f64() * 1e6);
        let of_exponent =
            plans.iter().zip(&least).filter(|(other, _)| other.exponent() == plan.exponent());
        row.fastest = by_exponent && of_exponent.filter_map(|(_, time)| *time).min() == Some(time);
        row.stored = of_length.filter_map(|(_, time)| *time).min() == Some(time);
        if row.stored {
            times.put(plan, time)?;
        }
    }
    Ok(rows)
}

const HEADER: &str =
    "         p  engine      device     words  variant                     µs/squaring";

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
            "{:>10}  {:<10}  {:<6}  {:>8}  {:<26}  {said}{remark}",
            self.exponent,
            self.engine,
            self.device,
            units::words(self.fft_length),
            if self.variant.is_empty() { "–" } else { &self.variant },
        )
    }
}
