//! A running test on standard error: a bar on a terminal, lines elsewhere;
//! when quiet, only what goes wrong.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use warpint::mersenne::{Event, RoundOff, StopToken};

use crate::meter::Meter;
use crate::units;
use crate::work::Watch;

/// A disk that stays full is told of this often.
const SAVE_FAILED_EVERY: Duration = Duration::from_secs(600);
/// How soon a request to stop is answered with a line.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Shows the events of the test of M_p in a thread of its own, which ends when
/// the sender is gone; a watch is told of them too.
pub(crate) fn show(
    p: u32,
    events: Receiver<Event>,
    stop: StopToken,
    quiet: bool,
    watch: Option<Watch>,
) -> JoinHandle<()> {
    thread::spawn(move || {
        let mut view = View::new(p, quiet);
        let mut told = false;
        loop {
            match events.recv_timeout(LOOK_EVERY) {
                Ok(event) => {
                    if let Some(watch) = &watch {
                        watch.event(&event);
                    }
                    view.take(event);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            if stop.is_stopped() && !told && !quiet {
                view.meter
                    .say("stopping: a checkpoint is being saved (a second Ctrl-C leaves at once)");
                told = true;
            }
        }
        view.meter.end();
    })
}

struct View {
    meter: Meter,
    news: News,
    verified: Option<u64>,
}

impl View {
    fn new(p: u32, quiet: bool) -> Self {
        let news = News { quiet, save_failed: None };
        Self { meter: Meter::new(format!("M{p}: "), quiet), news, verified: None }
    }

    fn take(&mut self, event: Event) {
        match event {
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
        if let Some(text) = self.news.line(&event, Instant::now()) {
            self.meter.say(&text);
        }
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

/// Which events get a line.
struct News {
    /// Only trouble.
    quiet: bool,
    /// When a failed save was last told of.
    save_failed: Option<Instant>,
}

impl News {
    fn line(&mut self, event: &Event, now: Instant) -> Option<String> {
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
            Event::BadCheckpoint { .. }
            | Event::OnceOnly { .. }
            | Event::CheckErred { .. }
            | Event::Searching { .. }
            | Event::CheckFailed { .. }
            | Event::ResidueLost { .. }
            | Event::DeviceFailed { .. }
            | Event::Lengthened { .. } => true,
            _ => !self.quiet,
        };
        if told { describe(event) } else { None }
    }
}

/// `100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:19, round-off max 0.1234 Z 52`; without times
/// and round-off where nothing has been computed yet.
pub(crate) fn progress_line(
    done: u64,
    total: u64,
    each: Duration,
    round_off: Option<RoundOff>,
) -> String {
    let percent = 100.0 * done as f64 / total.max(1) as f64;
    if each.is_zero() {
        return format!("{done} of {total} ({percent:.2} %)");
    }
    let micros = each.as_secs_f64() * 1e6;
    let left = each.as_secs_f64() * total.saturating_sub(done) as f64;
    let eta = units::clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
    let mut line = format!("{done} of {total} ({percent:.2} %), {micros:.1} µs/it, ETA {eta}");
    if let Some(round_off) = round_off {
        line += &format!(", round-off max {:.4}", round_off.max);
        if let Some(z) = round_off.z() {
            line += &format!(" Z {z:.0}");
        }
    }
    line
}

/// What is worth a line of its own.
pub(crate) fn describe(event: &Event) -> Option<String> {
    Some(match event {
        Event::Started { iteration, total, resumed_from: Some(path) } => {
            format!("going on at iteration {iteration} of {total} from {}", path.display())
        }
        Event::SaveFailed { reason } => format!(
            "a checkpoint could not be saved ({reason}); the older ones are untouched, the test goes on and will try again"
        ),
        Event::BadCheckpoint { path, reason } => format!(
            "a checkpoint is not sound ({reason}): set aside as {}, going on without it",
            path.display()
        ),
        Event::StaleLock { pid } => {
            format!("took over the lock of process {pid}, which no longer runs")
        }
        Event::Lengthened { from, to, round_off, back_to } => format!(
            "round-off {round_off:.4} is too much for {}: going on from iteration {back_to} with {}",
            units::count_words(*from),
            units::count_words(*to)
        ),
        Event::LengthKept { from, to } => format!(
            "{} were too short in an earlier sitting: going on with {}",
            units::count_words(*from),
            units::count_words(*to)
        ),
        Event::OnceOnly { iteration } => format!(
            "what comes before iteration {iteration} was computed by one engine only, and the result will say so; --restart begins with two"
        ),
        Event::CheckErred { check, iteration } => format!(
            "the {check} at iteration {iteration} failed, and passed when it was made again: this machine's processor computes unreliably"
        ),
        Event::Searching { check, iteration } => format!(
            "the {check} at iteration {iteration} failed: looking for the newest checkpoint that is right"
        ),
        Event::CheckFailed { check, iteration, back_to } => format!(
            "the {check} at iteration {iteration} failed: going back to iteration {back_to}, which is verified"
        ),
        Event::ResidueLost { iteration, reason } => format!(
            "cannot write the residue at iteration {iteration} for the proof: {reason}; the test goes on"
        ),
        Event::DeviceFailed { reason, back_to } => {
            format!("the device failed ({reason}): trying once more from iteration {back_to}")
        }
        Event::Started { resumed_from: None, .. }
        | Event::Progress { .. }
        | Event::Saved { .. }
        | Event::Verified { .. } => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use warpint::mersenne::Check;

    #[test]
    fn a_progress_line_says_all() {
        let few = RoundOff { max: 0.125, mean: 0.0625, deviation: 0.01, products: 9 };
        let line = "100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:18, round-off max 0.1250";
        for (round_off, z) in [(few, ""), (RoundOff { products: 100, ..few }, " Z 57")] {
            assert_eq!(
                progress_line(100_000, 216_091, Duration::from_nanos(162_345), Some(round_off)),
                format!("{line}{z}")
            );
        }
        assert_eq!(
            progress_line(0, 7, Duration::from_micros(1), None),
            "0 of 7 (0.00 %), 1.0 µs/it, ETA 0:00"
        );
        assert_eq!(progress_line(7, 7, Duration::ZERO, Some(few)), "7 of 7 (100.00 %)");
    }

    #[test]
    fn trouble_is_described_and_routine_is_not() {
        let lengthened =
            Event::Lengthened { from: 12_288, to: 14_336, round_off: 0.45, back_to: 7 };
        assert_eq!(
            describe(&lengthened).as_deref(),
            Some(
                "round-off 0.4500 is too much for 12K words: going on from iteration 7 with 14K words"
            )
        );
        assert_eq!(describe(&Event::Verified { check: Check::Gerbicz, iteration: 1 }), None);
        assert_eq!(
            describe(&Event::Saved { iteration: 1, path: "f".into(), verified: true }),
            None
        );
    }

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
            let mut news = News { quiet, save_failed: None };
            for event in &trouble {
                assert_eq!(news.line(event, Instant::now()), describe(event), "{event:?}");
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
            let mut news = News { quiet, save_failed: None };
            let begin = Instant::now();
            let told: Vec<u64> = (0..30)
                .filter(|m| news.line(&failed, begin + Duration::from_secs(60 * m)).is_some())
                .collect();
            assert_eq!(told, [0, 10, 20]);
        }
    }
}
