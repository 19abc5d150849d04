//! Primality tests, written once for all engines ([`Engine`](crate::Engine)).
//!
//! Layers: [`run`] → a driver (time, checkpoints, events, errors) → a sequence (Lucas–Lehmer, or
//! PRP with its Gerbicz–Li checks) → engine operations.

mod clock;
mod confirm;
mod doubled;
mod driver;
mod error;
#[cfg(test)]
mod faults;
mod kind;
mod ll;
mod memory;
mod pace;
mod prp;
mod recovery;
pub mod registers;
mod resume;
mod sequence;
#[cfg(test)]
mod tests;
mod watch;

use std::fmt;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use crate::checkpoint::CheckpointStore;
use crate::cofactor::KnownFactors;
use crate::{ErrorCounts, Event, Exponent, Outcome, Plan, Residue, StopToken, Verdict};
pub use clock::{Clock, SystemClock};
use driver::Driver;
pub use error::TestError;
pub use kind::{Certification, LlStart, TestKind};
pub use memory::{Memory, SoundMemory};
pub(crate) use prp::LARGEST_BLOCK;

/// The specification of a test. Fields may be added: build one with `..TestSpec::new(kind, exponent)`.
#[derive(Debug, Clone)]
pub struct TestSpec {
    /// The kind of the test.
    pub kind: TestKind,
    /// The exponent p, a prime.
    pub exponent: Exponent,
    /// The number of iterations after which the test ends with [`crate::Verdict::Interim`]. `None`,
    /// or the number of iterations of the whole test, gives a verdict.
    pub iterations: Option<u64>,
    /// The shift, in bits, with which a test starts; a resumed test keeps its own. Two runs with
    /// shifts drawn at random share no systematic error.
    pub shift: u32,
    /// The known factors of M_p, for a PRP test. If there are any, the verdict is about the
    /// cofactor.
    pub known_factors: KnownFactors,
    /// The start residue x_0 of a certification. The kind contains only a digest of it.
    pub start: Option<Residue>,
}

impl TestSpec {
    /// Creates the specification of a whole test without shift. For certifications use
    /// [`TestSpec::certification`].
    #[must_use]
    pub fn new(kind: TestKind, exponent: Exponent) -> Self {
        let known_factors = KnownFactors::default();
        Self { kind, exponent, iterations: None, shift: 0, known_factors, start: None }
    }

    /// Creates the specification of a certification: `squarings` squarings of the residue `start`.
    ///
    /// # Panics
    /// Panics if the residue is of another exponent.
    #[must_use]
    pub fn certification(exponent: Exponent, start: Residue, squarings: u64) -> Self {
        assert_eq!(start.exponent(), exponent.get(), "a residue of another exponent");
        let kind = TestKind::Cert(Certification::new(&start, squarings));
        Self { start: Some(start), ..Self::new(kind, exponent) }
    }
}

/// Receives residues during a test, from which a proof is built.
pub trait ResidueSink: fmt::Debug + Send + Sync {
    /// Returns the iterations whose residues it wants, ascending, for a test that starts or resumes
    /// at `reached`. Residues up to `reached` were kept in earlier sittings or are lost.
    fn iterations(&self, reached: u64) -> Vec<u64>;

    /// Stores x, the residue at an iteration. Returns once the residue is on disk or no longer
    /// wanted.
    ///
    /// # Errors
    /// Returns errors of the disk. The test continues after an error.
    fn keep(&self, iteration: u64, x: &Residue) -> io::Result<()>;
}

/// Options of a run. Fields may be added: build one with `..RunOptions::default()`.
#[derive(Debug, Clone)]
pub struct RunOptions {
    /// The time between checkpoints; 60 s by default.
    pub checkpoint_interval: Duration,
    /// The plan by which every stretch of a Lucas–Lehmer test is computed again, at another shift;
    /// `None` means once only.
    pub verify_with: Option<Plan>,
    /// The sink that receives residues during a PRP test.
    pub residues: Option<Arc<dyn ResidueSink>>,
    /// The clock that the run reads; tests replace it.
    pub clock: &'static dyn Clock,
    /// The memory that keeps states; tests replace it.
    pub memory: &'static dyn Memory,
}

impl Default for RunOptions {
    fn default() -> Self {
        Self {
            checkpoint_interval: Duration::from_secs(60),
            verify_with: None,
            residues: None,
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
        /// The number of iterations done.
        iteration: u64,
        /// Whether a checkpoint of exactly this iteration is on disk.
        saved: bool,
    },
}

/// Runs a test to its end, to `spec.iterations`, or until `stop` is set.
///
/// Resumes from the newest sound checkpoint of `store`; without a store nothing is saved. `events`
/// is called between two strides on the computing thread, so that slow work belongs on another
/// thread. At most `options.checkpoint_interval` of work is lost if the process is killed between
/// checkpoints.
///
/// M2 = 3 is answered without a test: prime, with residue 0 for LL and 1 for PRP by convention,
/// since neither sequence is meaningful mod 3.
pub fn run(
    spec: &TestSpec,
    plan: Plan,
    store: Option<&mut CheckpointStore>,
    events: &mut dyn FnMut(Event),
    stop: &StopToken,
    options: &RunOptions,
) -> Result<Finished, TestError> {
    let p = spec.exponent.get();
    if p == 2 && !matches!(spec.kind, TestKind::Cert(_)) {
        return Ok(Finished::Done(Box::new(answer_for_two(spec.kind, &plan))));
    }
    let total = spec.kind.iterations(p);
    let target = spec.iterations.map_or(total, |k| k.min(total));
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
    }
}

fn answer_for_two(kind: TestKind, plan: &Plan) -> Outcome {
    let (verdict, residue) = match kind {
        TestKind::Ll(_) => (Verdict::Prime, 0),
        TestKind::Prp | TestKind::Cert(_) => (Verdict::ProbablePrime, 1),
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
        twice: false,
        shift: 0,
        known_factors: vec![],
        elapsed: Duration::ZERO,
    }
}
