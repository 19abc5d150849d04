//! Bounds of absolute values, as multiples of p, and what follows from p < 2^49.5.

/// The largest |a|/p for which products of a by a factor are allowed: 2^52/p > 2^2.5 > 5.65.
const MOST: f64 = 5.65;

/// A bound B: all numbers at a point of a computation have absolute values up to B·p.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Bound(pub(super) f64);

impl Bound {
    /// The bound of [`reduce`](super::FieldVectors::reduce), ½, with room for its two units.
    const REDUCED: Self = Self(0.5001);

    /// Returns the bound of products by factors, for B ≤ [`MOST`]: (½ + B·p·2^−54)·p, and p·2^−54 < 2^−4.5 < 0.0442.
    /// The constants leave room for the units of roundings.
    fn product(self) -> Self {
        Self(0.5001 + 0.0443 * self.0)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// Returns the bound after one level: sums of a number and a product.
    pub(super) fn level(self) -> Self {
        self.plus(self.product())
    }

    /// Returns the bound after two levels in which the number that is not multiplied, x0, is first
    /// reduced. The products of the second level are those of results of the first.
    pub(super) fn reduced_levels(self) -> Self {
        Self::REDUCED.plus(self.product()).plus(self.level().product())
    }

    /// Returns the bound after one level in which the number that is not multiplied is reduced.
    pub(super) fn reduced_level(self) -> Self {
        Self::REDUCED.plus(self.product())
    }

    /// Returns whether `levels` levels without any reduction are allowed.
    pub(super) fn allows_levels(self, levels: u32) -> bool {
        let mut bound = self;
        (0..levels).all(|_| {
            let allowed = bound.0 <= MOST;
            if allowed {
                bound = bound.level();
            }
            allowed
        })
    }

    /// Returns the larger of two bounds.
    pub(super) fn max(self, other: Self) -> Self {
        Self(self.0.max(other.0))
    }

    /// Returns the bound of sums of `terms` numbers.
    pub(super) fn sums(self, terms: f64) -> Self {
        Self(self.0 * terms)
    }
}
