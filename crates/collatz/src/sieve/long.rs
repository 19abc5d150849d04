//! Long numbers: numbers that no rule excludes within the stages of the walk. They are walked
//! exactly.
//!
//! T(n) is n/2 for even n and (3n + 1)/2 for odd n.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;

use super::steps::{RISES, rise_of, value_of};
use crate::Highest;
use crate::walk::{Walker, big_step, step};

/// The table and the walker by which long numbers are walked exactly.
#[derive(Debug)]
pub(crate) struct Long<'a> {
    /// The table of a step of the walk: see [`super::steps::Steps`].
    pub words: &'a [u32],
    pub step: u32,
    /// The walker, which sets the limit of steps and, in tests, the trap.
    pub walker: &'a Walker,
}

/// The result of the exact walk of a long number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// The number of odd steps of T from the start of the path to the end of the walk. The walk
    /// ends with the first of its steps (of several bits each) whose result is below the start.
    pub odd: u64,
    /// Whether the value before or after some step of the walk was at least a given threshold.
    pub tall: bool,
}

impl Long<'_> {
    /// Continues the walk of n until a step of the walk ends below n. The walk has reached the
    /// value x after `odd` odd steps of T. `tall` is the threshold for [`End::tall`]. Returns the
    /// result. Returns `None` if the walker's limit of steps is reached first.
    pub(crate) fn end(&self, n: u128, x: u128, odd: u32, tall: u128) -> Option<End> {
        if self.walker.trap.is_some() {
            self.walker.descend(n)?;
        }
        let mask = (1 << self.step) - 1;
        let (mut end, mut y) = (End { odd: odd.into(), tall: x >= tall }, x);
        let mut steps = 0;
        while y >= n {
            if steps >= self.walker.limit {
                return None;
            }
            let word = self.words[(y as u32 & mask) as usize];
            let rise = rise_of(word);
            let product = (y >> self.step).checked_mul(RISES[rise]);
            let Some(next) = product.and_then(|p| p.checked_add(value_of(word))) else {
                return self.big_end(n, y.into(), end, steps);
            };
            y = next;
            end.odd += rise as u64;
            end.tall |= y >= tall;
            steps += u64::from(self.step);
        }
        Some(end)
    }

    /// Walks n from its start: does `level` single steps of T, then steps of the walk until one
    /// ends below n. Values may have any size. Returns the result of [`Self::end`] for the
    /// threshold 2^128 − 1.
    pub(crate) fn whole(&self, n: u128, level: u32) -> Option<End> {
        if self.walker.trap.is_some() {
            self.walker.descend(n)?;
        }
        let (mut x, mut odd) = (BigUint::from(n), 0u64);
        for _ in 0..level {
            odd += u64::from(x.bit(0));
            x = big_step(&x);
        }
        match u128::try_from(&x) {
            Ok(x) => self.end(n, x, odd as u32, u128::MAX),
            Err(_) => self.big_end(n, x, End { odd, tall: true }, 0),
        }
    }

    /// Continues [`Self::end`] from the value y, for values of any size. Each step of the walk is
    /// done as `self.step` single steps of T. `end` is the result so far, and `steps` is the number
    /// of steps of T so far.
    fn big_end(&self, n: u128, mut y: BigUint, mut end: End, mut steps: u64) -> Option<End> {
        let start = BigUint::from(n);
        end.tall = true;
        while y >= start {
            if steps >= self.walker.limit {
                return None;
            }
            for _ in 0..self.step {
                end.odd += u64::from(y.bit(0));
                y = big_step(&y);
            }
            steps += u64::from(self.step);
        }
        Some(end)
    }
}

/// Returns the highest value of n's path under n/2 and 3n + 1. Only a part of the path is
/// considered: it begins with the step that leads to `T^level(n)` and ends with the first value of
/// T below n. Returns `None` if there is no value below n within `limit` steps of T.
///
/// `level` is at least 1. Let m be the largest T^j(n) with j ≥ `level` in this part. The highest
/// value is 2·m: an even step leads to m from 2m, an odd step passes 2m.
pub(crate) fn highest_from(n: u128, level: u32, limit: u64) -> Option<BigUint> {
    Some(highest_of_t(n, level, limit)? << 1u32)
}

/// Returns the largest T^j(n) with j ≥ `level`, up to the first value below n. Returns `None` if no
/// value is below n within `limit` steps of T.
fn highest_of_t(n: u128, level: u32, limit: u64) -> Option<BigUint> {
    let (mut x, mut highest, mut steps) = (n, 0, 0);
    let next = loop {
        if steps >= u64::from(level) {
            if x < n {
                return Some(highest.max(x).into());
            }
            highest = highest.max(x);
        }
        if steps >= limit {
            return None;
        }
        match step(x) {
            Some(next) => x = next,
            None => break big_step(&x.into()),
        }
        steps += 1;
    };
    let (start, mut x, mut highest) = (BigUint::from(n), next, BigUint::from(highest));
    steps += 1;
    loop {
        if steps >= u64::from(level) {
            if x < start {
                return Some(highest);
            }
            highest = highest.max(x.clone());
        }
        if steps >= limit {
            return None;
        }
        x = big_step(&x);
        steps += 1;
    }
}

/// The highest value so far on the paths of long numbers, collected from many threads.
///
/// T^j(x) + 1 ≤ (3/2)^j·(x + 1). So within a step of s bits that begins at x, a path stays below
/// (3/2)^s·(x + 1). Let h be the highest value of T so far. A walk needs to report only numbers
/// with a value of at least (2/3)^s·h − 1 at the start or the end of some step.
#[derive(Debug)]
pub(crate) struct Tallest {
    step: u32,
    highest: Mutex<Option<Highest>>,
    /// The lower and the upper half of the threshold, which only rises. The lower half is stored
    /// first and read last. So if a reader sees one half from before a rise and the other from
    /// after it, the resulting threshold is not too high.
    threshold: [AtomicU64; 2],
}

impl Tallest {
    /// Creates the collection for steps of `step` bits. `known` is the highest value known from
    /// other numbers. Values below `known` need not be reported.
    pub(crate) fn new(step: u32, known: Option<&BigUint>) -> Self {
        let this =
            Self { step, highest: Mutex::new(None), threshold: [const { AtomicU64::new(0) }; 2] };
        if let Some(known) = known {
            this.raise(known);
        }
        this
    }

    fn raise(&self, highest: &BigUint) {
        // In steps of T, whose values are half of the highest ones.
        let highest = highest >> 1u32;
        let least: BigUint = (highest << self.step) / BigUint::from(RISES[self.step as usize]);
        let least = u128::try_from(least).unwrap_or(u128::MAX).saturating_sub(2);
        if least > self.threshold() {
            self.threshold[0].store(least as u64, Ordering::Relaxed);
            self.threshold[1].store((least >> 64) as u64, Ordering::Release);
        }
    }

    /// Returns the threshold. A number does not have the highest value if its values before and
    /// after all steps are below the threshold.
    pub(crate) fn threshold(&self) -> u128 {
        let [lower, upper] = &self.threshold;
        let upper = u128::from(upper.load(Ordering::Acquire));
        upper << 64 | u128::from(lower.load(Ordering::Relaxed))
    }

    /// Walks n exactly, and determines the highest value of its path after the first `level` steps
    /// of T. Stores this value unless a higher value is already stored. Does nothing if the path
    /// exceeds the walker's limit of steps.
    pub(crate) fn take(&self, n: u128, level: u32, walker: &Walker) {
        let Some(value) = highest_from(n, level, walker.limit) else { return };
        let this = Highest { value, start: n };
        let mut highest = self.highest.lock().unwrap_or_else(PoisonError::into_inner);
        let best = match highest.take() {
            Some(other) => other.max(this),
            None => this,
        };
        self.raise(&best.value);
        *highest = Some(best);
    }

    /// Returns the highest value stored; `None` if there is none.
    pub(crate) fn end(self) -> Option<Highest> {
        self.highest.into_inner().unwrap_or_else(PoisonError::into_inner)
    }
}
