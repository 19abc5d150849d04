//! The selection of units, and the order in which they are processed.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use warpint_files::ErrorKind;

/// The time between two checks of a unit that another process is verifying.
const AGAIN_AFTER: Duration = Duration::from_millis(300);

/// The reason why a selection of units is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// The selection has units beyond the last unit of the range.
    #[error("unit {last} does not exist: the range has units 0 to {most}")]
    Units {
        /// The number of the last unit requested.
        last: u64,
        /// The number of the last unit of the range.
        most: u64,
    },
    /// The selection is empty.
    #[error(
        "the selection from unit {first} to unit {last} is empty: the last must not be smaller than the first"
    )]
    Empty {
        /// The number of the first unit requested.
        first: u64,
        /// The number of the last unit requested.
        last: u64,
    },
    /// The requested part of the units does not exist.
    #[error("part {index} of {parts} does not exist: parts are numbered from 0")]
    Shard {
        /// The number of the requested part, from 0.
        index: u64,
        /// The number of parts.
        parts: u64,
    },
}

impl SelectionError {
    /// Returns the kind of the error: always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// A selection of `count` consecutive units, of which the first has the number `first`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    first: u64,
    count: u64,
}

impl Selection {
    /// Selects all units of a range that has `units` units.
    #[must_use]
    pub fn all(units: u64) -> Self {
        Self { first: 0, count: units }
    }

    /// Selects the units `first` to `last`, both included, of a range that has `units` units.
    ///
    /// # Errors
    /// [`SelectionError`] if `first` > `last`, or `last` ≥ `units`.
    pub fn range(first: u64, last: u64, units: u64) -> Result<Self, SelectionError> {
        if first > last {
            return Err(SelectionError::Empty { first, last });
        }
        if last >= units {
            return Err(SelectionError::Units { last, most: units.saturating_sub(1) });
        }
        Ok(Self { first, count: last - first + 1 })
    }

    /// Divides a range that has `units` units into `parts` parts, and selects part `index`, counted
    /// from 0. A part consists of consecutive units. The sizes of two parts differ by at most one,
    /// and some parts are empty if there are fewer units than parts.
    ///
    /// If the units are residue classes, all parts take about the same time: most classes are
    /// excluded by a sieve as a whole, and the other classes are spread evenly over the parts.
    ///
    /// # Errors
    /// [`SelectionError`] if `index` ≥ `parts`.
    pub fn shard(index: u64, parts: u64, units: u64) -> Result<Self, SelectionError> {
        if index >= parts {
            return Err(SelectionError::Shard { index, parts });
        }
        let begin = |index: u64| (u128::from(units) * u128::from(index) / u128::from(parts)) as u64;
        Ok(Self { first: begin(index), count: begin(index + 1) - begin(index) })
    }

    /// Returns the number of selected units.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Returns whether a unit is selected.
    #[must_use]
    pub fn contains(&self, unit: u64) -> bool {
        (self.first..self.first + self.count).contains(&unit)
    }

    /// Returns the numbers of the selected units, ascending.
    pub fn units(self) -> impl Iterator<Item = u64> {
        self.first..self.first + self.count
    }
}

/// The selected units that are left to do.
pub(super) struct Queue {
    selection: Selection,
    /// The number of selected units that were given to workers. Units are given in ascending order.
    given: u64,
    /// The units that other processes have locked, each with the time at which to check again.
    later: VecDeque<(u64, Instant)>,
}

/// The next action of a worker.
pub(super) enum Next {
    /// Process the unit with this number.
    Unit(u64),
    /// Wait: only units that other processes have locked are left, and it is too early to check
    /// them again.
    Later,
    /// End: no unit is left.
    End,
}

impl Queue {
    pub(super) fn new(selection: Selection) -> Self {
        Self { selection, given: 0, later: VecDeque::new() }
    }

    pub(super) fn next(&mut self) -> Next {
        if self.given < self.selection.count {
            let unit = self.selection.first + self.given;
            self.given += 1;
            return Next::Unit(unit);
        }
        match self.later.front() {
            None => Next::End,
            Some((_, again)) if *again > Instant::now() => Next::Later,
            Some(_) => self.later.pop_front().map_or(Next::End, |(unit, _)| Next::Unit(unit)),
        }
    }

    pub(super) fn put_off(&mut self, unit: u64) {
        self.later.push_back((unit, Instant::now() + AGAIN_AFTER));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn selections_are_these_units() {
        let units = |selection: Selection| selection.units().collect::<Vec<_>>();
        assert_eq!(units(Selection::all(3)), [0, 1, 2]);
        assert_eq!(units(Selection::range(5, 7, 8).unwrap()), [5, 6, 7]);
        let some = Selection::shard(1, 3, 8).unwrap();
        assert_eq!(units(some), [2, 3, 4]);
        assert_eq!([1, 2, 4, 5].map(|unit| some.contains(unit)), [false, true, true, false]);
        assert_eq!(units(Selection::shard(2, 3, 8).unwrap()), [5, 6, 7]);
        assert_eq!(units(Selection::shard(0, 6, 3).unwrap()), [0; 0]);
        for (units, parts) in [(0, 1), (1, 1), (10, 3), (3, 10), (100, 7)] {
            let mut all: Vec<_> = (0..parts)
                .flat_map(|index| Selection::shard(index, parts, units).unwrap().units())
                .collect();
            all.sort_unstable();
            assert_eq!(all, (0..units).collect::<Vec<_>>());
        }
    }

    #[test]
    fn selections_of_nothing_are_refused() {
        assert!(Selection::range(3, 2, 8).is_err());
        assert!(Selection::range(3, 8, 8).is_err());
        assert!(Selection::shard(3, 3, 8).is_err());
        assert!(Selection::shard(0, 0, 8).is_err());
    }

    #[test]
    fn what_is_put_off_comes_again() {
        let mut queue = Queue::new(Selection::all(2));
        assert!(matches!(queue.next(), Next::Unit(0)));
        queue.put_off(0);
        assert!(matches!(queue.next(), Next::Unit(1)));
        assert!(matches!(queue.next(), Next::Later));
        std::thread::sleep(AGAIN_AFTER);
        assert!(matches!(queue.next(), Next::Unit(0)));
        assert!(matches!(queue.next(), Next::End));
    }
}
