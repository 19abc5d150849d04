//! The clock of a run. Tests replace it by clocks that jump.

use std::fmt;
use std::time::Instant;

/// A source of the present time. Tests may replace it.
pub trait Clock: fmt::Debug + Sync {
    /// Returns the present time. The time should not decrease from call to call, but a run loses no
    /// work if it does.
    fn now(&self) -> Instant;
}

/// The clock of the operating system.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Instant {
        Instant::now()
    }
}
