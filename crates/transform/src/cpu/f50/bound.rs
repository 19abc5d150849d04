//! Bounds of absolute values, as multiples of p, for primes p < 2^49.5.

/// The largest |a|/p for which products of a by a factor are allowed: |a| ≤ 2^52, and 2^52/p >
/// 2^2.5 > 5.65.
const MOST: f64 = 5.65;

/// Entry n ≥ 1 is the largest bound before n levels without any reduction. The bound then grows to
/// [`MOST`] before the last of these levels.
const LIMITS: [f64; 7] = {
    let mut limits = [MOST; 7];
    let mut n = 2;
    while n < limits.len() {
        limits[n] = (limits[n - 1] - PRODUCT) / (1.0 + GROWTH);
        n += 1;
    }
    limits
};

/// The bound of a product of a by a factor is `PRODUCT` + `GROWTH`·a: see [`Bound::product`].
const PRODUCT: f64 = 0.5001;
const GROWTH: f64 = 0.0443;

/// A bound B: all numbers at a point of a computation have absolute values up to B·p.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub(super) struct Bound(pub(super) f64);

impl Bound {
    /// The bound of results of [`reduce`](super::FieldVectors::reduce), p/2 + 2.
    const REDUCED: Self = Self(0.5001);

    /// Returns the bound of the inputs of a transform at a node: of coefficients (node 0), or of
    /// those that [`fold`](super::extended::fold) computes.
    pub(super) fn of_input(node: usize) -> Self {
        Self(if node == 0 { 1.0 } else { 1.6 })
    }

    /// Returns the bound of products by factors, for B ≤ [`MOST`]. A product is up to (½ +
    /// B·p·2^−54)·p ([`warpint_arith::f50::F50::mul_by`]), and p·2^−54 < 2^−4.5 < 0.0442. The
    /// constants are a little larger.
    fn product(self) -> Self {
        Self(PRODUCT + GROWTH * self.0)
    }

    fn plus(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }

    /// Returns the bound after one level, whose results are sums of a number and a product.
    pub(super) fn level(self) -> Self {
        self.plus(self.product())
    }

    /// Returns the bound after two levels, if the numbers of the first quarter, which are never
    /// multiplied, are reduced before. The products of the second level are products of results of
    /// the first level.
    pub(super) fn reduced_levels(self) -> Self {
        Self::REDUCED.plus(self.product()).plus(self.level().product())
    }

    /// Returns the bound after one level, if the numbers that are not multiplied are reduced
    /// before.
    pub(super) fn reduced_level(self) -> Self {
        Self::REDUCED.plus(self.product())
    }

    /// Returns whether `levels` levels without any reduction are allowed: whether all numbers that
    /// they multiply are up to [`MOST`]·p. Requires 1 ≤ `levels` ≤ 6.
    #[inline(always)]
    pub(super) fn allows_levels(self, levels: u32) -> bool {
        self.0 <= LIMITS[levels as usize]
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_allowed_bounds_grow_to_the_largest_factor_of_a_product() {
        for levels in 1..LIMITS.len() as u32 {
            let mut bound = Bound(LIMITS[levels as usize]);
            assert!(bound.allows_levels(levels));
            for _ in 1..levels {
                assert!(bound.0 < MOST);
                bound = bound.level();
            }
            assert!((bound.0 - MOST).abs() < 1e-9, "{bound:?} before the last of {levels}");
        }
        // After one or two levels with a reduction, six levels without one are allowed. So every
        // style of a pass leads to another pass or to a last block.
        assert!(Bound(LIMITS[2]).reduced_levels().allows_levels(6));
        assert!(Bound(LIMITS[1]).reduced_level().allows_levels(6));
    }
}
