//! Transforms of n = R·C points that exceed the caches. The first log2(R) levels operate on the
//! columns of a matrix of R rows of C points. Tiles of adjacent columns are copied to a buffer, so
//! that all these levels read the matrix from memory once. Then each row is transformed at a node
//! of its own.

use warpint_arith::f50::F50;
use warpint_arith::simd::{F64s, Kernel, run};

use super::super::goldilocks::{Pool, Shared};
use super::bound::Bound;
use super::multiply::{Passes, ROW_LOG2};
use super::roots::Roots;

/// The number of columns of a tile: two cache lines of each row.
const WIDTH: usize = 16;

/// A transform of R·C points at a node of the tree.
#[derive(Clone, Copy)]
pub(super) struct Tiles<'a> {
    field: F50,
    roots: Roots<'a>,
    node: usize,
    rows: usize,
    columns: usize,
}

/// What is done with a range of tiles or of rows.
enum Work<'a> {
    Forward(Bound),
    Rows(Option<&'a Shared<'a, f64>>, Bound),
    Inverse,
}

struct Task<'a> {
    tiles: &'a Tiles<'a>,
    data: &'a Shared<'a, f64>,
    range: std::ops::Range<usize>,
    work: Work<'a>,
}

impl<'a> Tiles<'a> {
    /// Describes a transform of n points. The length of a row is the square root of n or longer, up
    /// to a factor of 4, and at least 2^12.
    pub(super) fn new(field: F50, roots: Roots<'a>, n: usize, node: usize) -> Self {
        let columns = 1 << ROW_LOG2.max(n.ilog2().div_ceil(2) + 1);
        Self { field, roots, node, rows: n / columns, columns }
    }

    /// Multiplies modulo x^n − w², where w is the factor of the node. Inputs are up to `bound`.
    pub(super) fn multiply(&self, pool: &Pool, a: &mut [f64], b: Option<&mut [f64]>, bound: Bound) {
        let (a, b) = (Shared::new(a), b.map(Shared::new));
        let tiles = self.columns / WIDTH;
        let mut after = bound;
        for data in [Some(&a), b.as_ref()].into_iter().flatten() {
            let bounds = pool.each_range(tiles, |range| {
                run(Task { tiles: self, data, range, work: Work::Forward(bound) })
            });
            after = bounds.into_iter().fold(after, Bound::max);
        }
        let rows =
            |range| run(Task { tiles: self, data: &a, range, work: Work::Rows(b.as_ref(), after) });
        pool.each_range(self.rows, rows);
        pool.each_range(tiles, |range| {
            run(Task { tiles: self, data: &a, range, work: Work::Inverse })
        });
    }

    /// Returns the part of a row that belongs to a tile.
    ///
    /// # Safety
    /// No other thread may use the columns of the tile.
    #[inline(always)]
    #[expect(clippy::mut_from_ref, reason = "disjointness is the caller's promise")]
    unsafe fn part<'b>(&self, data: &'b Shared<'_, f64>, tile: usize, row: usize) -> &'b mut [f64] {
        // SAFETY: the caller's promise; rows do not overlap.
        unsafe { data.piece(row * self.columns + tile * WIDTH, WIDTH) }
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
                let mut copy = vec![0.0; tiles.rows * WIDTH];
                for tile in range {
                    for (j, copy) in copy.chunks_exact_mut(WIDTH).enumerate() {
                        // SAFETY: ranges of tasks do not overlap, and tiles neither.
                        copy.copy_from_slice(unsafe { tiles.part(data, tile, j) });
                    }
                    if let Work::Forward(bound) = work {
                        after = passes.forward.levels(&mut copy, WIDTH, tiles.node, bound);
                    } else {
                        passes.inverse.levels(&mut copy, WIDTH, tiles.node, true);
                    }
                    for (j, copy) in copy.chunks_exact(WIDTH).enumerate() {
                        // SAFETY: as above.
                        unsafe { tiles.part(data, tile, j) }.copy_from_slice(copy);
                    }
                }
            }
            Work::Rows(b, bound) => {
                for j in range {
                    let (at, len) = (j * tiles.columns, tiles.columns);
                    // SAFETY: ranges of tasks do not overlap, and rows neither.
                    let (a, b) = unsafe { (data.piece(at, len), b.map(|b| b.piece(at, len))) };
                    passes.row(a, b, tiles.node * tiles.rows + j, bound, false);
                }
            }
        }
        after
    }
}
