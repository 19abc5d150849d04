//! Powers of two that divide the numbers of a group.

use super::masks::{Masks, all};
use super::vector::{digit, words_mut};

/// The powers of two 2^(β·`limbs` + `bits`), one per lane, with `bits` < β.
#[derive(Clone, Copy)]
pub(super) struct Twos<V> {
    limbs: V,
    bits: V,
}

impl<V: Masks> Twos<V> {
    /// Returns 1 in every lane.
    pub(super) fn one(proof: V::Proof) -> Self {
        let zero = V::splat(proof, 0);
        Self { limbs: zero, bits: zero }
    }

    /// Divides f and g by the largest power of two that divides both, and returns it. Then exchanges
    /// f and g where g is odd. So f is odd, unless both numbers are 0.
    #[inline(always)]
    pub(super) fn divide_out(proof: V::Proof, f: &mut [V], g: &mut [V]) -> Self {
        let (zero, one) = (V::splat(proof, 0), V::splat(proof, 1));
        let mut limbs = zero;
        let mut union = zero;
        for (f, g) in f.iter().zip(&*g) {
            union = union.or(f.or(*g));
        }
        let mut bits = loop {
            let lowest = f[0].or(g[0]);
            let shifts = lowest.zero() & !union.zero();
            if shifts == 0 {
                break lowest;
            }
            // Only numbers that end with many zeros come here.
            for x in [&mut *f, &mut *g] {
                for i in 0..x.len() {
                    x[i] = x[i].select(shifts, x.get(i + 1).copied().unwrap_or(zero));
                }
            }
            limbs = limbs.select(shifts, limbs.add(one));
        };
        for word in words_mut(std::slice::from_mut(&mut bits)) {
            *word = if *word == 0 { 0 } else { u64::from(word.trailing_zeros()) };
        }
        let swaps = quotient(proof, g, 0, bits).meets(one);
        for i in 0..f.len() {
            let (x, y) = (quotient(proof, f, i, bits), quotient(proof, g, i, bits));
            (f[i], g[i]) = (x.select(swaps, y), y.select(swaps, x));
        }
        Self { limbs, bits }
    }

    /// Multiplies x by the powers of two. The products must fit in x.
    #[inline(always)]
    pub(super) fn multiply(&self, proof: V::Proof, x: &mut [V]) {
        let Self { mut limbs, bits } = *self;
        let (zero, minus_one) = (V::splat(proof, 0), V::splat(proof, u64::MAX));
        let rest = V::splat(proof, u64::from(V::BITS)).sub(bits);
        let mut below = zero;
        for x in &mut *x {
            let product = digit(proof, x.shl_each(bits)).or(below.shr_each(rest));
            below = std::mem::replace(x, product);
        }
        loop {
            let shifts = !limbs.zero() & all::<V>();
            if shifts == 0 {
                return;
            }
            for i in (0..x.len()).rev() {
                let below = if i == 0 { zero } else { x[i - 1] };
                x[i] = x[i].select(shifts, below);
            }
            limbs = limbs.select(shifts, limbs.add(minus_one));
        }
    }
}

/// Returns limb i of ⌊x/2^bits⌋.
#[inline(always)]
fn quotient<V: Masks>(proof: V::Proof, x: &[V], i: usize, bits: V) -> V {
    let above = x.get(i + 1).copied().unwrap_or(V::splat(proof, 0));
    let rest = V::splat(proof, u64::from(V::BITS)).sub(bits);
    digit(proof, x[i].shr_each(bits).or(above.shl_each(rest)))
}
