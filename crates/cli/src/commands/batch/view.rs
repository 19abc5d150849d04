//! Messages of a batch on standard error: its progress, and the numbers without a result.

use std::time::{Duration, Instant};

use warpint::batch::News;

use crate::meter::Meter;
use crate::report::notice;
use crate::units;

/// The largest count of numbers without a result that are reported one by one.
const MOST_PROBLEMS: u64 = 20;

pub(crate) struct View {
    meter: Meter,
    quiet: bool,
    json: bool,
    total: u64,
    /// The count of numbers that earlier, unfinished runs of the same command had done.
    begun: u64,
    begin: Instant,
    problems: u64,
}

impl View {
    pub(crate) fn new(quiet: bool, json: bool) -> Self {
        let meter = Meter::new(String::new(), quiet || json);
        Self { meter, quiet, json, total: 0, begun: 0, begin: Instant::now(), problems: 0 }
    }

    pub(crate) fn take(&mut self, news: News) {
        match news {
            News::ReadAsFile(_) if self.quiet => {}
            // A file is read although a number may be meant.
            News::ReadAsFile(name) => notice(&format!(
                "{name} is read as a file, for there is one; for the number give {name}+0"
            )),
            News::GoingOn(_) if self.quiet || self.json => {}
            News::GoingOn(line) | News::Discarded(line) => notice(&line),
            News::Begun { done, count } => {
                let meter = Meter::new(String::new(), self.quiet || self.json);
                *self = Self { meter, total: count, begun: done, begin: Instant::now(), ..*self };
            }
            News::Done(done) => {
                let (begun, total, time) = (self.begun, self.total, self.begin.elapsed());
                self.meter.show(done, total, || progress_line(begun, done, total, time));
            }
            News::Warning(line) => self.meter.say(&format!("warning: {line}")),
            News::Ended => self.end(),
            News::Problem(line) => {
                self.problems += 1;
                if self.problems <= MOST_PROBLEMS {
                    self.meter.say(&line);
                }
            }
        }
    }

    fn end(&self) {
        self.meter.end();
        if let Some(more) = self.problems.checked_sub(MOST_PROBLEMS).filter(|&more| more > 0) {
            notice(&format!("… and {more} more"));
        }
    }
}

/// Formats the progress as `12000 of 1000000 numbers (1.20 %), 85000/s, ETA 0:11`. `begun` is the
/// count of numbers that earlier runs had done.
fn progress_line(begun: u64, done: u64, total: u64, time: Duration) -> String {
    let percent = 100.0 * done as f64 / total.max(1) as f64;
    let rate = (done - begun) as f64 / time.as_secs_f64().max(1e-9);
    let left = total.saturating_sub(done) as f64 / rate;
    let eta = units::clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
    format!("{done} of {total} numbers ({percent:.2} %), {rate:.0}/s, ETA {eta}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_progress_line_says_all() {
        let after = |begun, done, total, seconds| {
            progress_line(begun, done, total, Duration::from_secs(seconds))
        };
        let said = |done, total, seconds| after(0, done, total, seconds);
        assert_eq!(
            after(6_000, 12_000, 1_000_000, 2),
            "12000 of 1000000 numbers (1.20 %), 3000/s, ETA 5:29"
        );
        assert_eq!(
            said(12_000, 1_000_000, 2),
            "12000 of 1000000 numbers (1.20 %), 6000/s, ETA 2:44"
        );
        assert_eq!(said(7, 7, 0), "7 of 7 numbers (100.00 %), 7000000000/s, ETA 0:00");
    }
}
