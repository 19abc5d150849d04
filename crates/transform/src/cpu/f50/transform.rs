//! Forward and inverse transforms modulo one prime p.
//!
//! # The tree
//!
//! Node j of length L represents the residues of polynomials modulo x^L − w_j². As
//! x^L − w² = (x^(L/2) − w)·(x^(L/2) + w), the children of this node are the nodes 2j and 2j + 1 of
//! length L/2, if w_(2j)² = w_j and w_(2j+1)² = −w_j. The root of the tree is node 0 or node 2.
//!
//! This holds for the following w_j. Let b_s be bit s of j, so that j = Σ b_s·2^s, and let t_j = Σ
//! b_s·2^(−s−2). For t = a/2^m, let e(t) = ω(m)^a, where ω(m) is the root of unity of order 2^m.
//! Then w_j = e(t_j). In particular, node 0 represents residues modulo x^L − 1, and node 2 residues
//! modulo x^L − i, where i = w_1 = w_2² and i² = −1.
//!
//! A transform goes from the root to its descendants of length one. From the lower half l and the
//! upper half u of a block it computes y = l + w·u and z = l − w·u, with the same w for the whole
//! block. The inverse is l = (y + z)/2 and u = (y − z)/(2w). All factors 1/2 are applied together
//! at the end. The element-wise product of two transforms is the transform of the product of the
//! polynomials, whatever the order of the descendants.
//!
//! # Lanes
//!
//! After the first two levels of a transform of n points, there are four blocks of n/4 numbers
//! each. They are interleaved: lane c of vector r is number r of block c. All further levels
//! operate on whole vectors.
//!
//! # Bounds
//!
//! All bounds are of absolute values, as multiples of p. Rounding adds a few units to each bound;
//! these units are omitted here. The bounds of single operations are those of [`F50`]. The quarters
//! of a block are x0, x1, x2 and x3. The factor of a node is w, and the factor of a child is w'.
//!
//! *Forward*, two levels at a time: inputs are up to 2. The first quarter x0 is reduced to ½. Then
//! x0 ± w·x2 is up to ½ + (½ + 2/16) = 1.125, and x1 ± w·x3 is up to 2 + 0.625 = 2.625. The product
//! of x1 ± w·x3 by w' is up to ½ + 2.625/16 < 0.67. So the results are up to 1.125 + 0.67 < 2. The
//! results of a single level are up to ½ + 0.625.
//!
//! *Products*: one factor is reduced to ½, so |a·b| is up to ½·2·p² = p². The product mod p is up
//! to ½ + ¼ < 1.
//!
//! *Inverse*: for inputs up to 1, each sum s = y + z is up to 2, and each product d = (y − z)·w' is
//! up to ½ + 2/16 = 0.625. Two levels compute s0 and d0 from the first two quarters, and s1 and d1
//! from the last two. The results are x0 = s0 + s1, up to 4 and then reduced; x1 = d0 + d1, up to
//! 1.25 and then reduced; (s0 − s1)·w, up to ½ + 4/16; and (d0 − d1)·w, up to ½ + 1.25/16. All four
//! are below 1.

use multiversion::multiversion;
use warpint_arith::f50::F50;

use super::lanes::{Factors, Lane, WIDTH};

/// The factors of a node of the tree and of its two children, in this order.
type Three<'a> = [&'a Factors; 3];

/// Computes two levels of the forward transform on four points of each lane. The arguments w, w0
/// and w1 are the factors of a node and of its two children.
#[inline(always)]
pub(super) fn split4(field: F50, x: [Lane; 4], [w, w0, w1]: Three) -> [Lane; 4] {
    let x0 = x[0].reduce(field);
    let (t2, t3) = (x[2].times(field, w), x[3].times(field, w));
    let (y0, y2) = (x0.plus(t2), x0.minus(t2));
    let (t1, t3) = (x[1].plus(t3).times(field, w0), x[1].minus(t3).times(field, w1));
    [y0.plus(t1), y0.minus(t1), y2.plus(t3), y2.minus(t3)]
}

/// Computes two levels of the inverse transform on four points of each lane. The arguments w, w0
/// and w1 are the inverses of the factors of a node and of its two children.
#[inline(always)]
pub(super) fn join4(field: F50, y: [Lane; 4], [w, w0, w1]: Three) -> [Lane; 4] {
    let (s0, d0) = (y[0].plus(y[1]), y[0].minus(y[1]).times(field, w0));
    let (s1, d1) = (y[2].plus(y[3]), y[2].minus(y[3]).times(field, w1));
    let x0 = s0.plus(s1).reduce(field);
    let x1 = d0.plus(d1).reduce(field);
    [x0, x1, s0.minus(s1).times(field, w), d0.minus(d1).times(field, w)]
}

/// Splits `data` into blocks of `len` vectors. For each block and each index in a quarter of the
/// block, calls `each` on the four vectors at this index of the quarters. The factors of the node
/// of block j are at index e = `data.len()/len` + j of `factors`. The factors of the two children
/// of this node are at indices 2e and 2e + 1.
#[inline(always)]
fn by_quarters(
    data: &mut [Lane],
    len: usize,
    factors: &[Factors],
    each: impl Fn([Lane; 4], Three) -> [Lane; 4],
) {
    let blocks = data.len() / len;
    for (j, block) in data.chunks_exact_mut(len).enumerate() {
        let node = blocks + j;
        let w = [&factors[node], &factors[2 * node], &factors[2 * node + 1]];
        let (low, high) = block.split_at_mut(len / 2);
        let ((x0, x1), (x2, x3)) = (low.split_at_mut(len / 4), high.split_at_mut(len / 4));
        for (((x0, x1), x2), x3) in x0.iter_mut().zip(x1).zip(x2).zip(x3) {
            [*x0, *x1, *x2, *x3] = each([*x0, *x1, *x2, *x3], w);
        }
    }
}

/// Computes all levels of the forward transform except the first two. The number of vectors must be
/// a power of two. Inputs and results are up to 2p in absolute value.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn forward(field: F50, data: &mut [Lane], factors: &[Factors]) {
    let mut len = data.len();
    if !len.ilog2().is_multiple_of(2) {
        let (low, high) = data.split_at_mut(len / 2);
        for (l, u) in low.iter_mut().zip(high) {
            let (x, t) = (l.reduce(field), u.times(field, &factors[1]));
            (*l, *u) = (x.plus(t), x.minus(t));
        }
        len /= 2;
    }
    while len >= 4 {
        by_quarters(data, len, factors, |x, w| split4(field, x, w));
        len /= 4;
    }
}

/// Computes the inverse of [`forward`], multiplied by the number of vectors in `data`. Inputs and
/// results are up to p in absolute value.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn backward(field: F50, data: &mut [Lane], inverses: &[Factors]) {
    let mut len = 4;
    while len <= data.len() {
        by_quarters(data, len, inverses, |y, w| join4(field, y, w));
        len *= 4;
    }
    if !data.len().ilog2().is_multiple_of(2) {
        let half = data.len() / 2;
        let (low, high) = data.split_at_mut(half);
        for (l, u) in low.iter_mut().zip(high) {
            let (y, z) = (*l, *u);
            (*l, *u) = (y.plus(z).reduce(field), y.minus(z).times(field, &inverses[1]));
        }
    }
}

/// Computes a ← a·b element by element. Inputs are up to 2p in absolute value, results up to p.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn multiply(field: F50, a: &mut [Lane], b: &[Lane]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.reduce(field).mul(field, *b);
    }
}

/// Computes a ← a² element by element. Inputs are up to 2p in absolute value, results up to p.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn square(field: F50, a: &mut [Lane]) {
    for a in a {
        let x = a.reduce(field);
        *a = x.mul(field, x);
    }
}

/// Computes the first two levels of the forward transform, from n contiguous numbers to n/4
/// vectors. Inputs are up to 2p in absolute value.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn enter(field: F50, from: &[f64], to: &mut [Lane], [w, w0, w1]: Three) {
    let quarter = to.len();
    for (r, to) in to.chunks_exact_mut(WIDTH).enumerate() {
        let mut x = [Lane::default(); 4];
        for (c, x) in x.iter_mut().enumerate() {
            x.0.copy_from_slice(&from[c * quarter + r * WIDTH..][..WIDTH]);
        }
        let y = split4(field, x, [w, w0, w1]);
        for (l, to) in to.iter_mut().enumerate() {
            *to = Lane([y[0].0[l], y[1].0[l], y[2].0[l], y[3].0[l]]);
        }
    }
}

/// Computes the last two levels of the inverse transform, from n/4 vectors to n contiguous numbers.
/// Inputs and results are up to p in absolute value.
#[multiversion(targets("x86_64+avx2+fma"))]
pub(super) fn leave(field: F50, from: &[Lane], to: &mut [f64], [w, w0, w1]: Three) {
    let quarter = from.len();
    for (r, from) in from.chunks_exact(WIDTH).enumerate() {
        let mut y = [Lane::default(); 4];
        for (c, y) in y.iter_mut().enumerate() {
            *y = Lane([from[0].0[c], from[1].0[c], from[2].0[c], from[3].0[c]]);
        }
        let x = join4(field, y, [w, w0, w1]);
        for (c, x) in x.iter().enumerate() {
            to[c * quarter + r * WIDTH..][..WIDTH].copy_from_slice(&x.0);
        }
    }
}
