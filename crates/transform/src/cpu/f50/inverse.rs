//! Inverse transforms: from the descendants of a node back to the node.
//!
//! The passes are those of `forward` in reverse order. With y and z in the two halves of a block at
//! a node with the factor w, a level computes l = y + z and u = (y − z)/w = (z − y)·(−1/w), which
//! are twice the numbers of the forward transform.
//!
//! # Bounds
//!
//! As multiples of p, with products of a up to ½ + 0.0442·a for a ≤ 5.65 (see `bound`); units of
//! roundings are omitted. Let all numbers be up to 1.25. Two levels compute, from quarters y0, y1,
//! y2 and y3, the sums s0 = y0 + y1 and s1 = y2 + y3, up to 2.5, and the products d0 of y1 − y0 and
//! d1 of y3 − y2, up to 0.62. The results are s0 + s1, up to 5 and then reduced; d0 + d1, up to
//! 1.24; the product of s1 − s0, up to 0.73; and the product of d1 − d0, up to 0.56. All are up to
//! 1.25 again. One level has sums up to 2.5, which are then reduced, and products up to 0.62.
//!
//! The last pass of node 0 multiplies only by i and reduces nothing: its results are up to 5.

use warpint_arith::simd::F64s;

use super::memory::{Quarters, load, load_square, store, store_square, strided};
use super::roots::Roots;
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
        for (j, block) in data.chunks_exact_mut(last).enumerate() {
            match V::LANES {
                4 => self.first::<4>(block, first + j),
                8 => self.first::<8>(block, first + j),
                _ => unreachable!("vectors have four or eight lanes"),
            }
        }
        self.levels(data, last, node, is_final);
    }

    /// Computes the levels from blocks of `from` entries to one block, `data`. Bounds are those of
    /// [`whole`](Self::whole).
    #[inline(always)]
    pub(super) fn levels(&self, data: &mut [f64], from: usize, node: usize, is_final: bool) {
        let n = data.len();
        let is_trivial = is_final && node == 0;
        let mut len = from;
        while 4 * len <= n {
            len *= 4;
            if len == n && is_trivial {
                self.two_levels_of_node_0(data);
            } else {
                let first = node * (n / len);
                for (j, block) in data.chunks_exact_mut(len).enumerate() {
                    self.two_levels(block, first + j);
                }
            }
        }
        if len < n {
            self.one_level(data, node, is_trivial);
        }
    }

    #[inline(always)]
    fn one_level(&self, data: &mut [f64], node: usize, is_trivial: bool) {
        let w = self.roots.negated_inverse(&self.f, node);
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

    #[inline(always)]
    fn two_levels(&self, block: &mut [f64], node: usize) {
        let (roots, f) = (self.roots, &self.f);
        let w = roots.negated_inverse(f, node);
        let w0 = roots.negated_inverse(f, 2 * node);
        let w1 = roots.negated_inverse(f, 2 * node + 1);
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some([y0, y1, y2, y3]) = quarters.load() {
            let (s0, d0) = (y0.add(y1), self.f.mul_by(y1.sub(y0), w0));
            let (s1, d1) = (y2.add(y3), self.f.mul_by(y3.sub(y2), w1));
            quarters.store([
                self.f.reduce(s0.add(s1)),
                d0.add(d1),
                self.f.mul_by(s1.sub(s0), w),
                self.f.mul_by(d1.sub(d0), w),
            ]);
        }
    }

    /// Computes two levels of node 0, whose factor is 1. The factors of its children are 1 and i.
    #[inline(always)]
    fn two_levels_of_node_0(&self, block: &mut [f64]) {
        let w1 = self.roots.negated_inverse(&self.f, 1);
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some([y0, y1, y2, y3]) = quarters.load() {
            let (s0, d0) = (y0.add(y1), y0.sub(y1));
            let (s1, d1) = (y2.add(y3), self.f.mul_by(y3.sub(y2), w1));
            quarters.store([s0.add(s1), d0.add(d1), s0.sub(s1), d0.sub(d1)]);
        }
    }

    /// Computes the first 2·log2(L) levels of a block of L² numbers, K = L.
    #[inline(always)]
    fn first<const K: usize>(&self, block: &mut [f64], node: usize) {
        let mut x: [V; K] = load_square(self.i, block);
        let levels = K.ilog2();
        for s in (0..levels).rev() {
            let w = strided::<V, true>(self.roots, self.i, s, (node * K) << s);
            self.level::<K>(&mut x, levels - 1 - s, w);
        }
        V::transpose(&mut x);
        for s in (0..levels).rev() {
            let mut w = [self.roots.negated_inverse(&self.f, node << s); 4];
            for (b, w) in w[..1 << s].iter_mut().enumerate().skip(1) {
                *w = self.roots.negated_inverse(&self.f, (node << s) + b);
            }
            self.level::<K>(&mut x, levels - 1 - s, w);
        }
        store_square(block, x);
    }

    /// Computes level `t` of log2(K) on K vectors: blocks of 2^t vectors are joined in pairs. Sums
    /// of sums are reduced at level 1, and all sums at level 2.
    #[inline(always)]
    fn level<const K: usize>(&self, x: &mut [V; K], t: u32, w: [Factors<V>; 4]) {
        let half = 1 << t;
        for b in 0..K / (2 * half) {
            for j in 0..half {
                let at = 2 * half * b + j;
                let (y, z) = (x[at], x[at + half]);
                let sum = y.add(z);
                let is_reduced = t == 2 || t == 1 && j == 0;
                x[at] = if is_reduced { self.f.reduce(sum) } else { sum };
                x[at + half] = self.f.mul_by(z.sub(y), w[b]);
            }
        }
    }
}
