//! Tests of tuning with a temporary store.

use std::fmt::Display;
use std::sync::Mutex;
use std::time::Duration;

use warpint_bench::tune::{batch, collatz, mersenne};
use warpint_collatz::sizes::{Tunable, TunedSizes};
use warpint_device::{Device, DeviceChoice, TuningStore};
use warpint_mersenne::{Exponent, PlanRequest, StopToken, StoredTimes, TunedTimes};
use warpint_progress::Watch;

/// A [`Watch`] that records the reported steps: how many were done, how many there are, and the
/// description.
#[derive(Default)]
struct Heard(Mutex<Vec<(u64, u64, String)>>);

impl Watch for Heard {
    fn is_stopped(&self) -> bool {
        false
    }

    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        self.0.lock().unwrap().push((done, total, what.to_string()));
    }
}

fn on_cpu() -> PlanRequest {
    PlanRequest {
        device: DeviceChoice::Cpu,
        engine: Some("fp64"),
        threads: Some(1),
        ..PlanRequest::default()
    }
}

fn stopped() -> StopToken {
    let stop = StopToken::new();
    stop.stop();
    stop
}

#[test]
fn squarings_are_timed_stored_and_told_step_by_step() {
    let dir = tempfile::tempdir().unwrap();
    let times = || TunedTimes::of(Some(TuningStore::at(dir.path())));
    let mut tuner = mersenne::Tuner::new(times());
    assert!(tuner.storing().failure().is_none());
    let p = Exponent::new(1_279).unwrap();
    let plans = mersenne::plans_of_exponent(p, &on_cpu(), 24).unwrap();
    let heard = Heard::default();
    // The least budget: one plan.
    let timed = tuner.time(&plans, Some(Duration::from_nanos(1)), &heard);
    assert_eq!((timed.rows.len(), timed.ended_early), (1, true));
    let row = &timed.rows[0];
    assert!(row.best && row.stored && row.fastest && row.us_per_squaring.is_some(), "{row:?}");
    assert!(times().get(&plans[0].timing_key()).is_some());
    let steps = heard.0.into_inner().unwrap();
    assert!(steps.iter().all(|(done, all, _)| (*done, *all) == (0, plans.len() as u64)));
    assert!(steps.len() == 2 && steps[0].2.starts_with("compiling "), "{steps:?}");
    assert_eq!(mersenne::leading(&timed.rows).count(), 1);

    let nothing = tuner.time(&plans, None, &stopped());
    assert!(nothing.rows.is_empty() && nothing.ended_early);
}

#[test]
fn without_a_store_times_are_measured_and_not_stored() {
    let mut tuner = mersenne::Tuner::new(TunedTimes::of(None));
    assert!(tuner.storing().failure().is_some());
    let p = Exponent::new(1_279).unwrap();
    let plans = mersenne::plans_of_exponent(p, &on_cpu(), 1).unwrap();
    let timed = tuner.time(&plans[..1], None, &StopToken::new());
    assert!(timed.rows[0].best && !timed.rows[0].stored, "{timed:?}");
}

#[test]
fn lengths_that_no_engine_has_are_refused() {
    let refused = mersenne::plans_of_lengths(&(1..=1), &on_cpu(), 1).unwrap_err();
    assert_eq!(refused.to_string(), "no engine has a length from 1 to 1 words on cpu");
}

#[test]
fn what_is_stopped_before_it_begins_has_a_ladder_of_estimates() {
    let dir = tempfile::tempdir().unwrap();
    let device = Device::simulator().unwrap();
    let store = TuningStore::at(dir.path());
    let mut tuner = batch::Tuner::new(&device, store, false).unwrap();
    let tuned = tuner.measure(&stopped()).unwrap();
    assert!(tuned.stopped && tuned.rows.is_empty() && !tuned.ladder.is_empty());
    assert!(tuned.ladder.iter().all(|rung| rung.chosen_by == "estimate"));
    assert!(tuner.take_warnings().is_empty());
}

#[test]
fn the_fastest_size_of_a_table_is_stored() {
    let dir = tempfile::tempdir().unwrap();
    let tuned = TunedSizes::of(Some(TuningStore::at(dir.path())));
    let mut tuner = collatz::Tuner::new(None, &tuned, Some(12)).unwrap();
    let heard = Heard::default();
    let report = tuner.measure(&[Tunable::Table], &heard);
    assert!(!report.stopped && !report.is_wrong && tuner.storing().failure().is_none());
    assert_eq!(report.rows.iter().filter(|row| row.stored).count(), 1, "{report:?}");
    assert!(tuned.get(Tunable::Table, None).table_bits.is_some());
    assert_eq!(heard.0.into_inner().unwrap().len(), report.rows.len());
    assert!(tuner.measure(&[Tunable::Table], &stopped()).stopped);
    assert!(!collatz::tunable(None).contains(&Tunable::Delays));
}
