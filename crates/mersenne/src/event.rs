//! What a running test tells.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use warpint_progress::units::{clock, count_words};

use crate::RoundOff;

/// News of a running test, for the callback of [`crate::primality::run`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The test begins or goes on at `iteration` of `total`.
    Started {
        /// Iterations already done (more than 0: resumed from a checkpoint).
        iteration: u64,
        /// Iterations in all.
        total: u64,
        /// The checkpoint it goes on from.
        resumed_from: Option<PathBuf>,
    },
    /// Sent about once a second.
    Progress {
        /// Iterations done.
        iteration: u64,
        /// Iterations in all.
        total: u64,
        /// Time per iteration, lately.
        per_iteration: Duration,
        /// Round-off since this engine was built.
        round_off: Option<RoundOff>,
    },
    /// A checkpoint is safely on disk.
    Saved {
        /// Its iteration.
        iteration: u64,
        /// Its file.
        path: PathBuf,
        /// Whether a check has confirmed it.
        verified: bool,
    },
    /// A checkpoint could not be saved; the older ones are untouched, the test
    /// goes on and will try again.
    SaveFailed {
        /// Why.
        reason: String,
    },
    /// A residue for the proof could not be written: the proof will be of a lower power, or none.
    ResidueLost {
        /// Its iteration.
        iteration: u64,
        /// Why.
        reason: String,
    },
    /// A checkpoint file was not sound and has been set aside.
    BadCheckpoint {
        /// Where it is now (`….bad`).
        path: PathBuf,
        /// What was wrong with it.
        reason: String,
    },
    /// The lock of a process that no longer runs was found and taken over.
    StaleLock {
        /// The dead holder's process id.
        pid: u32,
    },
    /// Round-off rose too high: the test goes on with a longer transform from
    /// the last good state.
    Lengthened {
        /// The length that was too short.
        from: usize,
        /// The length now used.
        to: usize,
        /// The round-off that was measured.
        round_off: f64,
        /// The iteration of the last good state.
        back_to: u64,
    },
    /// The device of the engine failed: the test goes on with a new engine on it
    /// from the last good state.
    DeviceFailed {
        /// What the device said.
        reason: String,
        /// The iteration of the last good state.
        back_to: u64,
    },
    /// Shorter transforms have failed in an earlier sitting: the one planned is
    /// left for that which served.
    LengthKept {
        /// The length planned.
        from: usize,
        /// The length used.
        to: usize,
    },
    /// A test that two engines compute goes on from a checkpoint before which only one has: the
    /// result will not be one of two engines.
    OnceOnly {
        /// The checkpoint's iteration.
        iteration: u64,
    },
    /// A check failed, and passed when it was made again: the error was its own.
    CheckErred {
        /// Which check.
        check: Check,
        /// The iteration at which it was made.
        iteration: u64,
    },
    /// A check failed; the state to go back to is being looked for.
    Searching {
        /// Which check.
        check: Check,
        /// The iteration at which it was made.
        iteration: u64,
    },
    /// A check passed: everything up to `iteration` is verified, as far as such a check can.
    Verified {
        /// Which check.
        check: Check,
        /// The iteration.
        iteration: u64,
    },
    /// A check failed: the test goes back to the last verified state.
    CheckFailed {
        /// Which check.
        check: Check,
        /// The iteration at which the check was made.
        iteration: u64,
        /// The verified iteration it goes back to.
        back_to: u64,
    },
}

impl Event {
    /// The event in words, where it is worth a line of its own; routine is not.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        Some(match self {
            Self::Started { iteration, total, resumed_from: Some(path) } => {
                format!("going on at iteration {iteration} of {total} from {}", path.display())
            }
            Self::SaveFailed { reason } => format!(
                "a checkpoint could not be saved ({reason}); the older ones are untouched, the test goes on and will try again"
            ),
            Self::BadCheckpoint { path, reason } => format!(
                "a checkpoint is not sound ({reason}): set aside as {}, going on without it",
                path.display()
            ),
            Self::StaleLock { pid } => {
                format!("took over the lock of process {pid}, which no longer runs")
            }
            Self::Lengthened { from, to, round_off, back_to } => format!(
                "round-off {round_off:.4} is too much for {}: going on from iteration {back_to} with {}",
                count_words(*from),
                count_words(*to)
            ),
            Self::LengthKept { from, to } => format!(
                "{} were too short in an earlier sitting: going on with {}",
                count_words(*from),
                count_words(*to)
            ),
            Self::OnceOnly { iteration } => format!(
                "what comes before iteration {iteration} was computed by one engine only, and the result will say so; --restart begins with two"
            ),
            Self::CheckErred { check, iteration } => format!(
                "the {check} at iteration {iteration} failed, and passed when it was made again: this machine's processor computes unreliably"
            ),
            Self::Searching { check, iteration } => format!(
                "the {check} at iteration {iteration} failed: looking for the newest checkpoint that is right"
            ),
            Self::CheckFailed { check, iteration, back_to } => format!(
                "the {check} at iteration {iteration} failed: going back to iteration {back_to}, which is verified"
            ),
            Self::ResidueLost { iteration, reason } => format!(
                "cannot write the residue at iteration {iteration} for the proof: {reason}; the test goes on"
            ),
            Self::DeviceFailed { reason, back_to } => {
                format!("the device failed ({reason}): trying once more from iteration {back_to}")
            }
            Self::Started { resumed_from: None, .. }
            | Self::Progress { .. }
            | Self::Saved { .. }
            | Self::Verified { .. } => return None,
        })
    }
}

/// What guards a sequence of squarings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The Gerbicz–Li check of a PRP test: sees every error.
    Gerbicz,
    /// The Jacobi check of a Lucas–Lehmer test: sees an error with probability ½.
    Jacobi,
    /// The comparison with a second engine: sees every error that only one of them makes.
    Second,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gerbicz => "Gerbicz check",
            Self::Jacobi => "Jacobi check",
            Self::Second => "comparison with the second engine",
        })
    }
}

/// `100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:19, round-off max 0.1234 Z 52`; without times
/// and round-off where nothing has been computed yet.
#[must_use]
pub fn progress_line(done: u64, total: u64, each: Duration, round_off: Option<RoundOff>) -> String {
    let percent = 100.0 * done as f64 / total.max(1) as f64;
    if each.is_zero() {
        return format!("{done} of {total} ({percent:.2} %)");
    }
    let micros = each.as_secs_f64() * 1e6;
    let left = each.as_secs_f64() * total.saturating_sub(done) as f64;
    let eta = clock(Duration::try_from_secs_f64(left).unwrap_or(Duration::MAX));
    let mut line = format!("{done} of {total} ({percent:.2} %), {micros:.1} µs/it, ETA {eta}");
    if let Some(round_off) = round_off {
        line += &format!(", round-off max {:.4}", round_off.max);
        if let Some(z) = round_off.z() {
            line += &format!(" Z {z:.0}");
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

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
            lengthened.line().as_deref(),
            Some(
                "round-off 0.4500 is too much for 12K words: going on from iteration 7 with 14K words"
            )
        );
        assert_eq!(Event::Verified { check: Check::Gerbicz, iteration: 1 }.line(), None);
        assert_eq!(Event::Saved { iteration: 1, path: "f".into(), verified: true }.line(), None);
    }
}
