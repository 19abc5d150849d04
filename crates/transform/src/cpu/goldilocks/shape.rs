//! The division of the N points of a transform into R rows and C columns.

use super::odd::OddPass;

/// The number of columns that are processed together in a pass. With 8 columns, the adjacent digits
/// of a row, of at most 32 bits each, fill at most half a cache line, and columns of 320 points fit
/// in the first-level cache.
const TILE: usize = 8;

/// The number of unused entries at the end of a group of rows in a spectrum. Without them,
/// addresses in different groups would differ by a power of two and compete for the same cache
/// sets.
const PAD: usize = 16;

/// The division of N = R·C points into R rows and C columns: point r·C + c is in row r, column c.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// The number R of rows, which is the length of a column: 2^a, 3·2^a or 5·2^a.
    pub rows: usize,
    /// The number C of columns, which is the length of a row: a power of two.
    pub columns: usize,
}

impl Shape {
    /// Returns the shape for N = `n` points and W = `width` lanes, where N = 2^k, 3·2^k or 5·2^k.
    /// Returns `None` for any other n, or if n is too small to fill the lanes.
    ///
    /// W adjacent columns, and W adjacent rows, are transformed side by side, so W divides both R
    /// and C. Rows and columns fit in the first-level cache where possible. Lengths that use blocks
    /// of 64 points are preferred, because a transform of such a block needs no multiplications.
    /// Apart from this, the length of a row is close to that of a column.
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
    /// A *spectrum* consists of R/W groups of [`Shape::pitch`] entries, where W is the number of
    /// lanes of an entry. The pitch is greater than C. Lane i of entry c in group g is the element
    /// of column c at position g·W + i of this column. The last entries of a group, whose indices
    /// are C or more, are not used.
    #[must_use]
    #[inline]
    pub fn pitch(&self) -> usize {
        self.columns + PAD
    }
}
