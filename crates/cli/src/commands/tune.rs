//! `warpint tune [P…]`, `warpint tune --lengths FROM..TO`

mod search;

use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint::device::TuningError;
use warpint::mersenne::engine::known::{self, Known};
use warpint::mersenne::engine::places::product;
use warpint::mersenne::{Exponent, Plan, StopToken, StoredTimes, TunedTimes};

use self::search::{AHEAD, NEAR, Stopwatch, search};
use crate::args::TuneArgs;
use crate::exit::{self, BadRequest, Exit};
use crate::lengths;
use crate::meter::Meter;
use crate::report;
use crate::run::{exponents_for, settle, settle_for_any};
use crate::signals::Signals;
use crate::units;
use crate::whole_file::WholeFile;

/// A length of every size class up to that of the largest tests of today.
const EXPONENTS: [u64; 6] = [216_091, 1_257_787, 6_972_593, 20_996_011, 43_112_609, 82_589_933];

/// Without a GPU: as far as a measurement takes seconds.
const EXPONENTS_ON_CPU: [u64; 3] = [216_091, 1_257_787, 6_972_593];

/// All that was measured.
#[derive(Serialize)]
struct Tuned {
    /// Whether there was a request to stop before all was measured.
    stopped: bool,
    rows: Vec<Row>,
}

impl Tuned {
    /// The fastest of each length, as tables ship.
    fn table(&self) -> String {
        let name = self.rows.first().map_or("", |row| row.device_name.as_str());
        let mut ways: Vec<Known> = vec![];
        for row in self.rows.iter().filter(|row| row.best) {
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
    /// Whether it is the fastest of its engine and length.
    #[serde(skip)]
    best: bool,
    /// Whether it was stored for that.
    stored: bool,
    /// Whether it is the fastest of all for this exponent.
    fastest: bool,
}

pub(crate) fn run(args: &TuneArgs) -> anyhow::Result<Exit> {
    let signals = Signals::install()?;
    // What cannot be written is no reason to measure for minutes.
    let table = args.table.as_deref().map(WholeFile::new).transpose()?;
    let groups = groups(args)?;
    if table.is_some() && groups.iter().flatten().any(Plan::is_on_cpu) {
        let text = "--table is for devices, and the CPU is none: give --device".to_owned();
        return Err(BadRequest(text).into());
    }
    let mut kept = Kept::new(TunedTimes::open());
    let stop = signals.save_first();
    let mut meter = Meter::new(String::new(), args.quiet);
    let mut tuned = Tuned { stopped: false, rows: vec![] };
    for (i, plans) in groups.into_iter().enumerate() {
        let budget = args.lengths.is_none().then_some(args.budget);
        let (rows, ended_early) = measure(&plans, budget, &mut kept, stop, &mut meter);
        if !args.json {
            let name = rows.first().map_or("", |row| row.device_name.as_str());
            let head = if i == 0 { format!("{name}\n\n{HEADER}\n") } else { String::new() };
            let lines: String = worth_a_line(&rows).map(|row| row.line() + "\n").collect();
            meter.suspend(|| report::write_out((head + &lines).as_bytes()))?;
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
            meter.say(&format!(
                "{p}{timed} of {all} plans timed in {seconds} s; a larger --budget times more"
            ));
        }
    }
    meter.end();
    match table {
        Some(file) if tuned.stopped => {
            report::notice(&format!("stopped: {} is left as it was", file.path.display()));
        }
        Some(file) => file.write(&tuned.table())?,
        None => {}
    }
    kept.warn();
    if args.json {
        report::write_out((serde_json::to_string(&tuned)? + "\n").as_bytes())?;
    }
    let failed = tuned.rows.iter().all(|row| row.us_per_squaring.is_none());
    Ok(match (tuned.stopped, failed) {
        (true, _) => Exit::Stopped,
        (false, true) => Exit::Failed,
        (false, false) => kept.trouble,
    })
}

/// Where times are stored, and what became of them.
struct Kept {
    times: TunedTimes,
    /// [`Exit::Done`] as long as they can be stored.
    trouble: Exit,
}

impl Kept {
    /// Tries whether times can be stored: who learns it in the end has waited for nothing. They are
    /// printed all the same.
    fn new(times: TunedTimes) -> Self {
        let writable = times.check();
        let mut kept = Self { times, trouble: Exit::Done };
        kept.look_at(writable);
        kept
    }

    /// Stores a time; whether it was stored. A search that was cut short replaces no better time.
    fn put(&mut self, plan: &Plan, time: Duration, is_whole: bool) -> bool {
        let is_better = || self.times.get(&plan.timing_key()).is_none_or(|known| time < known.time);
        if self.trouble != Exit::Done || !(is_whole || is_better()) {
            return false;
        }
        let put = self.times.put(plan, time);
        self.look_at(put);
        self.trouble == Exit::Done
    }

    fn look_at(&mut self, done: Result<(), TuningError>) {
        if let Err(e) = done {
            let e = e.into();
            let line = exit::one_line(&e);
            report::notice(&format!("warning: {line}: times are printed, but not stored"));
            self.trouble = exit::class_of(&e);
        }
    }

    fn warn(&self) {
        for warning in self.times.take_warnings() {
            report::notice(&format!("warning: {warning}"));
        }
    }
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

/// Plans and the clock.
struct Watch<'a> {
    plans: &'a [Plan],
    begin: Instant,
    stop: &'a StopToken,
    meter: &'a mut Meter,
    timed: u64,
}

impl Stopwatch for Watch<'_> {
    fn prepare(&mut self, plans: &[usize]) {
        let plans: Vec<Plan> = plans.iter().map(|&i| self.plans[i]).collect();
        let (timed, all) = (self.timed, self.plans.len() as u64);
        self.meter.show(timed, all, || format!("{timed} timed, compiling {:?}", plans[0]));
        compile_ahead(&plans);
    }

    fn time(&mut self, plan: usize, each: Duration) -> Result<Duration, String> {
        let plan = &self.plans[plan];
        let (timed, all) = (self.timed, self.plans.len() as u64);
        self.meter.show(timed, all, || format!("{timed} timed, {plan:?}, {}", plan.variant()));
        self.timed += 1;
        plan.time_per_squaring(each).map_err(|e| e.to_string().replace('\n', " "))
    }

    fn spent(&self) -> Duration {
        self.begin.elapsed()
    }

    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }
}

/// Times plans and stores the fastest of each length: those of one exponent, which have a budget, or
/// of some lengths. Rows are of what was timed; the second answer is whether that is not all.
fn measure(
    plans: &[Plan],
    budget: Option<Duration>,
    kept: &mut Kept,
    stop: &StopToken,
    meter: &mut Meter,
) -> (Vec<Row>, bool) {
    let of_length = |plan: &Plan| plans.iter().position(|p| p.timing_key() == plan.timing_key());
    let lengths: Vec<usize> = plans.iter().filter_map(of_length).collect();
    let mut watch = Watch { plans, begin: Instant::now(), stop, meter, timed: 0 };
    let found = search(&lengths, budget, &mut watch);
    let times = || (0..plans.len()).filter_map(|i| Some((i, found.time(i)?)));
    let least = times().map(|(_, time)| time).min();
    let mut rows = vec![];
    for (i, (plan, timed)) in plans.iter().zip(&found.times).enumerate() {
        let Some(timed) = timed else { continue };
        let mut row = Row::new(plan);
        match timed {
            Ok(time) => {
                let is_same = |j: usize| lengths[j] == lengths[i];
                let best = times().filter(|(j, _)| is_same(*j)).map(|(_, time)| time).min();
                let is_whole =
                    (0..plans.len()).filter(|j| is_same(*j)).all(|j| found.times[j].is_some());
                row.us_per_squaring = Some(time.as_secs_f64() * 1e6);
                row.fastest = budget.is_some() && least == Some(*time);
                row.best = best == Some(*time);
                row.stored = row.best && kept.put(plan, *time, is_whole);
            }
            Err(reason) => row.error = Some(reason.clone()),
        }
        rows.push(row);
    }
    (rows, found.ended_early)
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
            best: false,
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
            (true, true) => "  fastest, stored",
            (true, false) => "  fastest",
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
