//! Loads and stores of vectors, and a walk over the four quarters of a block.

use warpint_arith::simd::F64s;

/// Returns the first L numbers of `from`.
///
/// # Panics
/// Panics if `from` has fewer than L entries.
#[inline(always)]
pub fn load<V: F64s>(i: V::Instructions, from: &[f64]) -> V {
    let from = &from[..V::LANES];
    // SAFETY: the slice has exactly L entries.
    unsafe { V::load(i, from.as_ptr()) }
}

/// Writes a vector to the first L entries of `to`.
///
/// # Panics
/// Panics if `to` has fewer than L entries.
#[inline(always)]
pub fn store<V: F64s>(x: V, to: &mut [f64]) {
    let to = &mut to[..V::LANES];
    // SAFETY: the slice has exactly L entries.
    unsafe { x.store(to.as_mut_ptr()) }
}

/// Returns the K vectors of a block of K² numbers. K must be L.
#[inline(always)]
pub(super) fn load_square<V: F64s, const K: usize>(i: V::Instructions, block: &[f64]) -> [V; K] {
    let mut x = [V::splat(i, 0.0); K];
    for (x, from) in x.iter_mut().zip(block.chunks_exact(V::LANES)) {
        *x = load(i, from);
    }
    x
}

/// Writes the K vectors of a block of K² numbers. K must be L.
#[inline(always)]
pub(super) fn store_square<V: F64s, const K: usize>(block: &mut [f64], x: [V; K]) {
    for (to, x) in block.chunks_exact_mut(V::LANES).zip(x) {
        store(x, to);
    }
}

/// A walk over the vectors at each index of the four quarters of a block. Entries beyond the last
/// whole vector of a quarter are not visited.
///
/// This is a cursor, because closures would be compiled without the vector instructions.
pub(super) struct Quarters<'a, V: F64s> {
    i: V::Instructions,
    block: &'a mut [f64],
    quarter: usize,
    at: usize,
}

impl<'a, V: F64s> Quarters<'a, V> {
    #[inline(always)]
    pub(super) fn new(i: V::Instructions, block: &'a mut [f64]) -> Self {
        let quarter = block.len() / 4;
        Self { i, block, quarter, at: 0 }
    }

    /// Returns the vectors at the current index, or `None` after the last.
    #[inline(always)]
    pub(super) fn load(&self) -> Option<[V; 4]> {
        if self.at + V::LANES > self.quarter {
            return None;
        }
        let (i, quarter) = (self.i, self.quarter);
        // SAFETY: at + L ≤ quarter ≤ len/4, so the L entries from k·quarter + at on are in the
        // block for k < 4.
        unsafe {
            let start = self.block.as_ptr().add(self.at);
            Some([
                V::load(i, start),
                V::load(i, start.add(quarter)),
                V::load(i, start.add(2 * quarter)),
                V::load(i, start.add(3 * quarter)),
            ])
        }
    }

    /// Replaces the vectors at the current index, for which [`load`](Self::load) returned vectors,
    /// and advances to the next.
    #[inline(always)]
    pub(super) fn store(&mut self, y: [V; 4]) {
        debug_assert!(self.at + V::LANES <= self.quarter);
        let quarter = self.quarter;
        if self.at + V::LANES <= quarter {
            // SAFETY: as in `load`, at + L ≤ quarter.
            unsafe {
                let start = self.block.as_mut_ptr().add(self.at);
                y[0].store(start);
                y[1].store(start.add(quarter));
                y[2].store(start.add(2 * quarter));
                y[3].store(start.add(3 * quarter));
            }
        }
        self.at += V::LANES;
    }
}
