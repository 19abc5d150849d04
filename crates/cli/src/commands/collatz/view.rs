//! The progress of `warpint collatz path`, `delay` and `merge` on standard error, and the user's
//! requests to stop these commands.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use warpint::collatz::Watch;
use warpint::mersenne::StopToken;

use crate::meter::Meter;
use crate::units;

/// A [`Watch`] that shows how much of the work is done, and passes requests to stop on to the work.
pub(super) struct View<'a> {
    stop: &'a StopToken,
    /// The singular name of the things that are counted, such as `number` or `bit`.
    thing: &'static str,
    total: u128,
    begin: Instant,
    shown: Mutex<(Meter, u128)>,
}

impl<'a> View<'a> {
    pub(super) fn new(stop: &'a StopToken, thing: &'static str, total: u128, silent: bool) -> Self {
        let shown = Mutex::new((Meter::new(String::new(), silent), 0));
        Self { stop, thing, total, begin: Instant::now(), shown }
    }

    /// Removes the bar, and returns the time since the view was created.
    pub(super) fn end(&self) -> Duration {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner).0.end();
        self.begin.elapsed()
    }
}

impl Watch for View<'_> {
    fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    fn done(&self, numbers: u128) {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        let (meter, done) = &mut *shown;
        *done += numbers;
        let (done, total) = (*done, self.total.max(1));
        // The positions of a bar have 64 bits.
        let shift = 128u32.saturating_sub(total.leading_zeros()).saturating_sub(63);
        meter.show((done >> shift) as u64, (total >> shift) as u64, || {
            progress_line(done, total, self.thing, self.begin.elapsed())
        });
    }
}

/// Formats the progress as `12000 of 1000000 numbers (1.20 %), 8.50e4/s, ETA 0:11`.
fn progress_line(done: u128, total: u128, thing: &str, time: Duration) -> String {
    let percent = 100.0 * done as f64 / total as f64;
    let rate = done as f64 / time.as_secs_f64().max(1e-9);
    let left = total.saturating_sub(done) as f64 / rate;
    let eta = units::clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
    format!("{done} of {total} {thing}s ({percent:.2} %), {rate:.2e}/s, ETA {eta}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_says_all() {
        let line = progress_line(12_000, 1_000_000, "number", Duration::from_millis(200));
        assert_eq!(line, "12000 of 1000000 numbers (1.20 %), 6.00e4/s, ETA 0:16");
        let none = progress_line(0, 5, "bit", Duration::ZERO);
        assert!(none.starts_with("0 of 5 bits (0.00 %), 0.00e0/s"), "{none}");
    }

    #[test]
    fn a_view_takes_any_amount() {
        let stop = StopToken::new();
        let view = View::new(&stop, "number", u128::MAX, true);
        view.done(u128::MAX / 2);
        view.done(u128::MAX / 2);
        assert!(!view.is_stopped());
        stop.stop();
        assert!(view.is_stopped() && view.end() < Duration::from_secs(10));
    }
}
