//! Which units, and which of them is next.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use warpint_files::ErrorKind;

/// Between two looks at a unit that another process does.
const AGAIN_AFTER: Duration = Duration::from_millis(300);

/// Why there is no such selection.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SelectionError {
    /// Beyond the units.
    #[error("there is no unit {last}: the range has units 0 to {most}")]
    Units {
        /// Asked for.
        last: u64,
        /// The last that there is.
        most: u64,
    },
    /// Nothing to do.
    #[error("units {first} to {last} are none: the second must not be the smaller")]
    Empty {
        /// The first.
        first: u64,
        /// The last.
        last: u64,
    },
    /// A part that is none.
    #[error(
        "there is no part {index} of {parts}: parts are counted from 0 to one less than their number"
    )]
    Shard {
        /// Asked for.
        index: u64,
        /// How many there are.
        parts: u64,
    },
}

impl SelectionError {
    /// What kind of error it is: always bad input.
    #[must_use]
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

/// Units first, first + 1, …: `count` of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Selection {
    first: u64,
    count: u64,
}

impl Selection {
    /// All of `units`.
    #[must_use]
    pub fn all(units: u64) -> Self {
        Self { first: 0, count: units }
    }

    /// Units first … last of `units`.
    ///
    /// # Errors
    /// first > last, or last ≥ units.
    pub fn range(first: u64, last: u64, units: u64) -> Result<Self, SelectionError> {
        if first > last {
            return Err(SelectionError::Empty { first, last });
        }
        if last >= units {
            return Err(SelectionError::Units { last, most: units.saturating_sub(1) });
        }
        Ok(Self { first, count: last - first + 1 })
    }

    /// Part `index`, from 0, of `parts`: units in a row, as many in each part as in others or one more or less; none
    /// in some parts if there are fewer units than parts.
    ///
    /// Residue classes in a row differ in their low bits, by which a sieve kills most at once, so parts take about as
    /// long as each other.
    ///
    /// # Errors
    /// index ≥ parts.
    pub fn shard(index: u64, parts: u64, units: u64) -> Result<Self, SelectionError> {
        if index >= parts {
            return Err(SelectionError::Shard { index, parts });
        }
        let begin = |index: u64| (u128::from(units) * u128::from(index) / u128::from(parts)) as u64;
        Ok(Self { first: begin(index), count: begin(index + 1) - begin(index) })
    }

    /// How many units.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether it is one of them.
    #[must_use]
    pub fn contains(&self, unit: u64) -> bool {
        (self.first..self.first + self.count).contains(&unit)
    }

    /// The units, ascending.
    pub fn units(self) -> impl Iterator<Item = u64> {
        self.first..self.first + self.count
    }
}

/// What is left to do.
pub(super) struct Queue {
    selection: Selection,
    given: u64,
    /// Those that other processes have had, and when to look again.
    later: VecDeque<(u64, Instant)>,
}

/// What is next.
pub(super) enum Next {
    Unit(u64),
    /// Units of other processes, not to be looked at yet.
    Later,
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
