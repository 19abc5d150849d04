//! Batches of natural numbers of a fixed width: millions of independent
//! operations at once, on the CPU or on a GPU, always exact.
//!
//! * [`UintBatch`]: the numbers, and what can be done with them;
//! * [`Modulus`], [`FixedBase`]: what products and powers modulo one number have in common;
//! * [`Operation`]: the list of operations that jobs, benchmarks and suites go through;
//! * [`Executor`]: where they live and where operations run;
//! * [`Flagged`]: results and their [`Flags`]: carries, borrows, lost bits, divisions by zero …, one a number;
//! * [`check`]: results compared with their operands by identities, on the host;
//! * [`gpu`]: the kernels of devices; the arithmetic of the CPU is in the module `cpu`.

mod batch;
pub mod check;
mod cpu;
mod error;
mod executor;
mod flags;
pub mod gpu;
mod operation;
mod storage;
mod text;
mod width;

pub use batch::{FixedBase, GcdExt, Modulus, Reduction, UintBatch};
pub use error::{IntegerError, TextProblem};
pub use executor::Executor;
pub use flags::{Flagged, Flags};
pub use operation::{Evidence, Operation, Role};
pub use width::Width;
