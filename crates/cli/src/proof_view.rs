//! The progress of building or verifying a proof on standard error.

use std::time::{Duration, Instant};

use warpint::mersenne::Number;

use crate::meter::Meter;
use crate::units;

/// The display of the progress of a proof: a bar on a terminal, otherwise a line every 10 s.
pub(crate) struct View {
    meter: Meter,
    what: &'static str,
    begin: Instant,
}

impl View {
    pub(crate) fn new(number: Number, what: &'static str, quiet: bool) -> Self {
        Self { meter: Meter::new(format!("{number}: "), quiet), what, begin: Instant::now() }
    }

    pub(crate) fn show(&mut self, share: f64) {
        let Self { what, begin, .. } = *self;
        self.meter.show((1000.0 * share) as u64, 1000, || {
            let left = begin.elapsed().as_secs_f64() * (1.0 - share) / share.max(1e-6);
            let eta = units::clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
            format!("{what} to {:.1} %, ETA {eta}", 100.0 * share)
        });
    }

    /// Runs `print`, and removes the bar while it runs.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.meter.suspend(print);
    }

    pub(crate) fn end(&self) {
        self.meter.end();
    }
}
