//! A lower bound for the time of a squaring on one thread: the time of a plain FFT of the same
//! length and its inverse.

use std::time::{Duration, Instant};

use realfft::RealFftPlanner;

/// Measures plain real FFTs of `length` doubles and their inverses (`realfft`, one thread), without
/// weights, squaring or carries. Repeats them until the time `budget` has passed, and returns the
/// shortest time of one FFT and its inverse together.
///
/// Returns `None` if `length` is odd or zero.
#[must_use]
pub fn real_fft_pair(length: usize, budget: Duration) -> Option<Duration> {
    if length == 0 || !length.is_multiple_of(2) {
        return None;
    }
    let mut planner = RealFftPlanner::<f64>::new();
    let (forward, inverse) = (planner.plan_fft_forward(length), planner.plan_fft_inverse(length));
    let mut signal: Vec<f64> = (0..length).map(|j| (j % 7) as f64 - 3.0).collect();
    let mut spectrum = forward.make_output_vec();
    let mut scratch = forward.make_scratch_vec();
    scratch.resize(scratch.len().max(inverse.get_scratch_len()), Default::default());
    let scale = 1.0 / length as f64;
    let mut least = Duration::MAX;
    let begin = Instant::now();
    loop {
        let lap = Instant::now();
        forward.process_with_scratch(&mut signal, &mut spectrum, &mut scratch).ok()?;
        inverse.process_with_scratch(&mut spectrum, &mut signal, &mut scratch).ok()?;
        least = least.min(lap.elapsed());
        if begin.elapsed() > budget {
            return Some(least);
        }
        // Keeps the numbers bounded, outside the measured time.
        signal.iter_mut().for_each(|x| *x *= scale);
    }
}
