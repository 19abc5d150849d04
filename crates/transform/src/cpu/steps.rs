//! The steps of a transform of N elements. Each step computes several levels, which are passes of
//! radix 2. Results are in bit-reversed order.

use warpint_arith::field::Field;

use super::{Transform, reversed};
use crate::parallel::each_part;

/// The number of bytes of the columns that a thread transforms at a time. Columns of this size fit
/// in the cache of a processor core.
const TILE: usize = 1 << 16;

/// Returns the least number of elements for which a separate thread is worthwhile: about 16 KiB of
/// elements, and at least one element.
pub(super) fn least_run<F: Field>() -> usize {
    ((1 << 14) / size_of::<F::Element>().max(1)).max(1)
}

/// The least number of levels of a step. If cheap roots cover fewer levels, a step of 3 levels
/// needs the same number of products as shorter steps, but there are fewer passes over memory.
const LEAST_LEVELS: u32 = 3;

impl<F: Field> Transform<F> {
    /// Transforms all of x. The output X_i is stored at the index whose bits are those of i in
    /// reverse order.
    pub(super) fn steps(&self, x: &mut [F::Element]) {
        let levels = self.cheap.max(LEAST_LEVELS);
        if x.len() <= 1 << levels {
            return self.points(x);
        }
        let (rows, columns) = (1usize << levels, x.len() >> levels);
        let width = (TILE / (rows * size_of::<F::Element>().max(1))).clamp(1, columns);
        // Columns, a few per thread: the same part of every row.
        let mut tiles: Vec<Vec<&mut [F::Element]>> = Vec::new();
        tiles.resize_with(columns.div_ceil(width), || Vec::with_capacity(rows));
        for row in x.chunks_mut(columns) {
            for (tile, part) in tiles.iter_mut().zip(row.chunks_mut(width)) {
                tile.push(part);
            }
        }
        let of_tile = |i: usize, tile: &mut [&mut [F::Element]]| {
            self.columns(tile);
            self.twiddles(tile, columns, i * width);
        };
        if let [tile] = tiles.as_mut_slice() {
            of_tile(0, tile);
            x.chunks_mut(columns).for_each(|row| self.steps(row));
        } else {
            each_part(&mut tiles, 1, &|i, one| {
                one.iter_mut().for_each(|tile| of_tile(i, tile));
            });
            each_part(x, columns, &|_, row| self.steps(row));
        }
    }

    /// Transforms the columns of a matrix that is given by its rows. The output of frequency q is
    /// stored in the row whose index consists of the bits of q in reverse order.
    fn columns(&self, rows: &mut [&mut [F::Element]]) {
        if rows.len() < 2 {
            return;
        }
        let stride = self.len() / rows.len();
        let (low, high) = rows.split_at_mut(rows.len() / 2);
        for (r, (a, b)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
            for (a, b) in a.iter_mut().zip(b.iter_mut()) {
                self.butterfly(a, b, r * stride);
            }
        }
        self.columns(low);
        self.columns(high);
    }

    /// Multiplies the element in column s and in the row of frequency q by ω^(sq), where ω is the
    /// root of unity of order `rows.len()·columns`. The entry at index 0 of each row is in column
    /// s = `first`. `columns` is the number of columns of the whole matrix.
    fn twiddles(&self, rows: &mut [&mut [F::Element]], columns: usize, first: usize) {
        let levels = rows.len().ilog2();
        let stride = self.len() / (rows.len() * columns);
        for (place, row) in rows.iter_mut().enumerate().skip(1) {
            let q = reversed(place, levels);
            for (s, x) in (first..).zip(row.iter_mut()) {
                // s·q < rows·columns.
                *x = self.times_root(x, s * q * stride);
            }
        }
    }

    /// Computes the last step of a transform, which is a transform of contiguous points.
    fn points(&self, x: &mut [F::Element]) {
        if x.len() < 2 {
            return;
        }
        let stride = self.len() / x.len();
        let (low, high) = x.split_at_mut(x.len() / 2);
        for (r, (a, b)) in low.iter_mut().zip(high.iter_mut()).enumerate() {
            self.butterfly(a, b, r * stride);
        }
        self.points(low);
        self.points(high);
    }

    /// Computes a ← a + b and b ← (a − b)·ω^i from the initial values of a and b, where ω is the
    /// root of unity of order N.
    fn butterfly(&self, a: &mut F::Element, b: &mut F::Element, i: usize) {
        let difference = self.field.sub(a, b);
        *a = self.field.add(a, b);
        *b = self.times_root(&difference, i);
    }
}
