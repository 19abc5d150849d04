//! Batches of natural numbers of a fixed width. One operation on a batch computes up to millions of
//! independent results, on the CPU or on a GPU. The module [`huge`] has operations on single numbers
//! of any length. All results are exact.
//!
//! * [`UintBatch`]: the numbers and the operations on them;
//! * [`Modulus`], [`FixedBase`]: precomputed data for many products and powers modulo one number;
//! * [`PrimalityTest`]: tests of the numbers of a batch for primality;
//! * [`Operation`]: the list of operations that jobs, benchmarks and test suites iterate over;
//! * [`Executor`]: the CPU or the device that stores batches and runs operations;
//! * [`Flagged`]: results with their [`Flags`], one per number, which mark a carry, a borrow, lost
//!   bits, a division by zero …;
//! * [`check`]: checks of results against their operands by identities, on the host;
//! * [`huge`]: operations on single numbers of any length;
//! * [`gpu`]: the kernels of devices; the arithmetic of the CPU is in the module `cpu`.

mod batch;
pub mod check;
mod cpu;
mod error;
mod executor;
mod flags;
pub mod gpu;
mod host;
pub mod huge;
mod operation;
mod storage;
mod text;
mod width;

pub use batch::{FixedBase, GcdExt, Modulus, PrimalityTest, Reduction, UintBatch};
pub use error::{IntegerError, TextProblem};
pub use executor::Executor;
pub use flags::{Flagged, Flags};
pub use operation::{Evidence, Operation, Role};
pub use width::Width;
