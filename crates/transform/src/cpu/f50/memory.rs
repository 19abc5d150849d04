//! Loads and stores of vectors, and walks over the parts of a block.

use warpint_arith::simd::F64s;

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
    std::array::from_fn(|j| load(i, &block[j * V::LANES..]))
}

/// Writes the vectors of a block.
#[inline(always)]
pub(super) fn store_square<V: F64s, const K: usize>(block: &mut [f64], x: [V; K]) {
    for (to, x) in block.chunks_exact_mut(V::LANES).zip(x) {
        store(x, to);
    }
}

/// Calls `each` on the vectors at each index of the four quarters of a block, and replaces them by
/// its results. Entries beyond the last whole vector of a quarter are not processed.
#[inline(always)]
pub(super) fn on_quarters<V: F64s>(
    i: V::Instructions,
    block: &mut [f64],
    each: impl Fn([V; 4]) -> [V; 4],
) {
    let quarter = block.len() / 4;
    let start = block.as_mut_ptr();
    let mut at = 0;
    while at + V::LANES <= quarter {
        // SAFETY: at + L ≤ quarter, so the L entries from k·quarter + at on are in the block for
        // k < 4.
        unsafe {
            let place = |k: usize| start.add(k * quarter + at);
            let x = [0, 1, 2, 3].map(|k| V::load(i, place(k)));
            let y = each(x);
            for (k, y) in y.into_iter().enumerate() {
                y.store(place(k));
            }
        }
        at += V::LANES;
    }
}

/// Returns 2^s vectors of factors, s ≤ 2. Let F be the sequence of the L·2^s factors of `part(0)`,
/// …, `part(2^s − 1)`. Vector b has the entries b, b + 2^s, b + 2·2^s, … of F. Entries of the
/// result from 2^s on have no meaning.
#[inline(always)]
pub(super) fn strided<V: F64s>(s: u32, part: impl Fn(usize) -> Factors<V>) -> [Factors<V>; 4] {
    let split = |a: Factors<V>, b: Factors<V>| {
        let ([w0, w1], [r0, r1]) = (a.w.deinterleave(b.w), a.ratio.deinterleave(b.ratio));
        [Factors { w: w0, ratio: r0 }, Factors { w: w1, ratio: r1 }]
    };
    match s {
        0 => [part(0); 4],
        1 => {
            let [even, odd] = split(part(0), part(1));
            [even, odd, even, odd]
        }
        _ => {
            let ([a, b], [c, d]) = (split(part(0), part(1)), split(part(2), part(3)));
            let ([w0, w2], [w1, w3]) = (split(a, c), split(b, d));
            [w0, w1, w2, w3]
        }
    }
}
