//! Powers of residues on an engine, with progress reports and cancellation.

use std::time::{Duration, Instant};

use warpint_natural::limbs;

use super::ProofError;
use crate::primality::bit;
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

/// The number of products that a power with a 64-bit exponent takes: 64 squarings, 3 multiplications
/// for the odd powers of the base and, on average, 16 multiplications by one of them.
pub(super) const PER_POWER: u64 = 83;

/// The number of registers that [`Watch::raise`] needs for odd powers of the base.
pub(super) const ODD_POWERS: usize = 3;

/// The number of bits from which on an exponent is raised with odd powers of the base.
const LONG: usize = 24;

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

    /// Sets `r[dst]` to `r[src]`^h, starting with the highest bit of h. h is given in little-endian
    /// limbs. For h = 0, the result is 1.
    ///
    /// The bits of h are divided into windows of up to three bits that end with a 1, and zeros
    /// between them (Menezes, van Oorschot, Vanstone 1996, algorithm 14.85). A window costs one
    /// product with an odd power of the base, x³, x⁵ or x⁷, which registers `odd` and the two that
    /// follow hold in the meantime. Products cost more than squarings, and every call of an engine
    /// on the CPU converts its operands, so the squarings between two products are one call.
    ///
    /// # Panics
    /// Panics if `dst` is `src`.
    pub(super) fn raise(
        &mut self,
        engine: &mut dyn Engine,
        dst: usize,
        src: usize,
        odd: usize,
        h: &[u64],
    ) -> Result<(), Halt> {
        assert_ne!(dst, src, "a power needs its base to the end");
        let bit = |i: usize| h[i / 64] >> (i % 64) & 1;
        let Some(top) = (0..64 * h.len()).rev().find(|&i| bit(i) == 1) else {
            return Ok(engine.set(dst, 1, Shift::ZERO)?);
        };
        let width = if top < LONG { 1 } else { 3 };
        if width > 1 {
            engine.copy(dst, src)?;
            engine.square(dst, 1, Step::Square, Shift::ZERO)?;
            for k in 0..ODD_POWERS {
                engine.mul(odd + k, dst, if k == 0 { src } else { odd + k - 1 })?;
            }
            self.note(1 + ODD_POWERS as u64)?;
        }
        let (mut at, mut begun, mut squarings) = (top + 1, false, 0);
        while at > 0 {
            if bit(at - 1) == 0 {
                at -= 1;
                squarings += 1;
                continue;
            }
            let first = (at.saturating_sub(width)..at).find(|&i| bit(i) == 1).unwrap_or(at - 1);
            let window = (first..at).rev().fold(0, |w, i| 2 * w + bit(i) as usize);
            let factor = if window == 1 { src } else { odd + window / 2 - 1 };
            if begun {
                squarings += (at - first) as u64;
                engine.square(dst, squarings, Step::Square, Shift::ZERO)?;
                engine.mul(dst, dst, factor)?;
                self.note(squarings + 1)?;
            } else {
                engine.copy(dst, factor)?;
                begun = true;
            }
            (at, squarings) = (first, 0);
        }
        if squarings > 0 {
            engine.square(dst, squarings, Step::Square, Shift::ZERO)?;
            self.note(squarings)?;
        }
        // A device computes asynchronously, so that finished work must be waited for to measure
        // progress.
        Ok(engine.finish()?)
    }

    /// Sets `r[reg]` to `r[reg]`^(2^n)·a^w by n squarings, and by squarings of register `work` for the bits
    /// of w above the lowest n. w is given in little-endian limbs.
    pub(super) fn square_times(
        &mut self,
        engine: &mut dyn Engine,
        [reg, work]: [usize; 2],
        n: u64,
        a: u32,
        w: &[u64],
    ) -> Result<(), Halt> {
        let high = limbs::bit_length(w).saturating_sub(n);
        if high > 0 {
            engine.set(work, 1, Shift::ZERO)?;
            let factor = |j| bit(w, n + high - 1 - j);
            engine.square_with_factors(work, high, a, &factor, Shift::ZERO)?;
            engine.mul(reg, reg, work)?;
            self.note(high + 1)?;
        }
        self.steps(engine, reg, n, a, |j| bit(w, n - 1 - j))
    }

    /// Does n squarings of `r[reg]`. The square number j, counted from 0, is multiplied by a if
    /// `has_factor(j)`.
    pub(super) fn steps(
        &mut self,
        engine: &mut dyn Engine,
        reg: usize,
        n: u64,
        a: u32,
        has_factor: impl Fn(u64) -> bool,
    ) -> Result<(), Halt> {
        const STRIDE: Duration = Duration::from_millis(100);
        let (mut left, mut stride) = (n, 1);
        while left > 0 {
            let begin = Instant::now();
            let (now, done) = (left.min(stride), n - left);
            if a == 1 {
                engine.square(reg, now, Step::Square, Shift::ZERO)?;
            } else {
                let factor = |j| has_factor(done + j);
                engine.square_with_factors(reg, now, a, &factor, Shift::ZERO)?;
            }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::{BuildOptions, EngineFamily, word::Word};
    use rand::{RngExt, SeedableRng};
    use warpint_arith::primes::pow_mod;

    #[test]
    fn powers_with_exponents_of_every_length_and_form() {
        let p = 61;
        let m = (1u64 << p) - 1;
        let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(3);
        let mut engine = Word.build(p, 1, BuildOptions::new(2 + ODD_POWERS, 1)).unwrap();
        let mut exponents: Vec<u64> =
            (0..=130).chain([u64::MAX, 1 << 63, 1 << 24, 3 << 60]).collect();
        exponents.extend((0..64).map(|s| rng.random::<u64>() >> s));
        exponents.extend((0..64).map(|s| u64::MAX >> s));
        for h in exponents {
            let x = rng.random_range(2..m);
            for high in [0, 1, 5] {
                engine.set(1, x, Shift::ZERO).unwrap();
                let (mut told, stop) = (|_| {}, StopToken::new());
                let mut watch = Watch::new(1, &mut told, &stop);
                let done = watch.raise(engine.as_mut(), 0, 1, 2, &[h, high]);
                assert!(done.is_ok());
                let high = pow_mod(pow_mod(x, 1 << 32, m), high << 32, m);
                let expected = warpint_arith::primes::mul_mod(pow_mod(x, h, m), high, m);
                assert!(engine.read(0, Shift::ZERO).unwrap().is(expected), "{x}^{h}");
                assert!(engine.read(1, Shift::ZERO).unwrap().is(x), "the base is intact");
            }
        }
    }
}
