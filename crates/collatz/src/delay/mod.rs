//! Delays: how many steps n/2 and 3n + 1, each counted, lead from n to 1.
//!
//! Honda (2017), §4.3.2, Algorithm 6: `n ← B[n_low]·n_high + C[n_low]` for the low d bits does d steps of T, J in
//! all; from a number below 2^t on a table A says the rest. Here B = 3^(J − d). Over that, numbers with the same
//! low k bits have the same first k steps of T: T^k(low + a·2^k) = T^k(low) + a·3^f, one addition from one number
//! to the next (§4.4.2 shares the same steps by a broadcast).
//!
//! **Lemma 1 (no step passes 1).** T(n) ≥ n/2, so T^i(n) ≥ n/2^i: for n ≥ 2^d none of the first d − 1 results is 1.
//! So the steps until 1 are those of a table step and those of its result; t ≥ d, as no step is made below 2^t.
//!
//! **Lemma 2 (what lies between).** T(n) + 1 ≤ (3/2)·(n + 1), since (3n + 1)/2 + 1 = (3/2)·(n + 1) and n/2 + 1 is
//! less for n ≥ 1. So T^i(n) + 1 ≤ (3/2)^i·(n + 1), and all that n meets in k steps of T, results of 3n + 1
//! included, is below 2·(3/2)^k·(n + 1): a result 3m + 1 is 2·T(m), and n < 2·(n + 1).
//!
//! **Path records.** Let R be the record so far. A number is *cold* if
//! 2·(3/2)^k·(n + 1) ≤ R for its common k steps; each number v ≥ 2^t where a table step begins has
//! 2·(3/2)^d·(v + 1) ≤ R; and no number below 2^t rises above R. By lemma 2 its path stays at or below R, so
//! it is no record. The others are *candidates*, and have their maxima computed exactly. For n near 2^b some
//! 2·(3/2)^d·2^b/√R of them are expected, R being about 4^b: a few in billions.

mod bound;
mod groups;
mod host;
mod rate;
mod records;
mod tables;
#[cfg(test)]
pub(crate) mod tests;

use num_bigint::BigUint;

pub use host::Host;
pub use rate::{Rate, rate};
pub use records::{DelayRecord, Found, PathRecord, Records, Standing, search};
pub use tables::{DelayTable, StepTable, plain_delay};

pub(crate) use bound::{Bound, MOST_COMMON};
pub(crate) use groups::Groups;
pub(crate) use tables::POWERS;

use crate::path::{Path, path};
use crate::{CollatzError, Watch};

/// Delays are computed of numbers from 1 to below this.
pub const END: u128 = 1 << 96;

/// The delays of a range in a few numbers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The sum of all delays.
    pub sum: u128,
    /// The largest delay, and the smallest number that has it.
    pub longest: DelayRecord,
    /// All numbers that are not known to stay at or below the record, ascending.
    pub candidates: Vec<u128>,
}

impl Survey {
    /// That of one number.
    #[must_use]
    pub fn one(n: u128, delay: u32) -> Self {
        Self { sum: delay.into(), longest: DelayRecord { n, delay }, candidates: vec![] }
    }

    /// That of both of two ranges.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sum += other.sum;
        self.longest = self.longest.longer(other.longest);
        self.candidates.extend(other.candidates);
        self
    }
}

/// What computes delays at some place. Ranges are of at least one number, from 1 up and below [`END`].
pub trait Delays: Send {
    /// The place: `cpu`, `cuda:0`.
    fn place(&self) -> String;

    /// So many numbers at once suit it: a fraction of a second's work.
    fn chunk(&self) -> u64;

    /// The delays of `from` ≤ n < `from` + `numbers`, summed up; with a record, also the candidates for exceeding
    /// it. Nothing if those are too many: ask for fewer numbers at once.
    ///
    /// # Errors
    /// The range is none, the device fails, or a path does not end.
    fn survey(
        &mut self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Option<Survey>, CollatzError>;

    /// `delays[i]` ← the delay of `from` + i.
    ///
    /// # Errors
    /// As [`Delays::survey`].
    fn fill(&mut self, from: u128, delays: &mut [u32]) -> Result<(), CollatzError>;
}

/// Whether a range can be worked on.
///
/// # Errors
/// It begins with 0, has no numbers, or goes beyond [`END`].
pub fn check_range(from: u128, to: u128) -> Result<(), CollatzError> {
    if from == 0 {
        Err(CollatzError::DelayOfZero)
    } else if from >= to {
        Err(CollatzError::Empty { from, to })
    } else if to > END {
        Err(CollatzError::DelayTooLarge { to })
    } else {
        Ok(())
    }
}

fn check_numbers(from: u128, numbers: u64) -> Result<(), CollatzError> {
    check_range(from, from.saturating_add(numbers.into()))
}

/// The path of a number, whatever size it grows to.
///
/// # Errors
/// It does not end within some millions of steps.
pub(crate) fn exact(n: u128) -> Result<Path, CollatzError> {
    /// Answers so often that the work shall go on, once some thousand steps.
    struct Patience(std::sync::atomic::AtomicU32);
    impl Watch for Patience {
        fn is_stopped(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 1000
        }
        fn done(&self, _numbers: u128) {}
    }
    path(&n.into(), &Patience(0.into())).ok_or(CollatzError::NoEnd { n })
}

/// The delay of a number, whatever size it grows to.
pub(crate) fn exact_delay(n: u128) -> Result<u32, CollatzError> {
    u32::try_from(exact(n)?.delay()).map_err(|_| CollatzError::NoEnd { n })
}
