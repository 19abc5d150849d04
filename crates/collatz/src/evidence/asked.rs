//! The challenges of the methods whose items are single numbers: the plain and the table method.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::{Evidence, Items, Plan, Share};
use crate::{CollatzError, Region, Verified};

/// The number of consecutive items whose contributions are reported as one sum. If one of the items
/// is challenged, the sum is recomputed.
pub(crate) const GROUP: u128 = 64;

/// The challenges of a region, and the answers so far.
#[derive(Debug)]
pub(crate) struct Asked {
    place: String,
    region: Region,
    items: Items,
    plan: Plan,
    answered: AtomicU64,
    /// The error for the first wrong answer, if there was one.
    failure: Mutex<Option<CollatzError>>,
}

impl Asked {
    /// Draws challenges from `seed`, about one per `every` items.
    pub(crate) fn new(place: String, region: Region, items: Items, seed: u64, every: u64) -> Self {
        let plan = Plan::new(seed, items.count(), every);
        let failure = Mutex::new(None);
        Self { place, region, items, plan, answered: AtomicU64::new(0), failure }
    }

    pub(crate) fn items(&self) -> &Items {
        &self.items
    }

    /// Returns the indices of the challenged items, ascending; an item may occur several times.
    pub(crate) fn indices(&self) -> Vec<u128> {
        let mut indices: Vec<u128> = self.plan.indices().collect();
        indices.sort_unstable();
        indices
    }

    /// Compares two sums over a group of items: `found` is the reported sum, and `expected` was
    /// recomputed by other code. Records an error if the sums differ. Counts the `challenges`
    /// challenges of the group as answered. `what` names the sum in the error.
    pub(crate) fn compare(&self, what: &str, challenges: usize, found: u64, expected: u64) {
        self.answered.fetch_add(challenges as u64, Ordering::Relaxed);
        if found != expected {
            self.fail(self.refuted(what, found, expected));
        }
    }

    fn fail(&self, error: CollatzError) {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.get_or_insert(error);
    }

    pub(crate) fn refuted(
        &self,
        what: &str,
        found: impl ToString,
        expected: impl ToString,
    ) -> CollatzError {
        CollatzError::refuted(&self.place, &self.region, what, found, expected)
    }

    /// Returns the evidence if all challenges were answered correctly and the count of numbers
    /// walked is right.
    ///
    /// # Errors
    /// The error of the first wrong answer, if there was one. Otherwise an error if the count of
    /// numbers walked is wrong or a challenge was not answered.
    pub(crate) fn end(self, verified: &Verified) -> Result<Evidence, CollatzError> {
        if let Some(error) = self.failure.lock().unwrap_or_else(PoisonError::into_inner).take() {
            return Err(error);
        }
        let Plan { seed, items, challenges } = self.plan;
        if u128::from(verified.walked) != items {
            return Err(self.refuted("the count of numbers walked", verified.walked, items));
        }
        let answered = self.answered.load(Ordering::Relaxed);
        if answered != challenges {
            return Err(self.refuted("the count of challenges answered", answered, challenges));
        }
        let mut found = Share::default();
        self.plan.indices().filter_map(|i| self.items.share(i)).for_each(|share| found.add(share));
        Ok(Evidence::new(seed, items, challenges, found))
    }
}

/// Splits a range of indices into groups, which contain challenges, and the ranges before, between
/// and after these groups, which contain none. Returns the groups and ranges in ascending order,
/// each with its number of challenges. A group begins at `range.start` plus a multiple of [`GROUP`]
/// and has [`GROUP`] indices, or fewer at the end of the range. `challenged` contains the
/// challenged indices of the range, ascending.
pub(crate) fn split(range: Range<u128>, challenged: &[u128]) -> Vec<(Range<u128>, usize)> {
    let (mut parts, mut at, mut rest) = (vec![], range.start, challenged);
    while let Some(&index) = rest.first() {
        let first = range.start + (index - range.start) / GROUP * GROUP;
        let end = range.end.min(first + GROUP);
        if at < first {
            parts.push((at..first, 0));
        }
        let count = rest.partition_point(|&index| index < end);
        parts.push((first..end, count));
        (at, rest) = (end, &rest[count..]);
    }
    if at < range.end {
        parts.push((at..range.end, 0));
    }
    parts
}

/// Returns the elements of `numbers` that lie in a range. `numbers` must be ascending.
pub(crate) fn within(numbers: &[u128], range: Range<u128>) -> &[u128] {
    let from = numbers.partition_point(|&n| n < range.start);
    let to = numbers.partition_point(|&n| n < range.end);
    &numbers[from..to.max(from)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_split_around_challenges() {
        assert_eq!(split(5..5, &[]), []);
        assert_eq!(split(5..300, &[]), [(5..300, 0)]);
        let parts = [(5..69, 1), (69..133, 0), (133..197, 3), (197..261, 0), (261..300, 1)];
        assert_eq!(split(5..300, &[5, 133, 133, 196, 299]), parts);
        assert_eq!(within(&[1, 3, 3, 7], 3..7), [3, 3]);
        assert_eq!(within(&[1, 3, 3, 7], 4..4), []);
    }
}
