//! The working memory of one thread.

use super::shape::{ROW, Shape, WIDTH};
use crate::engine::fp64::carry::sums::Totals;
use crate::engine::fp64::transform::buffer::{Buffer, words_mut};

/// The working memory of one thread, with room for vectors of 8 lanes.
pub(super) struct Worker {
    /// Two rows, each of C1·`row_pitch` vectors of complex numbers.
    rows: Buffer,
    /// R1 or R2 rows of a block, 8·C1 vectors of complex numbers, or 2·C2 of them.
    tile: Buffer,
    /// C2 vectors of complex numbers.
    twist: Buffer,
    /// R numbers.
    pub(super) carry: Vec<f64>,
    /// The sums over blocks to which carries were added.
    pub(super) sums: Totals,
}

impl Worker {
    pub(super) fn new(shape: &Shape) -> Self {
        let ([r1, r2], [c1, c2]) = (shape.rows, shape.columns);
        // Numbers of complex numbers; a vector has WIDTH of them.
        let tile = (r1.max(r2)).max(WIDTH * c1).max(2 * c2) * WIDTH;
        Self {
            rows: Buffer::new(2 * c1 * shape.row_pitch() * WIDTH),
            tile: Buffer::new(tile),
            twist: Buffer::new(c2 * WIDTH),
            carry: vec![0.0; shape.row_count()],
            sums: Totals::default(),
        }
    }

    /// Returns the working memory of two rows.
    pub(super) fn rows(&mut self) -> [*mut f64; 2] {
        let words = words_mut(&mut self.rows);
        let half = words.len() / 2 / ROW * ROW;
        let first = words.as_mut_ptr();
        // SAFETY: half is at most the number of words. Both pointers may access the whole buffer:
        // rows are reached from the first one.
        [first, unsafe { first.add(half) }]
    }

    pub(super) fn tile(&mut self) -> *mut f64 {
        words_mut(&mut self.tile).as_mut_ptr()
    }

    pub(super) fn twist(&mut self) -> *mut f64 {
        words_mut(&mut self.twist).as_mut_ptr()
    }
}
