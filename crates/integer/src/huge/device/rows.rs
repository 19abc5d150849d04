//! Rows of numbers in the memory of a device, and which rows a product takes.

use std::ops::Range;

use warpint_device::{Cells, View};

/// Numbers of equal lengths in the memory of a device. Row i is the words i·stride to i·stride + words
/// − 1, the lowest word first.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    pub(super) view: View<'a, u64>,
    pub(super) words: usize,
    pub(super) stride: usize,
    pub(super) count: usize,
}

/// Places for numbers of equal lengths in the memory of a device, arranged like [`Rows`].
#[derive(Debug, Clone, Copy)]
pub struct RowCells<'a> {
    pub(super) cells: Cells<'a, u64>,
    pub(super) words: usize,
    pub(super) stride: usize,
    pub(super) count: usize,
}

/// Panics unless `count` rows are in `len` words.
fn assert_rows(len: usize, count: usize, words: usize, stride: usize) {
    assert!(count > 0 && words > 0 && (stride >= words || count == 1), "rows without words");
    let needed = (count - 1).checked_mul(stride).and_then(|before| before.checked_add(words));
    assert!(
        needed.is_some_and(|needed| needed <= len),
        "{count} rows of {words} words, {stride} words apart, in {len} words"
    );
}

impl<'a> Rows<'a> {
    /// Returns `count` rows of `words` words, whose first words are `stride` words apart. `view` begins
    /// with the first one.
    ///
    /// # Panics
    /// If there are no rows, they have no words, they overlap, or they exceed the view.
    #[must_use]
    pub fn new(view: View<'a, u64>, count: usize, words: usize, stride: usize) -> Self {
        assert_rows(view.len(), count, words, stride);
        Self { view, words, stride, count }
    }

    /// Returns a single number.
    ///
    /// # Panics
    /// If it has no words.
    #[must_use]
    pub fn one(view: View<'a, u64>) -> Self {
        Self::new(view, 1, view.len(), view.len())
    }

    /// Returns whether these are the same rows.
    pub(super) fn is_same(&self, other: &Self) -> bool {
        let of = |rows: &Self| (rows.view.address(), rows.words, rows.stride, rows.count);
        of(self) == of(other)
    }
}

impl<'a> RowCells<'a> {
    /// Returns the places of `count` rows of `words` words, whose first words are `stride` words apart.
    /// `cells` begins with the first one. Words between rows are not written.
    ///
    /// # Panics
    /// As for [`Rows::new`].
    #[must_use]
    pub fn new(cells: Cells<'a, u64>, count: usize, words: usize, stride: usize) -> Self {
        assert_rows(cells.len(), count, words, stride);
        Self { cells, words, stride, count }
    }

    /// Returns the place of a single number.
    ///
    /// # Panics
    /// If it has no words.
    #[must_use]
    pub fn one(cells: Cells<'a, u64>) -> Self {
        Self::new(cells, 1, cells.len(), cells.len())
    }

    /// Returns the rows for reading.
    #[must_use]
    pub fn rows(self) -> Rows<'a> {
        let Self { cells, words, stride, count } = self;
        Rows { view: cells.view(), words, stride, count }
    }
}

/// Which row of a factor belongs to row i of the result: row (⌊i/2^shift⌋·times) xor flip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Map {
    shift: u8,
    times: u8,
    flip: bool,
}

impl Map {
    /// Row i.
    pub const EACH: Self = Self { shift: 0, times: 1, flip: false };
    /// Row 0: one row for the whole batch.
    pub const SHARED: Self = Self { shift: 0, times: 0, flip: false };
    /// Row 2·i.
    pub const EVEN: Self = Self { shift: 0, times: 2, flip: false };
    /// Row 2·i + 1.
    pub const ODD: Self = Self { shift: 0, times: 2, flip: true };
    /// Row i xor 1: the other row of a pair.
    pub const SWAPPED: Self = Self { shift: 0, times: 1, flip: true };
    /// Row ⌊i/2⌋: a row for each pair.
    pub const PARENT: Self = Self { shift: 1, times: 1, flip: false };

    /// Returns the row that belongs to row i.
    #[must_use]
    pub fn row(self, i: usize) -> usize {
        ((i >> self.shift) * usize::from(self.times)) ^ usize::from(self.flip)
    }

    /// Returns whether rows of the result that follow each other have rows of factors that are equally
    /// far apart by both maps.
    pub(super) fn has_step_of(self, other: Self) -> bool {
        (self.shift, self.times) == (other.shift, other.times)
    }

    /// Returns a range that contains the rows of all i of a range that is not empty.
    pub(super) fn rows(self, of: &Range<usize>) -> Range<usize> {
        let [first, last] =
            [of.start, of.end - 1].map(|i| (i >> self.shift) * usize::from(self.times));
        if self.flip { first & !1..(last | 1) + 1 } else { first..last + 1 }
    }

    /// Returns the map as the kernel of products takes it.
    pub(super) fn code(self) -> u32 {
        u32::from(self.shift) | u32::from(self.times) << 8 | u32::from(self.flip) << 16
    }

    /// Returns the number whose multiples are the rows at which a batch can be cut.
    pub(super) fn cut(self) -> usize {
        (1 << self.shift).max(1 + usize::from(self.flip))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn maps_are_as_described() {
        let rows = |map: Map| (0..4).map(|i| map.row(i)).collect::<Vec<_>>();
        assert_eq!(rows(Map::EACH), [0, 1, 2, 3]);
        assert_eq!(rows(Map::SHARED), [0; 4]);
        assert_eq!(rows(Map::EVEN), [0, 2, 4, 6]);
        assert_eq!(rows(Map::ODD), [1, 3, 5, 7]);
        assert_eq!(rows(Map::SWAPPED), [1, 0, 3, 2]);
        assert_eq!(rows(Map::PARENT), [0, 0, 1, 1]);
        for map in [Map::EACH, Map::SHARED, Map::EVEN, Map::ODD, Map::SWAPPED, Map::PARENT] {
            for begin in 0..5 {
                for end in begin + 1..8 {
                    let within = map.rows(&(begin..end));
                    assert!((begin..end).all(|i| within.contains(&map.row(i))), "{map:?}");
                }
            }
        }
    }
}
