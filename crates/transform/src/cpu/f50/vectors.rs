//! Operations on vectors of elements of a field, and the factors of the nodes of a transform.

use warpint_arith::f50::{F50, Factor};
use warpint_arith::simd::F64s;

/// The number 3·2^51, with which [`F50`] rounds to the nearest integer.
const MAGIC: f64 = 6_755_399_441_055_744.0;

/// The constants of a field, in all lanes. Every operation acts on each lane as the operation of
/// [`F50`] with the same name does. It has the same conditions on its arguments, and the same
/// bounds of its results.
#[derive(Clone, Copy)]
pub struct FieldVectors<V: F64s> {
    instructions: V::Instructions,
    p: V,
    inverse: V,
    magic: V,
}

/// A [`Factor`] in each lane: the numbers w, and the rounded quotients w/p.
#[derive(Clone, Copy)]
pub struct Factors<V: F64s> {
    pub(super) w: V,
    pub(super) ratio: V,
}

impl<V: F64s> FieldVectors<V> {
    /// Copies the constants of a field to vectors.
    #[inline(always)]
    #[must_use]
    pub fn new(instructions: V::Instructions, field: F50) -> Self {
        let [p, inverse] = field.constants();
        Self {
            instructions,
            p: V::splat(instructions, p),
            inverse: V::splat(instructions, inverse),
            magic: V::splat(instructions, MAGIC),
        }
    }

    /// Copies a factor to all lanes.
    #[inline(always)]
    #[must_use]
    pub fn factors(&self, factor: Factor) -> Factors<V> {
        let [w, ratio] = factor.constants();
        Factors { w: V::splat(self.instructions, w), ratio: V::splat(self.instructions, ratio) }
    }

    /// Returns r ≡ a·w mod p: see [`F50::mul_by`]. Requires |a| ≤ 2^52.
    #[inline(always)]
    #[must_use]
    pub fn mul_by(&self, a: V, factors: Factors<V>) -> V {
        let h = a.mul(factors.w);
        let q = a.mul_add(factors.ratio, self.magic).sub(self.magic);
        q.neg_mul_add(self.p, h).add(a.mul_sub(factors.w, h))
    }

    /// Returns r ≡ a·b mod p: see [`F50::mul`]. Requires |a·b| ≤ (2^51 − 2)·p.
    #[inline(always)]
    #[must_use]
    pub fn mul(&self, a: V, b: V) -> V {
        let h = a.mul(b);
        let q = h.mul_add(self.inverse, self.magic).sub(self.magic);
        q.neg_mul_add(self.p, h).add(a.mul_sub(b, h))
    }

    /// Returns r ≡ x mod p with |r| ≤ p/2 + 2: see [`F50::reduce`]. Requires |x| ≤ 2^53.
    #[inline(always)]
    #[must_use]
    pub fn reduce(&self, x: V) -> V {
        let q = x.mul_add(self.inverse, self.magic).sub(self.magic);
        q.neg_mul_add(self.p, x)
    }

    /// Returns the integers from 0 to p − 1 that are congruent to x mod p, as `f64`: see
    /// [`F50::to_u64`]. Requires |x| ≤ 2^53.
    #[inline(always)]
    #[must_use]
    pub fn canonical(&self, x: V) -> V {
        let r = self.reduce(x);
        let zero = V::splat(self.instructions, 0.0);
        V::select(r.at_least(zero), r, r.add(self.p))
    }
}
