//! Products of N = 3/2·M coefficients from products modulo x^M − 1 and modulo x^h − i, where h =
//! M/2 and i² = −1.

use warpint_arith::simd::F64s;

use super::memory::{load, store};
use super::vectors::{Factors, FieldVectors};

/// Reduces a polynomial c of M + h coefficients modulo x^M − 1 and modulo x^h − i. The lowest h
/// coefficients are in `low`, the next h in `middle`, and the last h in `high`. Then `low` and
/// `middle` become the coefficients of c mod (x^M − 1), and `high` those of c mod (x^h − i). If
/// `is_short` is true, `high` must contain zeros, and `low` and `middle` do not change. All slices
/// have the same length, a multiple of L. Inputs are up to p in absolute value. Results are up to p
/// in `low` and `middle`, and up to 1.6p in `high`.
#[inline(always)]
pub(super) fn fold<V: F64s>(
    instructions: V::Instructions,
    f: &FieldVectors<V>,
    i: Factors<V>,
    [low, middle, high]: [&mut [f64]; 3],
    is_short: bool,
) {
    let l = V::LANES;
    let vectors = low.chunks_exact_mut(l).zip(middle.chunks_exact(l)).zip(high.chunks_exact_mut(l));
    for ((low, middle), high) in vectors {
        let (x, y): (V, V) = (load(instructions, low), load(instructions, middle));
        let t = x.add(f.mul_by(y, i));
        if is_short {
            store(t, high);
        } else {
            let z = load(instructions, high);
            store(f.reduce(x.add(z)), low);
            store(f.reduce(t.sub(z)), high);
        }
    }
}

/// Computes 2M times the coefficients of c, from M times those of r = c mod (x^M − 1) and h times
/// those of s = c mod (x^h − i). The arguments are as in [`fold`]. Inputs are up to 5p in absolute
/// value in `low` and `middle`, and up to 1.25p in `high`. Results are up to 4p.
///
/// For j < h: r_j = c_j + c_(M+j), r_(h+j) = c_(h+j), and s_j = c_j + i·c_(h+j) − c_(M+j). So d_j =
/// s_j − i·r_(h+j) = c_j − c_(M+j), c_j = (r_j + d_j)/2 and c_(M+j) = (r_j − d_j)/2.
#[inline(always)]
pub(super) fn unfold<V: F64s>(
    instructions: V::Instructions,
    f: &FieldVectors<V>,
    i: Factors<V>,
    [low, middle, high]: [&mut [f64]; 3],
) {
    let l = V::LANES;
    let vectors =
        low.chunks_exact_mut(l).zip(middle.chunks_exact_mut(l)).zip(high.chunks_exact_mut(l));
    for ((low, middle), high) in vectors {
        // `d` is M·d_j = 2·(h·s_j) − i·(M·r_(h+j)), up to (2.5 + 0.73)·p.
        let y: V = load(instructions, middle);
        let s: V = load(instructions, high);
        let d = s.add(s).sub(f.mul_by(y, i));
        let r = f.reduce(load(instructions, low));
        let y = f.reduce(y);
        store(r.add(d), low);
        store(y.add(y), middle);
        store(r.sub(d), high);
    }
}
