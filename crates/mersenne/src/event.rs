//! Events that a running test reports.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use warpint_progress::units::{clock, count_words};

use crate::RoundOff;

/// An event of a running test, passed to the callback of [`crate::primality::run`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Event {
    /// The test starts or resumes.
    Started {
        /// The number of iterations already done; more than 0 if the test resumes from a
        /// checkpoint.
        iteration: u64,
        /// The iteration at which the run will end.
        total: u64,
        /// The file of the checkpoint from which the test resumes, if any.
        resumed_from: Option<PathBuf>,
    },
    /// The test has made progress. This event is sent about once a second, and on the CPU up to
    /// five times a second.
    Progress {
        /// The number of iterations done.
        iteration: u64,
        /// The iteration at which the run will end.
        total: u64,
        /// The time per iteration, averaged over the last few seconds.
        per_iteration: Duration,
        /// The round-off statistics since the present engine was built; `None` if the engine
        /// computes in integers.
        round_off: Option<RoundOff>,
    },
    /// A checkpoint has been written and synced to disk.
    Saved {
        /// The checkpoint's iteration.
        iteration: u64,
        /// The path of the checkpoint's file.
        path: PathBuf,
        /// Whether a check has confirmed the checkpoint.
        verified: bool,
    },
    /// A checkpoint could not be saved. The older checkpoints are untouched; the test continues and
    /// tries again later.
    SaveFailed {
        /// Why saving failed.
        reason: String,
    },
    /// A residue from which the proof was to be built could not be written. The proof will have a
    /// lower power, or cannot be built.
    ResidueLost {
        /// The residue's iteration.
        iteration: u64,
        /// Why writing failed.
        reason: String,
    },
    /// A checkpoint file was invalid and has been renamed.
    BadCheckpoint {
        /// The file's new name (`….bad`).
        path: PathBuf,
        /// What was wrong with the file.
        reason: String,
    },
    /// The lock file of a process that no longer runs was found, and the lock was taken over.
    StaleLock {
        /// The process id of the former holder.
        pid: u32,
    },
    /// Round-off exceeded its limit. The test continues from the last good state with a longer
    /// transform. If the engine has none, the first attempt is with the same transform, and the next
    /// with the engine `plain`.
    Lengthened {
        /// The transform length that was too short.
        from: usize,
        /// The transform length used from now on; 1 if the engine `plain` is used. It is `from` if the
        /// engine has no longer transform, and this is the first error since the last good state.
        to: usize,
        /// The measured round-off: the largest distance of a transform output from the nearest
        /// integer.
        round_off: f64,
        /// The iteration of the last good state.
        back_to: u64,
    },
    /// A squaring was wrong by its check. The test continues from the last good state.
    WrongSquaring {
        /// The transform length of the squaring.
        from: usize,
        /// The transform length used from now on. It is longer if the same stretch of squarings has
        /// failed before.
        to: usize,
        /// The iteration of the last good state.
        back_to: u64,
    },
    /// The device of the engine failed. The test continues from the last good state with a new
    /// engine on the same device.
    DeviceFailed {
        /// The error that the device reported.
        reason: String,
        /// The iteration of the last good state.
        back_to: u64,
    },
    /// The planned transform length is replaced by a longer one, because shorter transforms failed
    /// in an earlier run of this test.
    LengthKept {
        /// The planned transform length.
        from: usize,
        /// The transform length used instead.
        to: usize,
    },
    /// A test with two engines resumes from a checkpoint, but the iterations before it were not all
    /// computed by two engines. The result will not count as computed by two engines.
    OnceOnly {
        /// The checkpoint's iteration.
        iteration: u64,
    },
    /// A check failed, but passed when it was repeated: the error was in the check itself.
    CheckErred {
        /// The kind of the check.
        check: Check,
        /// The iteration at which the check was made.
        iteration: u64,
    },
    /// A check failed. The test searches its older states for the newest one that passes the check,
    /// and will continue from that state.
    Searching {
        /// The kind of the check.
        check: Check,
        /// The iteration at which the check was made.
        iteration: u64,
    },
    /// A power of Pocklington's test has not settled all prime factors of b. The test goes on with a power
    /// of another base, from iteration 0.
    AnotherBase {
        /// The base of the next power.
        base: u32,
        /// The prime factors of b that are not settled.
        open: Vec<u64>,
    },
    /// The Fermat test of a number is passed, and Morrison's test goes on with a Lucas sequence, from
    /// iteration 0.
    FermatPassed {
        /// The base of the Fermat test.
        base: u32,
    },
    /// A Lucas sequence of Morrison's test has not settled all prime factors of b. The test goes on with
    /// another sequence, from iteration 0.
    AnotherSequence {
        /// The number t of the next sequence.
        t: u32,
        /// The prime factors of b that are not settled.
        open: Vec<u64>,
    },
    /// The number passed Fermat's test, but is composite by a Lucas sequence of Morrison's test. Another
    /// sequence is computed, from iteration 0, to confirm this.
    SequenceDiffers {
        /// The number t of the next sequence.
        t: u32,
    },
    /// A check passed: every iteration up to `iteration` is verified, as far as this kind of check
    /// can detect errors.
    Verified {
        /// The kind of the check.
        check: Check,
        /// The verified iteration.
        iteration: u64,
    },
    /// A check failed: the test goes back to an earlier state.
    CheckFailed {
        /// The kind of the check.
        check: Check,
        /// The iteration at which the check was made.
        iteration: u64,
        /// The iteration of the state to which the test goes back.
        back_to: u64,
    },
}

impl Event {
    /// Returns whether the event is a problem of the hardware, the disk or a saved state, of which a user is told in any
    /// case. [`Self::line`] describes it.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        matches!(
            self,
            Self::SaveFailed { .. }
                | Self::BadCheckpoint { .. }
                | Self::OnceOnly { .. }
                | Self::CheckErred { .. }
                | Self::Searching { .. }
                | Self::CheckFailed { .. }
                | Self::ResidueLost { .. }
                | Self::DeviceFailed { .. }
                | Self::Lengthened { .. }
        )
    }

    /// Returns the event as a line of text for the user. Returns `None` for routine events: a start
    /// without a checkpoint, progress, a saved checkpoint, and a check that passed.
    #[must_use]
    pub fn line(&self) -> Option<String> {
        Some(match self {
            Self::Started { iteration, total, resumed_from: Some(path) } => {
                format!("going on at iteration {iteration} of {total} from {}", path.display())
            }
            Self::SaveFailed { reason } => format!(
                "cannot save a checkpoint ({reason}); older checkpoints are untouched, and the test goes on and will try again"
            ),
            Self::BadCheckpoint { path, reason } => format!(
                "a checkpoint is not sound ({reason}): set aside as {}, going on without it",
                path.display()
            ),
            Self::StaleLock { pid } => {
                format!("took over the lock of process {pid}, which no longer runs")
            }
            Self::Lengthened { from, to, round_off, back_to } if from == to => format!(
                "round-off {round_off:.4} is too much for {}, the longest transform: trying once more from iteration {back_to}",
                count_words(*from),
            ),
            Self::Lengthened { from, to, round_off, back_to } => {
                let with = if *to == 1 { "exact products".into() } else { count_words(*to) };
                format!(
                    "round-off {round_off:.4} is too much for {}: going on from iteration {back_to} with {with}",
                    count_words(*from),
                )
            }
            Self::WrongSquaring { from, to, back_to } if from == to => {
                format!("a squaring was wrong by its check: going on from iteration {back_to}")
            }
            Self::WrongSquaring { to, back_to, .. } => format!(
                "a squaring was wrong by its check, once more: going on from iteration {back_to} with {}",
                count_words(*to)
            ),
            Self::LengthKept { from, to } => format!(
                "{} were too short in an earlier sitting: going on with {}",
                count_words(*from),
                count_words(*to)
            ),
            Self::OnceOnly { iteration } => format!(
                "the iterations before {iteration} were computed by one engine only, and the result will say so; --restart begins again with two"
            ),
            Self::CheckErred { check, iteration } => format!(
                "the {check} at iteration {iteration} failed, but passed when it was repeated: this machine's processor computes unreliably"
            ),
            Self::Searching { check, iteration } => format!(
                "the {check} at iteration {iteration} failed: looking for the newest right checkpoint"
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
            Self::AnotherBase { base, open } => {
                let factors = prime_factors(open);
                format!(
                    "the test passed, but does not settle the {factors} of b: going on with base {base}"
                )
            }
            Self::FermatPassed { base } => format!(
                "the number passed Fermat's test to base {base}: going on with Morrison's test"
            ),
            Self::AnotherSequence { t, open } => format!(
                "the sequence does not settle the {} of b: going on with t = {t}",
                prime_factors(open)
            ),
            Self::SequenceDiffers { t } => format!(
                "the number passed Fermat's test, but is composite by the sequence: going on with t = {t} to confirm this"
            ),
            Self::Started { resumed_from: None, .. }
            | Self::Progress { .. }
            | Self::Saved { .. }
            | Self::Verified { .. } => return None,
        })
    }
}

/// Returns `prime factor 3`, or `prime factors 3, 5`.
fn prime_factors(primes: &[u64]) -> String {
    let noun = if primes.len() == 1 { "factor" } else { "factors" };
    let primes: Vec<_> = primes.iter().map(u64::to_string).collect();
    format!("prime {noun} {}", primes.join(", "))
}

/// The kind of a check that guards a sequence of squarings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Check {
    /// The Gerbicz–Li check of a PRP test or a certification. An error passes it undetected only
    /// with negligible probability.
    Gerbicz,
    /// The Jacobi check of a Lucas–Lehmer test. It detects an error with probability ½.
    Jacobi,
    /// The comparison with a second engine. It detects every error that only one of the two engines
    /// makes.
    Second,
    /// The check of each squaring by sums over its words.
    Squarings,
    /// The check of two terms of a Lucas sequence by the identity that they satisfy.
    Lucas,
}

impl fmt::Display for Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Gerbicz => "Gerbicz check",
            Self::Jacobi => "Jacobi check",
            Self::Second => "comparison with the second engine",
            Self::Squarings => "check of the squarings",
            Self::Lucas => "check of the Lucas sequence",
        })
    }
}

/// Formats a progress line, for example `100000 of 216091 (46.28 %), 162.3 µs/it, ETA 0:18,
/// round-off max 0.1234 Z 52`.
///
/// `done` and `total` are numbers of iterations. `each` is the time per iteration; if it is zero,
/// because nothing has been computed yet, the line ends after the percentage. `Z` is
/// [`RoundOff::z`]. If `round_off` or Z is `None`, its part of the line is omitted.
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
        let to_plain =
            Event::Lengthened { from: 12_288, to: 1, round_off: 0.45, back_to: 7 }.line().unwrap();
        assert!(to_plain.ends_with("going on from iteration 7 with exact products"));
        let same = Event::Lengthened { from: 12_288, to: 12_288, round_off: 0.45, back_to: 7 };
        assert_eq!(
            same.line().as_deref(),
            Some(
                "round-off 0.4500 is too much for 12K words, the longest transform: trying once more from iteration 7"
            )
        );
        let line = |to| Event::WrongSquaring { from: 12_288, to, back_to: 7 }.line().unwrap();
        assert!(line(12_288).ends_with("going on from iteration 7"));
        assert!(line(14_336).ends_with("once more: going on from iteration 7 with 14K words"));
        assert!(lengthened.is_trouble());
        let verified = Event::Verified { check: Check::Gerbicz, iteration: 1 };
        assert!(verified.line().is_none() && !verified.is_trouble());
        assert_eq!(Event::Saved { iteration: 1, path: "f".into(), verified: true }.line(), None);
    }
}
