//! Runs tests of Mersenne numbers from a request to a recorded result, and workers that do lists of
//! assignments.
//!
//! * [`Job`]: one PRP or Lucas–Lehmer test, or a certification, with checkpoints, a stored result,
//!   a proof, and a line in the results file.
//! * [`Candidate`]: a number k·b^n ± 1 to be tested, and its job.
//! * [`work::Worker`]: a worker that does the assignments of a `worktodo.txt`, one after the other.
//!   [`work::Team`] runs several workers on threads of this process, [`work::Crew`] runs several as processes
//!   of their own, and [`work::Overview`] reports the states of the workers and the remaining work.
//! * [`proofs::ProofWork`] builds proof files, [`proofs::verify_file`] verifies them.
//! * [`history::History`]: the finished tests of a directory, read from all files that record them.
//! * [`Report`], [`stored::StoredResult`]: the printed and stored forms of a result.
//!
//! This crate does not print. An [`Observer`] receives a [`RunEvent`] for whatever happens. An
//! event may be a [`Note`] or a [`Warning`], which implement `Display`; a worker also writes notes
//! and warnings to its log. A stop is requested with a [`StopToken`](warpint_progress::StopToken).
//!
//! The crate `warpint-mersenne` computes, and `warpint-gimps` implements the file formats that
//! GIMPS programs share. This crate combines the two.

mod candidate;
mod error;
pub mod history;
mod job;
mod note;
mod observer;
mod place;
pub mod proofs;
mod report;
pub mod stored;
mod warning;
pub mod work;

pub use candidate::Candidate;
pub use error::{RunError, one_line};
pub use job::{CheckSquarings, Job, Order, TF_LIMIT, random_shift};
pub use note::Note;
pub use observer::{Observer, ProofStage, RunEvent, Undelivered, Unobserved};
pub use report::{Credit, FactorReport, ProofReport, Refused, Report, StopReport, TestReport};
pub use warning::Warning;
