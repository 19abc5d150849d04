//! Exact arithmetic on large integers: the library behind the program `warpint`.
//!
//! * [`mersenne`]: Lucas–Lehmer and PRP tests of 2^p − 1.
//! * [`gimps`]: the files that programs around GIMPS read and write.
//! * [`device`]: GPUs, and the one way to run a kernel.
//! * [`arith`]: exact scalar arithmetic.
//!
//! A whole Lucas–Lehmer test, with an engine and a transform length that suit
//! the exponent:
//!
//! ```
//! use std::sync::mpsc;
//! use warpint::mersenne::{
//!     Exponent, Finished, LlStart, Plan, PlanRequest, RunOptions, StopToken, TestKind, TestSpec,
//!     Verdict, test,
//! };
//!
//! let exponent: Exponent = "2203".parse()?;
//! let plan = Plan::new(exponent, &PlanRequest::default())?;
//! let spec = TestSpec::new(TestKind::Ll(LlStart::Four), exponent);
//! let (events, _progress) = mpsc::channel();
//! // No store: nothing is saved. `CheckpointStore::open` makes a test resumable.
//! let finished =
//!     test::run(&spec, plan, None, &events, &StopToken::new(), &RunOptions::default())?;
//! let Finished::Done(outcome) = finished else { unreachable!("nobody asked for a stop") };
//! assert_eq!(outcome.verdict, Verdict::Prime);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub use warpint_arith as arith;
pub use warpint_device as device;
pub use warpint_gimps as gimps;
pub use warpint_mersenne as mersenne;
