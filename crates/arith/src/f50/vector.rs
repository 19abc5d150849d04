//! Loops over vectors of elements, compiled for AVX-512 and AVX2 too.

use multiversion::multiversion;

use super::F50;

impl F50 {
    /// Returns the integer r ≡ x mod p with 0 ≤ r < p. Requires |x| ≤ 2^53.
    #[inline(always)]
    #[must_use]
    pub fn nonnegative(&self, x: f64) -> f64 {
        // |r| ≤ p/2 + 2 < p.
        let r = self.reduce(x);
        if r < 0.0 { r + self.p } else { r }
    }
}

/// Computes a_i ← a_i·b_i, from 0 to p − 1, for elements within p.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn mul_each(field: &F50, a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = field.nonnegative(field.mul(*a, *b));
    }
}

/// Computes a_i ← a_i·w, from 0 to p − 1, for elements within p.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn scale_each(field: &F50, a: &mut [f64], w: f64) {
    let w = field.factor(w);
    for a in a {
        *a = field.nonnegative(field.mul_by(*a, w));
    }
}

/// Computes a_i ← a_i + b_i for elements from 0 to p − 1.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn add_each(field: &F50, a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        let sum = *a + b;
        *a = if sum >= field.p { sum - field.p } else { sum };
    }
}

/// Computes a_i ← a_i − b_i for elements from 0 to p − 1.
#[multiversion(targets("x86_64+avx512f+avx2+fma", "x86_64+avx2+fma"))]
pub(super) fn sub_each(field: &F50, a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        let difference = *a - b;
        *a = if difference < 0.0 { difference + field.p } else { difference };
    }
}
