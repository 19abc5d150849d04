//! Stages of a transform, and the relative error of each.
//!
//! Constants are in units of u = 2^−53. Each of them is rounded up by a factor of 1 + 2^−40, which
//! also covers all terms of second order: see Lemma 1 in `docs/internals/hybrid-bound.md`.

use std::f64::consts::{FRAC_PI_2, SQRT_2};

/// The error of a correctly rounded complex number of modulus 1, in units of u: √½, rounded up.
/// Each part errs by at most u/2.
pub(super) const ROUNDED: f64 = 0.7072;

/// A factor for first-order bounds that were computed in `f64`.
pub(super) const SAFETY: f64 = 1.0 + 1.0 / (1u64 << 40) as f64;

/// A stage of a transform: a linear map of all points that is √p times a unitary map, as it is
/// computed. The field `factor` is the largest error of a factor, in units of u.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::engine) enum Stage {
    /// Sums and differences a ± b, where b was multiplied by a power of i or not at all (p = 2).
    Sums,
    /// s = a + t·b by four fused multiply-adds, and 2a − s by two (p = 2): `butterfly` of
    /// `fourier.cuh`.
    Fused {
        /// The largest error of t.
        factor: f64,
    },
    /// A transform of an odd prime number p ≥ 3 of points, with factors that are applied by fused
    /// multiply-adds: `odd_transform` of `fourier.cuh`.
    Odd {
        /// The number p.
        radix: u32,
        /// The largest error of a factor, or none if all factors are 1.
        factor: Option<f64>,
        /// Whether products by cosines and sines are added by fused multiply-adds.
        fused: bool,
    },
}

impl Stage {
    /// Returns c such that ‖computed − exact‖₂ ≤ c·u·‖exact‖₂ for the stage's output, whatever its
    /// input (Lemmas 3 to 5).
    pub(super) fn mean_error(self) -> f64 {
        let error = match self {
            Self::Sums => 1.0,
            Self::Fused { factor } => supremum(|c| {
                let e = c.two_roundings() + factor * c.part();
                e.hypot(e + c.d)
            }),
            Self::Odd { radix, factor, fused } => {
                let h = half(radix);
                let pairs = factor.map_or(1.0, |factor| {
                    supremum(|c| {
                        let first = (2.0 + factor) * c.part();
                        let e = c.two_roundings() + factor * c.part();
                        SQRT_2 * first.hypot(e) + c.d
                    })
                });
                let products = if fused { 0.0 } else { h.sqrt() };
                pairs + h + 1.0 + products + h / f64::from(radix).sqrt()
            }
        };
        error * SAFETY
    }

    /// Returns g such that every output y, whose exact value is a sum of inputs x_j with factors of
    /// modulus 1, has an error of at most g·u·Σ|x_j| (Lemma 9).
    pub(super) fn largest_error(self) -> f64 {
        let error = match self {
            Self::Sums => 1.0,
            Self::Fused { factor } => 3.0 + factor,
            Self::Odd { radix, factor, fused } => {
                let h = half(radix);
                let pairs = factor.map_or(SQRT_2, |factor| 5.0 + factor);
                let products = if fused { 0.0 } else { SQRT_2 };
                pairs + SQRT_2 * h + 1.0 + products + ROUNDED
            }
        };
        error * SAFETY
    }
}

/// Returns h = (p − 1)/2.
fn half(radix: u32) -> f64 {
    f64::from((radix - 1) / 2)
}

/// Upper bounds on a cell of the values that a pair of outputs s = a + t·b, d = a − t·b can have.
/// The pair is scaled so that |s|² + |d|² = 1.
struct Cell {
    s: f64,
    d: f64,
    /// The coefficient of |s| in a bound for |a + Re(t)·b|.
    along: f64,
    /// The coefficient of |d| in the same bound.
    across: f64,
}

impl Cell {
    /// Returns a bound for |a + Re(t)·b| + |s|, the values that are rounded on the way to s.
    fn two_roundings(&self) -> f64 {
        self.along * self.s + self.across * self.d + self.s
    }
    /// Returns a bound for |a| and for |b|.
    fn part(&self) -> f64 {
        0.5 * (self.s + self.d)
    }
}

/// Returns a bound for `error` over all pairs (s, d) and all factors t. The function must not
/// decrease when a field of [`Cell`] increases.
///
/// With y = |Im t|/2, the coefficients are √(1 − 3y²) and y.
fn supremum(error: impl Fn(Cell) -> f64) -> f64 {
    const ANGLES: u32 = 1024;
    const FACTORS: u32 = 64;
    let mut largest = 0.0f64;
    for i in 0..ANGLES {
        let angle = |i: u32| FRAC_PI_2 * f64::from(i) / f64::from(ANGLES);
        let (s, d) = (angle(i).cos(), angle(i + 1).sin());
        for j in 0..FACTORS {
            let y = |j: u32| 0.5 * f64::from(j) / f64::from(FACTORS);
            let along = (1.0 - 3.0 * y(j) * y(j)).sqrt();
            largest = largest.max(error(Cell { s, d, along, across: y(j + 1) }));
        }
    }
    largest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_close(a: f64, b: f64, tolerance: f64) {
        assert!(a >= b && a - b <= tolerance, "{a} is not a little above {b}");
    }

    #[test]
    fn butterflies_with_exact_factors() {
        // For Im t → 0 the error of s is 2|s|, and λ = (9 + √65)/2 is the largest eigenvalue of the
        // form 4s² + (2s + d)². The supremum over t is a little larger.
        let at_0 = f64::midpoint(9.0, 65f64.sqrt()).sqrt();
        assert_close(Stage::Fused { factor: 0.0 }.mean_error(), at_0, 0.03);
        // At y = 1/7: p = 1 + √(1 − 3/49), q = 1/7.
        let (p, q) = (1.0 + (46.0f64 / 49.0).sqrt(), 1.0 / 7.0);
        let (ss, sd, dd) = (2.0 * p * p, p * (2.0 * q + 1.0), q * q + (q + 1.0) * (q + 1.0));
        let at_y = ((ss + dd) / 2.0 + ((ss - dd) / 2.0f64).hypot(sd)).sqrt();
        assert_close(Stage::Fused { factor: 0.0 }.mean_error(), at_y, 0.012);
    }

    #[test]
    fn errors_of_stages() {
        assert_close(Stage::Sums.mean_error(), 1.0, 1e-9);
        // 1 for s and d, 1 for the sums by FMA, 1 for the last sums, 1/√3 for the sine.
        let three = Stage::Odd { radix: 3, factor: None, fused: true };
        assert_close(three.mean_error(), 3.0 + 3f64.sqrt().recip(), 1e-9);
        assert_close(Stage::Fused { factor: 0.75 }.largest_error(), 3.75, 1e-9);
        assert_close(three.largest_error(), 2.0 * SQRT_2 + 1.7072, 1e-9);
        let seven = Stage::Odd { radix: 7, factor: Some(1.0), fused: true };
        assert_close(seven.largest_error(), 7.7072 + 3.0 * SQRT_2, 1e-9);
    }

    #[test]
    fn a_larger_error_of_factors_is_never_better() {
        let stages = |factor: f64| {
            [Stage::Fused { factor }, Stage::Odd { radix: 5, factor: Some(factor), fused: true }]
        };
        for (a, b) in stages(0.7).into_iter().zip(stages(0.8)) {
            assert!(a.mean_error() < b.mean_error() && a.largest_error() < b.largest_error());
        }
    }
}
