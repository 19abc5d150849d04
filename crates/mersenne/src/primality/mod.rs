//! Primality tests, written once for all engines ([`Engine`](crate::Engine)).
//!
//! There are four layers. [`run`] calls a driver, which handles time, checkpoints, events and
//! errors. The driver advances a sequence: Lucas–Lehmer (also for Riesel's test), or PRP with its
//! Gerbicz–Li checks (also for the tests of Fermat, Proth and Pocklington), or the Lucas sequence of
//! Morrison's test. The sequence calls the operations of an engine.

mod choice;
mod clock;
mod confirm;
mod doubled;
mod driver;
mod error;
#[cfg(test)]
mod faults;
#[cfg(test)]
mod forms;
mod kind;
mod ll;
mod memory;
mod morrison;
mod pace;
#[cfg(test)]
mod peak;
mod pocklington;
mod prp;
mod recovery;
pub mod registers;
mod resume;
mod riesel;
mod sequence;
#[cfg(test)]
mod squarings;
#[cfg(test)]
mod tests;
mod watch;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::CheckpointStore;
use crate::cofactor::KnownFactors;
use crate::{ErrorCounts, Event, Exponent, Number, Outcome, Plan, Residue, StopToken, Verdict};
pub(crate) use choice::is_enough;
pub use clock::{Clock, SystemClock};
use driver::Driver;
pub use error::TestError;
pub use kind::{Certification, LlStart, TestKind};
pub use memory::{Memory, SoundMemory};
pub(crate) use pocklington::judge;
pub(crate) use prp::{LARGEST_BLOCK, Steps, bit};

/// The specification of a test. Later versions may add fields, so write
/// `..TestSpec::new(kind, exponent)` for the fields that are not named.
#[derive(Debug, Clone)]
pub struct TestSpec {
    /// The kind of the test.
    pub kind: TestKind,
    /// The number that is tested.
    pub number: Number,
    /// The number of iterations after which the test ends with [`crate::Verdict::Interim`]. With
    /// `None`, or with at least the number of iterations of the whole test, the test ends with a
    /// verdict.
    pub iterations: Option<u64>,
    /// The shift, in bits, with which a test starts. A resumed test continues with the shift of its
    /// checkpoint instead. If two runs start with random shifts, a systematic error does not affect
    /// both runs in the same way. Tests of numbers other than Mersenne numbers ignore it.
    pub shift: u32,
    /// The known factors of M_p, for a PRP test. If there are any, the verdict is about the
    /// cofactor of M_p.
    pub known_factors: KnownFactors,
    /// The start residue of a certification; `None` for other tests. (`kind` contains only a digest
    /// of it.)
    pub start: Option<Residue>,
}

impl TestSpec {
    /// Creates the specification of a whole test without shift. For certifications, use
    /// [`TestSpec::certification`] instead.
    #[must_use]
    pub fn new(kind: TestKind, number: impl Into<Number>) -> Self {
        let (number, known_factors) = (number.into(), KnownFactors::default());
        Self { kind, number, iterations: None, shift: 0, known_factors, start: None }
    }

    /// Returns the iteration at which the test ends.
    fn target(&self) -> u64 {
        let total = self.kind.iterations(self.number);
        self.iterations.map_or(total, |k| k.min(total))
    }

    /// Creates the specification of a certification: `squarings` squarings of the residue `start`.
    ///
    /// # Panics
    /// Panics if `start` is not a residue modulo 2^p − 1, where p is `exponent`.
    #[must_use]
    pub fn certification(exponent: Exponent, start: Residue, squarings: u64) -> Self {
        assert_eq!(start.number(), exponent.into(), "a residue of another exponent");
        let kind = TestKind::Cert(Certification::new(&start, squarings));
        Self { start: Some(start), ..Self::new(kind, exponent) }
    }
}

/// A receiver of residues of a running PRP test. A proof will be built from these residues.
pub trait ResidueSink: fmt::Debug + Send + Sync {
    /// Returns the iterations, ascending, at which the test must pass its residue to
    /// [`ResidueSink::keep`]. The test starts or resumes at iteration `reached`. Iterations up to
    /// `reached` need not be returned: their residues were stored in earlier runs, or are lost.
    fn iterations(&self, reached: u64) -> Vec<u64>;

    /// Stores x, the residue at `iteration`, and returns when it is on disk. If the proof no longer
    /// needs the residue, it may be dropped instead.
    ///
    /// # Errors
    /// Returns an error if the residue cannot be written. The test continues nevertheless.
    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()>;
}

/// Options of a run. Later versions may add fields, so write `..RunOptions::default()` for the
/// fields that are not named.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The time between checkpoints; 60 s by default.
    pub checkpoint_interval: Duration,
    /// The plan of a second engine, which computes a Lucas–Lehmer test again at another shift,
    /// stretch by stretch. `None` means that the test is computed once. Other tests ignore the
    /// plan.
    pub verify_with: Option<Plan>,
    /// The receiver of residues during a PRP test; `None` if no proof will be built.
    pub residues: Option<Arc<dyn ResidueSink>>,
    /// Whether each squaring of a Lucas–Lehmer test is checked by sums over its words, if the engine
    /// can do so ([`Plan::checks_squarings`]). `None`, the default, leaves it to the engine
    /// ([`Plan::checks_by_default`]). Other tests ignore the field.
    pub check_squarings: Option<bool>,
    /// Whether the run ends with [`TestError::Unchecked`] if squarings are to be checked, but no variant
    /// of the engine can check squarings, for example at the length to which the test changed after
    /// a round-off error. By default the test then continues without these checks.
    pub only_checked: bool,
    /// The clock that the run reads. Tests replace it.
    pub clock: &'static dyn Clock,
    /// The memory in which the run keeps states. Tests replace it.
    pub memory: &'static dyn Memory,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            checkpoint_interval: Duration::from_secs(60),
            verify_with: None,
            residues: None,
            check_squarings: None,
            only_checked: false,
            clock: &SystemClock,
            memory: &SoundMemory,
        }
    }
}

/// How a run ended without an error.
#[derive(Debug, Clone, PartialEq)]
pub enum Finished {
    /// The test finished with a verdict.
    Done(Box<Outcome>),
    /// The stop token ended the run.
    Stopped {
        /// The number of iterations done. The test will resume from there if its state was saved.
        iteration: u64,
        /// Whether a checkpoint of exactly the iteration `iteration` is on disk.
        saved: bool,
    },
}

/// A test of several parts, each with a [`TestKind`] of its own. The arguments are those of [`run`].
type RunInParts = fn(
    &TestSpec,
    Plan,
    Option<&mut CheckpointStore>,
    &mut dyn FnMut(Event),
    &StopToken,
    &RunOptions,
) -> Result<Finished, TestError>;

/// Runs a test to its end, to `spec.iterations`, or until `stop` is set.
///
/// Resumes from the newest valid checkpoint of `store`; without a store, nothing is saved. With a
/// second engine, resumes only from verified checkpoints. If the process is killed, at most the
/// work since the last checkpoint is lost, which is about `options.checkpoint_interval` of work.
///
/// `events` is called on the computing thread, which waits until the call returns. So slow work
/// belongs on another thread.
///
/// M2 = 3 is answered without a test, since neither sequence is meaningful mod 3. By convention, LL
/// answers prime with residue 0, and PRP answers probable prime with residue 1.
pub fn run(
    spec: &TestSpec,
    plan: Plan,
    store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let number = spec.number;
    let p = number.exponent();
    if number == Number::mersenne(2) && !matches!(spec.kind, TestKind::Cert(_)) {
        return Ok(Finished::Done(Box::new(answer_for_two(spec.kind, &plan))));
    }
    if !spec.kind.suits(number) || plan.number() != number {
        return Err(TestError::Unsuitable { kind: spec.kind, number });
    }
    let in_parts = match spec.kind {
        TestKind::Pocklington { .. } => Some(pocklington::run as RunInParts),
        TestKind::Morrison { .. } => Some(morrison::run as RunInParts),
        _ => None,
    };
    if let Some(run) = in_parts {
        let mut store = store;
        let finished = run(spec, plan, store.as_deref_mut(), events, stop, options);
        if let Some(store) = store {
            store.set_kind(spec.kind);
        }
        return finished;
    }
    let target = spec.target();
    let mut driver = Driver::new(spec, plan, store, events, stop, options);
    match spec.kind {
        TestKind::Ll(start) => {
            let mut ll = ll::LucasLehmer::new(p, start, target).shifted(spec.shift);
            match options.verify_with {
                None => driver.drive(&mut ll),
                Some(second) => driver.drive(&mut doubled::Doubled::new(ll, second, options.clock)),
            }
        }
        TestKind::Prp | TestKind::Cert(_) => {
            let three = || Residue::from_u64(p, 3);
            let start = match (spec.kind, &spec.start) {
                (TestKind::Prp, _) => three(),
                (_, Some(start)) => start.clone(),
                (_, None) => return Err(TestError::NoStart),
            };
            let prp = prp::Prp::new(spec.kind, start, target);
            driver.drive(&mut prp.shifted(spec.shift))
        }
        TestKind::Fermat { .. } | TestKind::Proth { .. } => {
            let one = Residue::from_u64(number, 1);
            driver.drive(&mut prp::Prp::new(spec.kind, one, target))
        }
        // Both tests have been run above.
        TestKind::Pocklington { .. } | TestKind::Morrison { .. } => {
            Err(TestError::Unsuitable { kind: spec.kind, number })
        }
        TestKind::Riesel => {
            let first = riesel::first_term(number).ok_or(TestError::Start { number })?;
            driver.drive(&mut ll::LucasLehmer::riesel(first, target))
        }
    }
}

fn answer_for_two(kind: TestKind, plan: &Plan) -> Outcome {
    let (verdict, residue) = match kind {
        TestKind::Ll(_) => (Verdict::Prime, 0),
        _ => (Verdict::ProbablePrime, 1),
    };
    Outcome {
        kind,
        number: Number::mersenne(2),
        verdict,
        residue: Residue::from_u64(2u32, residue),
        iterations: 0,
        resumed_at: 0,
        engine: plan.engine(),
        place: plan.place(),
        length: plan.length(),
        round_off: None,
        checked_squarings: 0,
        errors: ErrorCounts::default(),
        twice: false,
        shift: 0,
        known_factors: vec![],
        bases: vec![],
        elapsed: Duration::ZERO,
    }
}
