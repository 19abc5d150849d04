//! Wrong clocks, which a test must tolerate.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use warpint_mersenne::Clock;

/// A clock whose readings are alternately up to 12 hours ahead and up to 12 hours behind.
#[derive(Debug)]
pub struct JumpingClock {
    real: Instant,
    /// The time that the clock shows first: a day after its creation, so that it can also show
    /// earlier times.
    begun: Instant,
    looks: AtomicU64,
}

impl JumpingClock {
    /// Creates a clock that exists until the process ends, because a test requires a `'static`
    /// clock.
    #[must_use]
    pub fn leaked() -> &'static Self {
        let real = Instant::now();
        let begun = real + Duration::from_secs(86_400);
        Box::leak(Box::new(Self { real, begun, looks: AtomicU64::new(0) }))
    }

    /// Returns the number of times that the clock has been read.
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

/// A clock that runs too fast by the factor `times`. A short test then reads the clock and saves
/// checkpoints after fewer squarings.
#[derive(Debug)]
pub struct HurriedClock {
    begun: Instant,
    times: u32,
}

impl HurriedClock {
    /// Creates a clock that exists until the process ends, because a test requires a `'static`
    /// clock.
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
