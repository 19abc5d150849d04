//! Splits N words into rows and columns.

use super::odd::OddPass;

/// The number of columns that are processed together in a pass: enough that their digits fill half
/// a cache line, few enough that columns of 320 points fit the first-level cache.
const TILE: usize = 8;

/// The number of padding entries at the end of a group of rows, which avoids addresses that differ
/// by a power of two and compete for the same cache sets.
const PAD: usize = 16;

/// The division of N = R·C words into R rows and C columns: word r·C + c is in row r and column c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// R = 2^a, 3·2^a or 5·2^a, the length of a column.
    pub rows: usize,
    /// C, a power of two, the length of a row.
    pub columns: usize,
}

impl Shape {
    /// Returns the shape for N = 2^k, 3·2^k or 5·2^k words and lanes of width W; `None` if N is too
    /// small to fill the lanes.
    ///
    /// W adjacent columns, and W adjacent rows, are transformed side by side, so W must divide both R
    /// and C. The length of a row is as close to that of a column as possible, provided that both fit
    /// the first-level cache and as many points as possible are in blocks of 64, which need no
    /// multiplications.
    #[must_use]
    pub fn new(n: usize, width: usize) -> Option<Self> {
        let odd = OddPass::radix_of(n);
        let power = n / odd;
        if !power.is_power_of_two() {
            return None;
        }
        let k = power.trailing_zeros();
        let a = match k {
            0..6 => k / 2,
            6..12 => k.div_ceil(2).min(6),
            12..17 => 6,
            17..21 => k - 10,
            _ => k / 2,
        };
        let rows = odd << a;
        let columns = power >> a;
        let fits = rows.is_multiple_of(width) && columns.is_multiple_of(width);
        fits.then_some(Self { rows, columns })
    }

    /// Returns the number of columns that are processed together in a pass.
    #[must_use]
    #[inline]
    pub fn tile(&self) -> usize {
        TILE.min(self.columns)
    }

    /// Returns the distance in entries from one group of rows to the next in a spectrum.
    ///
    /// A *spectrum* for lanes of width W is a vector of R/W groups of [`Shape::pitch`] entries, more
    /// than C. Lane i of entry c in group g belongs to row position g·W + i and column c.
    #[must_use]
    #[inline]
    pub fn pitch(&self) -> usize {
        self.columns + PAD
    }
}
