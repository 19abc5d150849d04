//! Forward transforms: from a node of the tree to its descendants.
//!
//! Passes compute two levels at a time on four quarters of each block, or one level on two halves.
//! The last passes operate on blocks of L² points, where L is the number of lanes. The first
//! log2(L) levels of such a *last block* operate on its L vectors. Then the matrix of these vectors
//! is transposed, and the other log2(L) levels operate on it in the same way. The descendants of
//! length 1 stay in the order that results.
//!
//! [`Bound`] keeps a bound of all numbers from pass to pass. Numbers are reduced as late as
//! possible, but early enough that a last block needs no reductions.

use warpint_arith::simd::F64s;

use super::bound::Bound;
use super::memory::{Quarters, load, load_square, store, store_square};
use super::roots::Roots;
use super::vectors::{Factors, FieldVectors};

/// The field, the instructions and the factors of a transform.
#[derive(Clone, Copy)]
pub(super) struct Forward<'a, V: F64s> {
    pub(super) i: V::Instructions,
    pub(super) f: FieldVectors<V>,
    pub(super) roots: Roots<'a>,
}

/// How a pass treats the numbers that are not multiplied: those of the first half or quarter of a
/// block.
#[derive(Clone, Copy, PartialEq)]
enum Style {
    /// They are not reduced.
    Plain,
    /// They are not reduced. Products by the factor 1 of node 0 and of its first child are left
    /// out.
    Trivial,
    /// They are reduced before the pass.
    Reduced,
}

impl<V: F64s> Forward<'_, V> {
    /// Transforms the polynomial of `data` modulo x^n − w², where n is the length of `data` and w
    /// the factor of `node`. n must be a power of two, at least L². Inputs are up to `bound`, which
    /// must allow 2·log2(L) levels.
    #[inline(always)]
    pub(super) fn whole(&self, data: &mut [f64], node: usize, bound: Bound) {
        let last = V::LANES * V::LANES;
        let bound = self.levels(data, last, node, bound);
        debug_assert!(bound.allows_levels(2 * V::LANES.ilog2()));
        let first = node * (data.len() / last);
        for (j, block) in data.chunks_exact_mut(last).enumerate() {
            // SAFETY: `levels` has checked that the table has the factors of `node` and of all its
            // descendants down to blocks of two points. The blocks are descendants.
            unsafe {
                match V::LANES {
                    4 => self.last4(block, first + j),
                    8 => self.last8(block, first + j),
                    _ => unreachable!("vectors have four or eight lanes"),
                }
            }
        }
    }

    /// Computes the levels from one block, `data`, to blocks of `to` entries, and returns the bound
    /// of the results. Both lengths must be powers of two, and `to` a multiple of L. Inputs are up
    /// to `bound`. Both bounds allow 2·log2(L) levels.
    #[inline(always)]
    pub(super) fn levels(&self, data: &mut [f64], to: usize, node: usize, bound: Bound) -> Bound {
        self.roots.check(node, data.len());
        let (mut bound, mut len) = (bound, data.len());
        let enough = |bound: Bound, len: usize| {
            if len == to {
                bound.allows_levels(2 * V::LANES.ilog2())
            } else {
                bound.allows_levels(2)
            }
        };
        if !(len / to).ilog2().is_multiple_of(2) {
            len /= 2;
            let styles = [
                (Style::Trivial, bound.sums(2.0)),
                (Style::Plain, bound.level()),
                (Style::Reduced, bound.reduced_level()),
            ];
            let allowed =
                |style, after| enough(after, len) && (style != Style::Trivial || node == 0);
            let style;
            (style, bound) = choice(styles, allowed);
            // SAFETY: `check` has found the factors of `node` and of its descendants.
            unsafe { self.one_level(data, node, style) };
        }
        while len > to {
            let (first, blocks) = (node * (data.len() / len), data.len() / len);
            let styles = [
                (Style::Trivial, bound.sums(4.0).max(bound.level().level())),
                (Style::Plain, bound.level().level()),
                (Style::Reduced, bound.reduced_levels()),
            ];
            let allowed = |style, after| {
                enough(after, len / 4) && (style != Style::Trivial || node == 0 && blocks <= 2)
            };
            let style;
            (style, bound) = choice(styles, allowed);
            for (j, block) in data.chunks_exact_mut(len).enumerate() {
                // SAFETY: `check` has found the factors of `node` and of its descendants.
                unsafe {
                    match style {
                        Style::Trivial if j == 0 => self.two_levels_of_node_0(block),
                        Style::Reduced => self.two_levels::<true>(block, first + j),
                        _ => self.two_levels::<false>(block, first + j),
                    }
                }
            }
            len /= 4;
        }
        bound
    }

    /// Computes one level, from the block `data` to two halves.
    ///
    /// # Safety
    /// The table must have the factors of `node`.
    #[inline(always)]
    unsafe fn one_level(&self, data: &mut [f64], node: usize, style: Style) {
        // SAFETY: the caller guarantees the factors.
        let w = unsafe { self.roots.node(&self.f, node) };
        let (low, high) = data.split_at_mut(data.len() / 2);
        for (l, u) in low.chunks_exact_mut(V::LANES).zip(high.chunks_exact_mut(V::LANES)) {
            let (mut x, mut t): (V, V) = (load(self.i, l), load(self.i, u));
            if style != Style::Trivial {
                t = self.f.mul_by(t, w);
            }
            if style == Style::Reduced {
                x = self.f.reduce(x);
            }
            store(x.add(t), l);
            store(x.sub(t), u);
        }
    }

    /// Computes two levels, from a block at `node` to four quarters. If `REDUCED` is true, the
    /// numbers of the first quarter are reduced first.
    ///
    /// # Safety
    /// The table must have the factors of `node` and of its children.
    #[inline(always)]
    unsafe fn two_levels<const REDUCED: bool>(&self, block: &mut [f64], node: usize) {
        let (roots, f) = (self.roots, &self.f);
        // SAFETY: the caller guarantees the factors.
        let (w, w0, w1) =
            unsafe { (roots.node(f, node), roots.node(f, 2 * node), roots.node(f, 2 * node + 1)) };
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some(mut x) = quarters.load() {
            if REDUCED {
                x[0] = self.f.reduce(x[0]);
            }
            quarters.store(self.split4(x, w, [w0, w1]));
        }
    }

    /// Computes two levels of node 0, whose factor is 1. The factors of its children are 1 and i.
    ///
    /// # Safety
    /// The table must have the factors of node 1.
    #[inline(always)]
    unsafe fn two_levels_of_node_0(&self, block: &mut [f64]) {
        // SAFETY: the caller guarantees the factors.
        let i = unsafe { self.roots.node(&self.f, 1) };
        let mut quarters = Quarters::<V>::new(self.i, block);
        while let Some([x0, x1, x2, x3]) = quarters.load() {
            let (y0, y1) = (x0.add(x2), x1.add(x3));
            let (y2, y3) = (x0.sub(x2), self.f.mul_by(x1.sub(x3), i));
            quarters.store([y0.add(y1), y0.sub(y1), y2.add(y3), y2.sub(y3)]);
        }
    }

    /// Computes the four levels of a last block of 16 numbers, for L = 4.
    ///
    /// # Safety
    /// The table must have the factors of all descendants of `node`.
    #[inline(always)]
    unsafe fn last4(&self, block: &mut [f64], node: usize) {
        let x: [V; 4] = load_square(self.i, block);
        let (f, roots) = (&self.f, self.roots);
        // SAFETY: the caller guarantees the factors.
        unsafe {
            let children = [roots.node(f, 2 * node), roots.node(f, 2 * node + 1)];
            let mut x = self.split4(x, roots.node(f, node), children);
            V::transpose(&mut x);
            let [w, ..] = roots.strided(self.i, 0, 4 * node);
            let [w0, w1, ..] = roots.strided(self.i, 1, 8 * node);
            store_square(block, self.split4(x, w, [w0, w1]));
        }
    }

    /// Computes the six levels of a last block of 64 numbers, for L = 8.
    ///
    /// # Safety
    /// The table must have the factors of all descendants of `node`.
    #[inline(always)]
    unsafe fn last8(&self, block: &mut [f64], node: usize) {
        let x: [V; 8] = load_square(self.i, block);
        let (f, roots) = (&self.f, self.roots);
        // SAFETY: the caller guarantees the factors.
        unsafe {
            let w = roots.node(f, node);
            let children = [roots.node(f, 2 * node), roots.node(f, 2 * node + 1)];
            let next = 4 * node;
            let grandchildren = [
                roots.node(f, next),
                roots.node(f, next + 1),
                roots.node(f, next + 2),
                roots.node(f, next + 3),
            ];
            let mut x = self.split8(x, w, children, grandchildren);
            V::transpose(&mut x);
            let [w, ..] = roots.strided(self.i, 0, 8 * node);
            let [w0, w1, ..] = roots.strided(self.i, 1, 16 * node);
            let grandchildren = roots.strided(self.i, 2, 32 * node);
            store_square(block, self.split8(x, w, [w0, w1], grandchildren));
        }
    }

    /// Computes two levels. w is the factor of a node, and w0 and w1 are those of its two children.
    #[inline(always)]
    fn split4(&self, x: [V; 4], w: Factors<V>, [w0, w1]: [Factors<V>; 2]) -> [V; 4] {
        let (t2, t3) = (self.f.mul_by(x[2], w), self.f.mul_by(x[3], w));
        let (y0, y2) = (x[0].add(t2), x[0].sub(t2));
        let t1 = self.f.mul_by(x[1].add(t3), w0);
        let t3 = self.f.mul_by(x[1].sub(t3), w1);
        [y0.add(t1), y0.sub(t1), y2.add(t3), y2.sub(t3)]
    }

    /// Computes three levels. w is the factor of a node, w0 and w1 are those of its children, and v
    /// has those of their children.
    #[inline(always)]
    fn split8(
        &self,
        x: [V; 8],
        w: Factors<V>,
        [w0, w1]: [Factors<V>; 2],
        v: [Factors<V>; 4],
    ) -> [V; 8] {
        let (t0, t1) = (self.f.mul_by(x[4], w), self.f.mul_by(x[5], w));
        let (t2, t3) = (self.f.mul_by(x[6], w), self.f.mul_by(x[7], w));
        let low = [x[0].add(t0), x[1].add(t1), x[2].add(t2), x[3].add(t3)];
        let high = [x[0].sub(t0), x[1].sub(t1), x[2].sub(t2), x[3].sub(t3)];
        let [a, b, c, d] = self.split4(low, w0, [v[0], v[1]]);
        let [e, g, h, k] = self.split4(high, w1, [v[2], v[3]]);
        [a, b, c, d, e, g, h, k]
    }
}

/// Returns the first of the styles that is allowed, or the last if none of the others is, and the
/// bound of its results.
#[inline(always)]
fn choice(styles: [(Style, Bound); 3], allowed: impl Fn(Style, Bound) -> bool) -> (Style, Bound) {
    let [a, b, c] = styles;
    [a, b].into_iter().find(|&(style, after)| allowed(style, after)).unwrap_or(c)
}
