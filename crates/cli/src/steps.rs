//! The progress of a measurement on standard error, step by step.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

use warpint::mersenne::StopToken;
use warpint::progress::Watch;

use crate::meter::Meter;

/// The [`Watch`] of a measurement: shows each step as it begins, and passes requests to stop on to
/// the measurement.
pub(crate) struct Steps<'a> {
    stop: &'a StopToken,
    /// A function that formats the progress. Its arguments are the number of steps done and the
    /// total number of steps.
    counted: fn(u64, u64) -> String,
    meter: Mutex<Meter>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(stop: &'a StopToken, counted: fn(u64, u64) -> String, silent: bool) -> Self {
        Self { stop, counted, meter: Mutex::new(Meter::new(String::new(), silent)) }
    }

    /// Returns the meter that shows the steps.
    pub(crate) fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watch for Steps<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        self.meter().show(done, total, || format!("{}, {what}", (self.counted)(done, total)));
    }
}
