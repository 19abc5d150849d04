//! Long numbers: those that the rules do not kill within the stages of the walk. They are walked exactly.

use std::sync::{Mutex, PoisonError};

use num_bigint::BigUint;

use super::steps::RISES;
use crate::Highest;
use crate::walk::{Walker, big_step};

/// How a number is walked to its end.
#[derive(Debug)]
pub(crate) struct Long<'a> {
    /// The table of a step: see [`super::Steps`].
    pub words: &'a [u32],
    pub step: u32,
    /// For what the table cannot do.
    pub walker: &'a Walker,
}

/// The end of a long number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct End {
    /// Odd steps until the first end of a step of the walk where the value is below the start.
    pub odd: u64,
    /// Whether the value at the end of a step was at least the threshold asked for.
    pub tall: bool,
}

impl Long<'_> {
    /// Walks n from its value x with `odd` odd steps behind it until a value at the end of a step is below n;
    /// nothing if that takes more than the walker's limit of steps.
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
            let rise = word & 15;
            let product = (y >> self.step).checked_mul(RISES[rise as usize]);
            let Some(next) = product.and_then(|p| p.checked_add((word >> 8).into())) else {
                return self.big_end(n, y, end, steps);
            };
            y = next;
            end.odd += u64::from(rise);
            end.tall |= y >= tall;
            steps += u64::from(self.step);
        }
        Some(end)
    }

    /// The same in numbers of any size, step by step.
    fn big_end(&self, n: u128, y: u128, mut end: End, mut steps: u64) -> Option<End> {
        let (start, mut y) = (BigUint::from(n), BigUint::from(y));
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

/// The highest value so far, found by many threads.
///
/// Between the ends of a step of s bits a path rises by less than a factor of 2^s: who walks need only tell the
/// numbers with a value above the highest one over 2^s.
#[derive(Debug)]
pub(crate) struct Tallest {
    step: u32,
    highest: Mutex<Option<Highest>>,
    known: Option<BigUint>,
}

impl Tallest {
    /// With a value known from elsewhere.
    pub(crate) fn new(step: u32, known: Option<&BigUint>) -> Self {
        Self { step, highest: Mutex::new(None), known: known.cloned() }
    }

    /// A number with a smaller value at the ends of all its steps is not the highest.
    pub(crate) fn threshold(&self) -> u128 {
        let highest = self.lock();
        let best = highest.as_ref().map(|highest| &highest.value).max(self.known.as_ref());
        best.map_or(0, |value| u128::try_from(value >> self.step).unwrap_or(u128::MAX))
    }

    /// Walks a number exactly, and keeps its highest value if that is the highest.
    pub(crate) fn take(&self, n: u128, walker: &Walker) {
        let Some(descent) = walker.descend(n) else { return };
        let this = Highest { value: descent.highest, start: n };
        let mut highest = self.lock();
        *highest = Some(match highest.take() {
            Some(other) => other.max(this),
            None => this,
        });
    }

    /// The highest of those taken.
    pub(crate) fn end(self) -> Option<Highest> {
        self.highest.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Option<Highest>> {
        self.highest.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
