//! Tests of Mersenne numbers M_p = 2^p − 1: from an exponent to a verdict.
//!
//! The straight line: [`Exponent`] → [`Plan`] (engine and transform length,
//! with the margin shown) → [`Engine`], a register machine on residues mod M_p
//! → [`test::run`] (Lucas–Lehmer or PRP, with checks and checkpoints) →
//! [`Outcome`].
//!
//! Nothing here prints or parses: progress leaves through a channel of
//! [`Event`]s, and a stop request enters as a [`StopToken`].

pub mod checkpoint;
mod cofactor;
pub mod engine;
mod event;
mod exponent;
mod jacobi;
pub mod layout;
mod outcome;
pub mod plan;
pub mod product;
pub mod proof;
mod residue;
mod sealed;
mod shift;
pub mod test;

pub use cofactor::{FactorError, KnownFactors};
pub use engine::places::{DeviceChoice, DeviceId};
pub use engine::{
    BuildOptions, Cut, Engine, EngineError, EngineFamily, Gumbel, Health, KernelTime, Margin,
    RoundOff, Step, Work,
};
pub use event::{Check, Event, StopToken};
pub use exponent::{Exponent, ExponentError, trial_factor};
pub use jacobi::jacobi_of_ll;
pub use outcome::{ErrorCounts, Outcome, Verdict};
pub use plan::{
    Alike, NoTimes, Plan, PlanError, PlanRequest, Settled, SquaringTimer, StoredTime, StoredTimes,
    TimingKey, TunedTimes, plans_cut_alike,
};
pub use residue::{Residue, ResidueError};
pub use sealed::Sealed;
pub use shift::Shift;
pub use test::{
    Certification, Clock, Finished, Keeper, LlStart, Memory, RunOptions, SoundMemory, SystemClock,
    TestError, TestKind, TestSpec,
};
