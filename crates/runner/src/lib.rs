//! Tests of Mersenne numbers from a request to a recorded result, and workers on lists of
//! assignments.
//!
//! * [`Job`]: one PRP or Lucas–Lehmer test, or a certification, with checkpoints, a stored result,
//!   a proof, and a line in the results file.
//! * [`work::Worker`]: does the assignments of a `worktodo.txt`, one after the other.
//!   [`work::Crew`] runs several workers, each as a process of its own, and [`work::Overview`]
//!   reports what they do.
//! * [`proofs::ProofWork`] builds proof files, [`proofs::verify_file`] verifies them.
//! * [`Report`], [`stored::StoredResult`]: the printed and stored forms of a result.
//!
//! This crate does not print. An [`Observer`] receives what happens as [`RunEvent`]s, whose notes
//! and warnings format themselves as text; a worker also writes them to its log. A stop is
//! requested with a [`StopToken`](warpint_progress::StopToken).
//!
//! `warpint-mersenne` computes, `warpint-gimps` implements the file formats shared with other
//! programs, and this crate combines the two.

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
