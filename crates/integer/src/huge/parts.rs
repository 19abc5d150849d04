//! Parts of products.

use std::ops::Range;

use warpint_natural::limbs::{trim, trimmed};
use warpint_natural::product::Multiplier;

/// Returns a·b mod β^n, the lowest n limbs of the product, where β = 2^64.
///
/// Cost: one product of the lowest n limbs of a and of b, at most M(n).
#[must_use]
pub fn low_product(multiplier: &dyn Multiplier, a: &[u64], b: &[u64], n: usize) -> Vec<u64> {
    middle_product(multiplier, a, b, 0..n)
}

/// Returns ⌊a·b/β^from⌋, the product without its lowest `from` limbs, where β = 2^64.
///
/// Cost: that of the whole product, because carries from the lowest limbs count.
#[must_use]
pub fn high_product(multiplier: &dyn Multiplier, a: &[u64], b: &[u64], from: usize) -> Vec<u64> {
    middle_product(multiplier, a, b, from..usize::MAX)
}

/// Returns ⌊a·b/β^from⌋ mod β^(to − from), the limbs `from` to `to` − 1 of the product, where β =
/// 2^64. Limbs beyond the highest one are 0, and an empty range gives 0.
///
/// Cost: one product of the lowest `to` limbs of a and of b.
#[must_use]
pub fn middle_product(
    multiplier: &dyn Multiplier,
    a: &[u64],
    b: &[u64],
    limbs: Range<usize>,
) -> Vec<u64> {
    let Range { start, end } = limbs;
    // Limbs of a factor from `end` on change only limbs of the product from `end` on.
    fn lowest(x: &[u64], end: usize) -> &[u64] {
        trimmed(&x[..x.len().min(end)])
    }
    let (a, b) = (lowest(a, end), lowest(b, end));
    if start >= end || start >= a.len() + b.len() || a.is_empty() || b.is_empty() {
        return vec![];
    }
    let mut product = multiplier.mul(a, b);
    product.truncate(end);
    product.drain(..start.min(product.len()));
    trim(&mut product);
    product
}
