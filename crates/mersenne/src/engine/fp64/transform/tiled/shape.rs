//! The shape of a transform: how its points are divided into rows and columns, and where they lie
//! in memory.

use super::stages::radices;

/// The number of columns of a block. In memory a row of a block is [`WIDTH`] real parts and then
/// [`WIDTH`] imaginary parts.
pub(super) const WIDTH: usize = 8;

/// The number of `f64` in a row of a block: two cache lines.
pub(super) const ROW: usize = 2 * WIDTH;

/// The longest transform that is done in one piece.
pub(super) const LONGEST_PIECE: usize = 256;

/// A division of n = R·C points into R = R1·R2 rows and C = C1·C2 columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// R1 and R2. R1 is a multiple of 8.
    pub(crate) rows: [usize; 2],
    /// C1 and C2. C2 is a multiple of 8.
    pub(crate) columns: [usize; 2],
}

impl Shape {
    /// Returns at most `most` shapes for n points, those that are estimated to be fastest first.
    /// There is no shape if n is not a multiple of 64, or has prime factors above 7, or has less
    /// than 256 points or too many.
    pub(crate) fn ranked(n: usize, most: usize) -> Vec<Self> {
        let pieces: Vec<(usize, f64)> = (2..=LONGEST_PIECE)
            .filter(|&m| n.is_multiple_of(m))
            .filter_map(|m| Some((m, radices(m)?.1)))
            .collect();
        let mut shapes: Vec<(f64, Self)> = vec![];
        for &(r1, cost_r1) in pieces.iter().rev().filter(|p| p.0.is_multiple_of(WIDTH)) {
            for &(r2, cost_r2) in pieces.iter().filter(|p| n.is_multiple_of(r1 * p.0)) {
                for &(c2, cost_c2) in pieces.iter().filter(|p| p.0.is_multiple_of(WIDTH)) {
                    let c1 = n / (r1 * r2) / c2;
                    let Some(&(_, cost_c1)) = pieces.iter().find(|p| p.0 == c1) else { continue };
                    if r1 * r2 * c1 * c2 != n {
                        continue;
                    }
                    let shape = Self { rows: [r1, r2], columns: [c1, c2] };
                    let cost = cost_r1 + cost_r2 + cost_c1 + cost_c2 + shape.overhead();
                    shapes.push((cost, shape));
                }
            }
        }
        shapes.sort_by(|(a, _), (b, _)| a.total_cmp(b));
        shapes.into_iter().take(most).map(|(_, shape)| shape).collect()
    }

    /// Returns an estimate of the time lost outside of the FFTs, in the unit of [`radices`]:
    /// because pieces are short, because groups of blocks are few, and because working memory
    /// exceeds the caches.
    fn overhead(&self) -> f64 {
        let over = |bytes: usize, cache: usize| (bytes as f64 / cache as f64 - 1.0).max(0.0);
        let ([r1, r2], [c1, c2]) = (self.rows, self.columns);
        let (rows, columns) = (r1 * r2, c1 * c2);
        let each = |cost: f64, count: usize| cost / count as f64;
        let pieces = each(16.0, r1) + each(4.0, r2) + each(2.0, c1) + each(4.0, c2);
        // A block of columns with its carries and weights, and a group of rows with the lines of
        // memory from which it comes.
        let l2 = over(200 * rows, 450 << 10) + over(256 * columns, 450 << 10);
        // A piece of a group of rows, and of a block.
        let l1 =
            over(512 * c1, 8 << 10) + over(192 * c2, 20 << 10) + over(128 * r1.max(r2), 9 << 10);
        pieces + each(24.0, self.blocks()) + 8.0 * l2 + l1
    }

    pub(super) fn row_count(&self) -> usize {
        self.rows[0] * self.rows[1]
    }

    pub(super) fn column_count(&self) -> usize {
        self.columns[0] * self.columns[1]
    }

    /// Returns the first words of the rows, in the order of r' + R1·r for row r + R2·r'.
    pub(super) fn firsts(self) -> impl Iterator<Item = usize> {
        let ([r1, r2], width) = (self.rows, 2 * self.column_count());
        (0..self.row_count()).map(move |at| (at / r1 + r2 * (at % r1)) * width)
    }

    /// Returns the number of blocks of columns.
    pub(super) fn blocks(&self) -> usize {
        self.column_count() / WIDTH
    }

    /// Returns the number of places for rows in a block from position (p, 0) to (p + 1, 0), where
    /// (p, q) with p < R1 and q < R2 is the position of a row. It is odd, so that the places of
    /// (0, q), (1, q), … are on different cache sets.
    pub(super) fn pitch(&self) -> usize {
        self.rows[1] | 1
    }

    /// Returns the number of `f64` from one block to the next.
    pub(super) fn stride(&self) -> usize {
        ((self.rows[0] * self.pitch()) | 1) * ROW
    }

    /// Returns the index in a block of the first `f64` of the row with index p·R2 + q.
    pub(super) fn place(&self, row: usize) -> usize {
        (row / self.rows[1] * self.pitch() + row % self.rows[1]) * ROW
    }

    /// Returns the number of elements of a row in working memory from element p·C2 to (p + 1)·C2.
    /// It is an odd multiple of 8, to spread the elements over the cache sets.
    pub(super) fn row_pitch(&self) -> usize {
        ((self.columns[1] / WIDTH) | 1) * WIDTH
    }
}
