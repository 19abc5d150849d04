//! Transforms of n = R·C points that exceed the caches. The points are a matrix of R rows of C
//! points. The first log2(R) levels operate on its columns. A *tile* of adjacent columns is copied
//! to a buffer, so all these levels together read the matrix from memory once. Then each row is
//! transformed, as the block of a node of its own.

use warpint_arith::f50::F50;
use warpint_arith::simd::{F64s, Kernel, run};

use super::super::goldilocks::{Pool, Shared};
use super::bound::Bound;
use super::multiply::{AllOf, Passes, ROW_LOG2, Second};
use super::roots::Roots;

/// The largest number of columns of a tile: eight cache lines of each row. Fewer lines per row are
/// slower, because lines at distances of a power of two evict each other.
const MOST_COLUMNS: usize = 64;
/// The smallest number of columns of a tile: two cache lines of each row.
const FEWEST_COLUMNS: usize = 16;
/// The number of points of a tile, if the number of columns permits it: 512 KiB.
const TILE: usize = 1 << 16;

/// A transform of R·C points at a node of the tree.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    field: F50,
    roots: Roots<'a>,
    node: usize,
    rows: usize,
    columns: usize,
    /// The number of columns of a tile.
    width: usize,
}

/// The computation on a range of tiles or of rows.
enum Work<'a> {
    /// The first levels of the transform, on tiles. Inputs are up to the bound.
    Forward(Bound),
    /// On rows: the other levels. Inputs are up to the bound.
    ForwardRows(Bound),
    /// On rows: the other levels, the product with the second factor or the square, and the first
    /// levels of the inverse transform. Inputs are up to the bound.
    Rows(&'a AllOf<'a>, Bound),
    /// The last levels of the inverse transform, on tiles.
    Inverse,
}

struct Task<'a> {
    tiles: &'a Tiles<'a>,
    data: &'a Shared<'a, f64>,
    range: std::ops::Range<usize>,
    work: Work<'a>,
}

impl<'a> Tiles<'a> {
    /// Describes a transform of n points, a power of two. A row has max(2^12, 2^(⌈log2(n)/2⌉ + 1))
    /// points.
    pub(super) fn new(field: F50, roots: Roots<'a>, n: usize, node: usize) -> Self {
        let columns = 1 << ROW_LOG2.max(n.ilog2().div_ceil(2) + 1);
        let rows = n / columns;
        let width = (TILE / rows).clamp(FEWEST_COLUMNS, MOST_COLUMNS);
        Self { field, roots, node, rows, columns, width }
    }

    /// Computes a ← n·a·b mod (x^n − w²), where w is the factor of the node. Inputs are up to
    /// `bound`.
    pub(super) fn multiply(&self, pool: &Pool, a: &mut [f64], b: Second<'_>, bound: Bound) {
        let (a, b) = (Shared::new(a), AllOf::new(b));
        let mut after = self.first_levels(pool, &a, bound);
        if let AllOf::Polynomial(b) = &b {
            after = after.max(self.first_levels(pool, b, bound));
        }
        let rows = |range| run(Task { tiles: self, data: &a, range, work: Work::Rows(&b, after) });
        pool.each_range(self.rows, rows);
        pool.each_range(self.tiles(), |range| {
            run(Task { tiles: self, data: &a, range, work: Work::Inverse })
        });
    }

    /// Transforms a factor as [`Self::multiply`] does.
    pub(super) fn forward(&self, pool: &Pool, data: &mut [f64], bound: Bound) {
        let data = Shared::new(data);
        let after = self.first_levels(pool, &data, bound);
        pool.each_range(self.rows, |range| {
            run(Task { tiles: self, data: &data, range, work: Work::ForwardRows(after) })
        });
    }

    /// Computes the first levels of a transform. Returns a bound of the results.
    fn first_levels(&self, pool: &Pool, data: &Shared<'_, f64>, bound: Bound) -> Bound {
        let bounds = pool.each_range(self.tiles(), |range| {
            run(Task { tiles: self, data, range, work: Work::Forward(bound) })
        });
        bounds.into_iter().fold(bound, Bound::max)
    }

    /// Returns the number of tiles.
    fn tiles(&self) -> usize {
        self.columns / self.width
    }

    /// Returns the part of a row that belongs to a tile.
    ///
    /// # Safety
    /// No other thread may use the columns of the tile, and no other result of this method for the
    /// same tile and row may be in use.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "disjointness is the caller's promise")]
    unsafe fn part<'b>(&self, data: &'b Shared<'_, f64>, tile: usize, row: usize) -> &'b mut [f64] {
        // SAFETY: the caller guarantees that nothing else uses these columns. Parts of different
        // rows do not overlap.
        unsafe { data.piece(row * self.columns + tile * self.width, self.width) }
    }
}

impl Kernel for Task<'_> {
    /// A bound of the results of [`Work::Forward`].
    type Output = Bound;

    #[inline(always)]
    fn run<V: F64s>(self, instructions: V::Instructions) -> Bound {
        let Self { tiles, data, range, work } = self;
        let passes = Passes::<V>::new(instructions, tiles.field, tiles.roots);
        let mut after = Bound(0.0);
        match work {
            Work::Forward(_) | Work::Inverse => {
                let width = tiles.width;
                let mut copy = vec![0.0; tiles.rows * width];
                for tile in range {
                    for (j, copy) in copy.chunks_exact_mut(width).enumerate() {
                        // SAFETY: the tasks that run at the same time have disjoint ranges of
                        // tiles. The result is used in this statement only.
                        copy.copy_from_slice(unsafe { tiles.part(data, tile, j) });
                    }
                    if let Work::Forward(bound) = work {
                        after = passes.forward.levels(&mut copy, width, tiles.node, bound);
                    } else {
                        passes.inverse.levels(&mut copy, width, tiles.node, true);
                    }
                    for (j, copy) in copy.chunks_exact(width).enumerate() {
                        // SAFETY: as for the copy from `data` to `copy`.
                        unsafe { tiles.part(data, tile, j) }.copy_from_slice(copy);
                    }
                }
            }
            Work::ForwardRows(bound) => {
                for j in range {
                    // SAFETY: the tasks that run at the same time have disjoint ranges of rows, and
                    // rows do not overlap.
                    let row = unsafe { data.piece(j * tiles.columns, tiles.columns) };
                    passes.forward.whole(row, tiles.node * tiles.rows + j, bound);
                }
            }
            Work::Rows(b, bound) => {
                for j in range {
                    let (at, len) = (j * tiles.columns, tiles.columns);
                    // SAFETY: the tasks that run at the same time have disjoint ranges of rows, and
                    // rows do not overlap. a and b are different arrays.
                    let (a, b) = unsafe { (data.piece(at, len), b.piece(at, len)) };
                    passes.row(a, b, tiles.node * tiles.rows + j, bound, false);
                }
            }
        }
        after
    }
}
