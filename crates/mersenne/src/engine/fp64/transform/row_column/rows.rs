//! The row pass: transforms pairs of rows, squares them, and transforms them back.

use super::{C64, Plan, Worker};
use crate::engine::fp64::transform::block::WIDTH;
use crate::engine::fp64::transform::buffer::Shared;
use crate::engine::fp64::transform::pairing::{square_mirrored, square_row_zero};

impl Plan {
    /// Transforms rows k1 and R − k1 of the R rows of `points`, squares them, and transforms them
    /// back. For k1 = 0 and k1 = R/2, there is only one row.
    ///
    /// # Safety
    /// No other thread may access these rows of `points` during the call.
    pub(super) unsafe fn row_pair(&self, k1: usize, points: &Shared<'_>, worker: &mut Worker) {
        let partner = (self.rows - k1) % self.rows;
        let Worker { rows: [low, high], scratch, .. } = worker;
        let single = partner == k1;
        // SAFETY: the caller guarantees exclusive access to rows k1 and R − k1.
        unsafe {
            self.fetch(points, k1, low, scratch);
            if !single {
                self.fetch(points, partner, high, scratch);
            }
        }
        let w = self.row_root[k1];
        let (quarter, half) = (&self.quarter, self.columns / 2);
        match (k1 == 0, single) {
            (true, _) => square_row_zero(low, quarter),
            // C is even: row R/2 is paired with itself in two halves.
            (false, true) => {
                let (a, b) = low.split_at_mut(half);
                square_mirrored(a, b, w, &quarter[..half]);
            }
            (false, false) => square_mirrored(low, high, w, quarter),
        }
        // SAFETY: as above.
        unsafe {
            self.put_back(points, k1, low, scratch);
            if !single {
                self.put_back(points, partner, high, scratch);
            }
        }
    }

    /// Copies row k1 of `points` to `row`, which is contiguous, and computes its FFT there.
    ///
    /// # Safety
    /// No other thread may access this row of `points` during the call.
    unsafe fn fetch(&self, points: &Shared<'_>, k1: usize, row: &mut [C64], scratch: &mut [C64]) {
        for (block, part) in row.chunks_exact_mut(WIDTH).enumerate() {
            // SAFETY: the caller guarantees access to the row.
            let segment = unsafe { points.segment(block * self.stride + k1 * WIDTH, WIDTH) };
            part.copy_from_slice(segment);
        }
        self.row_forward.process_with_scratch(row, scratch);
    }

    /// Computes the inverse FFT of `row` and copies it to row k1 of `points`.
    ///
    /// # Safety
    /// No other thread may access this row of `points` during the call.
    unsafe fn put_back(
        &self,
        points: &Shared<'_>,
        k1: usize,
        row: &mut [C64],
        scratch: &mut [C64],
    ) {
        self.row_inverse.process_with_scratch(row, scratch);
        for (block, part) in row.chunks_exact(WIDTH).enumerate() {
            // SAFETY: the caller guarantees exclusive access to the row.
            let segment = unsafe { points.segment(block * self.stride + k1 * WIDTH, WIDTH) };
            segment.copy_from_slice(part);
        }
    }
}
