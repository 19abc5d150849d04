//! The steps of a transform, of a few levels each. Their results stand in bit-reversed order.

use rayon::prelude::*;
use warpint_arith::field::Field;

use super::{Transform, reversed};

/// Bytes that a thread works in for a step: they stay in its cache.
const TILE: usize = 1 << 16;

/// Elements that are worth a thread of their own: 16 KiB.
pub(super) fn least_run<F: Field>() -> usize {
    ((1 << 14) / size_of::<F::Element>().max(1)).max(1)
}

/// Levels of a step where cheap roots give fewer: as many products, and fewer ways through memory.
const LEAST_LEVELS: u32 = 3;

impl<F: Field> Transform<F> {
    /// X_i at the place of i's bits in reverse, for a whole transform x.
    pub(super) fn steps(&self, x: &mut [F::Element]) {
        let levels = self.cheap.max(LEAST_LEVELS);
        if x.len() <= 1 << levels {
            return self.points(x);
        }
        let (rows, columns) = (1usize << levels, x.len() >> levels);
        let width = (TILE / (rows * size_of::<F::Element>().max(1))).clamp(1, columns);
        // Columns, a few for each thread: from every row the same part.
        let mut tiles: Vec<Vec<&mut [F::Element]>> = Vec::new();
        tiles.resize_with(columns.div_ceil(width), || Vec::with_capacity(rows));
        for row in x.chunks_mut(columns) {
            for (tile, part) in tiles.iter_mut().zip(row.chunks_mut(width)) {
                tile.push(part);
            }
        }
        let of_tile = |(i, mut tile): (usize, Vec<&mut [F::Element]>)| {
            self.columns(&mut tile);
            self.twiddles(&mut tile, columns, i * width);
        };
        if tiles.len() == 1 {
            tiles.into_iter().enumerate().for_each(of_tile);
            x.chunks_mut(columns).for_each(|row| self.steps(row));
        } else {
            tiles.into_par_iter().enumerate().for_each(of_tile);
            x.par_chunks_mut(columns).for_each(|row| self.steps(row));
        }
    }

    /// Transforms of columns: frequency q goes to the row of q's bits in reverse.
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

    /// Products by ω^(sq), ω of order rows·columns, in columns s from `first` on; q is the frequency of a
    /// row.
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

    /// The last step: a transform of points that stand side by side.
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

    /// a ← a + b, b ← (a − b)·ω^i.
    fn butterfly(&self, a: &mut F::Element, b: &mut F::Element, i: usize) {
        let difference = self.field.sub(a, b);
        *a = self.field.add(a, b);
        *b = self.times_root(&difference, i);
    }
}
