//! The tests themselves, written once on [`Engine`](crate::Engine).
//!
//! [`run`] → a driver (time, checkpoints, events, errors) → a sequence
//! (Lucas–Lehmer, or PRP with its Gerbicz–Li checks) → engine operations.

mod driver;
mod ll;
mod prp;
mod sequence;
#[cfg(test)]
mod tests;

use std::fmt;
use std::path::PathBuf;
use std::sync::mpsc::Sender;
use std::time::Duration;

use warpint_device::DeviceError;

use crate::checkpoint::{CheckpointError, CheckpointStore};
use crate::{
    EngineError, ErrorCounts, Event, Exponent, Outcome, Plan, PlanError, Residue, StopToken,
    Verdict,
};
use driver::Driver;
pub(crate) use prp::LARGEST_BLOCK;

/// The first term of a Lucas–Lehmer sequence. Each of these is a universal
/// starting value: s_(p−2) = 0 exactly when M_p is prime, for every odd p.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum LlStart {
    /// 4, the customary one.
    #[default]
    Four,
    /// 10.
    Ten,
    /// 2/3 mod M_p.
    TwoThirds,
}

/// Which test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TestKind {
    /// Fermat's test to base 3, residue type 1, guarded by Gerbicz–Li checks.
    Prp,
    /// Lucas–Lehmer.
    Ll(LlStart),
}

impl TestKind {
    /// GIMPS's work type: `PRP-3` or `LL`.
    #[must_use]
    pub fn work_type(self) -> &'static str {
        match self {
            Self::Prp => "PRP-3",
            Self::Ll(_) => "LL",
        }
    }

    /// A short name for files, different for every kind: `prp`, `ll`, `ll-10`, `ll-2_3`.
    #[must_use]
    pub fn slug(self) -> &'static str {
        match self {
            Self::Prp => "prp",
            Self::Ll(LlStart::Four) => "ll",
            Self::Ll(LlStart::Ten) => "ll-10",
            Self::Ll(LlStart::TwoThirds) => "ll-2_3",
        }
    }

    /// The squarings of a whole test: p for PRP (3^(2^p)/9 = 3^(M_p − 1)),
    /// p − 2 for LL.
    #[must_use]
    pub fn iterations(self, p: u32) -> u64 {
        match self {
            Self::Prp => u64::from(p),
            Self::Ll(_) => u64::from(p.saturating_sub(2)),
        }
    }
}

impl fmt::Display for TestKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.work_type())
    }
}

/// What to test.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TestSpec {
    /// LL or PRP.
    pub kind: TestKind,
    /// p, a prime.
    pub exponent: Exponent,
    /// Stop after this many iterations with [`crate::Verdict::Interim`];
    /// `None`, or as many as the whole test has, for a verdict.
    pub iterations: Option<u64>,
}

/// How to run it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RunOptions {
    /// Time between checkpoints (60 s by default).
    pub checkpoint_interval: Duration,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self { checkpoint_interval: Duration::from_secs(60) }
    }
}

/// How a run ended, if not with an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// With an answer.
    Done(Box<Outcome>),
    /// By the stop token.
    Stopped {
        /// Iterations done.
        iteration: u64,
        /// Whether a checkpoint of just this iteration is on disk.
        saved: bool,
    },
}

/// Why a run could not go on. The checkpoints are kept in every case.
#[derive(Debug, thiserror::Error)]
pub enum TestError {
    /// The engine failed in a way that no longer transform mends.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The device failed, twice from the same state or beyond hope.
    #[error("{place} failed: {error}; {kept}")]
    Device {
        /// Its name.
        place: String,
        /// What happened.
        error: DeviceError,
        /// Where the last checkpoint is, in words.
        kept: String,
    },
    /// No usable plan, in particular no longer length after a round-off error.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// The checkpoint directory cannot be read.
    #[error(transparent)]
    Checkpoint(#[from] CheckpointError),
    /// The checkpoint is further than the iterations asked for.
    #[error(
        "the checkpoint is at iteration {found}, past the {wanted} asked for: use another directory"
    )]
    PastTarget {
        /// The checkpoint's iteration.
        found: u64,
        /// The iterations asked for.
        wanted: u64,
    },
    /// A Lucas–Lehmer sequence got to 0, 2 or −2 before its end, or to zero in a
    /// PRP test: no sound computation does.
    #[error(
        "the residue at iteration {iteration} is impossible (res64 {res64}): this machine computes \
         unreliably; the same command goes on from the last checkpoint, or try --engine goldilocks"
    )]
    Impossible {
        /// Where it was seen.
        iteration: u64,
        /// Its low 64 bits.
        res64: String,
    },
    /// The state a test would go back to has changed in memory.
    #[error(
        "the copy in memory of the verified state at iteration {verified} has changed: this \
         machine's memory is unreliable; the same command goes on from the last checkpoint"
    )]
    Memory {
        /// The last verified iteration.
        verified: u64,
    },
    /// The same wrong residue twice: not chance, but the hardware or the program.
    #[error(
        "the Gerbicz check at iteration {iteration} failed twice with the same residue {res64}: \
         not a chance error; the verified state at iteration {verified} is kept. \
         Try --engine goldilocks or another machine"
    )]
    RepeatedError {
        /// Where the check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
        /// The residue that came twice.
        res64: String,
    },
    /// Three checks in a row failed, each differently.
    #[error(
        "three Gerbicz checks in a row failed, the last at iteration {iteration}: this machine \
         computes unreliably; the verified state at iteration {verified} is kept"
    )]
    Unreliable {
        /// Where the last check was made.
        iteration: u64,
        /// The last verified iteration.
        verified: u64,
    },
}

impl TestError {
    /// [`TestError::Device`], with the checkpoint (iteration, file) that is on disk.
    fn device(place: String, error: DeviceError, on_disk: Option<(u64, PathBuf)>) -> Self {
        let kept = match on_disk {
            Some((iteration, path)) => format!(
                "the checkpoint at iteration {iteration} is kept in {}: the same command goes on \
                 from it, with --device cpu on the CPU",
                path.display()
            ),
            None => "no checkpoint was saved yet".to_owned(),
        };
        Self::Device { place, error, kept }
    }
}

/// Runs a test to its end, to `spec.iterations`, or until `stop`.
///
/// Resumes from the newest sound checkpoint of `store`; without a store
/// nothing is saved. Events go to `events`; a receiver that is gone is ignored.
/// Between checkpoints at most `options.checkpoint_interval` of work is at risk.
///
/// M2 = 3 is answered directly: prime, residue 0 for LL and 1 for PRP by
/// convention (neither sequence says anything mod 3).
pub fn run(
    spec: &TestSpec,
    plan: Plan,
    store: Option<&mut CheckpointStore>,
    events: &Sender<Event>,
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let p = spec.exponent.get();
    if p == 2 {
        return Ok(Finished::Done(Box::new(answer_for_two(spec.kind, &plan))));
    }
    let total = spec.kind.iterations(p);
    let target = spec.iterations.map_or(total, |k| k.min(total));
    let mut driver = Driver::new(spec.kind, plan, store, events, stop, options);
    match spec.kind {
        TestKind::Ll(start) => driver.drive(&mut ll::LucasLehmer::new(p, start, target)),
        TestKind::Prp => driver.drive(&mut prp::Prp::new(p, target)),
    }
}

fn answer_for_two(kind: TestKind, plan: &Plan) -> Outcome {
    let (verdict, residue) = match kind {
        TestKind::Ll(_) => (Verdict::Prime, 0),
        TestKind::Prp => (Verdict::ProbablePrime, 1),
    };
    Outcome {
        kind,
        exponent: 2,
        verdict,
        residue: Residue::from_u64(2, residue),
        iterations: 0,
        engine: plan.engine(),
        place: plan.place(),
        length: plan.length(),
        round_off: None,
        errors: ErrorCounts::default(),
        shift: 0,
        elapsed: Duration::ZERO,
    }
}
