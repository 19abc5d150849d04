//! Tests of Mersenne numbers M_p = 2^p − 1: from an exponent to a verdict.
//!
//! The main types and functions, in the order of their use:
//!
//! * [`Exponent`]: the exponent p;
//! * [`Plan`]: the choice of an engine and a transform length;
//! * [`Engine`]: a register machine on residues mod M_p;
//! * [`primality::run`]: a Lucas–Lehmer test, a PRP test or a certification, with checks and
//!   checkpoints;
//! * [`Outcome`]: the result.
//!
//! The crate does not print and does not parse arguments. Progress is reported as [`Event`]s to a
//! callback, and a stop is requested with a [`StopToken`].

pub mod checkpoint;
mod cofactor;
mod digested;
pub mod engine;
mod event;
mod exponent;
mod jacobi;
pub mod layout;
mod number;
mod outcome;
pub mod plan;
pub mod primality;
pub mod proof;
mod residue;
mod shift;

pub use cofactor::{FactorError, KnownFactors};
pub use digested::DigestedResidue;
pub use engine::{
    BuildOptions, Cut, Engine, EngineError, EngineFamily, Gumbel, Health, KernelTime, KernelTimer,
    Margin, Profiled, RoundOff, Step, Work,
};
pub use event::{Check, Event, progress_line};
pub use exponent::{Exponent, ExponentError, trial_factor};
pub use jacobi::jacobi_of_ll;
pub use number::{AlgebraicFactor, Factor, Number, NumberError, Sign};
pub use outcome::{ErrorCounts, Outcome, Verdict};
pub use plan::{
    Alike, EXACT, NoTimes, Plan, PlanError, PlanRefusal, PlanRequest, Resolved, SquaringTimer,
    StoredTime, StoredTimes, TimingKey, TunedTimes, engine_at, plans_cut_alike,
};
pub use residue::{Residue, ResidueError};
pub use shift::Shift;
pub use warpint_device::{DeviceChoice, DeviceId};
pub use warpint_progress::StopToken;

pub use primality::{
    Certification, Clock, Finished, LlStart, Memory, ResidueSink, RunOptions, SoundMemory,
    SystemClock, TestError, TestKind, TestSpec,
};
