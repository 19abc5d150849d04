//! Loads and stores of vectors, and walks over the parts of a block.

use warpint_arith::simd::F64s;

use super::roots::Roots;
use super::vectors::Factors;

/// Returns the first L numbers of `from`.
///
/// # Panics
/// If `from` has fewer than L entries.
#[inline(always)]
pub fn load<V: F64s>(i: V::Instructions, from: &[f64]) -> V {
    let from = &from[..V::LANES];
    // SAFETY: the slice has L entries.
    unsafe { V::load(i, from.as_ptr()) }
}

/// Writes a vector to the first L entries of `to`.
///
/// # Panics
/// If `to` has fewer than L entries.
#[inline(always)]
pub fn store<V: F64s>(x: V, to: &mut [f64]) {
    let to = &mut to[..V::LANES];
    // SAFETY: the slice has L entries.
    unsafe { x.store(to.as_mut_ptr()) }
}

/// Returns the K vectors of a block of K² numbers, K = L.
#[inline(always)]
pub(super) fn load_square<V: F64s, const K: usize>(i: V::Instructions, block: &[f64]) -> [V; K] {
    let mut x = [V::splat(i, 0.0); K];
    for (x, from) in x.iter_mut().zip(block.chunks_exact(V::LANES)) {
        *x = load(i, from);
    }
    x
}

/// Writes the vectors of a block.
#[inline(always)]
pub(super) fn store_square<V: F64s, const K: usize>(block: &mut [f64], x: [V; K]) {
    for (to, x) in block.chunks_exact_mut(V::LANES).zip(x) {
        store(x, to);
    }
}

/// A walk over the vectors at each index of the four quarters of a block. Entries beyond the last
/// whole vector of a quarter are not visited.
///
/// Closures would be compiled without the vector instructions; so this is a cursor.
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
            // SAFETY: as in `load`.
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

/// Returns the 2·L factors in `a` and `b` at even and at odd positions.
#[inline(always)]
fn split<V: F64s>(a: Factors<V>, b: Factors<V>) -> [Factors<V>; 2] {
    let ([w0, w1], [r0, r1]) = (a.w.deinterleave(b.w), a.ratio.deinterleave(b.ratio));
    [Factors { w: w0, ratio: r0 }, Factors { w: w1, ratio: r1 }]
}

/// Returns 2^s vectors of factors, s ≤ 2: lane l of vector b is the factor of node
/// `first` + l·2^s + b. If `INVERSE` is true, it is −1 divided by this factor. `first` must be a
/// multiple of L·2^s. Entries of the result from 2^s on have no meaning.
#[inline(always)]
pub(super) fn strided<V: F64s, const INVERSE: bool>(
    roots: Roots,
    i: V::Instructions,
    s: u32,
    first: usize,
) -> [Factors<V>; 4] {
    let l = V::LANES;
    match s {
        0 => [part::<V, INVERSE>(roots, i, first); 4],
        1 => {
            let x = part::<V, INVERSE>(roots, i, first);
            let y = part::<V, INVERSE>(roots, i, first + l);
            let [even, odd] = split(x, y);
            [even, odd, even, odd]
        }
        _ => {
            let x = part::<V, INVERSE>(roots, i, first);
            let y = part::<V, INVERSE>(roots, i, first + l);
            let [a, b] = split(x, y);
            let x = part::<V, INVERSE>(roots, i, first + 2 * l);
            let y = part::<V, INVERSE>(roots, i, first + 3 * l);
            let [c, d] = split(x, y);
            let ([w0, w2], [w1, w3]) = (split(a, c), split(b, d));
            [w0, w1, w2, w3]
        }
    }
}

#[inline(always)]
fn part<V: F64s, const INVERSE: bool>(roots: Roots, i: V::Instructions, j: usize) -> Factors<V> {
    if INVERSE { roots.negated_inverses(i, j) } else { roots.nodes(i, j) }
}
