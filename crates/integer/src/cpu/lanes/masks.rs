//! Vectors whose lanes can be treated differently, by masks. Division steps need them.

use super::vector::Lanes;

/// Vectors with signed operations and masks. A *mask* selects the lanes l whose bits l are set.
/// Limbs have β = 52 bits, so every word is a factor (see [`Lanes::factor`]).
pub(super) trait Masks: Lanes {
    /// Returns a − b mod 2^64, with a = `self`.
    fn sub(self, b: Self) -> Self;
    /// Returns ⌊a/2^bits⌋, with a = `self` as a signed integer. `bits` must be less than 64.
    fn shr_signed(self, bits: u64) -> Self;
    /// Returns a·b mod 2^64, with a = `self`.
    fn mul(self, b: Self) -> Self;
    /// Returns the lanes in which a AND b is not 0, with a = `self`.
    fn meets(self, b: Self) -> u8;
    /// Returns the lanes whose words are negative as signed integers.
    fn negative(self) -> u8;
    /// Returns the lanes whose words are 0.
    fn zero(self) -> u8;
    /// Returns b in the lanes of `mask`, and `self` in the others.
    fn select(self, mask: u8, b: Self) -> Self;
}

/// The mask of all lanes.
pub(super) const fn all<V: Lanes>() -> u8 {
    u8::MAX >> (8 - V::LANES)
}

/// Returns the limb with which a number in two's complement goes on above its highest limb, `top`:
/// 2^β − 1 if the highest bit of `top` is set, 0 otherwise.
#[inline(always)]
pub(super) fn sign<V: Masks>(proof: V::Proof, top: V) -> V {
    let unused = u64::from(u64::BITS - V::BITS);
    top.shl_each(V::splat(proof, unused)).shr_signed(63).shr(unused)
}

/// Returns the low part of x·y, with β bits, of the limbs that the lowest β bits of x and y are,
/// plus `to`.
#[inline(always)]
pub(super) fn add_low<V: Masks>(proof: V::Proof, to: V, x: V, y: V) -> V {
    V::mad(to, V::splat(proof, 0), x, y).0
}
