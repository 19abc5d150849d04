//! Files of numbers, and jobs that compute with them: from files to a file, some numbers at a time.
//!
//! A file holds natural numbers in one of four formats ([`Format`]): lines of decimal or of
//! hexadecimal digits, NumPy arrays of limbs, or raw limbs.
//!
//! | layer | what it does |
//! |---|---|
//! | [`Source`], [`SourceReader`], [`Piece`] | a file, a pipe or a single number: how many numbers of which width, and then the numbers, as a [`UintBatch`](warpint_integer::UintBatch) a piece |
//! | [`Form`], [`Results`] | the bytes of results in a format |
//! | [`Request`], [`Job`], [`Opened`], [`Outcome`] | an operation on all numbers of files: by pieces, in three threads (reading, computing, writing), checked, kept when stopped, and resumed |
//! | [`News`] | what a job tells on the way |
//! | [`expression`] | numbers as people write them: `2^127-1` |
//!
//! Computing takes place on an [`Executor`](warpint_integer::Executor). A job reads its operands
//! twice where they are text: once to count the numbers and to find how wide they are. Its memory
//! does not grow with the files: see [`Request::chunk`].
//!
//! Results replace OUT when all of them are there, and not before. Until then they are in
//! `OUT.partial`, and `OUT.partial.json` records how far the job is; the same [`Request`] goes on
//! from there.
//!
//! A [`BatchError`] names options by the names that the program gives them (`--bits`).

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
