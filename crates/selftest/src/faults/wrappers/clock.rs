//! Clocks that a test must tolerate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpint_mersenne::Clock;

/// A clock that alternates between hours ahead and hours behind.
#[derive(Debug)]
pub struct JumpingClock {
    real: Instant,
    /// The time at which the clock begins: a day ahead of the present, so that it can go back.
    begun: Instant,
    looks: AtomicU64,
}

impl JumpingClock {
    /// Returns a clock that lives until the process ends: runs hold clocks as `'static`.
    #[must_use]
    pub fn leaked() -> &'static Self {
        let real = Instant::now();
        let begun = real + Duration::from_secs(86_400);
        Box::leak(Box::new(Self { real, begun, looks: AtomicU64::new(0) }))
    }

    /// Returns how often the clock was read.
    #[must_use]
    pub fn looks(&self) -> u64 {
        self.looks.load(Ordering::Relaxed)
    }
}

impl Clock for JumpingClock {
    fn now(&self) -> Instant {
        let looks = self.looks.fetch_add(1, Ordering::Relaxed);
        let hours = Duration::from_secs(3_600 * (looks % 13));
        let now = self.begun + self.real.elapsed();
        if looks.is_multiple_of(2) { now + hours } else { now - hours }
    }
}

/// A clock that is too fast by a factor: a short test has as many strides and checkpoints as a long
/// one.
#[derive(Debug)]
pub struct HurriedClock {
    begun: Instant,
    times: u32,
}

impl HurriedClock {
    /// Returns a clock that lives until the process ends: runs hold clocks as `'static`.
    #[must_use]
    pub fn leaked(times: u32) -> &'static Self {
        Box::leak(Box::new(Self { begun: Instant::now(), times }))
    }
}

impl Clock for HurriedClock {
    fn now(&self) -> Instant {
        self.begun + self.begun.elapsed() * self.times
    }
}
