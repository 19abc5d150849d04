//! The time of a run: a seam at which tests put clocks that jump.

use std::fmt;
use std::time::Instant;

/// Whoever knows the time.
pub trait Clock: fmt::Debug + Sync {
    /// Now. It should not go back, but a run bears it: no work is lost by it.
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
