//! Timing of squarings, in laps of many squarings each.

use std::time::{Duration, Instant};

use super::Plan;
use crate::Shift;
use crate::engine::{Engine, EngineError, KernelTime, Step};

/// An engine whose squarings are timed in laps.
///
/// To compare several plans, let their timers take laps in turns. Then a slow moment of the machine
/// does not affect only one of the plans.
pub struct SquaringTimer {
    engine: Box<dyn Engine>,
    squarings: u64,
    time: Duration,
    /// The time of a squaring in the fastest lap, and the time of a squaring in the slowest lap.
    extremes: (Duration, Duration),
}

impl Plan {
    /// Builds an engine to be timed, with a pseudo-random residue.
    ///
    /// # Errors
    /// Returns the errors of [`Plan::build`].
    pub fn timer(&self) -> Result<SquaringTimer, EngineError> {
        Ok(SquaringTimer {
            engine: self.build_to_time()?,
            squarings: 0,
            time: Duration::ZERO,
            extremes: (Duration::MAX, Duration::ZERO),
        })
    }
}

impl SquaringTimer {
    /// Does squarings that are not timed. They give the device time to load kernels and to raise
    /// its clock.
    pub fn warm_up(&mut self, squarings: u64) -> Result<(), EngineError> {
        self.engine.square(0, squarings, Step::Square, Shift::ZERO)?;
        self.engine.finish()
    }

    /// Times one lap of `squarings` squarings. The lap starts from the digits of a residue and ends
    /// with the digits of the result. So it includes the first and the last transform.
    pub fn lap(&mut self, squarings: u64) -> Result<(), EngineError> {
        let begin = Instant::now();
        self.warm_up(squarings)?;
        let time = begin.elapsed();
        self.time += time;
        self.squarings += squarings;
        let each = time.div_f64(squarings.max(1) as f64);
        let (least, most) = self.extremes;
        self.extremes = (least.min(each), most.max(each));
        Ok(())
    }

    /// Returns the number of squarings of all laps.
    #[must_use]
    pub fn squarings(&self) -> u64 {
        self.squarings
    }

    /// Returns the mean time of a squaring over all laps; zero before the first lap.
    #[must_use]
    pub fn mean(&self) -> Duration {
        self.time.div_f64(self.squarings.max(1) as f64)
    }

    /// Returns the time of a squaring in the fastest lap and in the slowest lap. Before the first
    /// lap, these are [`Duration::MAX`] and zero.
    #[must_use]
    pub fn extremes(&self) -> (Duration, Duration) {
        self.extremes
    }

    /// Returns the mean times of the engine's kernels in `squarings` squarings
    /// ([`KernelTimer::kernel_times`](crate::KernelTimer::kernel_times)). If the engine has no
    /// kernels, computes nothing and returns an empty list.
    ///
    /// # Panics
    /// Panics if the engine has kernels and `squarings` is not from 4 to 1,000.
    pub fn kernel_times(&mut self, squarings: u64) -> Result<Vec<KernelTime>, EngineError> {
        self.engine.kernel_timer().map_or(Ok(vec![]), |timer| timer.kernel_times(0, squarings))
    }
}

impl std::fmt::Debug for SquaringTimer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { engine, squarings, time, .. } = self;
        write!(f, "{squarings} squarings of {} in {time:?}", engine.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Exponent, PlanRequest};
    use warpint_device::DeviceChoice;

    #[test]
    fn laps_add_up() {
        let request = PlanRequest { device: DeviceChoice::Cpu, ..PlanRequest::default() };
        let plan = Plan::new(Exponent::new(1_279).unwrap(), &request).unwrap();
        let mut timer = plan.timer().unwrap();
        timer.warm_up(3).unwrap();
        assert_eq!((timer.squarings(), timer.mean()), (0, Duration::ZERO));
        timer.lap(10).unwrap();
        timer.lap(30).unwrap();
        assert_eq!(timer.squarings(), 40);
        let (least, most) = timer.extremes();
        let mean = timer.mean();
        assert!(Duration::ZERO < least && least <= mean && mean <= most, "{timer:?}");
        // An engine without kernels has no kernel times.
        assert_eq!(timer.kernel_times(8), Ok(vec![]));
    }
}
