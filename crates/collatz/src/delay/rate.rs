//! The rate at which delays are computed.

use std::time::{Duration, Instant};

use super::records::whole;
use super::{Delays, check_range};
use crate::CollatzError;

/// A measurement of the rate at which delays are computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rate {
    /// The count of numbers whose delays were computed.
    pub numbers: u128,
    /// The sum of the computed delays.
    pub sum: u128,
    /// The elapsed time.
    pub elapsed: Duration,
}

impl Rate {
    /// Returns the count of numbers per second.
    #[must_use]
    pub fn per_second(&self) -> f64 {
        self.numbers as f64 / self.elapsed.as_secs_f64().max(1e-9)
    }
}

/// Surveys successive chunks of numbers, the first of which begins with `from`, until `time` has
/// passed. Returns the rate. One chunk that is surveyed before the measurement begins is not
/// counted.
///
/// # Errors
/// The numbers begin with 0 or go beyond [`END`](super::END); the device fails, lacks memory or
/// cannot compile a kernel; or a path does not reach 1 within some millions of steps.
pub fn rate(engine: &mut dyn Delays, from: u128, time: Duration) -> Result<Rate, CollatzError> {
    let chunk = engine.chunk();
    let mut survey = |from: u128| {
        check_range(from, from.saturating_add(chunk.into()))?;
        Ok::<_, CollatzError>(whole(engine, from, chunk)?.sum)
    };
    survey(from)?;
    let (begin, mut rate) = (Instant::now(), Rate { numbers: 0, sum: 0, elapsed: Duration::ZERO });
    while rate.elapsed < time {
        rate.sum += survey(from.saturating_add(rate.numbers))?;
        rate.numbers += u128::from(chunk);
        rate.elapsed = begin.elapsed();
    }
    Ok(rate)
}
