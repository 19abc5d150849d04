//! Powers of residues on an engine, with progress reports and cancellation.

use std::time::{Duration, Instant};

use super::ProofError;
use crate::{Engine, EngineError, Plan, Shift, Step, StopToken};

/// The reason why a computation ended early.
pub(super) enum Halt {
    /// A stop was requested.
    Stopped,
    /// The computation failed.
    Failed(ProofError),
}

impl<E: Into<ProofError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// Converts [`Halt::Stopped`] into `Ok(None)`, a value into `Ok(Some(…))`, and any other failure
/// into its [`ProofError`].
pub(super) fn or_stopped<T>(result: Result<T, Halt>) -> Result<Option<T>, ProofError> {
    match result {
        Ok(done) => Ok(Some(done)),
        Err(Halt::Stopped) => Ok(None),
        Err(Halt::Failed(error)) => Err(error),
    }
}

/// The number of products that a power with a 64-bit exponent takes: 63 squarings and, on average,
/// half as many multiplications by the base.
pub(super) const PER_POWER: u64 = 95;

/// Counts products, reports the fraction that is done, and checks whether a stop was requested.
pub(super) struct Watch<'a> {
    progress: &'a mut dyn FnMut(f64),
    stop: &'a StopToken,
    done: u64,
    total: u64,
    told: Option<Instant>,
}

impl<'a> Watch<'a> {
    pub(super) fn new(total: u64, progress: &'a mut dyn FnMut(f64), stop: &'a StopToken) -> Self {
        Self { progress, stop, done: 0, total, told: None }
    }

    pub(super) fn done(&self) -> u64 {
        self.done
    }

    /// Resets the count of finished products to `done`, because all later products must be
    /// repeated.
    pub(super) fn back_to(&mut self, done: u64) {
        self.done = done;
    }

    /// Increases the expected total number of products.
    pub(super) fn expect_more(&mut self, products: u64) {
        self.total = self.total.saturating_add(products);
    }

    /// Records that n more products are done. Returns an error if a stop was requested.
    fn note(&mut self, n: u64) -> Result<(), Halt> {
        const TELL_EVERY: Duration = Duration::from_millis(200);
        self.done = self.done.saturating_add(n);
        if self.told.is_none_or(|told| told.elapsed() >= TELL_EVERY) {
            self.told = Some(Instant::now());
            (self.progress)((self.done as f64 / self.total.max(1) as f64).min(1.0));
        }
        if self.stop.is_stopped() { Err(Halt::Stopped) } else { Ok(()) }
    }

    /// Returns whether a stop was requested.
    pub(super) fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Sets `r[dst]` to `r[src]`^h by squarings and products, starting with the highest bit of h. h
    /// is given in little-endian limbs. For h = 0, the result is 1.
    ///
    /// # Panics
    /// Panics if `dst` is `src`.
    pub(super) fn raise(
        &mut self,
        engine: &mut dyn Engine,
        dst: usize,
        src: usize,
        h: &[u64],
    ) -> Result<(), Halt> {
        assert_ne!(dst, src, "a power needs its base to the end");
        let mut bits = (0..64 * h.len()).rev().map(|i| h[i / 64] >> (i % 64) & 1 == 1);
        if !bits.any(|bit| bit) {
            return Ok(engine.set(dst, 1, Shift::ZERO)?);
        }
        engine.copy(dst, src)?;
        for bit in bits {
            engine.square(dst, 1, Step::Square, Shift::ZERO)?;
            self.note(1)?;
            if bit {
                engine.mul(dst, dst, src)?;
                self.note(1)?;
            }
        }
        // A device computes asynchronously, so that finished work must be waited for to measure
        // progress.
        Ok(engine.finish()?)
    }

    /// Sets `r[reg]` to `r[reg]`^(2^n) by n squarings.
    pub(super) fn square(
        &mut self,
        engine: &mut dyn Engine,
        reg: usize,
        n: u64,
    ) -> Result<(), Halt> {
        const STRIDE: Duration = Duration::from_millis(100);
        let (mut left, mut stride) = (n, 1);
        while left > 0 {
            let begin = Instant::now();
            let now = left.min(stride);
            engine.square(reg, now, Step::Square, Shift::ZERO)?;
            engine.finish()?;
            left -= now;
            if begin.elapsed() < STRIDE {
                stride = (stride * 2).min(1 << 20);
            } else if begin.elapsed() > 3 * STRIDE {
                stride = (stride / 2).max(1);
            }
            self.note(now)?;
        }
        Ok(())
    }
}

/// Runs `work` with a plan and returns its result. Each time `work` fails because round-off is too
/// high, changes the plan to the next longer transform and runs `work` again.
pub(super) fn lengthening<T>(
    plan: &mut Plan,
    mut work: impl FnMut(&Plan) -> Result<T, Halt>,
) -> Result<T, Halt> {
    loop {
        match work(plan) {
            Err(Halt::Failed(ProofError::Engine(EngineError::RoundOff { .. }))) => {
                *plan = plan.longer()?;
            }
            other => return other,
        }
    }
}
