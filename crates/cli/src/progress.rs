//! The progress of a running test on standard error: a bar on a terminal, otherwise a line every 10
//! s. If the user requested `--quiet`, only problems are shown.

use std::time::{Duration, Instant};

use warpint::mersenne::{Event, Number, RoundOff, progress_line};

use crate::meter::Meter;

/// The interval between reports that checkpoints still cannot be saved.
const SAVE_FAILED_EVERY: Duration = Duration::from_secs(600);

/// The display of the progress and events of a test.
pub(crate) struct View {
    meter: Meter,
    news: News,
    verified: Option<u64>,
}

impl View {
    pub(crate) fn new(number: Number, quiet: bool) -> Self {
        let news = News::new(quiet);
        Self { meter: Meter::new(format!("{number}: "), quiet), news, verified: None }
    }

    pub(crate) fn take(&mut self, event: &Event) {
        match *event {
            Event::Progress { iteration, total, per_iteration, round_off } => {
                self.progress(iteration, total, per_iteration, round_off);
            }
            Event::Verified { iteration, .. } => self.verified = Some(iteration),
            Event::CheckFailed { back_to, .. }
            | Event::Lengthened { back_to, .. }
            | Event::DeviceFailed { back_to, .. } => {
                self.verified = self.verified.map(|v| v.min(back_to));
            }
            _ => {}
        }
        if let Some(text) = self.news.line(event, Instant::now()) {
            self.meter.say(&text);
        }
    }

    /// Shows that a request to stop was received.
    pub(crate) fn stopping(&self) {
        if !self.news.quiet {
            self.meter
                .say("stopping: a checkpoint is being saved (a second Ctrl-C leaves at once)");
        }
    }

    /// Runs `print`, and removes the bar while it runs.
    pub(crate) fn suspend(&self, print: impl FnOnce()) {
        self.meter.suspend(print);
    }

    /// Removes the bar.
    pub(crate) fn end(&self) {
        self.meter.end();
    }

    fn progress(
        &mut self,
        iteration: u64,
        total: u64,
        each: Duration,
        round_off: Option<RoundOff>,
    ) {
        let verified = self.verified;
        self.meter.show(iteration, total, || {
            let line = progress_line(iteration, total, each, round_off);
            match verified {
                Some(verified) => format!("{line}, verified to {verified}"),
                None => line,
            }
        });
    }
}

/// Decides which events are printed.
pub(crate) struct News {
    /// Whether only problems are printed.
    quiet: bool,
    /// The time of the last report that a checkpoint could not be saved.
    save_failed: Option<Instant>,
}

impl News {
    pub(crate) fn new(quiet: bool) -> Self {
        Self { quiet, save_failed: None }
    }

    /// Returns the line to print for an event that occurs now; `None` if none is printed.
    pub(crate) fn line(&mut self, event: &Event, now: Instant) -> Option<String> {
        let told = match event {
            Event::SaveFailed { .. } => {
                let told_lately = self
                    .save_failed
                    .is_some_and(|t| now.saturating_duration_since(t) < SAVE_FAILED_EVERY);
                if !told_lately {
                    self.save_failed = Some(now);
                }
                !told_lately
            }
            event => event.is_trouble() || !self.quiet,
        };
        if told { event.line() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint::mersenne::Check;

    #[test]
    fn quiet_is_silent_of_routine_but_not_of_trouble() {
        let trouble = [
            Event::SaveFailed { reason: "no space left".into() },
            Event::BadCheckpoint { path: "f.bad".into(), reason: "cut short".into() },
            Event::Lengthened { from: 12_288, to: 14_336, round_off: 0.45, back_to: 7 },
            Event::CheckFailed { check: Check::Jacobi, iteration: 9, back_to: 7 },
            Event::ResidueLost { iteration: 9, reason: "no space left".into() },
            Event::DeviceFailed { reason: "launch failed".into(), back_to: 7 },
        ];
        let routine = [
            Event::Started { iteration: 7, total: 9, resumed_from: Some("f".into()) },
            Event::StaleLock { pid: 7 },
        ];
        for quiet in [false, true] {
            let mut news = News::new(quiet);
            for event in &trouble {
                assert_eq!(news.line(event, Instant::now()), event.line(), "{event:?}");
            }
            for event in &routine {
                assert_eq!(news.line(event, Instant::now()).is_some(), !quiet, "{event:?}");
            }
        }
    }

    #[test]
    fn a_disk_that_stays_full_is_told_of_now_and_then() {
        let failed = Event::SaveFailed { reason: "no space left".into() };
        for quiet in [false, true] {
            let mut news = News::new(quiet);
            let begin = Instant::now();
            let told: Vec<u64> = (0..30)
                .filter(|m| news.line(&failed, begin + Duration::from_secs(60 * m)).is_some())
                .collect();
            assert_eq!(told, [0, 10, 20]);
        }
    }
}
