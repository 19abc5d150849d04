//! The pass for the factor 3 or 5 of a transform length. It precedes the passes for the factors
//! of 2.

use super::butterfly::{Fifth, dft3};
use super::fft::{Pass, parts};
use super::lanes::Lanes;
use warpint_arith::goldilocks as field;

/// A pass of radix 3 or 5 over all points of a transform.
pub(super) struct OddPass {
    /// The constants of the 5-point transform for radix 5; `None` for radix 3.
    fifth: Option<Fifth>,
    pass: Pass,
}

impl OddPass {
    /// Returns 5 if 5 divides n, 3 if 3 but not 5 divides n, and otherwise 1.
    pub(super) fn radix_of(n: usize) -> usize {
        [5, 3].into_iter().find(|r| n.is_multiple_of(*r)).unwrap_or(1)
    }

    /// Computes the tables of the pass for a transform of n points. Returns `None` if neither 3 nor
    /// 5 divides n, or if the field has no root of unity of order n.
    pub(super) fn new(n: usize) -> Option<Self> {
        let fifth = match Self::radix_of(n) {
            5 => Some(Fifth::new(field::root_of_unity(5)?)),
            3 => None,
            _ => return None,
        };
        Some(Self { pass: Pass::new(Self::radix_of(n), n)?, fifth })
    }

    #[inline(always)]
    pub(super) fn forward<V: Lanes>(&self, x: &mut [V]) {
        match &self.fifth {
            Some(fifth) => forward_5(x, fifth, &self.pass),
            None => forward_3(x, &self.pass),
        }
    }

    #[inline(always)]
    pub(super) fn inverse<V: Lanes>(&self, x: &mut [V]) {
        match &self.fifth {
            Some(fifth) => inverse_5(x, fifth, &self.pass),
            None => inverse_3(x, &self.pass),
        }
    }
}

#[inline(always)]
fn forward_3<V: Lanes>(x: &mut [V], pass: &Pass) {
    let [a, b, c] = parts::<V, 3>(x);
    for (i, w) in pass.forward.chunks_exact(2).enumerate() {
        let y = dft3([a[i], b[i], c[i]]);
        a[i] = y[0];
        b[i] = y[1].scale(w[0]);
        c[i] = y[2].scale(w[1]);
    }
}

#[inline(always)]
fn inverse_3<V: Lanes>(x: &mut [V], pass: &Pass) {
    let [a, b, c] = parts::<V, 3>(x);
    for (i, w) in pass.inverse.chunks_exact(2).enumerate() {
        let y = dft3([a[i], b[i].scale(w[0]), c[i].scale(w[1])]);
        (a[i], b[i], c[i]) = (y[0], y[2], y[1]);
    }
}

#[inline(always)]
fn forward_5<V: Lanes>(x: &mut [V], fifth: &Fifth, pass: &Pass) {
    let [a, b, c, d, e] = parts::<V, 5>(x);
    for (i, w) in pass.forward.chunks_exact(4).enumerate() {
        let y = fifth.dft5([a[i], b[i], c[i], d[i], e[i]]);
        a[i] = y[0];
        b[i] = y[1].scale(w[0]);
        c[i] = y[2].scale(w[1]);
        d[i] = y[3].scale(w[2]);
        e[i] = y[4].scale(w[3]);
    }
}

#[inline(always)]
fn inverse_5<V: Lanes>(x: &mut [V], fifth: &Fifth, pass: &Pass) {
    let [a, b, c, d, e] = parts::<V, 5>(x);
    for (i, w) in pass.inverse.chunks_exact(4).enumerate() {
        let y = fifth.dft5([
            a[i],
            b[i].scale(w[0]),
            c[i].scale(w[1]),
            d[i].scale(w[2]),
            e[i].scale(w[3]),
        ]);
        (a[i], b[i], c[i], d[i], e[i]) = (y[0], y[4], y[3], y[2], y[1]);
    }
}
