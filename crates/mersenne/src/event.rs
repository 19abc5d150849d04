//! What a running test tells, and how it is asked to stop.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crate::RoundOff;

/// News of a running test, sent through a channel by [`crate::test::run`].
#[derive(Debug, Clone, PartialEq)]
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

/// A request to stop, shared between whoever asks and the running test.
#[derive(Debug, Clone, Default)]
pub struct StopToken(Arc<AtomicBool>);

impl StopToken {
    /// A token nobody has asked to stop yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the test to save a checkpoint and return.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether a stop was asked for.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
