//! Stops of computations on request, which the algorithms themselves do not know.

use std::fmt::Display;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use warpint_natural::product::Multiplier;
use warpint_progress::Watch;

use super::Metered;

/// A computation was stopped on request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the computation was stopped")]
pub struct Stopped;

/// Runs `work` with a multiplier that reports to `watch` as [`Metered`] does, and returns its result.
/// Ends `work` if `watch` requests a stop, which is noticed when a product, a division or a conversion
/// by the multiplier is complete.
///
/// The functions that compute by a [`Multiplier`] have no result for a stop. Therefore the multiplier
/// leaves `work` by [`resume_unwind`], which drops the values on the way but is no panic: no hook is
/// called and no message is printed. The multiplier `by` itself is never left in the middle of an
/// operation, and can be used again. Values that `work` changes outside of itself may be left
/// unfinished.
///
/// # Errors
/// [`Stopped`] if the work was stopped.
///
/// # Panics
/// If `work` panics. In a program whose panics abort, a stop aborts as well.
pub fn stoppable<T>(
    by: &dyn Multiplier,
    watch: &dyn Watch,
    work: impl FnOnce(&dyn Multiplier) -> T,
) -> Result<T, Stopped> {
    let stopping = Stopping(watch);
    let metered = Metered::new(by, &stopping);
    catch_unwind(AssertUnwindSafe(|| work(&metered))).or_else(|payload| {
        if payload.is::<Stopped>() { Err(Stopped) } else { resume_unwind(payload) }
    })
}

/// A watch that leaves the computation when a stop is requested.
struct Stopping<'a>(&'a dyn Watch);

impl Watch for Stopping<'_> {
    fn is_stopped(&self) -> bool {
        self.0.is_stopped()
    }

    fn done(&self, amount: u128) {
        self.0.done(amount);
        if self.is_stopped() {
            resume_unwind(Box::new(Stopped));
        }
    }

    fn step(&self, done: u64, total: u64, what: &dyn Display) {
        self.0.step(done, total, what);
    }
}
