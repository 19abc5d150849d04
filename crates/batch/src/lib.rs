//! Files of numbers, and jobs that compute an operation on all numbers of files, piece by piece.
//!
//! A file contains natural numbers in one of four formats ([`Format`]): lines of decimal digits,
//! lines of hexadecimal digits, NumPy arrays of limbs, or raw limbs.
//!
//! | layer | purpose |
//! |---|---|
//! | [`Source`], [`SourceReader`], [`Piece`] | an operand: its count, width and numbers |
//! | [`Form`], [`Results`] | the bytes of results in a format |
//! | [`Request`], [`Job`], [`Opened`], [`Outcome`] | an operation on all numbers of the operands |
//! | [`News`] | messages of a running job |
//! | [`expression`] | numbers in the notation of users, such as `2^127-1` |
//! | [`calculation`] | calculations with single numbers of any length, from files to files |
//!
//! An operand is a file, a pipe or a single number. A job reads, computes and writes piece by
//! piece, in three threads. If a device computes, or if a check is requested, the results are
//! checked before they are written (see [`Check`]). If all outputs are files, a job that is stopped
//! keeps its results, and the next run of the same [`Request`] resumes the job.
//!
//! The computation runs on an [`Executor`](warpint_integer::Executor). A job reads operands that
//! are text twice: once to count the numbers and determine their width, and once to compute. The
//! memory that it needs does not grow with the size of the files (see [`Request::chunk`]).
//!
//! The output file OUT ([`Request::out`]) is replaced when all results are complete. Until then,
//! the results are in `OUT.partial`, and `OUT.partial.json` records the progress.
//!
//! Messages of [`BatchError`] contain the names of options of the program, such as `--bits`.

pub mod calculation;
mod check;
mod error;
pub mod expression;
mod format;
#[cfg(test)]
mod fuzz;
mod identities;
mod job;
mod operand;
mod options;
mod out;
mod partial;
mod pipeline;
mod results;
mod shape;
mod sink;
mod source;
mod spool;
mod state;
mod words;

pub use error::BatchError;
pub use format::{Format, FormatError, Item, Limit, LineProblem, NpyHeader};
pub use job::{End, Job, Kept, Opened, Outcome, Request};
pub use operand::OperandKind;
pub use options::{Bits, BitsError, Check, CheckError};
pub use out::Out;
pub use pipeline::{News, Tally, Times};
pub use results::{Form, Results};
pub use source::{Piece, Source, SourceReader};
