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

    /// Copies a tile, calls `work` on the copy, and copies it back.
    ///
    /// # Safety
    /// No other thread may use the columns of the tile.
    #[inline(always)]
    unsafe fn on_tile(
        &self,
        data: &Shared<'_, f64>,
        tile: usize,
        copy: &mut [f64],
        work: impl FnOnce(&mut [f64]),
    ) {
        // SAFETY: the caller's promise; rows do not overlap.
        let row = |j: usize| unsafe { data.piece(j * self.columns + tile * WIDTH, WIDTH) };
        for (j, copy) in copy.chunks_exact_mut(WIDTH).enumerate() {
            copy.copy_from_slice(row(j));
        }
        work(copy);
        for (j, copy) in copy.chunks_exact(WIDTH).enumerate() {
            row(j).copy_from_slice(copy);
        }
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
            Work::Forward(bound) => {
                let mut copy = vec![0.0; tiles.rows * WIDTH];
                for tile in range {
                    // SAFETY: ranges of tasks do not overlap, and tiles neither.
                    unsafe {
                        tiles.on_tile(data, tile, &mut copy, |copy| {
                            after = passes.forward.levels(copy, WIDTH, tiles.node, bound);
                        });
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
            Work::Inverse => {
                let mut copy = vec![0.0; tiles.rows * WIDTH];
                for tile in range {
                    // SAFETY: ranges of tasks do not overlap, and tiles neither.
                    unsafe {
                        tiles.on_tile(data, tile, &mut copy, |copy| {
                            passes.inverse.levels(copy, WIDTH, tiles.node, true);
                        });
                    }
                }
            }
        }
        after
    }
}
