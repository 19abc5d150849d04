//! Tuning of squarings modulo 2^p − 1: the search for the fastest engine, transform length and
//! variant.

use std::ops::RangeInclusive;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint_device::device_model;
use warpint_mersenne::engine::known::{self, Known};
use warpint_mersenne::{Exponent, Plan, PlanError, PlanRequest, StoredTimes, TunedTimes};
use warpint_progress::Watch;

use super::Storing;
use super::search::{AHEAD, NEAR, Stopwatch, search};
use crate::columns::Planned;
use crate::{BenchError, exponents_for, micros};

/// The default exponents with a GPU. Their transform lengths range from short lengths to the
/// lengths of the largest tests that are common today.
const EXPONENTS: [u64; 6] = [216_091, 1_257_787, 6_972_593, 20_996_011, 43_112_609, 82_589_933];

/// The default exponents without a GPU. The measurement of the largest exponent takes seconds.
const EXPONENTS_ON_CPU: [u64; 3] = [216_091, 1_257_787, 6_972_593];

/// All measurements of a tuning of squarings.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Tuned {
    /// Whether a stop was requested before every plan was timed.
    pub stopped: bool,
    /// One row per timed plan, in the order in which the plans were given.
    pub rows: Vec<Row>,
}

impl Tuned {
    /// Returns a table of the fastest plan of each engine and length, in the format of the tables
    /// that are shipped with the program ([`known`]).
    #[must_use]
    pub fn table(&self) -> String {
        let name = self.rows.first().map_or("", |row| row.device_name.as_str());
        let mut ways: Vec<Known> = vec![];
        for row in self.rows.iter().filter(|row| row.best) {
            let Some(us) = row.us_per_squaring else { continue };
            ways.push(Known {
                engine: row.plan.engine.to_owned(),
                length: row.plan.fft_length,
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

/// The timing of one plan.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Row {
    /// The exponent, engine, device and length of the plan.
    #[serde(flatten)]
    pub plan: Planned,
    /// The name of the GPU model or processor.
    pub device_name: String,
    /// The name of the engine's variant; empty if the engine has only one at this length.
    pub variant: String,
    /// The time of a squaring in µs; absent if the plan failed.
    pub us_per_squaring: Option<f64>,
    /// The error, if the plan failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Whether the plan is the fastest of its engine and length.
    #[serde(skip)]
    pub best: bool,
    /// Whether the time of the plan was stored as the fastest of its engine and length.
    pub stored: bool,
    /// Whether the plan is the fastest of all plans for its exponent. Always false if a range of
    /// lengths was tuned instead of exponents.
    pub fastest: bool,
}

/// The result of one call of [`Tuner::time`].
#[derive(Debug, Clone)]
pub struct Timed {
    /// One row per timed plan, in the order in which the plans were given.
    pub rows: Vec<Row>,
    /// Whether the budget was spent, or a stop was requested, before all first and second timings
    /// of plans were done.
    pub ended_early: bool,
}

/// Tuning in progress: times squarings, and stores the fastest plan of each engine and length.
#[derive(Debug)]
pub struct Tuner {
    times: TunedTimes,
    storing: Storing,
}

impl Tuner {
    /// Creates a tuner, and tests whether times can be stored. The test creates the folder of the
    /// store if it does not exist.
    #[must_use]
    pub fn new(times: TunedTimes) -> Self {
        let storing = Storing::new(times.check());
        Self { times, storing }
    }

    /// Returns whether times can be stored, and if not, why.
    #[must_use]
    pub fn storing(&self) -> &Storing {
        &self.storing
    }

    /// Returns the warnings about the store since the last call of this function, one line each.
    #[must_use]
    pub fn take_warnings(&self) -> Vec<String> {
        self.times.take_warnings()
    }

    /// Times plans, and stores the fastest plan of each engine and length. `budget` limits the time
    /// of the search among the plans of one exponent. If `budget` is `None`, as for the plans of a
    /// range of lengths, every plan is timed. Each plan is reported to `watch` as a step. At least
    /// one plan is timed, however small the budget is, unless a stop was requested.
    pub fn time(&mut self, plans: &[Plan], budget: Option<Duration>, watch: &dyn Watch) -> Timed {
        let of_length =
            |plan: &Plan| plans.iter().position(|p| p.timing_key() == plan.timing_key());
        let lengths: Vec<usize> = plans.iter().filter_map(of_length).collect();
        let mut timing = Timing { plans, begin: Instant::now(), watch, timed: 0 };
        let found = search(&lengths, budget, &mut timing);
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
                    row.us_per_squaring = Some(micros(*time));
                    row.fastest = budget.is_some() && least == Some(*time);
                    row.best = best == Some(*time);
                    row.stored = row.best && self.put(plan, *time, is_whole);
                }
                Err(reason) => row.error = Some(reason.clone()),
            }
            rows.push(row);
        }
        Timed { rows, ended_early: found.ended_early }
    }

    /// Stores the time of a plan, and returns whether it was stored. If `is_whole` is false, some
    /// plans of this engine and length were not timed; the time is then stored only if it is less
    /// than the stored time.
    fn put(&mut self, plan: &Plan, time: Duration, is_whole: bool) -> bool {
        let is_better = || self.times.get(&plan.timing_key()).is_none_or(|known| time < known.time);
        (is_whole || is_better()) && self.storing.put(|| self.times.put(plan, time)).is_some()
    }
}

/// Returns the rows of the leading plans: for each engine and length, the fastest variant and every
/// variant whose time exceeds the fastest by at most a tenth. Includes the rows of all plans that
/// failed.
pub fn leading(rows: &[Row]) -> impl Iterator<Item = &Row> {
    rows.iter().filter(|row| {
        let same = |other: &&Row| {
            let of = |row: &Row| (row.plan.engine, row.plan.fft_length);
            of(other) == of(row)
                && other.us_per_squaring.is_some_and(|time| {
                    row.us_per_squaring.is_some_and(|of_row| time * NEAR < of_row)
                })
        };
        row.us_per_squaring.is_none() || !rows.iter().any(|other| same(&other))
    })
}

/// Returns the default exponents to tune for a request whose device is already chosen.
#[must_use]
pub fn usual_exponents(request: &PlanRequest) -> Vec<Exponent> {
    exponents_for(request, &EXPONENTS_ON_CPU, &EXPONENTS)
}

/// Returns the plans of an exponent that are worth timing: for each engine and length, the
/// `variants` most promising variants. Plans of one engine and length are adjacent.
///
/// # Errors
/// No plan fits the request.
pub fn plans_of_exponent(
    p: Exponent,
    request: &PlanRequest,
    variants: usize,
) -> Result<Vec<Plan>, PlanError> {
    Ok(first_variants(Plan::candidates(p, request)?, variants))
}

/// Returns the plans of all transform lengths (in words) in a range: for each engine and length,
/// the `variants` most promising variants. The plans are divided into groups; all plans of one
/// engine and length are in the same group.
///
/// # Errors
/// No engine has a length in the range ([`BenchError::NoLengths`]), or the device cannot be used.
pub fn plans_of_lengths(
    lengths: &RangeInclusive<usize>,
    request: &PlanRequest,
    variants: usize,
) -> Result<Vec<Vec<Plan>>, BenchError> {
    let plans = Plan::of_lengths(request, lengths, variants)?;
    if plans.is_empty() {
        let (lengths, place) = (lengths.clone(), request.device.to_string());
        return Err(BenchError::NoLengths { lengths, place });
    }
    Ok(whole_lengths(&plans))
}

/// Divides plans into groups. All plans of one engine and length are in the same group, and each
/// group except the last has at least [`AHEAD`] plans.
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

/// Returns the first `most` variants of each engine and length. Plans of one engine and length must
/// be adjacent.
fn first_variants(plans: Vec<Plan>, most: usize) -> Vec<Plan> {
    let of_length = plans.chunk_by(|a, b| a.timing_key() == b.timing_key());
    of_length.flat_map(|plans| plans.iter().take(most).copied()).collect()
}

/// Compiles the kernels of all given plans at once, so that engines built later find them compiled.
/// Failures are ignored here; they occur again, and are reported, when the engine is built.
fn compile_ahead(plans: &[Plan]) {
    // Squarings from the 100th on do not measure round-off and use separate kernels, so warm up
    // past that number.
    const SQUARINGS: u64 = 120;
    thread::scope(|scope| {
        for plan in plans.iter().filter(|plan| !plan.is_on_cpu()) {
            scope.spawn(move || plan.timer().and_then(|mut timer| timer.warm_up(SQUARINGS)));
        }
    });
}

/// The plans to time, and the start of the search.
struct Timing<'a> {
    plans: &'a [Plan],
    begin: Instant,
    watch: &'a dyn Watch,
    timed: u64,
}

impl Stopwatch for Timing<'_> {
    fn prepare(&mut self, plans: &[usize]) {
        let plans: Vec<Plan> = plans.iter().map(|&i| self.plans[i]).collect();
        let all = self.plans.len() as u64;
        self.watch.step(self.timed, all, &format_args!("compiling {:?}", plans[0]));
        compile_ahead(&plans);
    }

    fn time(&mut self, plan: usize, each: Duration) -> Result<Duration, String> {
        let plan = &self.plans[plan];
        let all = self.plans.len() as u64;
        self.watch.step(self.timed, all, &format_args!("{plan:?}, {}", plan.variant()));
        self.timed += 1;
        plan.time_per_squaring(each).map_err(|e| e.to_string().replace('\n', " "))
    }

    fn spent(&self) -> Duration {
        self.begin.elapsed()
    }

    fn is_stopped(&self) -> bool {
        self.watch.is_stopped()
    }
}

impl Row {
    fn new(plan: &Plan) -> Self {
        Self {
            plan: plan.into(),
            device_name: device_model(plan.place()).map_or_else(String::new, |(name, _)| name),
            variant: plan.variant(),
            us_per_squaring: None,
            error: None,
            best: false,
            stored: false,
            fastest: false,
        }
    }
}
