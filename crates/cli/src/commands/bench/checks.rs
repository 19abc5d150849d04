//! `warpint bench checks [P]`: what checks and checkpoints cost a test.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde::Serialize;
use warpint::mersenne::checkpoint::CheckpointStore;
use warpint::mersenne::{
    Event, Exponent, Plan, RunOptions, StopToken, TestKind, TestSpec, TunedTimes, test,
};

use super::scratch::Scratch;
use super::{cores, micros};
use crate::args::BenchChecksArgs;
use crate::exit::{BadRequest, Exit};
use crate::lengths;
use crate::report;
use crate::run::settle;
use crate::signals::Signals;
use crate::units;

const DEFAULT: u64 = 82_589_933;
const DEFAULT_ON_CPU: u64 = 1_257_787;
/// A shorter test is mostly its beginning and its end, and the noise of the clock.
const SHORTEST: Duration = Duration::from_secs(10);
/// Squarings of the test before, with products and a check.
const WARM_UP: u64 = 4_000;
/// Of bare squarings, before the test and after it: laps of a second, to see how much they differ.
const BARE_LAP: Duration = Duration::from_secs(1);
const BARE_LAPS: usize = 10;

/// All that was measured.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Measured {
    exponent: u32,
    engine: &'static str,
    device: &'static str,
    fft_length: usize,
    squarings: u64,
    /// Before the test and after it.
    bare_us: [f64; 2],
    /// A squaring of a test that keeps nothing, with its share of checks.
    checked_us: f64,
    /// The same of a test that saves checkpoints.
    saved_us: f64,
    checks: usize,
    checkpoints: usize,
    /// Of the two, above the mean of the bare ones; none of checkpoints if there were none.
    cost_percent: (f64, Option<f64>),
    /// How far the seconds of bare squarings lie apart, of their mean.
    noise_percent: f64,
}

pub(crate) fn run(args: &BenchChecksArgs) -> anyhow::Result<Exit> {
    let threads = args.arithmetic.how.threads.unwrap_or_else(cores);
    let request = warpint::mersenne::PlanRequest {
        threads: Some(threads),
        ..args.arithmetic.plan_request(None)
    };
    let p = match args.exponent {
        Some(p) => p,
        None => Exponent::new(DEFAULT)?,
    };
    let request = settle(&request, p)?;
    let p = match args.exponent {
        None if request.is_on_cpu() => Exponent::new(DEFAULT_ON_CPU)?,
        _ => p,
    };
    let plan = Plan::fastest(p, &request, &TunedTimes::open())
        .map_err(|e| lengths::explain(e, &request))?;
    refuse_too_short(&plan)?;
    let signals = Signals::install()?;
    // From here on there is a folder to remove.
    let stop = signals.save_first();
    let scratch = Scratch::new(&args.dir)?;
    let Some(measured) = measure(plan, args.checks, scratch.path(), stop)? else {
        return Ok(Exit::Stopped);
    };
    drop(scratch);
    if args.json {
        report::write_out((serde_json::to_string(&measured)? + "\n").as_bytes())?;
    } else {
        report::write_out((measured.lines() + "\n").as_bytes())?;
    }
    Ok(Exit::Done)
}

/// By the time of some squarings, before anything is measured for minutes.
fn refuse_too_short(plan: &Plan) -> anyhow::Result<()> {
    let p = plan.exponent().get();
    let mut timer = plan.timer()?;
    timer.warm_up(5)?;
    timer.lap(20)?;
    let whole = timer.mean().as_secs_f64() * f64::from(p);
    if whole >= SHORTEST.as_secs_f64() {
        return Ok(());
    }
    Err(BadRequest(format!(
        "the test of M{p} takes {} here, too little to tell what its checks cost: give an exponent \
         whose test takes {} or more",
        units::elapsed(Duration::try_from_secs_f64(whole).unwrap_or_default()),
        units::elapsed(SHORTEST),
    ))
    .into())
}

/// `None` if `asked` stopped it. Checkpoints go into `dir`.
fn measure(
    plan: Plan,
    checks: usize,
    dir: &Path,
    asked: &StopToken,
) -> anyhow::Result<Option<Measured>> {
    let p = plan.exponent().get();
    let mut store = CheckpointStore::open(dir, p, TestKind::Prp)?;
    // All kernels are compiled meanwhile.
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

/// A PRP test as far as some iteration, or until so many checks have passed and what they have
/// confirmed is on disk.
fn run_test(
    plan: Plan,
    iterations: Option<u64>,
    store: Option<&mut CheckpointStore>,
    checks: usize,
    asked: &StopToken,
) -> anyhow::Result<Times> {
    let exponent = plan.exponent();
    let spec = TestSpec {
        iterations,
        shift: exponent.get() / 3,
        ..TestSpec::new(TestKind::Prp, exponent)
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
    let finished = test::run(&spec, plan, store, &sender, &stop, &options);
    drop(sender);
    let times = clock.join().map_err(|_| anyhow::anyhow!("the clock of the bench failed"))?;
    finished?;
    Ok(times)
}

/// The time of a squaring without any checks.
struct Bare {
    mean: Duration,
    /// In the fastest and in the slowest lap.
    least: Duration,
    most: Duration,
}

/// `None` if `asked` stopped it.
fn bare(plan: &Plan, asked: &StopToken) -> anyhow::Result<Option<Bare>> {
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

/// What the events of a test tell of its time.
struct Times {
    /// The first progress: engine and kernels are there, and so much was done.
    begun: Option<(u64, Instant)>,
    /// The iteration of the last check, and when its state was on disk, or the test at its end.
    ended: Option<(u64, Instant)>,
    checks: usize,
    checkpoints: usize,
}

impl Times {
    /// The time of a squaring, and how many there were.
    fn squaring(&self) -> anyhow::Result<(Duration, u64)> {
        let ((first, begun), (last, end)) =
            self.begun.zip(self.ended).context("the test was too short to be timed")?;
        let squarings = last - first;
        Ok((end.duration_since(begun).div_f64(squarings.max(1) as f64), squarings))
    }

    /// Stops the test by the first token: once there is enough, or when the second one asks for it.
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
                // Without a store, the first news after the check.
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

impl Measured {
    fn lines(&self) -> String {
        let [before, after] = self.bare_us;
        let (of_checks, with_checkpoints) = self.cost_percent;
        let checkpoints = match with_checkpoints {
            Some(cost) => {
                let checkpoints = units::count(self.checkpoints as u64, "checkpoint");
                format!("{cost:+.2} %, with {checkpoints}")
            }
            None => "but the test was too short for one".into(),
        };
        let smallest = with_checkpoints.map_or(of_checks, |cost| cost.min(of_checks));
        let verdict = if smallest <= self.noise_percent {
            ", so smaller differences mean nothing: a quieter machine or a larger exponent tells more"
        } else {
            ""
        };
        format!(
            "M{}: engine {}, {}\n\
             bare squarings     {before:>10.3} µs before the test, {after:.3} µs after it\n\
             with checks        {:>10.3} µs, {of_checks:+.2} %, over {} squarings with {}\n\
             and checkpoints    {:>10.3} µs, {checkpoints}\n\
             seconds of bare squarings differ by {:.2} %{verdict}",
            self.exponent,
            report::engine_at(self.engine, self.device),
            units::count_words(self.fft_length),
            self.checked_us,
            self.squarings,
            units::count(self.checks as u64, "check"),
            self.saved_us,
            self.noise_percent,
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_noise_hides_is_said_to_be_hidden() {
        let quiet = Measured {
            exponent: 82_589_933,
            engine: "fp64",
            device: "cuda:0",
            fft_length: 4 << 20,
            squarings: 2_000_000,
            bare_us: [100.0, 100.0],
            checked_us: 100.25,
            saved_us: 100.3,
            checks: 1,
            checkpoints: 3,
            cost_percent: (0.25, Some(0.3)),
            noise_percent: 0.1,
        };
        let said = quiet.lines();
        assert!(
            said.contains("100.250 µs, +0.25 %, over 2000000 squarings with 1 check\n"),
            "{said}"
        );
        assert!(said.contains("100.300 µs, +0.30 %, with 3 checkpoints\n"), "{said}");
        assert!(said.ends_with("seconds of bare squarings differ by 0.10 %"), "{said}");
        let noisy =
            Measured { checkpoints: 0, cost_percent: (-7.5, None), noise_percent: 12.0, ..quiet };
        let said = noisy.lines();
        assert!(said.contains(" µs, -7.50 %, over ") && !said.contains("more, "), "{said}");
        assert!(said.contains("but the test was too short for one\n"), "{said}");
        assert!(said.contains("differ by 12.00 %, so smaller differences mean nothing"), "{said}");
        let json = serde_json::to_value(&noisy).unwrap();
        assert_eq!(json["cost-percent"], serde_json::json!([-7.5, null]));
    }
}
