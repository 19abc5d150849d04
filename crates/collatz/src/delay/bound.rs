//! Bounds below which the paths of numbers provably do not rise above a record.

use num_bigint::BigUint;

use super::{DelayTable, StepTable};

/// The bounds that define *cold* numbers. A number is cold if these bounds prove, by lemma 2 of the
/// module [`delay`](super), that its path does not rise above the record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Bound {
    /// Every table step of a cold number (see [`Bound`]) begins at a value below this limit.
    pub(crate) limit: u128,
    /// The largest number of first steps that cold numbers with the same low bits may share. `None`
    /// if no number is cold. In that case the record is too low even for 0 common steps, or the
    /// path of a number in the delay table rises above the record.
    pub(crate) common: Option<u32>,
}

/// The upper limit of the number of common first steps. For k common steps, 3^k must be below 2^32.
pub(crate) const MOST_COMMON: u32 = 20;

impl Bound {
    /// Computes the bounds for a record and the numbers up to `last`. Without a record all numbers
    /// are cold.
    pub(crate) fn new(
        record: Option<&BigUint>,
        last: u128,
        steps: &StepTable,
        small: &DelayTable,
    ) -> Self {
        let Some(record) = record else {
            return Self { limit: u128::MAX, common: Some(MOST_COMMON) };
        };
        let three = |k| BigUint::from(3u32).pow(k);
        let bits = steps.bits();
        // 2·(3/2)^d·limit ≤ R, and v < limit is v + 1 ≤ limit.
        let limit = (record << bits) / (three(bits) << 1);
        let limit = u128::try_from(limit).unwrap_or(u128::MAX);
        let after = BigUint::from(last) + 1u32;
        let fits = |k: &u32| (&after * three(*k)) << 1 <= record << *k;
        let tail = BigUint::from(small.highest()) << 1 <= *record;
        Self { limit, common: (0..=MOST_COMMON).rev().find(fits).filter(|_| tail) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bounds_are_tight_and_safe() {
        let (steps, small) = (StepTable::new(2), DelayTable::new(2));
        let of = |record: u32, last| Bound::new(Some(&record.into()), last, &steps, &small);
        // 2·(9/4)·limit ≤ R.
        assert_eq!(of(45, 1).limit, 10);
        assert_eq!(of(44, 1).limit, 9);
        // 2·(3/2)^k·(last + 1) ≤ R.
        assert_eq!(of(45, 9).common, Some(2));
        assert_eq!(of(44, 9).common, Some(1));
        assert_eq!(of(19, 9).common, None);
        // 3 → 10: its T-step reaches 5, and 8 is the highest of 3, 5, 8, 4, 2, 1.
        assert_eq!(small.highest(), 8);
        assert_eq!((of(15, 0).common, of(16, 0).common.is_some()), (None, true));
        let all = Bound::new(None, u128::MAX, &steps, &small);
        assert_eq!(all, Bound { limit: u128::MAX, common: Some(20) });
    }
}
