//! Clocks that a test must bear.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpint_mersenne::Clock;

/// A clock that is hours ahead at one look and hours behind at the next.
#[derive(Debug)]
pub struct JumpingClock {
    real: Instant,
    /// A day ahead, so that it can go back.
    begun: Instant,
    looks: AtomicU64,
}

impl JumpingClock {
    /// A clock for the rest of the process: runs hold clocks by `'static`.
    #[must_use]
    pub fn leaked() -> &'static Self {
        let real = Instant::now();
        let begun = real + Duration::from_secs(86_400);
        Box::leak(Box::new(Self { real, begun, looks: AtomicU64::new(0) }))
    }

    /// How often it was asked.
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

/// A clock that runs too fast by a factor: a short test has as many strides and checkpoints by it
/// as a long one.
#[derive(Debug)]
pub struct HurriedClock {
    begun: Instant,
    times: u32,
}

impl HurriedClock {
    /// A clock for the rest of the process: runs hold clocks by `'static`.
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
