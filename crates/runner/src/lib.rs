//! Tests of Mersenne numbers from a request to a recorded result, and workers on lists of
//! assignments.
//!
//! * [`Job`]: one PRP or Lucas–Lehmer test, or a certification, with checkpoints, a stored result, a
//!   proof, and a line in the results file.
//! * [`work::Worker`]: the assignments of a `worktodo.txt`, one after the other. [`work::Crew`] runs
//!   several workers, each a process of its own, and [`work::Overview`] says what they do.
//! * [`proofs::ProofWork`], [`proofs::verify_file`]: proof files, made and verified.
//! * [`Report`], [`stored::StoredResult`]: what is printed and stored of a test.
//!
//! Nothing here prints. What happens goes to an [`Observer`], as [`RunEvent`]s whose notes and
//! warnings have the words for people; a worker writes them into its log too. A stop request enters
//! as a [`StopToken`](warpint_progress::StopToken).
//!
//! `warpint-mersenne` computes, `warpint-gimps` knows the formats of the files that other programs
//! share, and this crate puts the two together.

mod error;
mod job;
mod note;
mod observer;
mod place;
pub mod proofs;
mod report;
pub mod stored;
mod warning;
pub mod work;

pub use error::{RunError, one_line};
pub use job::{Job, Order, TF_LIMIT, random_shift};
pub use note::Note;
pub use observer::{Observer, ProofStage, RunEvent, Undelivered, Unobserved};
pub use report::{Credit, FactorReport, ProofReport, Refused, Report, StopReport, TestReport};
pub use warning::Warning;
