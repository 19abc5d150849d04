//! Delays. The delay of n is the number of steps from n to 1, where n/2 and 3n + 1 count as one
//! step each.
//!
//! Method: Honda (2017), §4.3.2, Algorithm 6. Let T(n) = n/2 for even n and (3n + 1)/2 for odd n. A
//! table step performs d steps of T: with h = ⌊n/2^d⌋ and the low d bits l of n, it replaces n by
//! B\[l\]·h + C\[l\]. Here C\[l\] = T^d(l), and B\[l\] = 3^(J − d) if the d steps of T are J steps
//! n/2 and 3n + 1 in all. Once n is below 2^t, a table has the remaining delay.
//!
//! In addition, numbers with the same low k bits share the first k steps of T: T^k(low + a·2^k) =
//! T^k(low) + a·3^f, where f counts the odd steps. So one addition leads from T^k of one of these
//! numbers to T^k of the next. (Honda, §4.4.2, shares these steps by a broadcast.)
//!
//! **Lemma 1 (no step passes 1).** T(n) ≥ n/2, so T^i(n) ≥ n/2^i: for n ≥ 2^d none of the first d −
//! 1 results is 1. So the number of steps from n to 1 is the sum of two numbers: the steps n/2 and
//! 3n + 1 of the table step, and the steps from its result to 1. The lemma applies to all table
//! steps because t ≥ d and no table step starts below 2^t.
//!
//! **Lemma 2 (values in between).** T(n) + 1 ≤ (3/2)·(n + 1), since (3n + 1)/2 + 1 = (3/2)·(n + 1),
//! and n/2 + 1 is less for n ≥ 1. So T^i(n) + 1 ≤ (3/2)^i·(n + 1). All values on the path of n
//! within k steps of T, results of 3n + 1 included, are below 2·(3/2)^k·(n + 1): a result 3m + 1 is
//! 2·T(m), and n < 2·(n + 1).
//!
//! **Path records.** Let R be the record so far: the largest number known on any path. A number n
//! is *cold* if three conditions hold: 2·(3/2)^k·(n + 1) ≤ R, where k is the number of first steps
//! that n shares with other numbers;
//! 2·(3/2)^d·(v + 1) ≤ R for each value v ≥ 2^t at which a table step begins; and no path of a
//! number below 2^t rises above R. By lemma 2 the path of a cold number stays at or below R, so it
//! is no record. The other numbers are *candidates*; their maxima are computed exactly. Among the
//! numbers near 2^b, the share of candidates is at most about 2·(3/2)^d·2^b/R. R is about 4^b, so
//! the share is about 10^−10 for d = 12 and b = 40.

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

/// The bound of all ranges: delays are computed for the numbers n with 1 ≤ n < 2^96.
pub const END: u128 = 1 << 96;

/// A summary of the delays of a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Survey {
    /// The sum of all delays.
    pub sum: u128,
    /// The largest delay, with the smallest number that has it.
    pub longest: DelayRecord,
    /// All numbers whose paths may rise above the record given to [`Delays::survey`], ascending;
    /// none without a record.
    pub candidates: Vec<u128>,
}

impl Survey {
    /// Returns the summary of one number with a known delay, without candidates.
    #[must_use]
    pub fn one(n: u128, delay: u32) -> Self {
        Self { sum: delay.into(), longest: DelayRecord { n, delay }, candidates: vec![] }
    }

    /// Returns the summary of this range and `other` together. Candidates remain ascending if
    /// `other` follows this range.
    #[must_use]
    pub fn and(mut self, other: Self) -> Self {
        self.sum += other.sum;
        self.longest = self.longest.longer(other.longest);
        self.candidates.extend(other.candidates);
        self
    }
}

/// An engine that computes delays, on the CPU or on a device. A range contains at least one number,
/// and all its numbers are at least 1 and below [`END`].
pub trait Delays: Send {
    /// Returns the name of the CPU or device that computes: `cpu`, `cuda:0`.
    fn place(&self) -> String;

    /// Returns a suitable count of numbers for one call of [`Delays::survey`]. Such a call takes a
    /// fraction of a second.
    fn chunk(&self) -> u64;

    /// Summarises the delays of the numbers n with `from` ≤ n < `from` + `numbers`. `record` is the
    /// largest number known on any path. If it is given, the summary lists the candidates: all
    /// numbers whose paths may rise above `record`. Returns `None` if there are too many candidates
    /// for one call. In that case, call again with fewer numbers.
    ///
    /// # Errors
    /// The range is empty, begins with 0 or goes beyond [`END`]; the device fails, lacks memory or
    /// cannot compile a kernel; or a path does not reach 1 within some millions of steps.
    fn survey(
        &mut self,
        from: u128,
        numbers: u64,
        record: Option<&BigUint>,
    ) -> Result<Option<Survey>, CollatzError>;

    /// Sets `delays[i]` to the delay of `from` + i, for each i.
    ///
    /// # Errors
    /// The same errors as [`Delays::survey`].
    fn fill(&mut self, from: u128, delays: &mut [u32]) -> Result<(), CollatzError>;
}

/// Returns an error unless delays can be computed for all n with `from` ≤ n < `to`.
///
/// # Errors
/// The range begins with 0, is empty, or goes beyond [`END`].
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

/// Returns the path of a number; its values may have any size.
///
/// # Errors
/// The path does not reach 1 within some millions of steps.
pub(crate) fn exact(n: u128) -> Result<Path, CollatzError> {
    /// A watch that stops the computation after 1,000 polls. There are at most 4,096 steps of T
    /// between two polls.
    struct Patience(std::sync::atomic::AtomicU32);
    impl Watch for Patience {
        fn is_stopped(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 1000
        }
        fn done(&self, _numbers: u128) {}
    }
    path(&n.into(), &Patience(0.into())).ok_or(CollatzError::NoEnd { n })
}

/// Returns the delay of a number; values on its path may have any size.
///
/// # Errors
/// The path does not reach 1 within some millions of steps.
pub(crate) fn exact_delay(n: u128) -> Result<u32, CollatzError> {
    u32::try_from(exact(n)?.delay()).map_err(|_| CollatzError::NoEnd { n })
}
