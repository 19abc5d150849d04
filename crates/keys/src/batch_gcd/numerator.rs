//! The numerator at the root of a tree.

use std::borrow::Cow;

use warpint_natural::division::div_rem_by;
use warpint_natural::limbs::{copy_to, trimmed};
use warpint_natural::product::Multiplier;

use crate::KeysError;

/// The numerator at the root of a group.
pub(super) enum Numerator<'n, 'o> {
    /// The derivative, times these numbers.
    Others(&'n mut dyn Iterator<Item = Result<Cow<'o, [u64]>, KeysError>>),
    /// A number instead of the derivative.
    Number(&'n [u64]),
}

impl Numerator<'_, '_> {
    /// Returns the numerator modulo the product of a group, in as many limbs.
    pub(super) fn modulo(
        self,
        multiplier: &dyn Multiplier,
        derivative: Vec<u64>,
        product: &[u64],
        is_stopped: &dyn Fn() -> bool,
    ) -> Result<Vec<u64>, KeysError> {
        match self {
            Self::Others(others) => {
                let mut numerator = derivative;
                for other in others {
                    if is_stopped() {
                        return Err(KeysError::Stopped);
                    }
                    numerator = times_modulo(multiplier, numerator, &other?, product);
                }
                Ok(numerator)
            }
            Self::Number(x) => {
                let mut numerator = vec![0; product.len()];
                copy_to(&mut numerator, &div_rem_by(multiplier, x, trimmed(product)).1);
                Ok(numerator)
            }
        }
    }
}

/// Returns x·y mod m, in as many limbs as m.
fn times_modulo(multiplier: &dyn Multiplier, x: Vec<u64>, y: &[u64], m: &[u64]) -> Vec<u64> {
    let m = trimmed(m);
    let y = div_rem_by(multiplier, y, m).1;
    if y.is_empty() || trimmed(&x).is_empty() {
        return vec![0; x.len()];
    }
    let product = multiplier.mul(trimmed(&x), &y);
    let mut result = x;
    result.fill(0);
    copy_to(&mut result, &div_rem_by(multiplier, &product, m).1);
    result
}
