//! Inverse transforms: from the descendants of a node back to the node.
//!
//! The passes are those of `forward` in reverse order. With y and z in the two halves of a block at
//! a node with the factor w, a level computes l = y + z and u = (y − z)/w = (z − y)·(−1/w), which
//! are twice the numbers from which the forward transform computes y and z.
//!
//! # Bounds
//!
//! In this section, numbers are multiples of p. A product of a and a factor is up to ½ + 0.0442·a
//! for a ≤ 5.65 (see `bound`). The term 2 of a reduction, |r| ≤ p/2 + 2, is omitted. Let all inputs
//! be up to 1.25. Two levels compute, from quarters y0, y1, y2 and y3, the sums s0 = y0 + y1 and
//! s1 = y2 + y3, up to 2.5, and the products d0 of y1 − y0 and d1 of y3 − y2, up to 0.62. The
//! results are:
//!
//! * s0 + s1, which is up to 5, and is then reduced;
//! * d0 + d1, up to 1.24;
//! * the product of s1 − s0, up to 0.73;
//! * the product of d1 − d0, up to 0.56.
//!
//! So all results are up to 1.25 again. A single level has sums up to 2.5, which are then reduced,
//! and products up to 0.62.
//!
//! The last pass of node 0 multiplies only by −1/i = i and reduces nothing. Its results are up
//! to 5.

use warpint_arith::simd::F64s;

use super::memory::{Quarters, load, load_square, store, store_square};
use super::roots::{Roots, mirrored};
use super::vectors::{Factors, FieldVectors};

/// The field, the instructions and the factors of a transform.
#[derive(Clone, Copy)]
pub(super) struct Inverse<'a, V: F64s> {
    pub(super) i: V::Instructions,
    pub(super) f: FieldVectors<V>,
    pub(super) roots: Roots<'a>,
}

impl<V: F64s> Inverse<'_, V> {
    /// Computes the inverse of [`Forward::whole`](super::forward::Forward::whole), multiplied by
    /// the length n of `data`. Inputs are up to 1.25p. The results are up to 1.25p, or up to 5p if
    /// `is_final` is true.
    #[inline(always)]
    pub(super) fn whole(&self, data: &mut [f64], node: usize, is_final: bool) {
        let last = V::LANES * V::LANES;
        let first = node * (data.len() / last);
        self.roots.check(node, data.len());
        for (j, block) in data.chunks_exact_mut(last).enumerate() {
            // SAFETY: `check` has found all factors up to the next power of two.
            unsafe {
                match (V::LANES, first + j) {
                    (4, 0) => self.first4::<true>(block, 0),
                    (4, node) => self.first4::<false>(block, node),
                    (8, 0) => self.first8::<true>(block, 0),
                    (8, node) => self.first8::<false>(block, node),
                    _ => unreachable!("vectors have four or eight lanes"),
                }
            }
        }
        self.levels(data, last, node, is_final);
    }

    /// Computes the levels from blocks of `from` entries to one block, `data`. Bounds are those of
    /// [`whole`](Self::whole).
    #[inline(always)]
    pub(super) fn levels(&self, data: &mut [f64], from: usize, node: usize, is_final: bool) {
        self.roots.check(node, data.len());
        let n = data.len();
        let is_trivial = is_final && node == 0;
        let mut len = from;
        while 4 * len <= n {
            len *= 4;
            // SAFETY: `check` has found all factors up to the next power of two.
            unsafe {
                if len == n && is_trivial {
                    self.two_levels_of_node_0(data);
                } else {
                    let first = node * (n / len);
                    for (j, block) in data.chunks_exact_mut(len).enumerate() {
                        self.two_levels(block, first + j);
                    }
                }
            }
        }
        if len < n {
            // SAFETY: `check` has found all factors up to the next power of two.
            unsafe { self.one_level(data, node, is_trivial) };
        }
    }

    /// Returns −1/w for the factor w of `node`.
    ///
    /// # Safety
    /// The table must have the factors of `node` and of the nodes after it to the next power of 2.
    #[inline(always)]
    unsafe fn negated_inverse(&self, node: usize) -> Factors<V> {
        match node {
            0 => self.roots.minus_one(&self.f),
            // SAFETY: the caller guarantees the factors.
            _ => unsafe { self.roots.node(&self.f, mirrored(node)) },
        }
    }

    /// Computes one level: joins two halves of a block at `node`. If `is_trivial` is true, the node
    /// must be 0, and nothing is multiplied or reduced.
    ///
    /// # Safety
    /// As for [`negated_inverse`](Self::negated_inverse).
    #[inline(always)]
    unsafe fn one_level(&self, data: &mut [f64], node: usize, is_trivial: bool) {
        // SAFETY: the caller guarantees the factors.
        let w = unsafe { self.negated_inverse(node) };
        let (low, high) = data.split_at_mut(data.len() / 2);
        for (l, u) in low.chunks_exact_mut(V::LANES).zip(high.chunks_exact_mut(V::LANES)) {
            let (y, z): (V, V) = (load(self.i, l), load(self.i, u));
            if is_trivial {
                store(y.add(z), l);
                store(y.sub(z), u);
            } else {
                store(self.f.reduce(y.add(z)), l);
                store(self.f.mul_by(z.sub(y), w), u);
            }
        }
    }

    /// Computes two levels: joins four quarters of a block at `node`.
    ///
    /// # Safety
    /// As for [`negated_inverse`](Self::negated_inverse), for the children of `node`.
    #[inline(always)]
    unsafe fn two_levels(&self, block: &mut [f64], node: usize) {
        // SAFETY: the caller guarantees the factors.
        let (w, w0, w1) = unsafe {
            let w = self.negated_inverse(node);
            (w, self.negated_inverse(2 * node), self.negated_inverse(2 * node + 1))
        };
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some(y) = quarters.load() {
            quarters.store(self.join4(y, w, [w0, w1]));
        }
    }

    /// Computes two levels of node 0, whose factor is 1. The factors of its children are 1 and i.
    ///
    /// # Safety
    /// The table must have the factor of node 1.
    #[inline(always)]
    unsafe fn two_levels_of_node_0(&self, block: &mut [f64]) {
        // SAFETY: the caller guarantees the factors.
        let w1 = unsafe { self.negated_inverse(1) };
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some([y0, y1, y2, y3]) = quarters.load() {
            let (s0, d0) = (y0.add(y1), y0.sub(y1));
            let (s1, d1) = (y2.add(y3), self.f.mul_by(y3.sub(y2), w1));
            quarters.store([s0.add(s1), d0.add(d1), s0.sub(s1), d0.sub(d1)]);
        }
    }

    /// Computes the first four levels, on a block of 16 numbers, for L = 4. `ZERO` must be true for
    /// node 0, and false for all others.
    ///
    /// # Safety
    /// The table must have the factors of all descendants of `node`, and of the nodes after them to
    /// the next power of 2.
    #[inline(always)]
    unsafe fn first4<const ZERO: bool>(&self, block: &mut [f64], node: usize) {
        let x: [V; 4] = load_square(self.i, block);
        // SAFETY: the caller guarantees the factors.
        let (lanes, all) =
            unsafe { (self.lane_factors::<ZERO, 2>(4, node), self.node_factors::<ZERO, 2>(node)) };
        let mut x = self.join4(x, lanes[0][0], [lanes[1][0], lanes[1][1]]);
        V::transpose(&mut x);
        let x = self.join4(x, all[0][0], [all[1][0], all[1][1]]);
        store_square(block, x);
    }

    /// Computes the first six levels, on a block of 64 numbers, for L = 8. The arguments are those
    /// of [`first4`](Self::first4).
    ///
    /// # Safety
    /// As for [`first4`](Self::first4).
    #[inline(always)]
    unsafe fn first8<const ZERO: bool>(&self, block: &mut [f64], node: usize) {
        let x: [V; 8] = load_square(self.i, block);
        // SAFETY: the caller guarantees the factors.
        let (lanes, all) =
            unsafe { (self.lane_factors::<ZERO, 3>(8, node), self.node_factors::<ZERO, 3>(node)) };
        let mut x = self.join8(x, lanes);
        V::transpose(&mut x);
        let x = self.join8(x, all);
        store_square(block, x);
    }

    /// Returns −1/w for the factors of the descendants of `node` in S generations: entry b of row s
    /// for node 2^s·`node` + b.
    ///
    /// # Safety
    /// As for [`first4`](Self::first4).
    #[inline(always)]
    unsafe fn node_factors<const ZERO: bool, const S: usize>(
        &self,
        node: usize,
    ) -> [[Factors<V>; 4]; S] {
        let (f, roots) = (&self.f, self.roots);
        let mut rows = [[roots.minus_one(f); 4]; S];
        for (s, row) in rows.iter_mut().enumerate() {
            for (b, w) in row[..1 << s].iter_mut().enumerate() {
                // SAFETY: the caller guarantees the factors.
                *w = unsafe {
                    if ZERO {
                        self.negated_inverse(b)
                    } else {
                        roots.node(f, (mirrored(node) << s) + (1 << s) - 1 - b)
                    }
                };
            }
        }
        rows
    }

    /// Returns −1/w for the factors of the descendants of the L nodes L·`node` + l in S
    /// generations, one of these nodes in each lane l: entry b of row s for node 2^s·(L·`node` +
    /// l) + b. `lanes` is L.
    ///
    /// # Safety
    /// As for [`first4`](Self::first4).
    #[inline(always)]
    unsafe fn lane_factors<const ZERO: bool, const S: usize>(
        &self,
        lanes: usize,
        node: usize,
    ) -> [[Factors<V>; 4]; S] {
        let mut rows = [[self.roots.minus_one(&self.f); 4]; S];
        for (s, row) in rows.iter_mut().enumerate() {
            if ZERO {
                *row = self.roots.strided_first_inverses(self.i, s as u32);
            } else {
                let first = (mirrored(node) * lanes) << s;
                // SAFETY: the caller guarantees the factors.
                let back = unsafe { self.roots.strided::<V>(self.i, s as u32, first) };
                for (b, w) in row[..1 << s].iter_mut().enumerate() {
                    *w = back[(1 << s) - 1 - b].reverse();
                }
            }
        }
        rows
    }

    /// Computes two levels. Only the first result is reduced. w, w0 and w1 are the numbers −1/w of
    /// a node and of its two children.
    #[inline(always)]
    fn join4(&self, y: [V; 4], w: Factors<V>, [w0, w1]: [Factors<V>; 2]) -> [V; 4] {
        let (s0, d0) = (y[0].add(y[1]), self.f.mul_by(y[1].sub(y[0]), w0));
        let (s1, d1) = (y[2].add(y[3]), self.f.mul_by(y[3].sub(y[2]), w1));
        let x0 = self.f.reduce(s0.add(s1));
        [x0, d0.add(d1), self.f.mul_by(s1.sub(s0), w), self.f.mul_by(d1.sub(d0), w)]
    }

    /// Computes three levels. All sums of the third level are reduced. The rows of factors are the
    /// numbers −1/w of a node, of its children and of their children.
    #[inline(always)]
    fn join8(&self, y: [V; 8], [[w, ..], [w0, w1, ..], w2]: [[Factors<V>; 4]; 3]) -> [V; 8] {
        let [a0, a1, a2, a3] = self.join4([y[0], y[1], y[2], y[3]], w0, [w2[0], w2[1]]);
        let [b0, b1, b2, b3] = self.join4([y[4], y[5], y[6], y[7]], w1, [w2[2], w2[3]]);
        let f = &self.f;
        [
            f.reduce(a0.add(b0)),
            f.reduce(a1.add(b1)),
            f.reduce(a2.add(b2)),
            f.reduce(a3.add(b3)),
            f.mul_by(b0.sub(a0), w),
            f.mul_by(b1.sub(a1), w),
            f.mul_by(b2.sub(a2), w),
            f.mul_by(b3.sub(a3), w),
        ]
    }
}
