//! The steps of a measurement on standard error.

use std::fmt::Display;
use std::sync::{Mutex, MutexGuard, PoisonError};

use warpint::mersenne::StopToken;
use warpint::progress::Watch;

use crate::meter::Meter;

/// Shows the steps of work as they begin, and hands on a request to stop.
pub(crate) struct Steps<'a> {
    stop: &'a StopToken,
    /// How far it is, of the steps done and of all.
    counted: fn(u64, u64) -> String,
    meter: Mutex<Meter>,
}

impl<'a> Steps<'a> {
    pub(crate) fn new(stop: &'a StopToken, counted: fn(u64, u64) -> String, silent: bool) -> Self {
        Self { stop, counted, meter: Mutex::new(Meter::new(String::new(), silent)) }
    }

    /// What the steps are shown on.
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
