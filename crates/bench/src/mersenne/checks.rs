//! The cost of checks and checkpoints in a PRP test.
//!
//! The time per squaring of the test, with and without checkpoints, is compared with the time of
//! bare squarings, that is, squarings without checks. Bare squarings are measured before and after
//! the test.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;
use warpint_device::device_model;
use warpint_mersenne::checkpoint::CheckpointStore;
use warpint_mersenne::{
    EngineError, Event, Exponent, ExponentError, Plan, PlanRequest, RunOptions, StopToken,
    TestKind, TestSpec, primality,
};

use super::scratch::Scratch;
use crate::chart::{Bar, Bars, Panel, Scale};
use crate::{BenchError, micros};

const DEFAULT: u64 = 82_589_933;
const DEFAULT_ON_CPU: u64 = 1_257_787;
/// The least duration of a whole test whose checks can be measured. The start, the end and the
/// noise of the clock dominate the time of a shorter test.
pub const SHORTEST: Duration = Duration::from_secs(10);
/// The number of squarings of the warm-up test, which runs the kernels of squarings, products and
/// checks before the measurement.
const WARM_UP: u64 = 4_000;
/// The duration of a lap of bare squarings. Several laps before and after the test show how much
/// their times vary.
const BARE_LAP: Duration = Duration::from_secs(1);
const BARE_LAPS: usize = 10;

/// All measurements of a benchmark of the cost of checks.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Measured {
    /// The exponent p of 2^p − 1.
    pub exponent: u32,
    /// The name of the engine family.
    pub engine: &'static str,
    /// The place where the engine computes: `cpu`, or a device such as `cuda:0`.
    pub device: &'static str,
    /// The transform length, in words.
    pub fft_length: usize,
    /// The number of timed squarings of the test without checkpoints.
    pub squarings: u64,
    /// The mean times of a bare squaring before the test and after the test, in µs.
    pub bare_us: [f64; 2],
    /// The time per squaring of a test without checkpoints, including its share of checks, in µs.
    pub checked_us: f64,
    /// The time per squaring of a test that saves checkpoints, including its share of checks, in
    /// µs.
    pub saved_us: f64,
    /// The number of checks that passed in the test with checkpoints.
    pub checks: usize,
    /// The number of checkpoints that the test with checkpoints saved.
    pub checkpoints: usize,
    /// The amounts by which `checked_us` and `saved_us` exceed the mean time of bare squarings, in
    /// percent of that mean. The second value is `None` if no checkpoint was saved.
    pub cost_percent: (f64, Option<f64>),
    /// The difference between the slowest and the fastest lap of bare squarings, in percent of
    /// their mean.
    pub noise_percent: f64,
}

impl Measured {
    /// Draws a chart of the costs of checks and checkpoints, in percent of a bare squaring. The limit
    /// of each bar is the noise: a cost below it cannot be told from the noise.
    #[must_use]
    pub fn chart(&self) -> Bars {
        let Self { exponent, engine, noise_percent, .. } = self;
        let mean = f64::midpoint(self.bare_us[0], self.bare_us[1]);
        let title = format!("Cost of checks of M{exponent} by {engine}");
        let (name, _) = device_model(self.device).unwrap_or_default();
        let mut chart = Bars::new(&title, &name);
        let panel = format!("% of a bare squaring, {mean:.3} µs");
        let mut costs = Panel::new(&panel, Scale::Linear)
            .limits("noise: difference of the fastest and slowest second of bare squarings");
        let plural = |n: usize, what: &str| format!("{n} {what}{}", if n == 1 { "" } else { "s" });
        let checks = plural(self.checks, "check");
        let checkpoints = plural(self.checkpoints, "checkpoint");
        for (label, cost) in [
            (format!("with {checks}"), Some(self.cost_percent.0)),
            (format!("with {checks} and {checkpoints}"), self.cost_percent.1),
        ] {
            let Some(cost) = cost else { continue };
            costs.add(Bar {
                series: label.clone(),
                label,
                value: cost,
                said: format!("{cost:+.2} %"),
                limit: Some(*noise_percent),
            });
        }
        chart.add(costs);
        chart
    }
}

/// Returns the default exponent: 82,589,933 if the request names a device, and 1,257,787 otherwise.
///
/// # Errors
/// There are none, because the exponents are valid.
pub fn usual_exponent(request: &PlanRequest) -> Result<Exponent, ExponentError> {
    Exponent::new(if request.is_on_cpu() { DEFAULT_ON_CPU } else { DEFAULT })
}

/// Checks that the test of a plan takes [`SHORTEST`] or more, so that the cost of its checks can be
/// measured. The time of the test is estimated from the time of some squarings.
///
/// # Errors
/// The test is too short ([`BenchError::TooShort`]), or the engine failed.
pub fn long_enough(plan: &Plan) -> Result<(), BenchError> {
    let p = plan.exponent();
    let mut timer = plan.timer()?;
    timer.warm_up(5)?;
    timer.lap(20)?;
    let whole = timer.mean().as_secs_f64() * f64::from(p);
    if whole >= SHORTEST.as_secs_f64() {
        return Ok(());
    }
    let time = Duration::try_from_secs_f64(whole).unwrap_or_default();
    Err(BenchError::TooShort { exponent: p, time })
}

/// Measures a PRP test by a plan twice: without and with checkpoints. Each time, the test runs
/// until `checks` checks have passed or the test ends. Returns `None` if `asked` requested a stop.
/// Checkpoints are saved in a new folder in `dir`, which is created if necessary; the folder is
/// removed at the end. The measurement takes minutes.
///
/// # Errors
/// The test failed, its folder could not be created, or the test was too short to be timed.
pub fn measure(
    plan: Plan,
    checks: usize,
    dir: &Path,
    asked: &StopToken,
) -> Result<Option<Measured>, BenchError> {
    let scratch = Scratch::new(dir)?;
    measure_in(plan, checks, scratch.path(), asked)
}

/// Does the same as [`measure`], but saves the checkpoints in `dir` itself and does not remove
/// them.
fn measure_in(
    plan: Plan,
    checks: usize,
    dir: &Path,
    asked: &StopToken,
) -> Result<Option<Measured>, BenchError> {
    let p = plan.exponent();
    let mut store = CheckpointStore::open(dir, p, TestKind::Prp)?;
    // This also compiles all kernels.
    run_test(plan, Some(WARM_UP), None, checks, asked)?;
    let Some(before) = bare(&plan, asked)? else { return Ok(None) };
    let without = run_test(plan, None, None, checks, asked)?;
    let times = run_test(plan, None, Some(&mut store), checks, asked)?;
    let Some(after) = bare(&plan, asked)? else { return Ok(None) };
    let ((checked, squarings), (saved, _)) = (without.squaring()?, times.squaring()?);
    let mean = (before.mean + after.mean) / 2;
    let spread = before.most.max(after.most).saturating_sub(before.least.min(after.least));
    let percent = |time: f64| 100.0 * time / mean.as_secs_f64();
    let above = |time: Duration| percent(time.as_secs_f64() - mean.as_secs_f64());
    Ok(Some(Measured {
        exponent: p,
        engine: plan.engine(),
        device: plan.place(),
        fft_length: plan.length(),
        squarings,
        bare_us: [micros(before.mean), micros(after.mean)],
        checked_us: micros(checked),
        saved_us: micros(saved),
        checks: times.checks,
        checkpoints: times.checkpoints,
        cost_percent: (above(checked), (times.checkpoints > 0).then(|| above(saved))),
        noise_percent: percent(spread.as_secs_f64()),
    }))
}

/// Runs a PRP test and collects its times. The test stops when `checks` checks have passed, or
/// earlier at the iteration `iterations`, if given. If `store` is given, the test continues after
/// the last check until the state that the check confirmed is on disk.
fn run_test(
    plan: Plan,
    iterations: Option<u64>,
    store: Option<&mut CheckpointStore>,
    checks: usize,
    asked: &StopToken,
) -> Result<Times, BenchError> {
    let spec = TestSpec {
        iterations,
        shift: plan.exponent() / 3,
        ..TestSpec::new(TestKind::Prp, plan.number())
    };
    let (sender, events) = mpsc::channel();
    let (stop, mut options) = (StopToken::new(), RunOptions::default());
    let saves = store.is_some();
    if !saves {
        options.checkpoint_interval = Duration::MAX;
    }
    if asked.is_stopped() {
        stop.stop();
    }
    let ends = [stop.clone(), asked.clone()];
    let clock = thread::spawn(move || Times::of(&events, checks, saves, &ends));
    let mut tell = |event| drop(sender.send(event));
    let finished = primality::run(&spec, plan, store, &mut tell, &stop, &options);
    drop(sender);
    let times = clock.join().map_err(|_| BenchError::Clock)?;
    finished?;
    Ok(times)
}

/// The times of a squaring in a run without checks.
struct Bare {
    mean: Duration,
    /// The mean times of a squaring in the fastest lap (`least`) and in the slowest lap (`most`).
    least: Duration,
    most: Duration,
}

/// Times bare squarings, and returns the times. Returns `None` if `asked` requested a stop.
fn bare(plan: &Plan, asked: &StopToken) -> Result<Option<Bare>, EngineError> {
    let mut timer = plan.timer()?;
    timer.warm_up(200)?;
    timer.lap(200)?;
    let lap = (BARE_LAP.as_secs_f64() / timer.mean().as_secs_f64().max(1e-9)).clamp(1.0, 1e6);
    let mut timer = plan.timer()?;
    timer.warm_up(200)?;
    for _ in 0..BARE_LAPS {
        if asked.is_stopped() {
            return Ok(None);
        }
        timer.lap(lap as u64)?;
    }
    let (least, most) = timer.extremes();
    Ok(Some(Bare { mean: timer.mean(), least, most }))
}

/// The start and the end of the timed squarings of a test, derived from its events.
struct Times {
    /// The number of squarings done at the first report of progress, and the time of that report.
    /// By then the engine and its kernels are ready.
    begun: Option<(u64, Instant)>,
    /// The iteration of the last check, and the time when the state that the check confirmed was on
    /// disk. For a test without checkpoints, the second value is the time of the first report of
    /// progress after the check.
    ended: Option<(u64, Instant)>,
    checks: usize,
    checkpoints: usize,
}

impl Times {
    /// Returns the time per squaring, and the number of squarings.
    fn squaring(&self) -> Result<(Duration, u64), BenchError> {
        let ((first, begun), (last, end)) =
            self.begun.zip(self.ended).ok_or(BenchError::NotTimed)?;
        let squarings = last - first;
        Ok((end.duration_since(begun).div_f64(squarings.max(1) as f64), squarings))
    }

    /// Collects the times of a test from its events. Sets the token `enough`, which stops the test,
    /// when `checks` checks are timed or when the token `asked` is set.
    fn of(
        events: &mpsc::Receiver<Event>,
        checks: usize,
        saves: bool,
        [enough, asked]: &[StopToken; 2],
    ) -> Self {
        let mut times = Self { begun: None, ended: None, checks: 0, checkpoints: 0 };
        let mut confirmed = None;
        for event in events {
            if asked.is_stopped() {
                enough.stop();
            }
            match event {
                Event::Progress { iteration, .. } if times.begun.is_none() => {
                    times.begun = Some((iteration, Instant::now()));
                }
                Event::Verified { iteration, .. } if times.checks < checks => {
                    times.checks += 1;
                    confirmed = Some(iteration);
                }
                // Without a store, the first event after the check.
                Event::Progress { .. } if !saves && times.checks == checks => {
                    times.ended = times.ended.or(confirmed.map(|k| (k, Instant::now())));
                    enough.stop();
                }
                Event::Saved { verified, .. } if times.ended.is_none() => {
                    times.checkpoints += 1;
                    if verified && times.checks == checks {
                        times.ended = confirmed.map(|k| (k, Instant::now()));
                        enough.stop();
                    }
                }
                _ => {}
            }
        }
        let at_the_end = confirmed.map(|k| (k, Instant::now()));
        times.ended = times.ended.or(at_the_end);
        times
    }
}
