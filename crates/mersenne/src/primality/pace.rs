//! The measured speed of a run.

use std::time::{Duration, Instant};

use super::Clock;

/// The duration of a stride on the CPU. A stride is the work between two readings of the clock and
/// the stop token. At each end of a stride the engine packs its residue, which takes a few
/// milliseconds at millions of words.
const STRIDE_ON_CPU: Duration = Duration::from_millis(500);
/// The duration of a stride on a device. It is longer than on the CPU, because at the end of each
/// stride the host waits for the device.
const STRIDE_ON_A_DEVICE: Duration = Duration::from_secs(1);

/// The measured speed of a run. It determines the number of squarings of a stride.
pub(super) struct Pace {
    clock: &'static dyn Clock,
    stride: Duration,
    lap: Instant,
    /// The weighted sum of the times of all laps, in seconds. A lap is the time between two calls
    /// of [`Pace::note`]. A lap that ended a time t ago has the weight e^(−t/[`LATELY`]).
    seconds: f64,
    /// The sum of the numbers of squarings of all laps, with the same weights as `seconds`.
    squarings: f64,
}

/// The time in which the weight of a lap falls by the factor e = 2.718….
const LATELY: Duration = Duration::from_secs(3);

impl Pace {
    pub(super) fn new(clock: &'static dyn Clock, on_cpu: bool) -> Self {
        let stride = if on_cpu { STRIDE_ON_CPU } else { STRIDE_ON_A_DEVICE };
        Self { clock, stride, lap: clock.now(), seconds: 0.0, squarings: 0.0 }
    }

    /// Starts a new lap. The time since the last call of [`Pace::note`] is not counted.
    pub(super) fn skip(&mut self) {
        self.lap = self.clock.now();
    }

    /// Returns the duration of a stride.
    pub(super) fn stride_time(&self) -> Duration {
        self.stride
    }

    pub(super) fn stride(&self) -> u64 {
        let strides = self.stride.as_secs_f64() * self.squarings / self.seconds;
        // Clamped to 1 … 2^20 for every clock; 0/0 before the first lap gives 1.
        if strides.is_finite() { strides.clamp(1.0, 1_048_576.0) as u64 } else { 1 }
    }

    /// Records that n squarings of the sequence were done since the last call. A call with n = 0
    /// does nothing, so time spent on checks counts towards the following squarings.
    pub(super) fn note(&mut self, n: u64) {
        if n == 0 {
            return;
        }
        let lap = self.clock.now().saturating_duration_since(self.lap).as_secs_f64();
        self.skip();
        let kept = (-lap / LATELY.as_secs_f64()).exp();
        self.seconds = self.seconds * kept + lap;
        self.squarings = self.squarings * kept + n as f64;
    }

    pub(super) fn per_iteration(&self) -> Duration {
        let seconds = self.seconds / self.squarings.max(1.0);
        Duration::try_from_secs_f64(seconds).unwrap_or(Duration::ZERO)
    }
}
